/* story: one campaign read whole: every decision with the signals of all fuzzers, and every turn that was learned
 * from, in the order in which things happened.
 *
 *     story_load(&l, &camp, &e);
 *     for (size_t i = 0; i < l.n_turns; i++) ... story_x(&l, &l.turns[i]) ... l.turns[i].reward
 *     story_free(&l);
 *
 * x is what a model sees of a fuzzer's signals (METHOD §9, step 1): standardised by the running mean and variance of
 * that fuzzer in that campaign, as of the decision, and clamped to +-5.  It is computed here, whatever scheduler
 * ran.  Void and late turns are left out: nothing was learned from them. */
#ifndef CAROL_ANALYZE_STORY_H
#define CAROL_ANALYZE_STORY_H

#include "base/err.h"
#include "reward/reward.h"
#include "sched/sched.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORY_CLAMP 5.0

/* What a campaign is. */
struct camp {
    char *out;
    size_t target;   /* place in the study's targets */
    char *build_id;  /* of the neutral build */
    char *edges;     /* how many that has */
    char *scheduler; /* name */
    char *params;    /* its options; NULL: none */
    char *contender; /* its name in the benchmark, else the scheduler's */
    char *versions;  /* of Carol, its compiler and the fuzzers */
    int arms;        /* fuzzers */
    int workers;
    uint64_t seed;
    int64_t turn_ns, budget_ns, elapsed_ns;
    enum reward_kind reward;
    bool simulated;
    char *result;       /* result.json of `carol bench run` beside it; NULL: none */
    char *bench_target; /* what that calls its target; NULL: there is none */
};

struct story_turn {
    size_t choice; /* place of its decision in choices */
    int arm;
    int64_t end_ns, cost_ns; /* evaluated; slot time */
    double raw, reward;
    uint32_t new_edges, crashes;
    bool died;
};

struct story_choice {
    int64_t id, now_ns;
    int worker, choice; /* choice: the fuzzer that ran */
    uint64_t dropped;
    size_t completed; /* turns that were completed before it */
};

struct story {
    const struct camp *camp;
    int arms;
    struct story_turn *turns; /* in order of completion */
    size_t n_turns, cap_turns;
    struct story_choice *choices;
    size_t n_choices, cap_choices;
    double (*signals)[SIGNAL_COUNT]; /* [choice * arms + arm] */
    double (*x)[SIGNAL_COUNT];
    size_t n_signals, cap_signals, cap_x;
};

/* Refused (exit 2): a journal without decisions, completed turns or signals. */
CAROL_MUST_CHECK int story_load(struct story *l, const struct camp *c, struct err *e);
void story_free(struct story *l);

/* Of the fuzzer whose turn it was, as of its dispatch. */
const double *story_x(const struct story *l, const struct story_turn *t);
/* How many fuzzers could have been chosen. */
int story_able(const struct story *l, const struct story_choice *c);

/* A scheduler asked along the story: what it would have chosen, learning from what happened (METHOD R79). */
struct story_ask {
    const char *scheduler, *params;
    /* After every question; d is the answer, s as it was right after it. */
    void (*decided)(void *arg, size_t choice, const struct sched *s, const struct decision *d);
    void *arg;
};
/* Only for schedulers that read no ledger: not autofz, not legion. */
CAROL_MUST_CHECK int story_replay(const struct story *l, const char *const *arms,
                                  const struct story_ask *a, struct err *e);

#endif
