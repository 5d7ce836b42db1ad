/* loop: one epoll loop: descriptors, timers, signals.  Single thread; callbacks run on it.
 *
 * It is also the clock of everything that runs on it.  A virtual loop has no descriptors: its time
 * jumps from timer to timer, so that hours of campaign pass in milliseconds, always in the same
 * order.  Timers that are due at the same time fire in the order they were set.
 *
 *     struct loop *l;
 *     loop_new(&l, &e);
 *     struct timer t = {.fn = on_tick, .arg = self};   // the caller's memory, zeroed otherwise
 *     loop_timer(l, &t, loop_now(l) + NS_PER_S);
 *     loop_run(l);                                      // until loop_stop, or nothing is left
 */
#ifndef CAROL_PROC_LOOP_H
#define CAROL_PROC_LOOP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

struct loop;

typedef void loop_fd_fn(void *arg, uint32_t events);
typedef void loop_signal_fn(void *arg, int signo);

struct timer {
    void (*fn)(void *arg);
    void *arg;
    int64_t at; /* private from here on */
    uint64_t seq;
    bool set;
    struct timer *next;
};

CAROL_MUST_CHECK int loop_new(struct loop **out, struct err *e);
struct loop *loop_new_virtual(int64_t start_ns);
void loop_free(struct loop *l);

int64_t loop_now(struct loop *l); /* CLOCK_MONOTONIC ns, or the virtual time */

/* Level-triggered EPOLLIN/EPOLLOUT; pidfds become readable when the process ends. */
CAROL_MUST_CHECK int loop_watch(struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *arg,
                                struct err *e);
void loop_unwatch(struct loop *l, int fd); /* before close(fd); safe inside callbacks */

void loop_timer(struct loop *l, struct timer *t, int64_t at_ns); /* set again = move */
void loop_timer_clear(struct loop *l, struct timer *t);

/* Block signo and deliver it here instead.  At most once per signal. */
CAROL_MUST_CHECK int loop_signal(struct loop *l, int signo, loop_signal_fn *fn, void *arg,
                                 struct err *e);

void loop_run(struct loop *l);
void loop_stop(struct loop *l);
/* One round: wait at most max_ns (-1: no limit), run what is due.  False when nothing is left. */
bool loop_step(struct loop *l, int64_t max_ns);

#endif
