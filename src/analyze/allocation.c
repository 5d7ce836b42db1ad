/* allocation: how much goes to the fuzzer that is chosen most, quarter by quarter? */
#include "analyze/analyze.h"
#include "analyze/windows.h"
#include "base/die.h"
#include "stats/holm.h"
#include "stats/paired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUARTERS = 4 };

struct answer {
    uint64_t decisions;
    double top[QUARTERS]; /* share in percent; NaN: no decision */
};

static int shares(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    struct answer *a = result;
    uint64_t chosen[QUARTERS][SCHED_MAX_ARMS] = {{0}};
    (void)arg;
    (void)camp;
    (void)e;
    for (size_t i = 0; i < l->n_choices; i++)
        chosen[window_of(l, l->choices[i].now_ns, QUARTERS)][l->choices[i].choice]++;
    a->decisions = l->n_choices;
    for (int q = 0; q < QUARTERS; q++) {
        uint64_t most = 0, all = 0;
        for (int k = 0; k < l->arms; k++) {
            most = chosen[q][k] > most ? chosen[q][k] : most;
            all += chosen[q][k];
        }
        a->top[q] = all ? 100.0 * (double)most / (double)all : NAN;
    }
    return 0;
}

/* The campaigns of one target and contender. */
struct cell {
    size_t target;
    const char *contender;
    size_t n;
    uint64_t decisions;
    double top[QUARTERS];
    double change, p, p_holm;
};

static bool in_cell(const struct study *s, size_t camp, const struct cell *c)
{
    return s->camps[camp].target == c->target &&
           strcmp(s->camps[camp].contender, c->contender) == 0;
}

static void fill(const struct study *s, const struct answer *a, struct cell *c)
{
    double *change = xcalloc(s->n, sizeof *change);
    size_t n[QUARTERS] = {0}, changes = 0;
    struct wilcoxon w;
    for (size_t i = 0; i < s->n; i++) {
        if (!in_cell(s, i, c))
            continue;
        c->n++;
        c->decisions += a[i].decisions;
        for (int q = 0; q < QUARTERS; q++)
            if (!isnan(a[i].top[q])) {
                c->top[q] += a[i].top[q];
                n[q]++;
            }
        double d = a[i].top[QUARTERS - 1] - a[i].top[0];
        if (!isnan(d))
            change[changes++] = d;
        c->change += isnan(d) ? 0 : d;
    }
    for (int q = 0; q < QUARTERS; q++)
        c->top[q] = n[q] ? c->top[q] / (double)n[q] : NAN;
    c->change = changes ? c->change / (double)changes : NAN;
    c->p = NAN;
    if (changes) {
        stats_wilcoxon(change, changes, &w);
        c->p = w.p;
    }
    free(change);
}

static size_t cells_of(const struct study *s, const struct answer *a, struct cell *cells)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known |= in_cell(s, i, &cells[k]);
        if (!known)
            cells[n++] =
                (struct cell){.target = s->camps[i].target, .contender = s->camps[i].contender};
    }
    for (size_t k = 0; k < n; k++)
        fill(s, a, &cells[k]);
    stats_holm_fields(&cells->p, &cells->p_holm, n, sizeof *cells);
    return n;
}

int analyze_allocation(const struct study *s, struct grids *out, struct err *e)
{
    static const struct grid_column columns[] = {{"target", GRID_TEXT},
                                                 {"contender", GRID_TEXT},
                                                 {"campaigns", GRID_COUNT},
                                                 {"decisions", GRID_COUNT},
                                                 {"q1_pct", 1},
                                                 {"q2_pct", 1},
                                                 {"q3_pct", 1},
                                                 {"q4_pct", 1},
                                                 {"change", 1},
                                                 {"p", GRID_P},
                                                 {"p_holm", GRID_P}};
    struct answer *a = xcalloc(s->n, sizeof *a);
    struct cell *cells = xcalloc(s->n, sizeof *cells);
    int rc = study_each(s, sizeof *a, shares, NULL, a, e);
    if (rc == 0) {
        struct grid *g = grid_add(
            out, "allocation", GRID_COLUMNS(columns),
            "share of decisions of the fuzzer that is chosen most, by quarter of the campaign");
        g->drawn = "q1_pct";
        g->n_drawn = QUARTERS;
        size_t n = cells_of(s, a, cells);
        for (size_t k = 0; k < n; k++) {
            grid_text(g, "%s", s->targets.v[cells[k].target]);
            grid_text(g, "%s", cells[k].contender);
            grid_count(g, cells[k].n);
            grid_count(g, cells[k].decisions);
            for (int q = 0; q < QUARTERS; q++)
                grid_real(g, cells[k].top[q]);
            grid_real(g, cells[k].change);
            grid_real(g, cells[k].p);
            grid_real(g, cells[k].p_holm);
        }
        grid_note(g,
                  "means over campaigns; the fuzzer at the top may change from quarter to quarter; "
                  "an even share is %.1f %%",
                  100.0 / (double)s->fuzzers.n);
        grid_note(g, "change: last quarter less first, in points; p: Wilcoxon signed ranks of it, "
                     "two-sided; p holm: Holm over the rows; "
                     "below 6 campaigns no change can be significant");
    }
    free(cells);
    free(a);
    return rc;
}
