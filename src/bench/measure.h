/* measure: files on the neutral build, one after another on the loop, into a growth.
 *
 *     measure_start(&m, &(struct measure_opts){...}, &e);
 *     ... opts.done(arg, rc, &e) is called once; then measure_free(m), not from inside it
 */
#ifndef CAROL_BENCH_MEASURE_H
#define CAROL_BENCH_MEASURE_H

#include "base/err.h"
#include "bench/growth.h"
#include "bench/rival.h"
#include "proc/loop.h"
#include "target/manifest.h"

struct measure;

struct measure_opts {
    struct loop *loop;
    const struct manifest *target;
    uint32_t timeout_ms;
    uint64_t mem_bytes;
    int cpu; /* -1: any */
    const struct kept *files;
    size_t n;
    struct growth *growth; /* initialised here */
    void (*done)(void *arg, int rc, const struct err *e);
    void *arg;
};

/* Everything pointed to must outlive it. */
CAROL_MUST_CHECK int measure_start(struct measure **out, const struct measure_opts *o,
                                   struct err *e);
void measure_free(struct measure *m); /* NULL is fine */

#endif
