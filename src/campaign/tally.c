/* tally: counts turns.  Pure; reads the store only in tally_load. */
#include "campaign/tally.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tally_add_turn(struct tally *t, const struct store_turn *row)
{
    struct tally_arm *a = &t->arm[row->arm];
    bool is_turn = row->state != TURN_LATE;
    a->turns += is_turn;
    a->execs += row->execs;
    a->cycles += row->cycles;
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
    tally_point(t, row->end_ns);
}

void tally_point(struct tally *t, int64_t now_ns)
{
    if (t->step_ns == 0)
        t->step_ns = INT64_C(1000000000);
    while (now_ns / t->step_ns >= TALLY_POINTS) { /* halve the resolution, keep the whole story */
        for (int i = 0; i < TALLY_POINTS / 2; i++)
            t->point[i] = t->point[2 * i + 1];
        t->n_points = (t->n_points + 1) / 2;
        t->step_ns *= 2;
    }
    int at = (int)(now_ns / t->step_ns);
    uint32_t last = t->n_points ? t->point[t->n_points - 1] : t->seed_edges;
    while (t->n_points <= at)
        t->point[t->n_points++] = last;
    t->point[at] = t->edges;
}

static int add_turn(void *arg, const struct store_turn *row, const void *d, size_t n, struct err *e)
{
    (void)d;
    (void)n;
    (void)e;
    struct tally *t = arg;
    if (row->arm >= 0 && row->arm < t->n_arms)
        tally_add_turn(t, row);
    return 0;
}

static uint64_t number(struct store *s, const char *key)
{
    char *text = store_get(s, key);
    uint64_t v = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return v;
}

int tally_load(struct tally *t, struct store *s, struct err *e)
{
    *t = (struct tally){0};
    struct strv names = {0};
    char *roster = store_get(s, "fuzzers");
    if (roster)
        strv_split(&names, roster, ',');
    for (size_t i = 0; i < names.n && i < CONTEXT_MAX_ARMS; i++) {
        struct tally_arm *a = &t->arm[t->n_arms++];
        snprintf(a->name, sizeof a->name, "%s", names.v[i]);
        char *key = str_fmt("dropped.%s", a->name), *why = store_get(s, key);
        a->dropped = why && *why;
        snprintf(a->why, sizeof a->why, "%s", why ? why : "");
        free(key);
        free(why);
    }
    free(roster);
    strv_free(&names);
    t->budget_ns = (int64_t)number(s, "budget_now");
    t->edges_total = (uint32_t)number(s, "edges_total");
    t->seed_edges = t->edges = (uint32_t)number(s, "seed_edges");
    t->no_predecessor = number(s, "no_predecessor");
    int rc = store_turns(s, TURNS_BY_ROUND, add_turn, t, e);
    struct store_totals totals = {0};
    if (rc == 0)
        rc = store_totals(s, &totals, e);
    t->seeds = totals.seeds;
    t->crashes = totals.crashes;
    t->hangs = totals.hangs;
    t->elapsed_ns = totals.elapsed_ns;
    tally_point(t, t->elapsed_ns);
    t->n_slots = store_slots(s, t->slot, TALLY_SLOTS);
    return rc;
}
