/* tally: counts turns.  Pure. */
#include "journal/tally.h"

#include <string.h>

/* A turn that completes within a second of the moment before the last moves the last one on. */
static void pace_add(struct pace *p, int64_t now_ns, uint64_t execs)
{
    if (p->n == 0)
        p->n = 1; /* nothing at 0 */
    if (now_ns < p->at[p->n - 1].ns)
        now_ns = p->at[p->n - 1].ns; /* turns complete in another order than they end */
    bool soon = p->n > 1 && now_ns - p->at[p->n - 2].ns < INT64_C(1000000000);
    if (!soon && p->n == PACE_MOMENTS)
        memmove(p->at, p->at + 1, (size_t)--p->n * sizeof *p->at);
    if (!soon)
        p->n++;
    p->at[p->n - 1].ns = now_ns;
    p->at[p->n - 1].execs = execs;
}

static double rate(uint64_t execs, int64_t ns)
{
    return ns > 0 ? (double)execs / ((double)ns / 1e9) : 0;
}

double tally_rate(const struct tally *t, int64_t elapsed_ns)
{
    return rate(t->execs, elapsed_ns);
}

double tally_rate_recent(const struct tally *t)
{
    const struct pace *p = &t->pace;
    int last = p->n ? p->n - 1 : 0;
    return rate(p->at[last].execs - p->at[0].execs, p->at[last].ns - p->at[0].ns);
}

void tally_add_turn(struct tally *t, const struct store_turn *row)
{
    struct tally_arm nobody = {0}, *a = row->arm < 0 ? &nobody : &t->arm[row->arm];
    bool is_turn = row->state != TURN_LATE;
    a->turns += is_turn;
    a->execs += row->execs;
    a->cycles += row->cycles;
    a->cycle_ns += row->cycle_ns;
    a->startup_ns += row->startup_ns;
    a->active_ns += row->active_ns;
    a->offered += row->offered;
    a->taken += row->taken;
    a->exports += row->inputs;
    a->first_edges += row->new_edges;
    a->crashes += row->crashes;
    a->hangs += row->hangs;
    a->deaths += row->died;
    if (row->state == TURN_COMMITTED)
        a->last_reward = row->reward;
    t->turns += is_turn;
    t->execs += row->execs;
    t->edges += row->new_edges;
    if (row->new_edges)
        t->last_new_ns = row->end_ns;
    curve_add(&t->curve, row->end_ns, t->edges, t->seed_edges);
    pace_add(&t->pace, row->end_ns, t->execs);
}

double tally_share(const struct tally *t, int arm)
{
    int64_t all = 0;
    for (int a = 0; a < t->n_arms; a++)
        all += t->arm[a].active_ns;
    return all ? (double)t->arm[arm].active_ns / (double)all : 0;
}

int tally_find(const struct tally *t, const char *fuzzer)
{
    for (int a = 0; a < t->n_arms; a++)
        if (strcmp(t->arm[a].name, fuzzer) == 0)
            return a;
    return -1;
}

void curve_add(struct curve *c, int64_t now_ns, uint32_t value, uint32_t start)
{
    if (c->step_ns == 0)
        c->step_ns = INT64_C(1000000000);
    while (now_ns / c->step_ns >= CURVE_POINTS) { /* halve the resolution, keep the whole story */
        for (int i = 0; i < CURVE_POINTS / 2; i++)
            c->point[i] = c->point[2 * i + 1];
        c->n = (c->n + 1) / 2;
        c->step_ns *= 2;
    }
    int at = (int)(now_ns / c->step_ns);
    uint32_t last = c->n ? c->point[c->n - 1] : start;
    while (c->n <= at)
        c->point[c->n++] = last;
    c->point[at] = value;
}
