/* run: finds and runs short helper programs.  Keeps no state. */
#include "target/run.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "proc/cage.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool runnable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *absolute(const char *path)
{
    if (path[0] == '/')
        return xstrdup(path);
    char *cwd = getcwd(NULL, 0), *full = cwd ? fs_join(cwd, path) : xstrdup(path);
    free(cwd);
    return full;
}

char *run_find(const char *name)
{
    if (strchr(name, '/'))
        return runnable(name) ? absolute(name) : NULL;
    const char *path = getenv("PATH");
    struct strv dirs = {0};
    strv_split(&dirs, path ? path : "/usr/local/bin:/usr/bin:/bin", ':');
    char *found = NULL;
    for (size_t i = 0; i < dirs.n && !found; i++) {
        char *candidate = fs_join(dirs.v[i], name);
        if (runnable(candidate))
            found = absolute(candidate);
        free(candidate);
    }
    strv_free(&dirs);
    return found;
}

static int how_it_ended(const struct cage_end *end, const char *program, struct err *e)
{
    if (end->exec_errno) {
        errno = end->exec_errno;
        return err_sys(e, "cannot run %s", program);
    }
    if (!end->exited)
        return err_set(e, -ECHILD, "%s was killed by signal %d", program, end->signal);
    return end->code ? err_set(e, end->code == ERR_EXIT_ENV ? -ENOPKG : -ECHILD,
                               "%s ended with exit code %d", program, end->code)
                     : 0;
}

int run_capture(const char *const *argv, const char *const *envp, int seconds, struct buf *out,
                struct err *e)
{
    int fd = memfd_create("carol-run", MFD_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot make a memory file");
    struct cage c;
    struct cage_end end = {0};
    int rc = cage_start(
        &c, &(struct cage_opts){.argv = argv, .envp = envp, .out = fd, .err = fd, .cpu = -1}, e);
    if (rc == 0) {
        struct pollfd p = {.fd = c.status_fd, .events = POLLIN};
        bool late = poll(&p, 1, seconds * 1000) == 0;
        if (late)
            cage_kill(&c);
        while (late && poll(&p, 1, -1) < 0 && errno == EINTR)
            ;
        cage_reap(&c, &end);
        rc = late ? err_set(e, -ETIME, "%s did not end within %d s", argv[0], seconds)
                  : how_it_ended(&end, argv[0], e);
        char chunk[4096]; /* the descriptor is a memory file, so that nothing blocked the program */
        ssize_t n;
        for (off_t at = 0; (n = pread(fd, chunk, sizeof chunk, at)) > 0; at += n)
            buf_add(out, chunk, (size_t)n);
    }
    close(fd);
    return rc;
}
