/* status: reads a campaign's state from its record.  Prints nothing. */
#include "journal/status.h"

#include "base/str.h"
#include "journal/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(struct store *s, const char *key, uint64_t *v, struct err *e)
{
    char *text;
    int rc = store_get(s, key, &text, e);
    *v = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return rc;
}

static int load_roster(struct status *st, struct store *s, struct err *e)
{
    struct strv names = {0};
    char *roster, *why;
    int rc = store_get(s, "fuzzers", &roster, e);
    if (roster)
        strv_split(&names, roster, ',');
    st->tally.n_arms = 0;
    st->gauges.dropped = 0;
    for (size_t i = 0; rc == 0 && i < names.n && i < CONTEXT_MAX_ARMS; i++) {
        int a = st->tally.n_arms++;
        snprintf(st->tally.arm[a].name, sizeof st->tally.arm[a].name, "%s", names.v[i]);
        rc = journal_dropped(s, names.v[i], &why, e);
        st->gauges.dropped |= (uint64_t)(why != NULL) << a;
        snprintf(st->gauges.why[a], sizeof st->gauges.why[a], "%s", why ? why : "");
        free(why);
    }
    free(roster);
    strv_free(&names);
    return rc;
}

static int load_facts(struct tally *t, struct store *s, struct err *e)
{
    uint64_t budget = 0, total = 0, seeds = 0;
    int rc = number(s, "budget_now", &budget, e);
    if (rc == 0)
        rc = number(s, "edges_total", &total, e);
    if (rc == 0)
        rc = number(s, "seed_edges", &seeds, e);
    if (rc == 0)
        rc = number(s, "no_predecessor", &t->no_predecessor, e);
    if (rc < 0)
        return rc;
    t->budget_ns = (int64_t)budget;
    t->edges_total = (uint32_t)total;
    t->edges +=
        (uint32_t)seeds - t->seed_edges; /* they may have been measured since the last time */
    t->seed_edges = (uint32_t)seeds;
    return 0;
}

static int load_turns(struct status *st, struct store *s, struct err *e)
{
    struct store_turns *turns;
    struct store_turn row;
    int rc = store_turns_open(&turns, s, TURNS_BY_ROUND, st->round, e);
    while (rc == 0 && (rc = store_turns_next(turns, &row, NULL, e)) > 0) {
        if (row.arm >= -1 && row.arm < st->tally.n_arms)
            tally_add_turn(&st->tally, &row);
        st->round = row.round;
        rc = 0;
    }
    store_turns_close(turns);
    return rc;
}

int gauges_load(struct gauges *g, struct store *s, struct err *e)
{
    struct store_totals totals;
    int rc = store_totals(s, &totals, e);
    if (rc < 0)
        return rc;
    g->elapsed_ns = totals.elapsed_ns;
    g->seeds = totals.seeds;
    g->crashes = totals.crashes;
    g->hangs = totals.hangs;
    g->defects = totals.defects;
    return store_slots(s, g->slot, GAUGE_SLOTS, &g->n_slots, e);
}

/* Running: somebody holds the writer's lock.  Else what the campaign said last; killed: nothing. */
static int load_state(struct status *st, struct store *s, const char *out, struct err *e)
{
    char *said;
    int rc = store_get(s, "state", &said, e);
    bool ended = said && strcmp(said, "ended") == 0;
    free(said);
    st->state = store_is_locked(out) ? "running" : ended ? "ended" : "interrupted";
    return rc == 0 ? journal_is_simulated(s, &st->simulated, e) : rc;
}

int status_update(struct status *st, struct store *s, const char *out, struct err *e)
{
    int rc = load_state(st, s, out, e);
    if (rc == 0)
        rc = load_roster(st, s, e);
    if (rc == 0)
        rc = load_facts(&st->tally, s, e);
    if (rc == 0)
        rc = load_turns(st, s, e);
    return rc == 0 ? gauges_load(&st->gauges, s, e) : rc;
}

int status_load(struct status *st, const char *out, struct err *e)
{
    struct store *s = NULL;
    *st = (struct status){0};
    int rc = store_open(&s, out, STORE_READ, e);
    if (rc == 0)
        rc = status_update(st, s, out, e);
    store_close(s);
    return rc;
}
