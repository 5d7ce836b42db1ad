/* status: `carol status`: the state of a campaign, for people and for programs. */
#include "cli/cli.h"

#include "journal/json.h"
#include "journal/status.h"
#include "triage/defect.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "  --json   for programs (schema 1)\n";

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* Who saw how many of them first. */
static void add_finders(json_t *fuzzers, const struct defects *d)
{
    const char *name;
    json_t *x;
    json_object_foreach(fuzzers, name, x)
    {
        json_int_t n = 0;
        for (size_t i = 0; i < d->n; i++)
            n += strcmp(d->v[i].found_by, name) == 0;
        json_object_set_new(x, "defects", json_integer(n));
    }
}

/* One list, in the order in which they were first seen. */
static json_t *all_defects(const struct defects *d)
{
    json_t *o = defects_json(d, NULL), *list = json_incref(json_object_get(o, "defects"));
    json_array_extend(list, json_object_get(o, "unconfirmed"));
    json_decref(o);
    return list;
}

static void print_json(const struct status *st, const struct defects *d)
{
    json_t *o = status_json(st);
    add_finders(json_object_get(o, "fuzzers"), d);
    json_object_set_new(o, "defects", all_defects(d));
    json_object_set_new(o, "untriaged", json_integer((json_int_t)d->waiting));
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    printf("\n");
    json_decref(o);
}

static void print_slots(const struct gauges *g)
{
    struct store_slot all = {0};
    for (int i = 0; i < g->n_slots; i++) {
        all.start_ns += g->slot[i].start_ns;
        all.fuzz_ns += g->slot[i].fuzz_ns;
        all.eval_ns += g->slot[i].eval_ns;
        all.wall_ns += g->slot[i].wall_ns;
    }
    if (all.wall_ns)
        printf(
            "\ntime of the slots: %.1f %% in fuzzers, %.1f %% starting them, %.1f %% measuring\n",
            100 * (double)all.fuzz_ns / (double)all.wall_ns,
            100 * (double)all.start_ns / (double)all.wall_ns,
            100 * (double)all.eval_ns / (double)all.wall_ns);
}

static void print_defects(const struct defects *d)
{
    if (!d->rows && !d->waiting)
        return;
    printf("\n%zu distinct defects, %zu confirmed; %llu crashes and hangs not looked into yet\n",
           d->n, d->confirmed, (unsigned long long)d->waiting);
    for (size_t i = 0; i < d->n; i++)
        printf("  %s  %-8s %s in %s, by %s after %.0f s, %llu inputs\n", d->v[i].id,
               defect_class(&d->v[i]), d->v[i].fault,
               *d->v[i].function ? d->v[i].function : "unknown code", d->v[i].found_by,
               seconds(d->v[i].first_seen_ns), (unsigned long long)d->v[i].inputs);
}

static void print_text(const struct status *st, const struct defects *d)
{
    const struct tally *t = &st->tally;
    const struct gauges *g = &st->gauges;
    printf("%s%s, %.0f s", st->simulated ? "simulated, " : "", st->state, seconds(g->elapsed_ns));
    if (t->budget_ns)
        printf(" of %.0f s", seconds(t->budget_ns));
    printf("\n%u of %u edges (%u from the seeds), %llu seeds, %llu crashes, %llu hangs\n%llu "
           "turns, %llu "
           "executions; last new edge at %.0f s\n\n",
           t->edges, t->edges_total, t->seed_edges, (unsigned long long)g->seeds,
           (unsigned long long)g->crashes, (unsigned long long)g->hangs,
           (unsigned long long)t->turns, (unsigned long long)t->execs, seconds(t->last_new_ns));
    if (t->no_predecessor)
        printf("%llu new edges had no known predecessor and earned nothing\n\n",
               (unsigned long long)t->no_predecessor);
    printf("%-10s %6s %9s %8s %6s %12s %12s %16s %8s\n", "fuzzer", "turns", "active s", "start s",
           "share", "first edges", "last reward", "imports taken", "crashes");
    for (int i = 0; i < t->n_arms; i++) {
        const struct tally_arm *a = &t->arm[i];
        bool dropped = gauge_dropped(g, i);
        printf("%-10s %6llu %9.1f %8.1f %5.0f%% %12llu %12.3f %9llu/%-6llu %8llu%s%s\n", a->name,
               (unsigned long long)a->turns, seconds(a->active_ns), seconds(a->startup_ns),
               100 * tally_share(t, i), (unsigned long long)a->first_edges, a->last_reward,
               (unsigned long long)a->taken, (unsigned long long)a->offered,
               (unsigned long long)a->crashes, dropped ? "  dropped: " : "", g->why[i]);
    }
    print_slots(g);
    print_defects(d);
}

/* Of the same record, a moment later. */
static int load_defects(struct defects *d, const char *out, struct err *e)
{
    struct store *s = NULL;
    int rc = store_open(&s, out, STORE_READ, e);
    if (rc == 0)
        rc = defects_load(d, s, e);
    store_close(s);
    return rc;
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
    struct status st;
    struct defects d = {0};
    int rc = cli_campaign_arg("status", help, argc, argv, &json, &out, &e);
    if (rc == 1)
        return 0;
    if (rc == 0)
        rc = status_load(&st, out, &e);
    if (rc == 0)
        rc = load_defects(&d, out, &e);
    if (rc < 0)
        return cli_fail(&e);
    if (json)
        print_json(&st, &d);
    else
        print_text(&st, &d);
    defects_free(&d);
    return 0;
}
