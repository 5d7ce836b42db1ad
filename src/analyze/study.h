/* study: the campaigns that an analysis looks at.
 *
 *     study_open(&s, &outs, &e);                                 // what each is: target, roster, scheduler
 *     study_each(&s, size, summarise, arg, results, &e);         // each read whole (story.h), on all cores
 *     study_free(&s);
 *
 * Memory is that of the largest campaign per core, plus the little that an analysis keeps of each. */
#ifndef CAROL_ANALYZE_STUDY_H
#define CAROL_ANALYZE_STUDY_H

#include "analyze/story.h"
#include "base/err.h"
#include "base/str.h"

#include <stddef.h>

struct study {
    struct camp *camps;
    size_t n, cap;
    struct strv targets;    /* in order of appearance */
    struct strv fuzzers;    /* the roster of all */
    struct strv contenders; /* of all, also of those left out */
    size_t left_out;        /* campaigns that are not of `only` */
    /* set by the caller */
    int processes;
    const struct strv *only; /* contenders of the benchmark, or schedulers; NULL or empty: all */
};

/* An item of outs is a campaign, or a directory of them: what `carol sim -o` or `carol bench run --keep-journals` wrote.
 * Refused (exit 2): nothing of `only`, different rosters or rewards, builds of one target with different numbers of edges, a campaign given twice. */
CAROL_MUST_CHECK int study_open(struct study *s, const struct strv *outs, struct err *e);
void study_free(struct study *s);
/* Campaigns of a target. */
size_t study_count(const struct study *s, size_t target);
static inline const char *study_target(const struct study *s, size_t camp)
{
    return s->targets.v[s->camps[camp].target];
}

typedef int study_fn(void *arg, const struct story *l, size_t camp, void *result, struct err *e);
/* fn for every campaign; campaign k has `size` bytes at results + k * size, zero before, without pointers. */
CAROL_MUST_CHECK int study_each(const struct study *s, size_t size, study_fn *fn, void *arg,
                                void *results, struct err *e);

#endif
