/* growth: first moments of edges, and how to get them from a campaign's journal. */
#include "bench/growth.h"

#include "base/die.h"
#include "eval/edges.h"
#include "journal/journal.h"
#include "journal/tally.h"

#include <stdlib.h>

void growth_init(struct growth *g, uint32_t n_edges)
{
    *g = (struct growth){.first = xcalloc(n_edges ? n_edges : 1, sizeof *g->first),
                         .n_edges = n_edges};
    for (uint32_t i = 0; i < n_edges; i++)
        g->first[i] = INT64_MAX;
}

void growth_free(struct growth *g)
{
    free(g->first);
    *g = (struct growth){0};
}

void growth_add(struct growth *g, int64_t at_ns, const uint32_t *edges, uint32_t n)
{
    g->inputs++;
    for (uint32_t i = 0; i < n; i++)
        if (edges[i] < g->n_edges && at_ns < g->first[edges[i]])
            g->first[edges[i]] = at_ns;
}

uint32_t growth_at(const struct growth *g, int64_t at_ns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_edges; i++)
        n += g->first[i] <= at_ns && g->first[i] != INT64_MAX;
    return n;
}

struct reading {
    struct growth *g;
    int64_t late_ns;
};

static int take_seed(void *arg, const struct store_seed *s, struct err *e)
{
    struct reading *r = arg;
    struct edges found;
    if (s->state != SEED_DONE || !s->edges)
        return 0;
    int rc = edges_decode(s->edges, s->edges_size, r->g->n_edges, &found, e);
    if (rc < 0)
        return rc;
    growth_add(r->g, s->turn ? s->found_ns + r->late_ns : 0, found.ids, found.n);
    edges_free(&found);
    return 0;
}

static void largest_shares(double active[GROWTH_QUARTERS][CONTEXT_MAX_ARMS],
                           double top[GROWTH_QUARTERS])
{
    for (int q = 0; q < GROWTH_QUARTERS; q++) {
        double sum = 0, most = 0;
        for (int a = 0; a < CONTEXT_MAX_ARMS; a++) {
            sum += active[q][a];
            most = active[q][a] > most ? active[q][a] : most;
        }
        top[q] = sum > 0 ? most / sum : -1;
    }
}

static int read_turns(struct store *s, struct reading *r, int64_t elapsed_ns,
                      double top[GROWTH_QUARTERS], struct err *e)
{
    double active[GROWTH_QUARTERS][CONTEXT_MAX_ARMS] = {{0}};
    struct store_turns *w = NULL;
    struct store_turn t;
    int rc = store_turns_open(&w, s, TURNS_BY_ROUND, 0, e), more;
    while (rc == 0 && (more = store_turns_next(w, &t, NULL, e)) != 0) {
        rc = more < 0 ? more : store_turn_results(s, t.id, take_seed, r, e);
        int64_t q = elapsed_ns > 0 ? GROWTH_QUARTERS * t.start_ns / elapsed_ns : 0;
        if (rc == 0 && t.id > 0 && q >= 0 && q < GROWTH_QUARTERS && t.arm >= 0 &&
            t.arm < CONTEXT_MAX_ARMS)
            active[q][t.arm] += (double)t.active_ns;
    }
    if (w)
        store_turns_close(w);
    largest_shares(active, top);
    return rc;
}

/* Campaign time begins when the self-tests are over, so it is behind the clock of the benchmark. */
int growth_of_campaign(struct growth *g, const char *out, int64_t wall_ns,
                       double top_share[GROWTH_QUARTERS], struct strv *fuzzers, struct err *e)
{
    struct journal j;
    struct store_totals totals;
    int rc = journal_open(&j, out, JOURNAL_EDGES, e);
    growth_init(g, rc == 0 ? j.table.n_edges : 0);
    if (rc == 0)
        rc = store_totals(j.store, &totals, e);
    for (size_t i = 0; rc == 0 && i < j.o.fuzzers.n; i++)
        strv_add(fuzzers, j.o.fuzzers.v[i]);
    if (rc == 0) {
        int64_t late = wall_ns - totals.elapsed_ns;
        struct reading r = {g, late > 0 ? late : 0};
        rc = store_turn_results(j.store, 0, take_seed, &r, e);
        if (rc == 0)
            rc = read_turns(j.store, &r, totals.elapsed_ns, top_share, e);
    }
    journal_close(&j);
    if (rc < 0)
        growth_free(g);
    return rc;
}
