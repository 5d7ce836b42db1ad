/* lock: one writer per campaign directory, by a kernel lock on OUT/lock.  The text of the file, the
 * holder's pid, is for the message only; the kernel decides, and the lock goes with its last holder. */
#include "base/fs.h"
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A killed supervisor's children may hold the lock for the moment the kernel needs to end them. */
#define DYING_TRIES 200
#define DYING_WAIT_NS 10000000

static int try_lock(int fd)
{
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &l);
}

static bool holder_lives(const char *path, char *pid, size_t size)
{
    if (!fs_read_line(path, pid, size) || !*pid)
        snprintf(pid, size, "unknown");
    long n = strtol(pid, NULL, 10);
    return n <= 0 || kill((pid_t)n, 0) == 0 || errno != ESRCH;
}

static int held(const char *dir, const char *path, struct err *e)
{
    char pid[32];
    if (holder_lives(path, pid, sizeof pid))
        err_usage(e,
                  "%s is in use by another carol (process %s): two would spoil each other's "
                  "record; watch it with carol status %s, or end it with kill %s",
                  dir, pid, dir, pid);
    else
        err_usage(e,
                  "%s is still held by what an ended carol (process %s) started: fuser %s names it",
                  dir, pid, path);
    if (e)
        e->code = -EBUSY;
    return -EBUSY;
}

static int write_pid(int fd, const char *path, struct err *e)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) < 0)
        return err_sys(e, "cannot write %s", path);
    return fs_write_fd(fd, text, (size_t)n, e);
}

int lock_take(const char *dir, int *fd, struct err *e)
{
    char *path = fs_join(dir, "lock"), pid[32];
    int rc = 0, f = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (f < 0) {
        rc = err_sys(e, "cannot take the campaign's lock %s", path);
        if (e)
            e->exit = ERR_EXIT_ENV; /* somebody else's directory, a read-only or full disk */
    }
    for (int i = 0; rc == 0 && try_lock(f) < 0; i++) {
        if (errno != EAGAIN && errno != EACCES)
            rc = err_sys(e, "cannot lock %s", path);
        else if (i == DYING_TRIES || holder_lives(path, pid, sizeof pid))
            rc = held(dir, path, e);
        else
            nanosleep(&(struct timespec){.tv_nsec = DYING_WAIT_NS}, NULL);
    }
    if (rc == 0)
        rc = write_pid(f, path, e);
    if (rc < 0 && f >= 0)
        close(f);
    free(path);
    *fd = rc < 0 ? -1 : f;
    return rc;
}

bool store_is_locked(const char *dir)
{
    char *path = fs_join(dir, "lock");
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool locked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    free(path);
    return locked;
}
