/* suite: what a benchmark consists of: targets, contenders, trials, budget.  bench/suite/README.md explains the
 * file.
 *
 *     struct suite s;
 *     suite_load(&s, "suite.ini", false, &e);     // every name in it is checked: usage errors
 *     ...
 *     suite_free(&s);
 */
#ifndef CAROL_BENCH_SUITE_H
#define CAROL_BENCH_SUITE_H

#include "base/err.h"
#include "base/str.h"
#include "bench/bugfile.h"
#include "bench/rival.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a contender is in comparisons. */
enum role {
    ROLE_NONE = 0,
    ROLE_OURS,     /* Carol's own schedulers */
    ROLE_ABLATION, /* one of them without a part */
    ROLE_REWARD,   /* one of them with another reward */
    ROLE_BASELINE, /* other schedulers in the same loop */
    ROLE_SINGLE,   /* one fuzzer in the loop */
    ROLE_RIVAL,    /* outside the loop */
    ROLE_END
};
const char *role_name(enum role r);
enum role role_of(const char *name); /* ROLE_NONE: there is none */

struct contender {
    char *name;
    enum role role;
    const struct rival *rival; /* NULL: carol fuzz with these options */
    struct strv options;       /* words for its command line */
    char *fuzzers;             /* as given; NULL: the default roster */
};

struct bench_target {
    char *name;
    char *stage; /* script that lays its sources out; NULL: `build` is there already */
    char *source, *build;
    char *seeds, *dict; /* dict: NULL, or a file */
    enum oracle_kind oracle;
    struct bug *bugs;
    size_t n_bugs;
};

struct suite {
    char *path;
    struct bench_target *targets;
    size_t n_targets;
    struct contender *contenders;
    size_t n_contenders;
    int trials, cores, parallel; /* parallel: campaigns at a time; 0: as many as fit */
    int64_t cpu_ns, turn_ns;
    uint32_t timeout_ms;
    uint64_t memory_mb, seed;
    double least_ratio; /* of CPU time to wall time and core */
    char *out, *builds; /* directories */
};

/* out: directory of results; NULL: the suite says it.  holdout: with those targets too. */
CAROL_MUST_CHECK int suite_load(struct suite *s, const char *path, const char *out, bool holdout,
                                struct err *e);
/* Forget all but these targets and contenders, lists with commas; NULL: all stay.  Every name must be there. */
CAROL_MUST_CHECK int suite_only(struct suite *s, const char *targets, const char *contenders,
                                struct err *e);
void suite_free(struct suite *s);

/* The families that the contenders need, and the neutral one. */
void suite_families(const struct suite *s, bool on[FAMILY_END]);
/* Text that says what a campaign of this contender is: the same text, the same campaign; the caller frees. */
char *suite_definition(const struct suite *s, const struct contender *c);

#endif
