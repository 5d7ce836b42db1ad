/* explain_turn: one decision on one screen.  Reads nothing and asks nobody. */
#include "cli/explain.h"

#include <math.h>
#include <stdio.h>

#define ARMS_ABREAST 6 /* in one table: a line of 100 columns */

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void table_head(const struct journal *j, const struct decision *d, int from, int to)
{
    printf("\n%-21s", "");
    for (int i = from; i < to; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", i == d->choice ? "*" : "", j->arms[i]);
        printf("%13.13s", name);
    }
    printf("\n");
    if (!d->dropped)
        return;
    printf("%-21s", "");
    for (int i = from; i < to; i++)
        printf("%13s", decision_may(d, i) ? "" : "dropped");
    printf("\n");
}

static bool is_standardised(const struct decision *d)
{
    for (int i = 0; i < d->n_arms; i++)
        for (int k = 0; k < SIGNAL_COUNT; k++)
            if (d->arm[i].standardised[k] != 0)
                return true;
    return false;
}

/* At most six characters. */
static const char *brief(double v, char out[16])
{
    double size = fabs(v);
    snprintf(out, 16, size == 0 ? "%.0f" : size < 0.001 ? "%.0e" : size < 10 ? "%.3f" : "%.3g", v);
    return out;
}

static void signal_rows(const struct decision *d, int from, int to)
{
    bool both = is_standardised(d);
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        printf("%-21s", signal_name((enum signal_id)k));
        for (int i = from; i < to; i++) {
            const struct decision_arm *a = &d->arm[i];
            char text[16];
            if (both)
                printf(" %6s %+5.2f", brief(a->signals[k], text), a->standardised[k]);
            else
                printf("%13.4g", a->signals[k]);
        }
        printf("\n");
    }
}

static void number_rows(const struct sched_ops *ops, const struct decision *d, int from, int to)
{
    static const size_t at[] = {
        offsetof(struct decision_arm, mean), offsetof(struct decision_arm, width),
        offsetof(struct decision_arm, noise), offsetof(struct decision_arm, draw)};
    for (int k = 0; k < 4; k++) {
        if (!ops->columns[k])
            continue;
        printf("%-21.21s", ops->columns[k]);
        for (int i = from; i < to; i++)
            printf("%13.4g", *(const double *)(const void *)((const char *)&d->arm[i] + at[k]));
        printf("\n");
    }
}

static void print_tables(const struct journal *j, const struct decision *d)
{
    for (int from = 0; from < d->n_arms; from += ARMS_ABREAST) {
        int to = from + ARMS_ABREAST < d->n_arms ? from + ARMS_ABREAST : d->n_arms;
        table_head(j, d, from, to);
        signal_rows(d, from, to);
        number_rows(j->ops, d, from, to);
    }
}

static void print_without(const struct journal *j, const struct explained *x)
{
    int n = 0;
    for (int k = 0; k < SIGNAL_COUNT; k++)
        if (x->without[k] != x->d.choice && x->without[k] >= 0)
            printf("%s%s: %s", n++ ? ", " : "with one signal at its mean it would have been: ",
                   signal_name((enum signal_id)k), j->arms[x->without[k]]);
    printf("%s\n", n ? ""
                     : "no signal alone decided it: with any of them at its mean the choice "
                       "is the same");
}

static void print_outcome(const struct store_turn *t)
{
    printf("what came of it: ");
    if (t->state == TURN_RUNNING || t->state == TURN_PARKED) {
        printf("not known yet, it is %s\n",
               t->state == TURN_RUNNING ? "running" : "being measured");
        return;
    }
    if (t->state == TURN_VOID) {
        printf("its supervisor was killed; %u inputs were kept, nothing was learned from it\n",
               t->inputs);
        return;
    }
    printf("reward %.4g (raw %.4g), %u new edges, %u inputs, %u crashes, %llu executions in "
           "%.1f s%s%s\n",
           t->reward, t->raw, t->new_edges, t->inputs, t->crashes, (unsigned long long)t->execs,
           seconds(t->active_ns), t->died ? "; it died: " : "", t->died ? t->why : "");
}

void explain_turn_text(const struct journal *j, const struct explained *x, const char *why)
{
    const struct decision *d = &x->d;
    int64_t turn_ns = d->turn_ns ? d->turn_ns : j->o.turn_ns;
    printf("%sturn %llu at %.1f s on worker %d, %s: %s for %.4g s\n",
           j->simulated ? "simulated: " : "", (unsigned long long)d->t, seconds(d->now_ns),
           d->worker, j->o.scheduler, d->choice < 0 ? "nobody" : j->arms[d->choice],
           seconds(turn_ns));
    print_tables(j, d);
    if (is_standardised(d))
        printf("(signals: as measured, then standardised)\n");
    printf("\nwhy: %s\n", why);
    if (x->asked)
        print_without(j, x);
    print_outcome(&x->row);
}
