/* context: the 15 signals of every fuzzer, a pure fold over dispatches and completed turns (METHOD §7).
 *
 * Signals are latched when a fuzzer's turn completes, except time_since_run and elapsed_frac, which
 * are computed at the moment of reading.  Times are campaign nanoseconds (0 = start). */
#ifndef CAROL_CONTEXT_CONTEXT_H
#define CAROL_CONTEXT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#define CONTEXT_WINDOW 84
#define CONTEXT_MAX_ARMS 64

/* One row per signal: identifier, name, in the order of METHOD §7. */
#define CONTEXT_SIGNALS(X)                                                                         \
    X(WIN_MEAN, "win_mean")                                                                        \
    X(WIN_VAR, "win_var")                                                                          \
    X(COV_VELOCITY, "cov_velocity")                                                                \
    X(SLOPE, "slope")                                                                              \
    X(MK_Z, "mk_z")                                                                                \
    X(HORIZON, "horizon_ratio")                                                                    \
    X(HORIZON2, "horizon2_ratio")                                                                  \
    X(HORIZON8, "horizon8_ratio")                                                                  \
    X(SINCE_IMPROVE, "rounds_since_improve")                                                       \
    X(SINCE_RUN, "time_since_run")                                                                 \
    X(ELAPSED, "elapsed_frac")                                                                     \
    X(RARITY, "g_rarity")                                                                          \
    X(SEC, "g_sec")                                                                                \
    X(BUG, "g_bug")                                                                                \
    X(UNC, "ctx_unc")

enum signal_id {
#define CONTEXT_ENUM(id, name) SIGNAL_##id,
    CONTEXT_SIGNALS(CONTEXT_ENUM)
#undef CONTEXT_ENUM
        SIGNAL_COUNT
};
const char *signal_name(enum signal_id s);

struct context_settings {
    int64_t budget_ns;   /* campaign budget; elapsed_frac stays at 1 beyond it */
    int64_t velocity_ns; /* the 120 s window of cov_velocity, scaled by T_I/120 */
};

struct context_outcome {
    int64_t end_ns; /* when the turn was evaluated */
    double reward;  /* normalised */
    uint32_t new_edges;
    double rarity, sec; /* struct gain */
    uint32_t crashes;
};

struct context; /* opaque */

struct context *context_new(int n_arms, const struct context_settings *s);
void context_free(struct context *c);
/* The campaign's budget changed (a resume with another -d). */
void context_set_budget(struct context *c, int64_t budget_ns);
void context_dispatched(struct context *c, int arm, int64_t now_ns);
void context_completed(struct context *c, int arm, const struct context_outcome *o);
/* A dispatched turn that will never complete (void after a killed supervisor). */
void context_voided(struct context *c, int arm);
void context_read(const struct context *c, int arm, int64_t now_ns, double out[SIGNAL_COUNT]);

#endif
