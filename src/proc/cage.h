/* cage: run a program so that nothing of it can outlive us.
 *
 * The program runs under a small init process of ours.  Where the kernel allows it the init is pid 1
 * of a new user+PID+IPC namespace: when it dies, for whatever reason, the kernel kills everything
 * inside and frees its shared memory; it dies with the supervisor (PR_SET_PDEATHSIG).  Elsewhere the
 * init is a child subreaper that kills every descendant and removes the SysV segments of the program
 * before it leaves; should the init itself be killed, the supervisor, a subreaper too, does that.  The
 * init also reaps orphans, so there are no zombies.
 *
 *     struct cage c;
 *     cage_start(&c, &(struct cage_opts){.argv = argv, .out = fd, ...}, &e);
 *     loop_watch(loop, c.status_fd, EPOLLIN, on_end, ...);      // readable when it ended
 *     cage_reap(&c, &end);                                      // then, in on_end
 *
 * cage_start does not wait for the exec; a program that cannot be executed ends with
 * end.exec_errno set.  Everything is inherited explicitly: descriptors 0-2 and `fds`, no others. */
#ifndef CAROL_PROC_CAGE_H
#define CAROL_PROC_CAGE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CAGE_MAX_FDS 16

struct cage_fd {
    int from, to;
};

#define CAGE_NOT_BEGUN 125 /* exit code */

struct cage_opts {
    const char *const *argv; /* argv[0] is a path */
    const char *const *envp; /* NULL: ours */
    const char *cwd;         /* NULL: ours */
    int in, out, err;        /* descriptors for 0, 1, 2; 0 or less: /dev/null */
    const struct cage_fd *fds;
    int nfds;          /* at most CAGE_MAX_FDS */
    int cpu;           /* pin to this cpu; -1: no */
    bool no_namespace; /* force the fallback (tests, and hosts where it misbehaves) */
    bool no_aslr;      /* ADDR_NO_RANDOMIZE for the program */
    bool own_proc;     /* it reads /proc/PID of its children: in a namespace mount a /proc of its
                                own, or where that is forbidden use the fallback */
    /* NULL, or called in the program's process before everything else (cwd may be made here); the
     * descriptors are still ours.  Negative: the program is not executed and ends with CAGE_NOT_BEGUN. */
    int (*before)(void *arg);
    void *arg;
};

struct cage {
    pid_t init;    /* the init process as we see it; -1: not running */
    int pidfd;     /* of the init */
    int status_fd; /* readable when the program ended */
    bool namespaced;
    pid_t *program; /* without namespaces: as the init sees it, shared with it */
};

struct cage_end {
    int exec_errno; /* the program could not be executed */
    bool exited;    /* else it was killed by `signal` */
    int code, signal;
};

CAROL_MUST_CHECK int cage_start(struct cage *c, const struct cage_opts *o, struct err *e);
/* Pid (ours) of the program itself, 0 when it is not there any more. */
pid_t cage_program(const struct cage *c);
int cage_signal(const struct cage *c, int signo);
/* Kill everything inside, at once.  status_fd becomes readable soon after. */
void cage_kill(const struct cage *c);
/* After status_fd is readable: collect how it ended, wait for the init (which is already ending) and
 * close the descriptors.  Unwatch status_fd first. */
void cage_reap(struct cage *c, struct cage_end *end);
/* True when this host lets us make the namespaces (tried once, remembered). */
bool cage_namespaces_work(void);

#endif
