/* sim_known: `carol sim known`: options and tables.  Plays in sim/known.c. */
#include "cli/cli.h"
#include "cli/sim.h"
#include "sim/known.h"

#include <stdio.h>

static const char help[] =
    "usage: carol sim known [options]\n\n"
    "fuzzers of known worth: the expected reward of each is drawn, and at half time the order is\n"
    "reversed, so that the best becomes the worst (docs/SIMULATION.md)\n\n"
    "  -k, --fuzzers N        size of the pool, 2 to 64 (default: 6)\n"
    "  -j, --jobs N           workers, 1 to 256 (default: 6)\n"
    "  -s, --scheduler LIST   NAME[/key=value...],... (default: all, and contextual/explore=0)\n"
    "      --turns N          of one run (default: 4320, a day of six workers)\n"
    "      --runs N           independent runs (default: 100); run i has the same fuzzers under "
    "each\n"
    "      --seed N           of all random numbers (default: 1)\n"
    "      --json             print JSON (schema 1)\n";

static json_t *quarters_json(const struct estimate x[KNOWN_QUARTERS])
{
    json_t *l = json_array();
    for (int q = 0; q < KNOWN_QUARTERS; q++)
        json_array_append_new(l, sim_estimate_json(x[q]));
    return l;
}

static void print_quarters(const struct estimate x[KNOWN_QUARTERS], double unit)
{
    printf("  ");
    for (int q = 0; q < KNOWN_QUARTERS; q++)
        printf(unit > 1 ? " %5.1f" : " %.3f", unit * x[q].mean);
}

static void print(const struct sim_args *a, const char *spec, const struct known_result *r,
                  json_t *rows)
{
    if (a->json) {
        json_array_append_new(
            rows, json_pack("{s:s,s:o,s:o,s:o,s:o,s:f,s:o,s:o}", "scheduler", spec, "reward",
                            quarters_json(r->reward), "best_share", quarters_json(r->best),
                            "top_share", quarters_json(r->top), "changes", quarters_json(r->change),
                            "locked", r->locked, "best_worth", sim_estimate_json(r->could),
                            "mean_worth", sim_estimate_json(r->equal)));
        return;
    }
    printf("%-24s", spec);
    print_quarters(r->reward, 1);
    print_quarters(r->best, 100);
    print_quarters(r->top, 100);
    print_quarters(r->change, 100);
    printf("   %5.1f\n", 100 * r->locked);
    fflush(stdout);
}

static int play_all(const struct sim_args *a, struct err *e)
{
    struct known_settings st = {.fuzzers = (int)a->fuzzers,
                                .workers = (int)a->workers,
                                .turns = (int)a->turns,
                                .runs = (int)a->runs,
                                .seed = a->seed};
    struct known_result r = {0};
    json_t *rows = json_array();
    int rc = 0;
    if (!a->json && !a->trial)
        printf(
            "simulated: fuzzers of known worth, %d runs of %d turns, %d fuzzers, %d workers, seed "
            "%llu\n\n%-24s  %-24s  %-24s  %-24s  %-24s  %s\n",
            st.runs, st.turns, st.fuzzers, st.workers, (unsigned long long)st.seed,
            "by quarter of the turns", " reward per turn", " best fuzzer, % of turns",
            " most chosen one, %", " changes of choice, %", "locked, %");
    for (size_t i = 0; rc == 0 && i < a->list.n; i++) {
        st.spec = a->list.v[i];
        rc = known_run(&st, &r, e);
        if (rc == 0 && !a->trial)
            print(a, st.spec, &r, rows);
    }
    if (rc == 0 && a->json && !a->trial)
        sim_dump(a, json_incref(rows));
    else if (rc == 0 && !a->trial)
        printf("\nExpected: %.3f +-%.3f for always the best fuzzer, %.3f for all alike (95 %% "
               "intervals over runs).\nLocked: runs without one change of choice after the first "
               "quarter.  Everything here is simulated.\n",
               r.could.mean, r.could.half, r.equal.mean);
    json_decref(rows);
    return rc;
}

int sim_known(int argc, char **argv)
{
    struct sim_args a = {
        .what = "known", .turns = 4320, .runs = 100, .seed = 1, .fuzzers = 6, .workers = 6};
    return sim_play(argc, argv, &a, help, "contextual/explore=0", play_all);
}
