/* sim: `carol sim`: Proposition 1, and the choice between it, sim_known.c and sim_ensemble.c. */
#include "cli/sim.h"

#include "base/str.h"
#include "cli/cli.h"
#include "sched/sched.h"
#include "sim/known.h"
#include "sim/prop1.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  ensemble   campaigns of made-up fuzzers on a made-up or a real target's graph, on virtual\n"
    "             time: which scheduler finds more, and what a decision costs\n"
    "  known      fuzzers whose expected rewards are known: which scheduler finds the best one, "
    "and\n"
    "             which notices when another becomes the best\n"
    "  prop1      the paper's Proposition 1: schedulers that see only history earn 3/4 per turn,\n"
    "             one that sees the indicator can earn 7/8\n\n"
    "'carol sim ensemble --help' and so on list the options.\n";

static const char prop1_help[] =
    "usage: carol sim prop1 [options]\n\n"
    "the paper's Proposition 1 as an environment: two fuzzers, fair coins, reward 1/2 or 1\n\n"
    "  -s, --scheduler LIST   NAME[/key=value...][+z],...; +z gives the scheduler the indicator as "
    "a\n"
    "                         signal (default: all, and contextual+z)\n"
    "      --turns N          of one run (default: 4320, a day of six workers)\n"
    "      --runs N           independent runs (default: 100)\n"
    "      --seed N           of all random numbers (default: 1)\n"
    "      --json             print JSON (schema 1)\n";

void sim_all_schedulers(struct strv *list)
{
    for (int i = 0; sched_table[i]; i++)
        if (!str_ends(sched_table[i]->name, ":"))
            strv_add(list, sched_table[i]->name);
}

json_t *sim_estimate_json(struct estimate e)
{
    return json_pack("{s:f,s:f,s:f}", "mean", e.mean, "low", e.mean - e.half, "high",
                     e.mean + e.half);
}

static int set_option(int c, const char *v, struct sim_args *a, struct err *e)
{
    switch (c) {
    case 's': strv_split(&a->list, v, ','); return 0;
    case 'k': return str_to_u64(v, "-k", 2, KNOWN_MAX_FUZZERS, &a->fuzzers, e);
    case 'j': return str_to_u64(v, "-j", 1, KNOWN_MAX_WORKERS, &a->workers, e);
    case 't': return str_to_u64(v, "--turns", 4, 10000000, &a->turns, e);
    case 'r': return str_to_u64(v, "--runs", 1, 1000000, &a->runs, e);
    case 'S': return str_to_u64(v, "--seed", 0, UINT64_MAX, &a->seed, e);
    case 'J': a->json = true; return 0;
    case 'h': a->help = true; return 0;
    default: return err_usage(e, "'carol sim %s --help' lists the options", a->what);
    }
}

static int parse(int argc, char **argv, struct sim_args *a, struct err *e)
{
    static const struct option all[] = {
        {"fuzzers", 1, 0, 'k'},   {"jobs", 1, 0, 'j'}, /* of a pool, the others of all */
        {"scheduler", 1, 0, 's'}, {"turns", 1, 0, 't'}, {"runs", 1, 0, 'r'}, {"seed", 1, 0, 'S'},
        {"json", 0, 0, 'J'},      {"help", 0, 0, 'h'},  {0, 0, 0, 0}};
    bool pool = a->fuzzers > 0;
    const char *letters = pool ? "+s:k:j:h" : "+s:h";
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, letters, pool ? all : all + 2, NULL)) != -1;) {
        int rc = set_option(c, optarg, a, e);
        if (rc < 0 || a->help)
            return rc;
    }
    if (optind < argc)
        return err_usage(e, "what is '%s'? 'carol sim %s --help' lists the options", argv[optind],
                         a->what);
    return 0;
}

void sim_dump(const struct sim_args *a, json_t *rows)
{
    json_t *o = json_pack("{s:i,s:b,s:I,s:I,s:I,s:o}", "schema", 1, "simulated", 1, "turns",
                          (json_int_t)a->turns, "runs", (json_int_t)a->runs, "seed",
                          (json_int_t)a->seed, "schedulers", rows);
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(o);
}

static void prop1_print(const struct sim_args *a, const char *spec, const struct prop1_result *r,
                        json_t *rows)
{
    double bound = r->informed ? PROP1_INFORMED : PROP1_BLIND;
    if (a->json) {
        json_array_append_new(rows, json_pack("{s:s,s:b,s:f,s:o,s:o}", "scheduler", spec,
                                              "informed", r->informed, "bound", bound, "reward",
                                              sim_estimate_json(r->all), "late",
                                              sim_estimate_json(r->late)));
        return;
    }
    printf("%-24s %8.4f +-%.4f   %8.4f +-%.4f   %s %.4f\n", spec, r->all.mean, r->all.half,
           r->late.mean, r->late.half, r->informed ? "at most" : "exactly", bound);
    fflush(stdout);
}

static int prop1_all(const struct sim_args *a, struct err *e)
{
    struct prop1_settings st = {.turns = (int)a->turns, .runs = (int)a->runs, .seed = a->seed};
    json_t *rows = json_array();
    int rc = 0;
    if (!a->json && !a->trial)
        printf("simulated: Proposition 1, %d runs of %d turns, reward per turn with 95 %% "
               "interval\n\n%-24s %17s   %17s   %s\n",
               st.runs, st.turns, "scheduler", "all turns", "last quarter", "can earn");
    for (size_t i = 0; rc == 0 && i < a->list.n; i++) {
        struct prop1_result r;
        st.spec = a->list.v[i];
        rc = prop1_run(&st, &r, e);
        if (rc == 0 && !a->trial)
            prop1_print(a, a->list.v[i], &r, rows);
    }
    if (rc == 0 && a->json && !a->trial)
        sim_dump(a, json_incref(rows));
    json_decref(rows);
    return rc;
}

/* A few turns in silence: what is wrong with any of the schedulers is said before the first figure. */
static int try_all(const struct sim_args *a, int (*play)(const struct sim_args *a, struct err *e),
                   struct err *e)
{
    struct sim_args few = *a;
    few.turns = 8;
    few.runs = 1;
    few.trial = true;
    return play(&few, e);
}

int sim_play(int argc, char **argv, struct sim_args *a, const char *text, const char *also,
             int (*play)(const struct sim_args *a, struct err *e))
{
    struct err e = {0};
    int rc = parse(argc, argv, a, &e);
    if (rc == 0 && !a->list.n) {
        sim_all_schedulers(&a->list);
        strv_add(&a->list, also);
    }
    if (rc == 0 && a->help)
        printf("%s", text);
    else if (rc == 0 && (rc = try_all(a, play, &e)) == 0)
        rc = play(a, &e);
    strv_free(&a->list);
    return rc < 0 ? cli_fail(&e) : 0;
}

int cli_sim(int argc, char **argv)
{
    struct err e = {0};
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "--help") == 0 || strcmp(what, "-h") == 0)
        return cli_help(cli_find("sim"), help);
    if (argc > 1)
        argv[1] = argv[0];
    if (strcmp(what, "prop1") == 0) {
        struct sim_args a = {.what = "prop1", .turns = 4320, .runs = 100, .seed = 1};
        return sim_play(argc - 1, argv + 1, &a, prop1_help, "contextual+z", prop1_all);
    }
    if (strcmp(what, "ensemble") == 0)
        return sim_ensemble(argc - 1, argv + 1);
    if (strcmp(what, "known") == 0)
        return sim_known(argc - 1, argv + 1);
    err_usage(
        &e, "simulate what? carol sim ensemble, known or prop1; 'carol sim --help' says what they "
            "are");
    return cli_fail(&e);
}
