/* order: the campaigns of a suite in the order in which they are run, and which of them are done.
 *
 * Trial by trial, so that whatever is there when somebody stops it is balanced; within a trial in an order drawn
 * from the suite's seed, so that nobody always runs at the same time of day.  A campaign is done when its
 * result.json is there. */
#ifndef CAROL_BENCH_ORDER_H
#define CAROL_BENCH_ORDER_H

#include "base/err.h"
#include "bench/suite.h"

#include <stdbool.h>
#include <stddef.h>

struct planned {
    size_t target, contender; /* of the suite */
    int trial;                /* from 1 */
    char *dir;                /* OUT/campaigns/TARGET,CONTENDER,TRIAL */
    bool done, taken;
    bool elsewhere; /* not ours to run: order_part, order_leave_out */
    int attempts;
    double first_ratio;
};

struct order {
    struct planned *v;
    size_t n, done;
};

/* A result in OUT that belongs to another definition, or is damaged, is refused (exit 2). */
CAROL_MUST_CHECK int order_make(struct order *p, const struct suite *s, struct err *e);
/* Leaves every parts-th campaign, from number `part` (1..parts) on; the others are run elsewhere.  Returns how many of
 * those are not done here. */
size_t order_part(struct order *p, size_t part, size_t parts);
/* Leaves the campaigns of a target that cannot be run here.  Returns how many were ours to run. */
size_t order_leave_out(struct order *p, size_t target);
/* Is a campaign of this target left to be run here? */
bool order_wants(const struct order *p, size_t target);
/* The first that is neither done nor taken nor elsewhere; NULL: none. */
struct planned *order_next(struct order *p);
void order_free(struct order *p);

#endif
