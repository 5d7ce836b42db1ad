/* context: the fold of dispatches and outcomes into the 15 signals.  Chooses nothing, reads no
 * clock; the rules are METHOD §7. */
#include "context/context.h"

#include "base/det.h"
#include "base/die.h"
#include "stats/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EMA 0.3
_Static_assert(CONTEXT_WINDOW <= SERIES_SHORT, "no signal allocates");

/* Edges credited by one evaluation, kept while it is inside the velocity window. */
struct credit {
    int64_t end_ns;
    uint32_t edges;
};

struct arm {
    double window[CONTEXT_WINDOW]; /* oldest first */
    int m;                         /* values in the window */
    uint64_t completed;
    uint64_t running;       /* dispatched, neither completed nor voided */
    uint64_t since_improve; /* own completed turns since the last that added an edge */
    int64_t last_end_ns;
    struct credit *credits;
    size_t n_credits, cap_credits;
    double g_rarity, g_sec, g_bug;
    double latched[SIGNAL_COUNT];
};

struct context {
    struct context_settings settings;
    int n_arms;
    struct arm arms[CONTEXT_MAX_ARMS];
};

static const char *const names[] = {
#define CONTEXT_NAME(id, name) name,
    CONTEXT_SIGNALS(CONTEXT_NAME)
#undef CONTEXT_NAME
};

const char *signal_name(enum signal_id s)
{
    return names[s];
}

struct context *context_new(int n_arms, const struct context_settings *s)
{
    BUG_ON(n_arms < 1 || n_arms > CONTEXT_MAX_ARMS);
    struct context *c = xcalloc(1, sizeof *c);
    c->settings = *s;
    c->n_arms = n_arms;
    for (int i = 0; i < n_arms; i++)
        c->arms[i].latched[SIGNAL_UNC] = 1;
    return c;
}

void context_free(struct context *c)
{
    if (!c)
        return;
    for (int i = 0; i < c->n_arms; i++)
        free(c->arms[i].credits);
    free(c);
}

void context_set_budget(struct context *c, int64_t budget_ns)
{
    c->settings.budget_ns = budget_ns;
}

void context_dispatched(struct context *c, int arm, int64_t now_ns)
{
    (void)now_ns;
    c->arms[arm].running++;
}

void context_voided(struct context *c, int arm)
{
    if (c->arms[arm].running)
        c->arms[arm].running--;
}

/* METHOD R39: forget what left (T - window, T], then remember this evaluation. */
static void push_credit(struct arm *a, int64_t window_ns, uint32_t edges)
{
    size_t gone = 0;
    while (gone < a->n_credits && a->credits[gone].end_ns <= a->last_end_ns - window_ns)
        gone++;
    a->n_credits -= gone;
    if (gone)
        memmove(a->credits, a->credits + gone, a->n_credits * sizeof *a->credits);
    if (!edges)
        return;
    if (a->n_credits == a->cap_credits) {
        a->cap_credits = a->cap_credits ? 2 * a->cap_credits : 16;
        a->credits = xrealloc(a->credits, a->cap_credits * sizeof *a->credits);
    }
    a->credits[a->n_credits++] = (struct credit){.end_ns = a->last_end_ns, .edges = edges};
}

static double velocity(const struct arm *a, int64_t window_ns)
{
    double edges = 0;
    for (size_t i = 0; i < a->n_credits; i++)
        edges += a->credits[i].edges;
    int64_t span = window_ns < a->last_end_ns ? window_ns : a->last_end_ns;
    double seconds = (double)span / 1e9;
    return 1 - det_exp(-edges / (seconds < 1 ? 1 : seconds));
}

/* METHOD R38. */
static double horizon(const struct arm *a, int h)
{
    double mean = stats_mean(a->window, a->m);
    if (mean == 0)
        return 0;
    int n = h < a->m ? h : a->m;
    return stats_mean(a->window + a->m - n, n) / mean;
}

static void latch(struct arm *a, int64_t window_ns)
{
    double *x = a->latched;
    x[SIGNAL_WIN_MEAN] = stats_mean(a->window, a->m);
    x[SIGNAL_WIN_VAR] = stats_variance(a->window, a->m);
    x[SIGNAL_COV_VELOCITY] = velocity(a, window_ns);
    x[SIGNAL_SLOPE] = stats_slope(a->window, a->m);
    x[SIGNAL_MK_Z] = det_tanh(stats_mann_kendall(a->window, a->m));
    x[SIGNAL_HORIZON] = horizon(a, 4);
    x[SIGNAL_HORIZON2] = horizon(a, 2);
    x[SIGNAL_HORIZON8] = horizon(a, 8);
    x[SIGNAL_SINCE_IMPROVE] = (double)a->since_improve / CONTEXT_WINDOW;
    x[SIGNAL_RARITY] = a->g_rarity;
    x[SIGNAL_SEC] = a->g_sec;
    x[SIGNAL_BUG] = a->g_bug;
    x[SIGNAL_UNC] = 1 / sqrt(1 + (double)a->completed);
}

static double ema(double g, double x)
{
    return (1 - EMA) * g + EMA * x;
}

void context_completed(struct context *c, int arm, const struct context_outcome *o)
{
    struct arm *a = &c->arms[arm];
    bool improved = o->new_edges > 0;
    if (a->running)
        a->running--;
    a->completed++;
    a->since_improve = improved ? 0 : a->since_improve + 1;
    if (o->end_ns > a->last_end_ns)
        a->last_end_ns = o->end_ns;
    if (a->m == CONTEXT_WINDOW)
        memmove(a->window, a->window + 1, (size_t)--a->m * sizeof *a->window);
    a->window[a->m++] = o->reward;
    push_credit(a, c->settings.velocity_ns, o->new_edges);
    a->g_rarity = ema(a->g_rarity, improved ? o->rarity : 0);
    a->g_sec = ema(a->g_sec, improved ? o->sec : 0);
    a->g_bug = ema(a->g_bug, 1 - det_exp(-(double)o->crashes));
    latch(a, c->settings.velocity_ns);
}

/* METHOD R41. */
static double since_run(const struct arm *a, int64_t now_ns)
{
    if (a->running)
        return 0;
    if (!a->completed || now_ns <= 0)
        return 1;
    int64_t waited = now_ns - a->last_end_ns;
    return waited > 0 ? (double)waited / (double)now_ns : 0;
}

void context_read(const struct context *c, int arm, int64_t now_ns, double out[SIGNAL_COUNT])
{
    const struct arm *a = &c->arms[arm];
    memcpy(out, a->latched, sizeof a->latched);
    out[SIGNAL_SINCE_RUN] = since_run(a, now_ns);
    out[SIGNAL_ELAPSED] = now_ns >= c->settings.budget_ns ? 1
                          : now_ns > 0 ? (double)now_ns / (double)c->settings.budget_ns
                                       : 0;
}
