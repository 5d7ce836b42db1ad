/* look: what is the matter with one input?  A few shots on the builds, and a verdict.
 *
 *     struct look *k;
 *     look_start(&k, lab, &spec, on_verdict, self, &e);     // the bytes must live until then
 *     on_verdict(self, &verdict);                           // both are gone when it returns
 *     look_cancel(k);
 *
 * LOOK_BUCKET   the asan build shows what fails and where; what it does not show is tried on the plain build, and on that
 *               of the fuzzer that found it
 * LOOK_CONFIRM  five shots on the plain build; when not all of them fail, also on the asan build, for the rate; and up to five there
 *               to see the worst that it does, if that is asked for
 * LOOK_HANG     ten times the limit on the plain build; what does not end is stopped twice on the asan build, to see
 *               where it is */
#ifndef CAROL_TRIAGE_LOOK_H
#define CAROL_TRIAGE_LOOK_H

#include "store/store.h"
#include "triage/lab.h"

struct look;

enum look_kind { LOOK_NONE = 0, LOOK_BUCKET, LOOK_CONFIRM, LOOK_HANG };

struct look_spec {
    enum look_kind kind;
    const void *data;
    size_t size;
    int cpu;         /* pinned to; -1: no */
    int64_t most_ms; /* CPU time of a shot at most; 0: as the lab has it */
    bool worst;      /* confirm: what it does on the asan build counts, too (verdict.withheld) */
    bool once; /* bucket: one shot only, and no verdict but a defect (outcome NONE otherwise) */
    enum family finder; /* the build of the fuzzer that found it; FAMILY_NONE: unknown */
    int signal;         /* that it saw */
};

struct verdict {
    enum triage_outcome outcome; /* of LOOK_CONFIRM: crash */
    bool known;                  /* the report below */
    struct report r;
    char *text;    /* what was printed with it; NULL: nothing */
    bool withheld; /* confirm: a run of it is to be withheld */
    int asan_runs, asan_hits, plain_runs, plain_hits, plain_signal;
    int64_t cpu_us;
    char why[256];
};

typedef void look_fn(void *arg, struct verdict *v);
CAROL_MUST_CHECK int look_start(struct look **out, struct lab *lab, const struct look_spec *s,
                                look_fn *fn, void *arg, struct err *e);
void look_cancel(struct look *k);

/* A verdict as a row.  `bucket` must hold BUCKET_LEN bytes and live as long as the row. */
struct store_triage verdict_row(const struct verdict *v, int64_t crash, const char *build,
                                char *bucket);

#endif
