/* status: `carol status`: the state of a campaign, for people and for programs. */
#include "cli/cli.h"

#include "journal/metrics.h"
#include "triage/defect.h"
#include "triage/state.h"

#include <stdio.h>
#include <string.h>

static const char help[] = "  --json   for programs (schema 1)\n";

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void print_json(const struct status *st, const struct defects *d)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    state_json(st, d, &b);
    printf("%s", b.p);
    buf_free(&b);
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

static double number(const struct status *st, const char *name)
{
    return metric_value(st, METRIC_CAMPAIGN, name, 0);
}

static void print_defects(const struct status *st, const struct defects *d)
{
    if (!d->rows && !d->waiting)
        return;
    printf("\n%llu distinct defects, %llu confirmed; %llu crashes and hangs not looked into yet\n",
           metric_total(st, "distinct_defects"), metric_total(st, "confirmed_defects"),
           metric_total(st, "untriaged"));
    for (size_t i = 0; i < d->n; i++)
        printf("  %s  %-8s %s in %s, by %s after %.0f s, %llu input%s\n", d->v[i].id,
               defect_class(&d->v[i]), d->v[i].fault,
               *d->v[i].function ? d->v[i].function : "unknown code", d->v[i].found_by,
               seconds(d->v[i].first_seen_ns), (unsigned long long)d->v[i].inputs,
               d->v[i].inputs == 1 ? "" : "s");
}

static void print_campaign(const struct status *st)
{
    printf("%s%s, %.0f s", st->simulated ? "simulated, " : "", st->state, number(st, "elapsed_s"));
    if (st->tally.budget_ns)
        printf(" of %.0f s", number(st, "budget_s"));
    printf("\n%llu of %llu edges (%llu from the seeds), %llu seeds, %llu crashes, %llu hangs\n",
           metric_total(st, "edges"), metric_total(st, "edges_total"),
           metric_total(st, "seed_edges"), metric_total(st, "seeds"), metric_total(st, "crashes"),
           metric_total(st, "hangs"));
    printf(
        "%llu turns, %llu executions, %.0f/s lately and %.0f/s since the start; last new edge at "
        "%.0f s\n\n",
        metric_total(st, "turns"), metric_total(st, "execs"), number(st, "execs_per_s_recent"),
        number(st, "execs_per_s"), number(st, "last_new_s"));
    if (st->tally.no_predecessor)
        printf("%llu new edges had no known predecessor and earned nothing\n\n",
               metric_total(st, "no_predecessor"));
}

static void print_fuzzer(const struct status *st, int i)
{
    bool dropped = gauge_dropped(&st->gauges, i);
    printf("%-10s %6llu %9.1f %8.1f %5.0f%% %12llu %12.3f %9llu/%-6llu %8llu%s%s\n",
           st->tally.arm[i].name, metric_count(st, METRIC_FUZZER, "turns", i),
           metric_value(st, METRIC_FUZZER, "active_s", i),
           metric_value(st, METRIC_FUZZER, "startup_s", i),
           100 * metric_value(st, METRIC_FUZZER, "share", i),
           metric_count(st, METRIC_FUZZER, "first_edges", i),
           metric_value(st, METRIC_FUZZER, "last_reward", i),
           metric_count(st, METRIC_FUZZER, "taken", i),
           metric_count(st, METRIC_FUZZER, "offered", i),
           metric_count(st, METRIC_FUZZER, "crashes", i), dropped ? "  dropped: " : "",
           st->gauges.why[i]);
}

static void print_text(const struct status *st, const struct defects *d)
{
    print_campaign(st);
    printf("%-10s %6s %9s %8s %6s %12s %12s %16s %8s\n", "fuzzer", "turns", "active s", "start s",
           "share", "first edges", "last reward", "imports taken", "crashes");
    for (int i = 0; i < st->tally.n_arms; i++)
        print_fuzzer(st, i);
    print_slots(&st->gauges);
    print_defects(st, d);
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
    struct status st = {0};
    struct defects d = {0};
    int rc = cli_campaign_arg("status", help, argc, argv, &json, &out, &e);
    if (rc == 1)
        return 0;
    if (rc == 0)
        rc = state_update(&st, &d, out, &e);
    if (rc < 0)
        return cli_fail(&e);
    if (json)
        print_json(&st, &d);
    else
        print_text(&st, &d);
    defects_free(&d);
    return 0;
}
