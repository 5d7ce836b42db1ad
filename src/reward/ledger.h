/* ledger: the campaign-wide neutral coverage map, a pure fold over evaluated inputs in commit order.
 *
 * Per edge: the round and the fuzzer of first cover, and how many evaluated inputs hit it (METHOD §6, R26).
 * Round 0 is the initial seeds, fuzzer -1.  A round is added whole: all inputs of the turn, in order.
 *
 *     struct ledger l;
 *     ledger_init(&l, &table);
 *     ledger_add_seeds(&l, sets, n);                       // round 0
 *     ledger_add_turn(&l, round, fuzzer, sets, n, &gain);  // 1, 2, 3, ... in commit order
 *     raw = reward_raw(REWARD_COVERAGE_INTERVAL, &gain);
 *     reward = reward_normalise(&bounds, raw);
 */
#ifndef CAROL_REWARD_LEDGER_H
#define CAROL_REWARD_LEDGER_H

#include "eval/edges.h"
#include "reward/paths.h"
#include "target/table.h"

#include <stddef.h>
#include <stdint.h>

struct ledger {
    const struct table *table;
    uint32_t covered;      /* edges covered so far */
    uint32_t *first_round; /* LEDGER_NEVER: not covered */
    int16_t *first_fuzzer; /* -1: initial seeds or nobody */
    uint64_t *hits;
    uint64_t no_predecessor;   /* new edges so far for which no covered predecessor was known */
    struct ledger_call *calls; /* learned indirect callers */
    size_t n_calls, cap_calls;
    struct paths paths; /* taken by any input, initial seeds too */
};
#define LEDGER_NEVER UINT32_MAX

/* What one turn added; owns its sets: free with gain_free. */
struct gain {
    struct edges fresh;    /* newly covered edges */
    struct edges touched;  /* distinct edges its inputs hit */
    uint32_t new_paths;    /* sets of edges no input of the campaign had before */
    double interval;       /* sum of t - t_p over fresh */
    double frontier;       /* frontier_branch raw value */
    double rarity_density; /* rarity_density raw value */
    double rarity;         /* mean of 1/ln(2+h_e) over fresh; 0 when none (g_rarity's x) */
    double sec;            /* 1 - exp(-mean memory calls over fresh); 0 when none (g_sec's x) */
};

void ledger_init(struct ledger *l, const struct table *t); /* t must outlive it */
void ledger_free(struct ledger *l);
void ledger_add_seeds(struct ledger *l, const struct edges *sets, size_t n);
void ledger_add_turn(struct ledger *l, uint32_t round, int fuzzer, const struct edges *sets,
                     size_t n, struct gain *g);
void gain_free(struct gain *g);
/* An indirect call seen at run time: caller's block becomes a predecessor of callee's entry.
 * Returns 1 when it was not known before. */
int ledger_learn_call(struct ledger *l, uint32_t caller, uint32_t callee);

#endif
