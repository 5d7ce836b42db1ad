/* rate: what its three files share (choosing and learning, saved state, words).  Only they include it. */
#ifndef CAROL_SCHED_RATE_H
#define CAROL_SCHED_RATE_H

#include "sched/features.h"
#include "sched/linear.h"

struct rate_opts {
    double half, evidence, slowest, noise, idle, cap, prior, spread, fade, explore, ridge, clamp;
    int context; /* which word of the option's choices */
};
enum { RATE_NONE, RATE_FULL };

enum {                   /* what phi holds: the parts of an estimate */
       RATE_PHI_LEVEL,   /* log rate before its signals count */
       RATE_PHI_TURNS,   /* effective number of turns behind it; 0: it has none */
       RATE_PHI_FLYING,  /* its turns in flight */
       RATE_PHI_IDLE,    /* turns of the campaign since its last */
       RATE_PHI_SIGNALS, /* what its signals add */
};

struct rate_arm {                 /* sums over its completed turns, recent ones weighing more */
    double turns;                 /* of the weights; 0: it has completed none */
    double edges, seconds;        /* of new edges and of slot time */
    double level;                 /* the log rate that follows from them */
    uint64_t last;                /* turns of the campaign when its last completed */
    double turn_level;            /* mean of the log rates of single turns; context=full */
    double signals[SIGNAL_COUNT]; /* mean of what they were at its dispatches; context=full */
};

struct rate_flight { /* one per worker */
    uint64_t t;      /* number of the decision; 0: none */
    int arm;
};

/* The whole state, and nothing else, is in here. */
struct rate {
    struct sched base;
    struct rate_opts o;
    double turn_s; /* T_I */
    int workers;
    struct rng rng;
    uint64_t completed; /* turns of the campaign */
    double best;        /* highest log rate that a fuzzer reached, faded since (METHOD R90) */
    struct rate_arm arm[SCHED_MAX_ARMS];
    struct standard standard; /* of the signals, all fuzzers together; context=full */
    struct linear factors;    /* of the log rate on signals; context=full */
    struct rate_flight flight[];
};

static inline size_t rate_size(int workers)
{
    return sizeof(struct rate) + (size_t)workers * sizeof(struct rate_flight);
}

/* The logarithm of new edges per second, as METHOD R88 has it. */
double rate_log(const struct rate *r, double edges, double seconds);
void rate_save(const struct sched *s, struct buf *out);
void rate_why(const struct decision *d, const char *const *arms, struct buf *out);

#endif
