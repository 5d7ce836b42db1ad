/* legion: what its two files share (rounds and choices, saved state).  Only they include it. */
#ifndef CAROL_SCHED_LEGION_H
#define CAROL_SCHED_LEGION_H

#include "sched/deal.h"
#include "sched/legion_counts.h"

struct legion_opts {
    int64_t round_ns, check_ns;
    int units, monitor;
};

struct legion_arm {
    double reward;           /* R: weighted counts of all closed rounds */
    double units;            /* n */
    double spent;            /* units in this round until since_ns */
    uint64_t seen;           /* sum of its counts at the last look of the monitor */
    double exploit, explore; /* q and u; with share they follow from R, n and N */
    double share;
};

struct legion {
    struct sched base;
    struct legion_opts o;
    const struct table *table;
    int workers;
    int64_t turn_ns; /* T_I */
    /* The state. */
    bool begun;     /* round 0 has seen the map */
    uint64_t round; /* from 0 */
    uint64_t looks; /* of the monitor in this round */
    uint64_t ran;   /* bit per arm: completed a turn in this round */
    bool by_share;  /* the cores are as the shares say: not in round 0, nor after a reclaim */
    int64_t from_ns, since_ns;
    double all_units;
    double weight[COUNT_KINDS]; /* of the last closed round, and what they weighted: */
    uint64_t last[SCHED_MAX_ARMS][COUNT_KINDS];
    struct legion_arm arm[SCHED_MAX_ARMS];
    struct legion_counts counts;
    struct deal deal;
};

/* q, u and the share of every arm that can run, from R, n and N. */
void legion_shares(struct legion *l);
void legion_save(const struct sched *s, struct buf *out);
CAROL_MUST_CHECK int legion_load(struct sched *s, const void *data, size_t n, struct err *e);

#endif
