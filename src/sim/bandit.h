/* bandit: a scheduler played against rewards from a formula instead of a campaign: its contexts and its
 * learning are the real ones, there is no target and nothing to cover.
 *
 *     bandit_new(&b, &settings, &e);
 *     bandit_ask(b, now, &d);             // contexts of every arm; the caller may change signals
 *     bandit_pick(b, &d);                 // d.choice runs from now on
 *     bandit_pay(b, now, &d, reward, n);  // later, perhaps after other picks: what it earned, n new edges
 *     bandit_free(b);
 */
#ifndef CAROL_SIM_BANDIT_H
#define CAROL_SIM_BANDIT_H

#include "sched/sched.h"

#define BANDIT_TURN_NS SCHED_TURN_NS

struct bandit_settings {
    const char *scheduler, *params;
    int n_arms, workers;
    const char *const *arms;
    int64_t budget_ns;
    uint64_t seed;
};

struct bandit;
CAROL_MUST_CHECK int bandit_new(struct bandit **out, const struct bandit_settings *st,
                                struct err *e);
void bandit_free(struct bandit *b);
void bandit_ask(struct bandit *b, int worker, int64_t now_ns, struct decision *d);
void bandit_pick(struct bandit *b, struct decision *d);
void bandit_pay(struct bandit *b, int64_t now_ns, const struct decision *d, double reward,
                uint32_t new_edges);

#endif
