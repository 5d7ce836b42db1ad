/* status: the state of a campaign as people and programs see it: the tally of its turns, and gauges that are
 * no fold over them. */
#ifndef CAROL_JOURNAL_STATUS_H
#define CAROL_JOURNAL_STATUS_H

#include "journal/tally.h"
#include "store/store.h"

#define GAUGE_SLOTS 256 /* the most a campaign has */

/* What a running campaign keeps beside its fold, and what the store can tell of one. */
struct gauges {
    int64_t elapsed_ns;
    uint64_t seeds, crashes, hangs; /* distinct inputs in the store */
    uint64_t defects;               /* distinct ones among the crashes that were looked into */
    uint64_t triaged;               /* crashes and hangs that were looked into */
    uint64_t confirmed;             /* defects */
    uint32_t first_defects[CONTEXT_MAX_ARMS]; /* that a fuzzer was the first to show */
    char last_defect[160];                    /* the newest one of this life, in words; "": none */
    int n_slots;
    struct store_slot slot[GAUGE_SLOTS];
    uint64_t dropped; /* a bit per fuzzer that takes no part */
    char why[CONTEXT_MAX_ARMS][128];
};

/* The record's clock was set to that: it never goes back. */
static inline void gauge_clock(struct gauges *g, int64_t elapsed_ns)
{
    if (elapsed_ns > g->elapsed_ns)
        g->elapsed_ns = elapsed_ns;
}

static inline bool gauge_dropped(const struct gauges *g, int arm)
{
    return g->dropped >> arm & 1;
}

struct status {
    const char *state; /* running, ended, interrupted */
    bool simulated;
    struct tally tally;
    struct gauges gauges;
    uint32_t round; /* the last turn in the tally, of one that was read from a record */
};

/* Of the campaign in that directory, also while it runs. */
CAROL_MUST_CHECK int status_load(struct status *st, const char *out, struct err *e);
/* What s has beyond what st knows already (at first: nothing, all zero).  Costs what is new. */
CAROL_MUST_CHECK int status_update(struct status *st, struct store *s, const char *out,
                                   struct err *e);
/* Seeds, crashes, hangs, time, slots and how many defects from the store; triage/state.h has the rest of what is
 * known of defects. */
CAROL_MUST_CHECK int gauges_load(struct gauges *g, struct store *s, struct err *e);

#endif
