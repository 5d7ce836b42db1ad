/* gauge: counts, rates and rank correlations of one simulated campaign.  Draws nothing. */
#include "sim/gauge.h"

#include "stats/series.h"
#include "stats/trend.h"

#include <math.h>

void gauge_decision(struct gauge *g, int choice, bool after_warmup)
{
    if (after_warmup && g->last >= 0) {
        g->decisions++;
        g->changes += choice != g->last;
    }
    g->last = choice;
}

static int part(double at, int parts)
{
    int i = (int)(at * parts);
    return i < 0 ? 0 : i < parts ? i : parts - 1;
}

void gauge_turn(struct gauge *g, int arm, double at, double raw, double reward)
{
    int half = part(at, 2), tenth = part(at, GAUGE_TENTHS);
    uint32_t before = g->rate[half][0][arm].turns + g->rate[half][1][arm].turns;
    struct gauge_rate *r = &g->rate[half][before & 1][arm];
    r->turns++;
    r->raw += raw;
    g->turns[half]++;
    g->earning[half] += reward > 0;
    g->in_tenth[tenth]++;
    g->reward[tenth] += reward;
}

/* Raw reward per turn; NAN: it had none. */
static double rate_of(struct gauge_rate r)
{
    return r.turns ? r.raw / r.turns : NAN;
}

static struct gauge_rate both(const struct gauge *g, int half, int arm)
{
    const struct gauge_rate *a = &g->rate[half][0][arm], *b = &g->rate[half][1][arm];
    return (struct gauge_rate){a->turns + b->turns, a->raw + b->raw};
}

static void read_decline(const struct gauge *g, int n_arms, struct gauge_reading *r)
{
    double kept[WORLD_MAX_FUZZERS];
    int fell = 0;
    for (int i = 0; i < n_arms; i++) {
        double first = rate_of(both(g, 0, i)), second = rate_of(both(g, 1, i));
        if (!(first > 0) || isnan(second))
            continue;
        kept[r->pairs++] = second / first;
        fell += second < first;
    }
    r->retained = r->pairs ? stats_median(kept, r->pairs) : 0;
    r->falling = r->pairs ? (double)fell / r->pairs : 0;
}

/* Kendall's tau-b over those that have both; false: there are too few, or one side is all ties. */
static bool agreement(const double *x, const double *y, int n, double *tau)
{
    double a[WORLD_MAX_FUZZERS], b[WORLD_MAX_FUZZERS];
    struct kendall k = {.tau = NAN};
    size_t m = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(x[i]) && !isnan(y[i])) {
            a[m] = x[i];
            b[m++] = y[i];
        }
    if (m >= 2)
        stats_kendall(a, b, m, &k);
    *tau = isnan(k.tau) ? 0 : k.tau;
    return !isnan(k.tau);
}

static void read_ranking(const struct gauge *g, int n_arms, struct gauge_reading *r)
{
    double x[2][WORLD_MAX_FUZZERS], part_of[2][2][WORLD_MAX_FUZZERS], own[2];
    for (int i = 0; i < n_arms; i++)
        for (int half = 0; half < 2; half++) {
            x[half][i] = rate_of(both(g, half, i));
            for (int odd = 0; odd < 2; odd++)
                part_of[half][odd][i] = rate_of(g->rate[half][odd][i]);
        }
    r->ranked = agreement(x[0], x[1], n_arms, &r->lasting);
    for (int half = 0; half < 2; half++)
        r->ranked &= agreement(part_of[half][0], part_of[half][1], n_arms, &own[half]);
    r->itself = (own[0] + own[1]) / 2;
}

void gauge_read(const struct gauge *g, int n_arms, struct gauge_reading *r)
{
    *r = (struct gauge_reading){0};
    read_decline(g, n_arms, r);
    read_ranking(g, n_arms, r);
    r->earning = g->turns[1] ? (double)g->earning[1] / g->turns[1] : 0;
    r->changing = g->decisions ? (double)g->changes / g->decisions : 0;
    for (int i = 0; i < GAUGE_TENTHS; i++)
        r->tenth[i] = g->in_tenth[i] ? g->reward[i] / g->in_tenth[i] : 0;
}
