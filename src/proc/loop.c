/* loop: epoll, a sorted list of timers and a signalfd.  Knows nothing of processes. */
#include "proc/loop.h"

#include "base/die.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

struct watch {
    int fd;
    bool dead;
    loop_fd_fn *fn;
    void *arg;
    struct watch *next;
};

struct loop {
    bool is_virtual, stop;
    int64_t now; /* virtual loops only */
    int epfd, sigfd;
    sigset_t signals;
    struct watch *watches;
    struct timer *timers;
    uint64_t seq;
    struct {
        loop_signal_fn *fn;
        void *arg;
    } on_signal[NSIG];
};

int loop_new(struct loop **out, struct err *e)
{
    struct loop *l = xcalloc(1, sizeof *l);
    sigemptyset(&l->signals);
    l->sigfd = -1;
    l->epfd = epoll_create1(EPOLL_CLOEXEC);
    if (l->epfd < 0) {
        free(l);
        return err_sys(e, "epoll_create");
    }
    *out = l;
    return 0;
}

struct loop *loop_new_virtual(int64_t start_ns)
{
    struct loop *l = xcalloc(1, sizeof *l);
    l->is_virtual = true;
    l->now = start_ns;
    l->epfd = l->sigfd = -1;
    return l;
}

static void bury(struct loop *l, bool all)
{
    for (struct watch **p = &l->watches; *p;) {
        struct watch *w = *p;
        if (!all && !w->dead) {
            p = &w->next;
            continue;
        }
        *p = w->next;
        free(w);
    }
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    bury(l, true);
    if (l->sigfd >= 0) {
        close(l->sigfd);
        /* one that arrived after the last round asks for what has happened already: it must not kill us */
        while (sigtimedwait(&l->signals, NULL, &(struct timespec){0}) > 0)
            ;
        sigprocmask(SIG_UNBLOCK, &l->signals, NULL);
    }
    if (l->epfd >= 0)
        close(l->epfd);
    free(l);
}

int64_t loop_now(struct loop *l)
{
    if (l->is_virtual)
        return l->now;
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int loop_watch(struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *arg, struct err *e)
{
    if (l->is_virtual)
        BUG("a virtual loop has no descriptors");
    struct watch *w = xcalloc(1, sizeof *w);
    *w = (struct watch){.fd = fd, .fn = fn, .arg = arg, .next = l->watches};
    struct epoll_event ev = {.events = events, .data.ptr = w};
    if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, fd, &ev) < 0) {
        free(w);
        return err_sys(e, "epoll_ctl(add %d)", fd);
    }
    l->watches = w;
    return 0;
}

void loop_unwatch(struct loop *l, int fd)
{
    for (struct watch *w = l->watches; w; w = w->next)
        if (w->fd == fd && !w->dead) {
            epoll_ctl(l->epfd, EPOLL_CTL_DEL, fd, NULL);
            w->dead = true; /* freed after the round: epoll may have returned it already */
            return;
        }
}

void loop_timer_clear(struct loop *l, struct timer *t)
{
    if (!t->set)
        return;
    for (struct timer **p = &l->timers; *p; p = &(*p)->next)
        if (*p == t) {
            *p = t->next;
            break;
        }
    t->set = false;
    t->next = NULL;
}

void loop_timer(struct loop *l, struct timer *t, int64_t at_ns)
{
    loop_timer_clear(l, t);
    t->at = at_ns;
    t->seq = l->seq++;
    struct timer **p = &l->timers;
    while (*p && (*p)->at <= at_ns)
        p = &(*p)->next;
    t->next = *p;
    *p = t;
    t->set = true;
}

static void on_sigfd(void *arg, uint32_t events)
{
    (void)events;
    struct loop *l = arg;
    struct signalfd_siginfo si;
    while (read(l->sigfd, &si, sizeof si) == (ssize_t)sizeof si)
        if (si.ssi_signo < NSIG && l->on_signal[si.ssi_signo].fn)
            l->on_signal[si.ssi_signo].fn(l->on_signal[si.ssi_signo].arg, (int)si.ssi_signo);
}

int loop_signal(struct loop *l, int signo, loop_signal_fn *fn, void *arg, struct err *e)
{
    l->on_signal[signo].fn = fn;
    l->on_signal[signo].arg = arg;
    sigaddset(&l->signals, signo);
    if (sigprocmask(SIG_BLOCK, &l->signals, NULL) < 0)
        return err_sys(e, "sigprocmask");
    bool first = l->sigfd < 0;
    int fd = signalfd(l->sigfd, &l->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        return err_sys(e, "signalfd");
    l->sigfd = fd;
    return first ? loop_watch(l, fd, EPOLLIN, on_sigfd, l, e) : 0;
}

/* Fire every timer due at `now` that was set before this round began. */
static void fire_due(struct loop *l, int64_t now)
{
    uint64_t before = l->seq;
    while (l->timers && l->timers->at <= now && l->timers->seq < before && !l->stop) {
        struct timer *t = l->timers;
        loop_timer_clear(l, t);
        t->fn(t->arg);
    }
}

static int wait_ms(struct loop *l, int64_t max_ns)
{
    int64_t wait = max_ns;
    if (l->timers) {
        int64_t due = l->timers->at - loop_now(l);
        due = due < 0 ? 0 : due;
        if (wait < 0 || due < wait)
            wait = due;
    }
    if (wait < 0)
        return -1;
    int64_t ms = (wait + NS_PER_MS - 1) / NS_PER_MS;
    return ms > 3600000 ? 3600000 : (int)ms;
}

static bool step_virtual(struct loop *l, int64_t max_ns)
{
    if (!l->timers)
        return false;
    int64_t at = l->timers->at;
    if (max_ns >= 0 && at > l->now + max_ns) {
        l->now += max_ns;
        return true;
    }
    if (at > l->now)
        l->now = at;
    fire_due(l, l->now);
    return true;
}

bool loop_step(struct loop *l, int64_t max_ns)
{
    if (l->is_virtual)
        return step_virtual(l, max_ns);
    if (!l->timers && !l->watches)
        return false;
    struct epoll_event ev[32];
    int n = epoll_wait(l->epfd, ev, 32, wait_ms(l, max_ns));
    for (int i = 0; i < n && !l->stop; i++) {
        struct watch *w = ev[i].data.ptr;
        if (!w->dead)
            w->fn(w->arg, ev[i].events);
    }
    fire_due(l, loop_now(l));
    bury(l, false);
    return true;
}

void loop_run(struct loop *l)
{
    l->stop = false;
    while (!l->stop && loop_step(l, -1))
        ;
}

void loop_stop(struct loop *l)
{
    l->stop = true;
}
