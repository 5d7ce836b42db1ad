/* cases: the crashes and hangs of a campaign with what is known of each, and the defects they belong to.
 *
 *     struct cases c = {0};
 *     cases_load(&c, store, build, &e);        // every crash and hang, and the rows of these builds about them
 *     cases_group(&c, store, &e);              // their defects as they are now; pointers to groups die
 *     ... case_to_try(&c, group) ... case_to_shrink(&c, group) ...
 *     cases_free(&c);
 *
 * It chooses between inputs of one defect.  Runs nothing, writes nothing. */
#ifndef CAROL_TRIAGE_CASES_H
#define CAROL_TRIAGE_CASES_H

#include "store/store.h"
#include "triage/report.h"

#define CONFIRM_TRIES 3 /* inputs of one defect that are tried on the plain build */

/* A crash or hang. */
struct item {
    int64_t id;
    bool hang, done, tried; /* it has a row of these builds; it was tried on the plain build */
    enum triage_outcome outcome;
    size_t size;
    int arm, signal;
    char defect[BUCKET_LEN]; /* "": none */
    int asan_runs, asan_hits, plain_runs, plain_hits;
};

/* A defect on its way. */
struct group {
    char id[BUCKET_LEN];
    bool hang, confirmed, busy, minimised;
    int tries;
};

struct cases {
    const char *build;  /* must live */
    struct item *items; /* by id */
    size_t n, cap;
    struct group *groups;
    size_t n_groups, cap_groups;
};

CAROL_MUST_CHECK int cases_load(struct cases *c, struct store *s, const char *build, struct err *e);
CAROL_MUST_CHECK int cases_group(struct cases *c, struct store *s, struct err *e);
void cases_free(struct cases *c);
struct item *cases_find(struct cases *c, int64_t crash); /* NULL: there is none */

/* Do its runs confirm it? */
bool case_is_sure(const struct item *i);
/* The smallest input of a defect that wants confirming and was not tried; NULL: none. */
struct item *case_to_try(struct cases *c, const struct group *g);
/* The input of a defect that wants minimising: sure, then small; nothing that fails only sometimes.  NULL: none. */
struct item *case_to_shrink(struct cases *c, const struct group *g);

#endif
