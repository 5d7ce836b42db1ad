/* sweep: gets rid of whatever a dead worker left running.  The server is a subreaper, so everything
 * orphaned below it becomes its child; the pids are looked up in /proc, which may show those of an
 * outer PID namespace. */
#include "cov.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ssize_t read_text(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, out, size - 1);
    close(fd);
    out[n > 0 ? n : 0] = 0;
    return n;
}

/* The pid in our own namespace of a process that /proc calls `outer`: the last one of NSpid. */
static pid_t own_pid(long outer)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%ld/status", outer);
    if (read_text(path, text, sizeof text) <= 0)
        return 0;
    char *p = strstr(text, "\nNSpid:");
    if (!p)
        return 0;
    p += 7;
    long pid = 0;
    while (*p == '\t' || *p == ' ')
        pid = strtol(p, &p, 10);
    return (pid_t)pid;
}

static void kill_children(void)
{
    char text[8192];
    if (read_text("/proc/thread-self/children", text, sizeof text) <= 0)
        return;
    for (char *p = text; *p;) {
        char *end;
        long outer = strtol(p, &end, 10);
        if (end == p)
            break;
        pid_t pid = own_pid(outer);
        if (pid > 1)
            kill(pid, SIGKILL);
        p = end;
    }
}

bool carol_cov_sweep(void)
{
    for (int tries = 0; tries < 2000; tries++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
            ;
        if (pid < 0 && errno == ECHILD)
            return true;
        kill_children();
        if (tries > 2)
            usleep(1000);
    }
    return false;
}
