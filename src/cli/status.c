/* status: `carol status`: the tally of a campaign's store, for people and for programs. */
#include "cli/cli.h"

#include "base/fs.h"
#include "campaign/tally.h"
#include "proc/loop.h"
#include "store/store.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "  --json   for programs (schema 1)\n";

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* Running: somebody holds the writer's lock. Else what the campaign said last; killed: nothing. */
static const char *state_of(struct store *s, const char *dir)
{
    char *said = store_get(s, "state");
    bool ended = said && strcmp(said, "ended") == 0;
    free(said);
    return store_is_locked(dir) ? "running" : ended ? "ended" : "interrupted";
}

/* Made by `carol sim`: no fuzzer and no target ran. */
static bool is_simulated(struct store *s)
{
    char *said = store_get(s, "simulated");
    bool yes = said && strcmp(said, "1") == 0;
    free(said);
    return yes;
}

static json_t *arms_json(const struct tally *t)
{
    json_t *all = json_object();
    int64_t active = 0;
    for (int i = 0; i < t->n_arms; i++)
        active += t->arm[i].active_ns;
    for (int i = 0; i < t->n_arms; i++) {
        const struct tally_arm *a = &t->arm[i];
        json_t *o = json_pack("{s:I,s:f,s:f,s:I,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b}", "turns",
                              (json_int_t)a->turns, "active_s", seconds(a->active_ns), "share",
                              active ? (double)a->active_ns / (double)active : 0.0, "first_edges",
                              (json_int_t)a->first_edges, "last_reward", a->last_reward, "offered",
                              (json_int_t)a->offered, "taken", (json_int_t)a->taken, "exports",
                              (json_int_t)a->exports, "crashes", (json_int_t)a->crashes, "hangs",
                              (json_int_t)a->hangs, "execs", (json_int_t)a->execs, "deaths",
                              (json_int_t)a->deaths, "dropped", a->dropped);
        if (a->dropped)
            json_object_set_new(o, "why", json_string(a->why));
        json_object_set_new(all, a->name, o);
    }
    return all;
}

static json_t *slots_json(const struct tally *t)
{
    json_t *all = json_array();
    for (int i = 0; i < t->n_slots; i++)
        json_array_append_new(
            all, json_pack("{s:f,s:f,s:f,s:f}", "fuzz_s", seconds(t->slot[i].fuzz_ns), "eval_s",
                           seconds(t->slot[i].eval_ns), "idle_s", seconds(t->slot[i].idle_ns),
                           "wall_s", seconds(t->slot[i].wall_ns)));
    return all;
}

static void print_json(const struct tally *t, const char *state, bool simulated)
{
    json_t *o = json_pack("{s:i,s:s,s:f,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "schema",
                          1, "state", state, "elapsed_s", seconds(t->elapsed_ns), "budget_s",
                          seconds(t->budget_ns), "turns", (json_int_t)t->turns, "edges",
                          (json_int_t)t->edges, "edges_total", (json_int_t)t->edges_total,
                          "seed_edges", (json_int_t)t->seed_edges, "no_predecessor",
                          (json_int_t)t->no_predecessor, "seeds", (json_int_t)t->seeds, "crashes",
                          (json_int_t)t->crashes, "hangs", (json_int_t)t->hangs, "execs",
                          (json_int_t)t->execs, "fuzzers", arms_json(t), "slots", slots_json(t));
    json_object_set_new(o, "simulated", json_boolean(simulated));
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(o);
}

static void print_text(const struct tally *t, const char *state, bool simulated)
{
    printf("%s%s, %.0f s", simulated ? "simulated, " : "", state, seconds(t->elapsed_ns));
    if (t->budget_ns)
        printf(" of %.0f s", seconds(t->budget_ns));
    printf("\n%u of %u edges (%u from the seeds), %llu seeds, %llu crashes, %llu hangs\n%llu "
           "turns, %llu "
           "executions; last new edge at %.0f s\n\n",
           t->edges, t->edges_total, t->seed_edges, (unsigned long long)t->seeds,
           (unsigned long long)t->crashes, (unsigned long long)t->hangs,
           (unsigned long long)t->turns, (unsigned long long)t->execs, seconds(t->last_new_ns));
    if (t->no_predecessor)
        printf("%llu new edges had no known predecessor and earned nothing\n\n",
               (unsigned long long)t->no_predecessor);
    printf("%-10s %6s %9s %12s %12s %16s %8s\n", "fuzzer", "turns", "active s", "first edges",
           "last reward", "imports taken", "crashes");
    for (int i = 0; i < t->n_arms; i++) {
        const struct tally_arm *a = &t->arm[i];
        printf("%-10s %6llu %9.1f %12llu %12.3f %9llu/%-6llu %8llu%s%s\n", a->name,
               (unsigned long long)a->turns, seconds(a->active_ns),
               (unsigned long long)a->first_edges, a->last_reward, (unsigned long long)a->taken,
               (unsigned long long)a->offered, (unsigned long long)a->crashes,
               a->dropped ? "  dropped: " : "", a->why);
    }
}

int cli_campaign_arg(const char *verb, const char *options, int argc, char **argv, bool *json,
                     const char **out, struct err *e)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            cli_help(cli_find(verb), options);
            return 1;
        }
        if (strcmp(argv[i], "--json") == 0)
            *json = true;
        else if (argv[i][0] == '-' || *out)
            return err_usage(e, "what is '%s'? 'carol %s --help' tells what it takes", argv[i],
                             verb);
        else
            *out = argv[i];
    }
    return *out ? 0 : err_usage(e, "which campaign? carol %s OUT", verb);
}

int cli_status(int argc, char **argv)
{
    bool json = false;
    const char *out = NULL;
    struct err e = {0};
    struct store *s = NULL;
    struct tally t;
    int rc = cli_campaign_arg("status", help, argc, argv, &json, &out, &e);
    if (rc == 1)
        return 0;
    if (rc == 0)
        rc = store_open(&s, out, STORE_READ, &e);
    if (rc == 0)
        rc = store_begin(s, &e); /* one moment of a campaign that may be running */
    if (rc == 0)
        rc = tally_load(&t, s, &e);
    if (rc == 0) {
        if (json)
            print_json(&t, state_of(s, out), is_simulated(s));
        else
            print_text(&t, state_of(s, out), is_simulated(s));
    }
    store_close(s);
    return rc < 0 ? cli_fail(&e) : 0;
}
