/* contextual: what its three files share (choosing and learning, saved state, words).  Only they include it. */
#ifndef CAROL_SCHED_CONTEXTUAL_H
#define CAROL_SCHED_CONTEXTUAL_H

#include "sched/features.h"
#include "sched/linear.h"
#include "sched/project.h"

struct contextual_opts {
    double ridge, explore, gamma, sigma, clamp;
    int context, form, models, width; /* which word of the option's choices */
    int rank, columns, warmup;
};
enum { CONTEXT_FULL, CONTEXT_INTERCEPT };
enum { MODELS_OWN, MODELS_SHARED };
enum { WIDTH_OWN, WIDTH_COMMON };

struct contextual_arm {
    struct standard standard; /* its n: completed turns */
    struct linear model;      /* of the first arm only when all share one */
};

/* The whole state, and nothing else, is in here and in the projection. */
struct contextual {
    struct sched base;
    struct contextual_opts o;
    int order[SCHED_MAX_ARMS]; /* of the warm-up */
    struct rng noise;          /* also breaks ties */
    struct features features;
    struct project *project; /* NULL: rank=0 */
    uint64_t dispatched[SCHED_MAX_ARMS];
    struct contextual_arm arm[];
};

static inline int contextual_models(const struct contextual *c)
{
    return c->o.models == MODELS_SHARED ? 1 : c->base.n_arms;
}

static inline size_t contextual_size(int n_arms)
{
    return sizeof(struct contextual) + (size_t)n_arms * sizeof(struct contextual_arm);
}

void contextual_save(const struct sched *s, struct buf *out);
CAROL_MUST_CHECK int contextual_load(struct sched *s, const void *data, size_t n, struct err *e);
/* Nothing was drawn for d: it was a warm-up turn, or nothing could run. */
bool contextual_undrawn(const struct decision *d);
void contextual_why(const struct decision *d, const char *const *arms, struct buf *out);

#endif
