/* sim_ensemble: `carol sim ensemble`: options, the graph, and the run.  Prints in sim_print.c. */
#include "cli/cli.h"
#include "cli/sim.h"

#include "base/die.h"
#include "base/fs.h"
#include "proc/cpus.h"
#include "proc/loop.h"
#include "target/manifest.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: carol sim ensemble [options]\n\n"
    "simulated campaigns on virtual time: made-up fuzzers, a real or made-up graph, the real\n"
    "schedulers, contexts and rewards (docs/SIMULATION.md has the assumptions)\n\n"
    "  -k, --fuzzers N        size of the pool, 1 to 64 (default: 6, in the spirit of the real "
    "ones)\n"
    "  -j, --jobs N           workers, 1 to 256 (default: 6)\n"
    "  -d, --duration TIME    of a campaign, simulated (default: 24h)\n"
    "      --turns N          instead of -d: about this many turns in all\n"
    "      --turn TIME        length of a turn (default: 120s)\n"
    "  -s, --scheduler LIST   NAME[/key=value...],... (default: all), e.g. contextual/explore=0\n"
    "      --sched-opt KEY=VALUE    an option for all of them; may be repeated\n"
    "      --campaigns N      per scheduler; campaign i plays the same world under each (default: "
    "20)\n"
    "      --seed N           of all random numbers (default: 1)\n"
    "  -b, --build DIR        play on the neutral graph of this build\n"
    "      --target NAME      which target of it, if there are several\n"
    "      --edges N          or on a synthetic graph of this many edges (default: 20000)\n"
    "      --bugs N           planted, 0 to 64 (default: 20)\n"
    "      --hardness TIME    core time of an obstacle at ordinary skill and luck (default: "
    "3.75h);\n"
    "                         with much less a campaign runs dry\n"
    "  -p, --processes N      (default: the number of cores)\n"
    "  -o, --out DIR          write the journals: DIR itself for one campaign, else directories in "
    "it\n"
    "      --json             print JSON (schema 1)\n";

enum {
    OPT_TURNS = 256,
    OPT_TURN,
    OPT_SCHED,
    OPT_CAMPAIGNS,
    OPT_SEED,
    OPT_TARGET,
    OPT_EDGES,
    OPT_BUGS,
    OPT_HARDNESS,
    OPT_JSON
};

static const struct option options[] = {{"fuzzers", 1, 0, 'k'},
                                        {"jobs", 1, 0, 'j'},
                                        {"duration", 1, 0, 'd'},
                                        {"turns", 1, 0, OPT_TURNS},
                                        {"turn", 1, 0, OPT_TURN},
                                        {"scheduler", 1, 0, 's'},
                                        {"sched-opt", 1, 0, OPT_SCHED},
                                        {"campaigns", 1, 0, OPT_CAMPAIGNS},
                                        {"seed", 1, 0, OPT_SEED},
                                        {"build", 1, 0, 'b'},
                                        {"target", 1, 0, OPT_TARGET},
                                        {"edges", 1, 0, OPT_EDGES},
                                        {"bugs", 1, 0, OPT_BUGS},
                                        {"hardness", 1, 0, OPT_HARDNESS},
                                        {"processes", 1, 0, 'p'},
                                        {"out", 1, 0, 'o'},
                                        {"json", 0, 0, OPT_JSON},
                                        {"help", 0, 0, 'h'},
                                        {0, 0, 0, 0}};

struct args {
    uint64_t k, jobs, turns, campaigns, seed, edges, bugs, processes;
    int64_t duration_ns, turn_ns, hardness_ns;
    struct strv schedulers, fuzzers;
    char *params, *build, *target, *out;
    bool json, help;
};

static void replace(char **field, char *value)
{
    free(*field);
    *field = value;
}

static int set_option(int c, const char *v, struct args *a, struct err *e)
{
    switch (c) {
    case 'k': return str_to_u64(v, "-k", 1, WORLD_MAX_FUZZERS, &a->k, e);
    case 'j': return str_to_u64(v, "-j", 1, 256, &a->jobs, e);
    case 'd': return str_to_time(v, "-d", &a->duration_ns, e);
    case 'p': return str_to_u64(v, "-p", 1, 1024, &a->processes, e);
    case OPT_TURNS: return str_to_u64(v, "--turns", 1, 100000000, &a->turns, e);
    case OPT_TURN: return str_to_time(v, "--turn", &a->turn_ns, e);
    case OPT_CAMPAIGNS: return str_to_u64(v, "--campaigns", 1, 1000000, &a->campaigns, e);
    case OPT_SEED: return str_to_u64(v, "--seed", 0, UINT64_MAX, &a->seed, e);
    case OPT_EDGES: return str_to_u64(v, "--edges", 100, 1000000, &a->edges, e);
    case OPT_BUGS: return str_to_u64(v, "--bugs", 0, WORLD_MAX_BUGS, &a->bugs, e);
    case OPT_HARDNESS: return str_to_time(v, "--hardness", &a->hardness_ns, e);
    case OPT_SCHED:
        replace(&a->params, a->params ? str_fmt("%s,%s", a->params, v) : xstrdup(v));
        return 0;
    case OPT_TARGET: replace(&a->target, xstrdup(v)); return 0;
    case OPT_JSON: a->json = true; return 0;
    case 's': strv_split(&a->schedulers, v, ','); return 0;
    case 'b': replace(&a->build, xstrdup(v)); return 0;
    case 'o': replace(&a->out, xstrdup(v)); return 0;
    case 'h': a->help = true; return 0;
    default: return err_usage(e, "'carol sim ensemble --help' lists the options");
    }
}

static int check(struct args *a, struct err *e)
{
    if (a->turn_ns < 100 * NS_PER_MS || a->turn_ns > 86400 * NS_PER_S)
        return err_usage(e, "--turn: a turn lasts from 0.1 s to a day");
    if (a->turns)
        a->duration_ns = (int64_t)((double)a->turns * (double)a->turn_ns / (double)a->jobs);
    if (a->duration_ns < a->turn_ns)
        a->duration_ns = a->turn_ns;
    if (a->duration_ns > 3650 * 86400 * NS_PER_S / RUN_QUARTERS)
        return err_usage(e, "-d: no campaign lasts years, not even a simulated one");
    if (a->hardness_ns && a->hardness_ns < 60 * NS_PER_S)
        return err_usage(e, "--hardness: an obstacle takes at least 60 s");
    if (a->build && a->edges)
        return err_usage(e, "-b plays on a real graph and --edges on a synthetic one: give one");
    if (!a->edges)
        a->edges = 20000;
    if (!a->schedulers.n)
        sim_all_schedulers(&a->schedulers);
    return 0;
}

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    *a = (struct args){.k = 6,
                       .jobs = 6,
                       .campaigns = 20,
                       .seed = 1,
                       .bugs = 20,
                       .processes = (uint64_t)cpus_count(),
                       .duration_ns = 86400 * NS_PER_S,
                       .turn_ns = SCHED_TURN_NS};
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "+k:j:d:s:b:p:o:h", options, NULL)) != -1;) {
        int rc = set_option(c, optarg, a, e);
        if (rc < 0 || a->help)
            return rc;
    }
    if (optind < argc)
        return err_usage(e, "what is '%s'? 'carol sim ensemble --help' lists the options",
                         argv[optind]);
    return check(a, e);
}

/* --- the graph ---------------------------------------------------------------------------------- */

static int load_graph(const struct args *a, struct manifest *m, struct table *t, struct graph *g,
                      struct err *e)
{
    if (!a->build) {
        graph_synthetic(g, (uint32_t)a->edges, a->seed);
        return 0;
    }
    int rc = manifest_load(a->build, a->target, m, e);
    if (rc == 0 && !m->table)
        rc = err_usage(e,
                       "%s has no neutral build, whose graph the simulation plays on; make it with "
                       "'carol build'",
                       a->build);
    if (rc == 0)
        rc = table_load(m->table, t, e);
    if (rc == 0)
        graph_of(g, t);
    return rc;
}

/* Journals need a build to mean something: a synthetic graph gets one of its own. */
static int prepare_out(const struct args *a, const struct manifest *m, const struct graph *g,
                       struct run_settings *run, struct err *e)
{
    char real[PATH_MAX], *build = fs_join(a->out, "build"), *db = fs_join(a->out, "carol.db");
    int rc = 0;
    if (fs_exists(build) || fs_exists(db))
        rc = err_usage(e, "-o: %s holds something already; give a new directory", a->out);
    else if (a->build)
        rc = fs_mkdirs(a->out, e);
    else if ((rc = fs_mkdirs(build, e)) == 0)
        rc = realpath(build, real) ? graph_write(g, real, e) : err_sys(e, "cannot open %s", build);
    if (rc == 0) {
        run->build = xstrdup(a->build ? m->dir : real);
        run->target = a->build ? m->target : GRAPH_TARGET;
    }
    free(build);
    free(db);
    return rc;
}

static double seconds_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int simulate(const struct args *a, struct batch_settings *st, struct err *e)
{
    struct run_result *results =
        xcalloc(st->schedulers->n * (size_t)st->campaigns, sizeof *results);
    double from = seconds_now();
    int rc = batch_run(st, results, e);
    struct sim_answer ans = {.st = st,
                             .results = results,
                             .wall_s = seconds_now() - from,
                             .graph = a->build ? a->build : "synthetic"};
    if (rc == 0)
        (a->json ? sim_print_json : sim_print_text)(&ans);
    free(results);
    return rc;
}

static int run(struct args *a, struct err *e)
{
    struct manifest m = {0};
    struct table t = {0};
    struct graph g = {0};
    struct batch_settings st = {.run = {.graph = &g,
                                        .fuzzers = &a->fuzzers,
                                        .workers = (int)a->jobs,
                                        .n_bugs = (int)a->bugs,
                                        .hardness_s = (double)a->hardness_ns / 1e9,
                                        .budget_ns = a->duration_ns,
                                        .turn_ns = a->turn_ns},
                                .schedulers = &a->schedulers,
                                .params = a->params,
                                .campaigns = (int)a->campaigns,
                                .processes = (int)a->processes,
                                .seed = a->seed,
                                .out = a->out};
    world_roster(&a->fuzzers, (int)a->k);
    int rc = load_graph(a, &m, &t, &g, e);
    if (rc == 0) /* before anything is in the way of the next try */
        rc = batch_check(&st, e);
    if (rc == 0 && a->out)
        rc = prepare_out(a, &m, &g, &st.run, e);
    if (rc == 0)
        rc = simulate(a, &st, e);
    free((void *)(uintptr_t)st.run.build);
    graph_free(&g);
    table_free(&t);
    manifest_free(&m);
    return rc;
}

int sim_ensemble(int argc, char **argv)
{
    struct args a;
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help)
        printf("%s", help);
    else if (rc == 0)
        rc = run(&a, &e);
    strv_free(&a.schedulers);
    strv_free(&a.fuzzers);
    free(a.params);
    free(a.build);
    free(a.target);
    free(a.out);
    return rc < 0 ? cli_fail(&e) : 0;
}
