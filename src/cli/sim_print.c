/* sim_print: the tables of `carol sim ensemble`, for people and for programs.  Simulates nothing. */
#include "cli/sim.h"

#include "base/die.h"
#include "proc/loop.h"
#include "stats/twosample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one scheduler did over all campaigns. */
struct row {
    const char *name;
    double *edges, *bugs, *crashes, *reward, *top;
    double shares[RUN_QUARTERS + 1][WORLD_MAX_FUZZERS]; /* by quarter, then of all */
    double decide_us[RUN_QUARTERS], learn_us[RUN_QUARTERS];
    double edges_at[RUN_QUARTERS];
    uint64_t rss_kb[RUN_QUARTERS]; /* largest of the campaigns */
    double turns;
    double top_at[RUN_QUARTERS]; /* share of the fuzzer that was chosen most in that quarter */
    struct gauge_reading gauge;  /* means; rankings over the campaigns that have one */
};

static int fuzzers(const struct sim_answer *a)
{
    return (int)a->st->run.fuzzers->n;
}

static void add_shares(struct row *r, const struct run_result *x, int k, double *top)
{
    double sum[RUN_QUARTERS + 1] = {0}, mine[WORLD_MAX_FUZZERS] = {0}, top_at[RUN_QUARTERS] = {0};
    for (int q = 0; q < RUN_QUARTERS; q++)
        for (int f = 0; f < k; f++) {
            sum[q] += x->picks[q][f];
            mine[f] += x->picks[q][f];
        }
    for (int q = 0; q < RUN_QUARTERS; q++)
        sum[RUN_QUARTERS] += sum[q];
    *top = 0;
    for (int f = 0; f < k; f++) {
        for (int q = 0; q < RUN_QUARTERS; q++) {
            double share = sum[q] > 0 ? x->picks[q][f] / sum[q] : 0;
            r->shares[q][f] += share;
            top_at[q] = share > top_at[q] ? share : top_at[q];
        }
        double share = mine[f] / sum[RUN_QUARTERS];
        r->shares[RUN_QUARTERS][f] += share;
        *top = share > *top ? share : *top;
    }
    for (int q = 0; q < RUN_QUARTERS; q++)
        r->top_at[q] += top_at[q];
}

struct gauged { /* campaigns in which there was something to compare, and to rank */
    int compared, ranked;
};

/* Sums for now; pairs counts fuzzers, and falling is of them. */
static void add_gauge(struct gauge_reading *sum, const struct run_result *x, int k,
                      struct gauged *n)
{
    struct gauge_reading g;
    gauge_read(&x->gauge, k, &g);
    n->compared += g.pairs > 0;
    n->ranked += g.ranked;
    sum->retained += g.pairs ? g.retained : 0;
    sum->falling += g.falling * g.pairs;
    sum->pairs += g.pairs;
    sum->earning += g.earning;
    sum->changing += g.changing;
    sum->lasting += g.ranked ? g.lasting : 0;
    sum->itself += g.ranked ? g.itself : 0;
    for (int i = 0; i < GAUGE_TENTHS; i++)
        sum->tenth[i] += g.tenth[i];
}

static void mean_gauge(struct gauge_reading *sum, double n, struct gauged of)
{
    sum->retained /= of.compared ? of.compared : 1;
    sum->falling /= sum->pairs ? sum->pairs : 1;
    sum->earning /= n;
    sum->changing /= n;
    sum->ranked = of.ranked > 0;
    sum->lasting /= of.ranked ? of.ranked : 1;
    sum->itself /= of.ranked ? of.ranked : 1;
    for (int i = 0; i < GAUGE_TENTHS; i++)
        sum->tenth[i] /= n;
}

static void add_cost(struct row *r, const struct run_result *x)
{
    for (int q = 0; q < RUN_QUARTERS; q++) {
        r->decide_us[q] += x->decisions[q] ? x->decide_ns[q] / (double)x->decisions[q] / 1e3 : 0;
        r->learn_us[q] += x->lessons[q] ? x->learn_ns[q] / (double)x->lessons[q] / 1e3 : 0;
        r->edges_at[q] += x->edges_at[q];
        r->rss_kb[q] = x->rss_kb[q] > r->rss_kb[q] ? x->rss_kb[q] : r->rss_kb[q];
    }
}

static void mean_of_sums(struct row *r, double n)
{
    for (int q = 0; q <= RUN_QUARTERS; q++)
        for (int f = 0; f < WORLD_MAX_FUZZERS; f++)
            r->shares[q][f] /= n;
    for (int q = 0; q < RUN_QUARTERS; q++) {
        r->decide_us[q] /= n;
        r->learn_us[q] /= n;
        r->edges_at[q] /= n;
        r->top_at[q] /= n;
    }
}

static void row_make(struct row *r, const struct sim_answer *a, size_t s)
{
    size_t n = (size_t)a->st->campaigns;
    *r = (struct row){.name = a->st->schedulers->v[s]};
    double *all = xcalloc(n, 5 * sizeof *all);
    r->edges = all;
    r->bugs = all + n;
    r->crashes = all + 2 * n;
    r->reward = all + 3 * n;
    r->top = all + 4 * n;
    struct gauged of = {0};
    for (size_t i = 0; i < n; i++) {
        const struct run_result *x = &a->results[s * n + i];
        r->edges[i] = x->edges;
        r->bugs[i] = x->bugs;
        r->crashes[i] = x->crashes;
        r->reward[i] = x->reward;
        r->turns += (double)x->turns / (double)n;
        add_shares(r, x, fuzzers(a), &r->top[i]);
        add_cost(r, x);
        add_gauge(&r->gauge, x, fuzzers(a), &of);
    }
    mean_of_sums(r, (double)n);
    mean_gauge(&r->gauge, (double)n, of);
}

static struct row *rows_make(const struct sim_answer *a)
{
    struct row *rows = xcalloc(a->st->schedulers->n, sizeof *rows);
    for (size_t s = 0; s < a->st->schedulers->n; s++)
        row_make(&rows[s], a, s);
    return rows;
}

static void rows_free(struct row *rows, size_t n)
{
    for (size_t s = 0; s < n; s++)
        free(rows[s].edges);
    free(rows);
}

/* Whom the others are compared with: equal, if it plays, else the first. */
static const struct row *reference(const struct sim_answer *a, const struct row *rows)
{
    for (size_t s = 0; s < a->st->schedulers->n; s++)
        if (strcmp(rows[s].name, "equal") == 0)
            return &rows[s];
    return rows;
}

/* --- for people ---------------------------------------------------------------------------------- */

static void print_finds(const struct sim_answer *a, const struct row *rows)
{
    const struct row *ref = reference(a, rows);
    size_t n = (size_t)a->st->campaigns;
    printf("%-24s %18s %15s   against %s, same worlds: %-18s %-17s %5s %5s\n", "scheduler", "edges",
           "bugs", ref->name, "edges", "bugs", "A12 e", "A12 b");
    for (size_t s = 0; s < a->st->schedulers->n; s++) {
        const struct row *r = &rows[s];
        struct estimate ed = estimate_of(r->edges, n), b = estimate_of(r->bugs, n),
                        de = estimate_paired(r->edges, ref->edges, n),
                        db = estimate_paired(r->bugs, ref->bugs, n);
        printf("%-24s %9.1f +-%-6.1f %7.2f +-%-5.2f   %*s%+9.1f +-%-6.1f %+8.2f +-%-5.2f %5.2f "
               "%5.2f\n",
               r->name, ed.mean, ed.half, b.mean, b.half, (int)strlen(ref->name) + 23, "", de.mean,
               de.half, db.mean, db.half, stats_a12(r->edges, n, ref->edges, n),
               stats_a12(r->bugs, n, ref->bugs, n));
    }
}

static void print_share_line(const struct sim_answer *a, const char *name, const char *when,
                             const double *shares)
{
    printf("%-24s %-4s", name, when);
    for (int f = 0; f < fuzzers(a) && f < 12; f++)
        printf(" %9.1f", 100 * shares[f]);
    printf("%s\n", fuzzers(a) > 12 ? " ..." : "");
}

static void print_shares(const struct sim_answer *a, const struct row *rows)
{
    static const char *const when[] = {"Q1", "Q2", "Q3", "Q4"};
    printf("\nshare of decisions in %%\n%-24s %-4s", "scheduler", "");
    for (int f = 0; f < fuzzers(a) && f < 12; f++)
        printf(" %9s", a->st->run.fuzzers->v[f]);
    printf("\n");
    for (size_t s = 0; s < a->st->schedulers->n; s++) {
        print_share_line(a, rows[s].name, "all", rows[s].shares[RUN_QUARTERS]);
        for (int q = 0; q < RUN_QUARTERS; q++)
            print_share_line(a, "", when[q], rows[s].shares[q]);
    }
}

/* What the paper measured of real campaigns, of these. */
static void print_gauge(const struct sim_answer *a, const struct row *rows)
{
    printf("\n%-24s %-27s  %7s  %-24s  %s\n%-24s %-27s  %7s  %5s %8s %8s   %6s %7s\n", "scheduler",
           "most chosen, %, Q1..Q4", "changes", "raw reward per turn", "rankings", "", "", "%",
           "kept", "falling", "earning", "lasting", "itself");
    for (size_t s = 0; s < a->st->schedulers->n; s++) {
        const struct row *r = &rows[s];
        const struct gauge_reading *g = &r->gauge;
        printf("%-24s", r->name);
        for (int q = 0; q < RUN_QUARTERS; q++)
            printf(" %6.1f", 100 * r->top_at[q]);
        printf("  %7.1f  %5.2f %6.0f %% %6.1f %%   %6.2f %7.2f\n", 100 * g->changing, g->retained,
               100 * g->falling, 100 * g->earning, g->lasting, g->itself);
    }
}

static void print_cost(const struct sim_answer *a, const struct row *rows)
{
    size_t n = (size_t)a->st->campaigns;
    printf("\n%-24s %9s %11s   %-27s   %-27s %9s\n", "scheduler", "turns", "top share",
           "us per decision, Q1..Q4", "us per lesson, Q1..Q4", "MB");
    for (size_t s = 0; s < a->st->schedulers->n; s++) {
        const struct row *r = &rows[s];
        printf("%-24s %9.0f %9.1f %%  ", r->name, r->turns, 100 * estimate_of(r->top, n).mean);
        for (int q = 0; q < RUN_QUARTERS; q++)
            printf(" %6.2f", r->decide_us[q]);
        printf("  ");
        for (int q = 0; q < RUN_QUARTERS; q++)
            printf(" %6.2f", r->learn_us[q]);
        printf("   %7.1f\n", (double)r->rss_kb[RUN_QUARTERS - 1] / 1024);
    }
}

void sim_print_text(const struct sim_answer *a)
{
    struct row *rows = rows_make(a);
    const struct run_settings *r = &a->st->run;
    printf("simulated: %d campaigns per scheduler of %.4g h, %d fuzzers, %d workers, turns of %.4g "
           "s, seed %llu\n%s graph: %u edges, %u reachable; %d bugs\n\n",
           a->st->campaigns, (double)r->budget_ns / 3.6e12, fuzzers(a), r->workers,
           (double)r->turn_ns / 1e9, (unsigned long long)a->st->seed, a->graph,
           r->graph->table->n_edges, r->graph->n_reachable, r->n_bugs);
    print_finds(a, rows);
    print_shares(a, rows);
    print_gauge(a, rows);
    print_cost(a, rows);
    size_t n = a->st->schedulers->n * (size_t)a->st->campaigns;
    printf("\n%zu campaigns in %.1f s on %d processes: %.0f a minute.  +- is a 95 %% interval; "
           "everything here is simulated.\n",
           n, a->wall_s, a->st->processes, 60 * (double)n / a->wall_s);
    if (a->st->out)
        printf("journals: %s\n", a->st->out);
    rows_free(rows, a->st->schedulers->n);
}

/* --- for programs -------------------------------------------------------------------------------- */

static json_t *list_json(const double *x, int n)
{
    json_t *l = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(l, json_real(x[i]));
    return l;
}

static json_t *shares_json(const struct sim_answer *a, const double *shares)
{
    json_t *o = json_object();
    for (int f = 0; f < fuzzers(a); f++)
        json_object_set_new(o, a->st->run.fuzzers->v[f], json_real(shares[f]));
    return o;
}

static json_t *gauge_json(const struct gauge_reading *g)
{
    json_t *o = json_pack("{s:f,s:f,s:f,s:f,s:o}", "raw_retained", g->retained, "falling",
                          g->falling, "earning_late", g->earning, "changing", g->changing,
                          "reward_by_tenth", list_json(g->tenth, GAUGE_TENTHS));
    if (g->ranked) {
        json_object_set_new(o, "tau_halves", json_real(g->lasting));
        json_object_set_new(o, "tau_within", json_real(g->itself));
    }
    return o;
}

static json_t *against_json(const struct row *r, const struct row *ref, size_t n)
{
    return json_pack("{s:s,s:o,s:o,s:f,s:f}", "scheduler", ref->name, "edges",
                     sim_estimate_json(estimate_paired(r->edges, ref->edges, n)), "bugs",
                     sim_estimate_json(estimate_paired(r->bugs, ref->bugs, n)), "a12_edges",
                     stats_a12(r->edges, n, ref->edges, n), "a12_bugs",
                     stats_a12(r->bugs, n, ref->bugs, n));
}

static json_t *row_json(const struct sim_answer *a, const struct row *r, const struct row *ref)
{
    size_t n = (size_t)a->st->campaigns;
    json_t *quarters = json_array(), *rss = json_array();
    for (int q = 0; q < RUN_QUARTERS; q++) {
        json_array_append_new(quarters, shares_json(a, r->shares[q]));
        json_array_append_new(rss, json_integer((json_int_t)r->rss_kb[q]));
    }
    json_t *o = json_pack("{s:s,s:f,s:o,s:o,s:o,s:o,s:o}", "scheduler", r->name, "turns", r->turns,
                          "edges", sim_estimate_json(estimate_of(r->edges, n)), "bugs",
                          sim_estimate_json(estimate_of(r->bugs, n)), "crashes",
                          sim_estimate_json(estimate_of(r->crashes, n)), "reward",
                          sim_estimate_json(estimate_of(r->reward, n)), "top_share",
                          sim_estimate_json(estimate_of(r->top, n)));
    json_object_set_new(o, "shares", shares_json(a, r->shares[RUN_QUARTERS]));
    json_object_set_new(o, "shares_by_quarter", quarters);
    json_object_set_new(o, "top_share_by_quarter", list_json(r->top_at, RUN_QUARTERS));
    json_object_set_new(o, "gauge", gauge_json(&r->gauge));
    json_object_set_new(o, "edges_by_quarter", list_json(r->edges_at, RUN_QUARTERS));
    json_object_set_new(o, "decide_us", list_json(r->decide_us, RUN_QUARTERS));
    json_object_set_new(o, "learn_us", list_json(r->learn_us, RUN_QUARTERS));
    json_object_set_new(o, "rss_kb", rss);
    json_object_set_new(o, "against", against_json(r, ref, n));
    return o;
}

void sim_print_json(const struct sim_answer *a)
{
    const struct run_settings *r = &a->st->run;
    struct row *rows = rows_make(a);
    json_t *list = json_array();
    for (size_t s = 0; s < a->st->schedulers->n; s++)
        json_array_append_new(list, row_json(a, &rows[s], reference(a, rows)));
    json_t *o =
        json_pack("{s:i,s:b,s:i,s:i,s:f,s:f,s:i,s:I,s:i,s:f,s:s,s:I,s:I,s:o}", "schema", 1,
                  "simulated", 1, "fuzzers", fuzzers(a), "workers", r->workers, "budget_s",
                  (double)r->budget_ns / 1e9, "turn_s", (double)r->turn_ns / 1e9, "campaigns",
                  a->st->campaigns, "seed", (json_int_t)a->st->seed, "bugs", r->n_bugs, "wall_s",
                  a->wall_s, "graph", a->graph, "edges_total", (json_int_t)r->graph->table->n_edges,
                  "edges_reachable", (json_int_t)r->graph->n_reachable, "schedulers", list);
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(o);
    rows_free(rows, a->st->schedulers->n);
}
