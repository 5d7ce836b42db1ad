/* sweep: finds leftovers through /proc and the list of SysV segments.  Touches nothing without its mark. */
#include "proc/sweep.h"

#include "base/fs.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

void sweep_segments(pid_t creator)
{
    struct shmid_ds ds;
    struct shm_info info;
    int top = shmctl(0, SHM_INFO, (struct shmid_ds *)&info);
    for (int i = 0; i <= top; i++) {
        int id = shmctl(i, SHM_STAT, &ds);
        if (id >= 0 && ds.shm_cpid == creator)
            shmctl(id, IPC_RMID, NULL);
    }
}

static bool has_mark(const char *pid, const char *mark)
{
    char *path = str_fmt("/proc/%s/environ", pid);
    struct buf b = BUF_INIT((size_t)4 << 20);
    bool found = false;
    if (fs_read(path, &b, NULL) == 0)
        for (size_t at = 0; at < b.len && !found; at += strlen(b.p + at) + 1)
            found = strcmp(b.p + at, mark) == 0;
    buf_free(&b);
    free(path);
    return found;
}

/* A process that has let go of its memory has no environment any more, and writes no more. */
static int kill_marked(const char *mark)
{
    struct strv names = {0};
    int n = 0;
    if (fs_list("/proc", &names, NULL) < 0)
        return 0;
    for (size_t i = 0; i < names.n; i++) {
        pid_t pid = (pid_t)strtol(names.v[i], NULL, 10);
        if (pid <= 1 || pid == getpid() || !has_mark(names.v[i], mark) || kill(pid, SIGKILL) < 0)
            continue;
        sweep_segments(pid);
        n++;
    }
    strv_free(&names);
    return n;
}

int sweep_processes(const char *mark)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    int n = kill_marked(mark), left = n;
    for (int i = 0; left && i < 1000; i++) {
        nanosleep(&moment, NULL);
        left = kill_marked(mark);
    }
    return n;
}
