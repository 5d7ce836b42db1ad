/* bandfuzz: Thompson sampling from one Beta posterior per fuzzer, reset at fixed times: our reading of
 * BandFuzz, whose scheduler is not public (METHOD §12).  It has no warm-up: the prior does that. */
#include "base/det.h"
#include "base/die.h"
#include "sched/params.h"
#include "sched/schedulers.h"
#include "sched/wire.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { UPDATE_FRACTIONAL, UPDATE_BERNOULLI };
enum { PHI_ALPHA, PHI_BETA, PHI_EPOCH };

struct opts {
    int update;
    int64_t reset_ns;
};

static const struct param params[] = {
    {"update", PARAM_CHOICE, offsetof(struct opts, update), UPDATE_FRACTIONAL, 0, 0,
     "fractional|bernoulli", "a reward r counts as r successes, or as one with probability r"},
    {"reset", PARAM_TIME, offsetof(struct opts, reset_ns), 7200, 0, 1e9, NULL,
     "campaign time after which all posteriors start again; 0: never"},
    {0},
};

struct posterior {
    double alpha, beta; /* both at least 1 */
};

struct bandfuzz {
    struct sched base;
    struct opts opts;
    struct rng draws, coins;
    int64_t epoch; /* resets so far by the clock */
    struct posterior arm[SCHED_MAX_ARMS];
};

static void start_again(struct bandfuzz *b)
{
    for (int i = 0; i < SCHED_MAX_ARMS; i++)
        b->arm[i] = (struct posterior){1, 1};
}

static int bandfuzz_create(struct sched **out, const char *arg, const struct sched_settings *st,
                           struct err *e)
{
    (void)arg;
    struct bandfuzz *b = xcalloc(1, sizeof *b);
    int rc = params_read(params, &b->opts, "bandfuzz", st, e);
    if (rc < 0) {
        free(b);
        return rc;
    }
    b->base.opts = &b->opts;
    rng_stream(&b->draws, st->seed, "bandfuzz");
    rng_stream(&b->coins, st->seed, "bandfuzz coins");
    start_again(b);
    *out = &b->base;
    return 0;
}

/* Turns in flight are ignored: they will update the new posterior (METHOD R64). */
static void bandfuzz_tick(struct sched *s, int64_t now_ns, const struct ledger *map)
{
    struct bandfuzz *b = (struct bandfuzz *)s;
    (void)map;
    int64_t epoch = b->opts.reset_ns ? now_ns / b->opts.reset_ns : 0;
    if (epoch <= b->epoch)
        return;
    b->epoch = epoch;
    start_again(b);
}

/* Marsaglia and Tsang's method, for a shape of at least 1. */
static double gamma_draw(struct rng *r, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = rng_normal(r), v = 1 + c * x, u = 1 - rng_unit(r);
        if (v <= 0)
            continue;
        v = v * v * v;
        if (u < 1 - 0.0331 * x * x * x * x || det_log(u) < 0.5 * x * x + d * (1 - v + det_log(v)))
            return d * v;
    }
}

static double beta_draw(struct rng *r, const struct posterior *p)
{
    double x = gamma_draw(r, p->alpha), y = gamma_draw(r, p->beta);
    return x / (x + y);
}

static void bandfuzz_pick(struct sched *s, struct decision *d)
{
    struct bandfuzz *b = (struct bandfuzz *)s;
    for (int i = 0; i < s->n_arms; i++) {
        const struct posterior *p = &b->arm[i];
        struct decision_arm *row = &d->arm[i];
        double n = p->alpha + p->beta;
        row->phi[PHI_ALPHA] = p->alpha;
        row->phi[PHI_BETA] = p->beta;
        row->phi[PHI_EPOCH] = (double)b->epoch;
        row->mean = p->alpha / n;
        row->width = sqrt(p->alpha * p->beta / (n * n * (n + 1)));
        row->draw = beta_draw(&b->draws, p);
    }
    d->choice = choose_largest(d, &b->draws);
}

static void bandfuzz_learn(struct sched *s, const struct decision *d, const struct sched_outcome *o)
{
    struct bandfuzz *b = (struct bandfuzz *)s;
    double r = o->reward;
    if (d->choice < 0)
        return;
    BUG_ON(!(r >= 0 && r <= 1));
    if (b->opts.update == UPDATE_BERNOULLI)
        r = rng_unit(&b->coins) < r;
    b->arm[d->choice].alpha += r;
    b->arm[d->choice].beta += 1 - r;
}

static void explain_arm(const struct decision_arm *row, const char *name, struct buf *out)
{
    buf_printf(out, "%s drew %.4f from its posterior Beta(%.2f, %.2f), mean %.4f, sd %.4f", name,
               row->draw, row->phi[PHI_ALPHA], row->phi[PHI_BETA], row->mean, row->width);
}

static void bandfuzz_why(const struct decision *d, const char *const *arms, struct buf *out)
{
    int second = choose_second(d);
    if (d->choice < 0)
        return;
    explain_arm(&d->arm[d->choice], arms[d->choice], out);
    if (second >= 0) {
        buf_str(out, ".  Next came: ");
        explain_arm(&d->arm[second], arms[second], out);
    }
    buf_printf(out, ".  The posteriors have been reset %g times", d->arm[d->choice].phi[PHI_EPOCH]);
}

static void bandfuzz_save(const struct sched *s, struct buf *out)
{
    const struct bandfuzz *b = (const struct bandfuzz *)s;
    wire_put_rng(out, &b->draws);
    wire_put_rng(out, &b->coins);
    wire_put_u64(out, (uint64_t)b->epoch);
    for (int i = 0; i < s->n_arms; i++) {
        wire_put_double(out, b->arm[i].alpha);
        wire_put_double(out, b->arm[i].beta);
    }
}

static void bandfuzz_free(struct sched *s)
{
    free(s);
}

const struct sched_ops sched_bandfuzz = {
    .name = "bandfuzz",
    .summary = "Thompson sampling: a Beta posterior per fuzzer, reset every two hours",
    .params = params,
    .columns = {"posterior mean", "posterior sd", NULL, "draw"},
    .predicts = true,
    .create = bandfuzz_create,
    .pick = bandfuzz_pick,
    .tick = bandfuzz_tick,
    .learn = bandfuzz_learn,
    .why = bandfuzz_why,
    .save = bandfuzz_save,
    .free = bandfuzz_free,
};
