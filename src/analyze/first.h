/* first: when each bug was triggered first.  From the results of `carol bench run`, whose oracle knows the bugs, or from the
 * defects that triage found in a campaign's crashes.  What a campaign never saw is not here.
 *
 *     firsts_bench(&f, "DIR", NULL, &e);     // contenders, CPU seconds
 *     firsts_study(&f, &study, &e);          // the same by the clock; trial i is campaign i
 *     firsts_free(&f);
 */
#ifndef CAROL_ANALYZE_FIRST_H
#define CAROL_ANALYZE_FIRST_H

#include "analyze/study.h"

struct trial {
    size_t target, contender;
    double length_s;
    bool known; /* it has a result, or triage looked at its crashes, or it has none */
};

struct first_trigger {
    size_t trial, target;
    char bug[24];
    double at_s;
};

struct firsts {
    struct strv targets, contenders;
    struct trial *trials;
    size_t n_trials;
    struct first_trigger *v;
    size_t n, cap;
    const char *clock; /* what the times are, in words */
};

/* only: these contenders; NULL or empty: all. */
CAROL_MUST_CHECK int firsts_bench(struct firsts *f, const char *dir, const struct strv *only,
                                  struct err *e);
/* By the clock: of the result.json beside a campaign when there is one, else of its defects. */
CAROL_MUST_CHECK int firsts_study(struct firsts *f, const struct study *s, struct err *e);
void firsts_free(struct firsts *f);

#endif
