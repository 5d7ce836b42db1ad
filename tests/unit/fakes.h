/* fakes: fuzzers, an evaluator and a target that exist only as rules, on virtual time.
 *
 * The target is a chain of edges; an input is a depth (two bytes) and covers edges 0..depth.  An arm can
 * go one edge deeper only where depth % arms is its own number, so no arm gets far without what the
 * others found.  Inputs whose depth is a multiple of 97 crash.  Fake instances keep their corpus in a
 * file in their directory, so a campaign can be dropped at any moment and resumed. */
#ifndef CAROL_TESTS_FAKES_H
#define CAROL_TESTS_FAKES_H

#include "campaign/campaign.h"

#define FAKE_EDGES 3000

struct fakes {
    int n_arms;
    struct table table;
    int dies;         /* this arm dies in every turn; -1: none */
    int lost_answers; /* so many deliveries arrive but report a failure, as if killed before the commit */
    int bad_reads;    /* so many harvests with finds fail after having read them */
    uint64_t imports; /* delivered to fake instances, all */
    uint64_t doubles; /* delivered to the same instance twice: must stay 0 */
};

void fakes_init(struct fakes *f, int n_arms);
void fakes_free(struct fakes *f);
/* An env on this loop. */
struct campaign_env fakes_env(struct fakes *f, struct loop *l);

#endif
