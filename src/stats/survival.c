/* survival: Kaplan-Meier curves, what is read off them, and the log-rank test. */
#include "stats/survival.h"

#include "base/die.h"
#include "stats/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
    double x = ((const struct lifetime *)a)->time, y = ((const struct lifetime *)b)->time;
    return (x > y) - (x < y);
}

void stats_km(const struct lifetime *x, size_t n, struct km *k)
{
    struct lifetime *sorted = xmemdup(x, n * sizeof *x);
    double survival = 1;
    qsort(sorted, n, sizeof *sorted, by_time);
    *k = (struct km){.step = xmalloc(n * sizeof *k->step), .last = sorted[n - 1].time};
    for (size_t i = 0; i < n;) {
        struct km_step s = {.time = sorted[i].time, .at_risk = n - i};
        for (; i < n && sorted[i].time == s.time; i++)
            s.events += sorted[i].event;
        s.censored = s.at_risk - s.events - (n - i);
        survival *= 1 - (double)s.events / (double)s.at_risk;
        s.survival = survival;
        k->events += s.events;
        k->step[k->n++] = s;
    }
    free(sorted);
}

void km_free(struct km *k)
{
    free(k->step);
    *k = (struct km){0};
}

double stats_km_median(const struct km *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->step[i].events && k->step[i].survival <= 0.5 + 1e-12)
            return k->step[i].time;
    return NAN;
}

double stats_km_rmst(const struct km *k, double until)
{
    double area = 0, before = 0, height = 1;
    for (size_t i = 0; i < k->n && k->step[i].time < until; i++) {
        area += height * (k->step[i].time - before);
        before = k->step[i].time;
        height = k->step[i].survival;
    }
    return area + height * (until - before);
}

/* The step of the curve at this time or the next one, from *i on: who of the group is still at risk. */
static const struct km_step *step_at(const struct km *k, double time, size_t *i)
{
    static const struct km_step none;
    while (*i < k->n && k->step[*i].time < time)
        ++*i;
    return *i < k->n ? &k->step[*i] : &none;
}

void stats_logrank(const struct lifetime *x, size_t n, const struct lifetime *y, size_t m,
                   struct logrank *r)
{
    struct lifetime *all = xmalloc((n + m) * sizeof *all);
    struct km pooled, first;
    double variance = 0;
    memcpy(all, x, n * sizeof *x);
    memcpy(all + n, y, m * sizeof *y);
    stats_km(all, n + m, &pooled);
    stats_km(x, n, &first);
    *r = (struct logrank){0};
    for (size_t i = 0, j = 0; i < pooled.n; i++) {
        const struct km_step *s = &pooled.step[i];
        double risk = (double)s->at_risk, events = (double)s->events;
        double share = (double)step_at(&first, s->time, &j)->at_risk / risk;
        r->expected += events * share;
        if (s->at_risk > 1)
            variance += events * share * (1 - share) * (risk - events) / (risk - 1);
    }
    double d = (double)first.events - r->expected;
    r->chi2 = variance > 0 ? d * d / variance : 0;
    r->p = tail_chi2(r->chi2, 1);
    km_free(&first);
    km_free(&pooled);
    free(all);
}
