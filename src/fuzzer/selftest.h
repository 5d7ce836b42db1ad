/* selftest: does this fuzzer obey here, on this target?  About two seconds, asynchronous on the loop.
 *
 * It starts an instance, and wants of it: that it reaches its first safe point and waits there, costs no
 * CPU while parked, executes inputs in a turn, takes one input of ours exactly once and does not give it
 * back, and ends when asked.  Where the fuzzer marks what it made in its own way (`mopt`: the operator in
 * the name), all its finds must bear the mark.
 *
 *     selftest_start(&t, loop, &opts, seeds, n, on_done, arg, &e);
 *     ... on_done(arg, &result) is called once, from the loop; t is gone when it returns
 *     selftest_cancel(t);     // instead: kill it now, on_done is not called
 *
 * opts.dir must not exist: it is made for the test and removed after it.  Of many seeds only the smallest
 * few are used.  Nothing of the campaign is touched. */
#ifndef CAROL_FUZZER_SELFTEST_H
#define CAROL_FUZZER_SELFTEST_H

#include "base/err.h"
#include "fuzzer/fuzzer.h"
#include "proc/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selftest;

struct selftest_result {
    const char *fuzzer;
    bool ok;
    char why[320];         /* when not ok: what it did not do; one line */
    int64_t ready_ns;      /* start -> parked at its first safe point */
    int64_t park_ns;       /* request -> parked, the longest */
    int64_t cpu_parked_ns; /* used in pause_ns of waiting */
    int64_t pause_ns, took_ns;
    uint64_t execs, rss_kb; /* memory of its tree while parked */
};

/* Fails only when there is nothing to wait for (e says why); then done is not called. */
CAROL_MUST_CHECK int selftest_start(struct selftest **out, struct loop *l,
                                    const struct instance_opts *o, const struct input *seeds,
                                    size_t n,
                                    void (*done)(void *arg, const struct selftest_result *r),
                                    void *arg, struct err *e);
void selftest_cancel(struct selftest *t);

#endif
