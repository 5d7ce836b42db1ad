/* tree: walks /proc.  Races are harmless: a process that ends meanwhile is simply not there. */
#include "proc/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static ssize_t slurp(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, buf, size - 1);
    close(fd);
    if (n >= 0)
        buf[n] = 0;
    return n;
}

/* Thread ids of a process. */
static size_t threads_of(pid_t pid, pid_t *out, size_t max)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    size_t n = 0;
    if (!d)
        return 0;
    for (struct dirent *de; n < max && (de = readdir(d));)
        if (de->d_name[0] != '.')
            out[n++] = (pid_t)strtol(de->d_name, NULL, 10);
    closedir(d);
    return n;
}

size_t tree_children(pid_t pid, pid_t *out, size_t max)
{
    pid_t tids[256];
    size_t n = 0, nt = threads_of(pid, tids, 256);
    for (size_t i = 0; i < nt; i++) {
        char path[96], text[16384];
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tids[i]);
        if (slurp(path, text, sizeof text) <= 0)
            continue;
        char *p = text, *end;
        for (long v; n < max && (v = strtol(p, &end, 10), end != p); p = end)
            out[n++] = (pid_t)v;
    }
    return n;
}

size_t tree_pids(pid_t root, pid_t *out, size_t max)
{
    size_t n = 0;
    if (max)
        out[n++] = root;
    for (size_t i = 0; i < n && n < max; i++)
        n += tree_children(out[i], out + n, max - n);
    return n;
}

void tree_usage(pid_t root, struct tree_usage *u)
{
    pid_t pids[1024];
    size_t n = tree_pids(root, pids, 1024);
    long hz = sysconf(_SC_CLK_TCK), page_kb = sysconf(_SC_PAGESIZE) / 1024;
    *u = (struct tree_usage){0};
    for (size_t i = 0; i < n; i++) {
        char path[64], text[1024];
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pids[i]);
        char *after = slurp(path, text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
        unsigned long ut = 0, st = 0;
        long cut = 0, cst = 0, rss = 0;
        if (!after || sscanf(after + 1,
                             " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld "
                             "%*d %*d %*d %*d %*u %*u %ld",
                             &ut, &st, &cut, &cst, &rss) != 5)
            continue;
        u->cpu_ns += (int64_t)(ut + st + (unsigned long)(cut + cst)) * (1000000000 / hz);
        u->rss_kb += (uint64_t)(rss * page_kb);
        u->processes++;
    }
}

void tree_pin(pid_t root, int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    pid_t queue[1024];
    size_t n = 1;
    queue[0] = root;
    for (size_t i = 0; i < n; i++) { /* a parent is pinned before its children are listed */
        pid_t tids[256];
        size_t nt = threads_of(queue[i], tids, 256);
        for (size_t k = 0; k < nt; k++)
            sched_setaffinity(tids[k], sizeof set, &set);
        n += tree_children(queue[i], queue + n, 1024 - n);
    }
}

void tree_kill(pid_t root, int self)
{
    for (int round = 0; round < 200; round++) {
        pid_t pids[1024];
        size_t n = tree_pids(root, pids, 1024);
        if (n <= 1 && (root != getpid() || (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)))
            break; /* /proc may miss one whose parent just died; the kernel does not */
        for (size_t i = 1; i < n; i++)
            kill(pids[i], SIGKILL);
        while (root == getpid() && waitpid(-1, NULL, WNOHANG) > 0)
            ;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (self)
        kill(root, SIGKILL);
}
