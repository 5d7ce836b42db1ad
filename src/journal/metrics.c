/* metrics: the table and its plain text form.  Computes nothing that tally and gauges do not have. */
#include "journal/metrics.h"

#include "base/die.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

#define CAMPAIGN(id, value)                                                                        \
    static double campaign_##id(const struct status *st, int i)                                    \
    {                                                                                              \
        (void)i;                                                                                   \
        return (double)(value);                                                                    \
    }
#define FUZZER(id, value)                                                                          \
    static double fuzzer_##id(const struct status *st, int i)                                      \
    {                                                                                              \
        const struct tally_arm *a = &st->tally.arm[i];                                             \
        (void)a;                                                                                   \
        return (double)(value);                                                                    \
    }
#define SLOT(id, value)                                                                            \
    static double slot_##id(const struct status *st, int i)                                        \
    {                                                                                              \
        const struct store_slot *x = &st->gauges.slot[i];                                          \
        return (double)(value);                                                                    \
    }

static uint64_t untriaged(const struct status *st)
{
    uint64_t all = st->gauges.crashes + st->gauges.hangs;
    return all > st->gauges.triaged ? all - st->gauges.triaged : 0;
}

CAMPAIGN(elapsed, seconds(st->gauges.elapsed_ns))
CAMPAIGN(budget, seconds(st->tally.budget_ns))
CAMPAIGN(turns, st->tally.turns)
CAMPAIGN(edges, st->tally.edges)
CAMPAIGN(edges_total, st->tally.edges_total)
CAMPAIGN(seed_edges, st->tally.seed_edges)
CAMPAIGN(no_predecessor, st->tally.no_predecessor)
CAMPAIGN(last_new, seconds(st->tally.last_new_ns))
CAMPAIGN(seeds, st->gauges.seeds)
CAMPAIGN(crashes, st->gauges.crashes)
CAMPAIGN(hangs, st->gauges.hangs)
CAMPAIGN(execs, st->tally.execs)
CAMPAIGN(rate, tally_rate(&st->tally, st->gauges.elapsed_ns))
CAMPAIGN(recent, tally_rate_recent(&st->tally))
CAMPAIGN(defects, st->gauges.defects)
CAMPAIGN(confirmed, st->gauges.confirmed)
CAMPAIGN(untriaged, untriaged(st))

FUZZER(turns, a->turns)
FUZZER(active, seconds(a->active_ns))
FUZZER(startup, seconds(a->startup_ns))
FUZZER(share, tally_share(&st->tally, i))
FUZZER(first_edges, a->first_edges)
FUZZER(last_reward, a->last_reward)
FUZZER(offered, a->offered)
FUZZER(taken, a->taken)
FUZZER(exports, a->exports)
FUZZER(crashes, a->crashes)
FUZZER(hangs, a->hangs)
FUZZER(execs, a->execs)
FUZZER(deaths, a->deaths)
FUZZER(defects, st->gauges.first_defects[i])

SLOT(start, seconds(x->start_ns))
SLOT(fuzz, seconds(x->fuzz_ns))
SLOT(eval, seconds(x->eval_ns))
SLOT(idle, seconds(x->idle_ns))
SLOT(wall, seconds(x->wall_ns))

/* clang-format off */
const struct metric metrics[] = {
    {METRIC_CAMPAIGN, "elapsed_s", METRIC_SECONDS, true, "carol_elapsed_seconds", "Campaign time so far", campaign_elapsed},
    {METRIC_CAMPAIGN, "budget_s", METRIC_SECONDS, false, "carol_budget_seconds", "Campaign time it may take; 0: no end", campaign_budget},
    {METRIC_CAMPAIGN, "turns", METRIC_COUNT, true, "carol_turns_total", "Completed turns", campaign_turns},
    {METRIC_CAMPAIGN, "edges", METRIC_COUNT, true, "carol_edges", "Neutral edges covered", campaign_edges},
    {METRIC_CAMPAIGN, "edges_total", METRIC_COUNT, false, "carol_edges_known", "Neutral edges of the target", campaign_edges_total},
    {METRIC_CAMPAIGN, "seed_edges", METRIC_COUNT, false, "carol_seed_edges", "Neutral edges the initial seeds cover", campaign_seed_edges},
    {METRIC_CAMPAIGN, "no_predecessor", METRIC_COUNT, true, "carol_no_predecessor_total", "New edges without a known predecessor, which earned nothing", campaign_no_predecessor},
    {METRIC_CAMPAIGN, "last_new_s", METRIC_SECONDS, false, "carol_last_new_edge_seconds", "Campaign time of the last new edge", campaign_last_new},
    {METRIC_CAMPAIGN, "seeds", METRIC_COUNT, true, "carol_seeds", "Distinct inputs in the store", campaign_seeds},
    {METRIC_CAMPAIGN, "crashes", METRIC_COUNT, true, "carol_crashes", "Distinct crashing inputs", campaign_crashes},
    {METRIC_CAMPAIGN, "hangs", METRIC_COUNT, true, "carol_hangs", "Distinct hanging inputs", campaign_hangs},
    {METRIC_CAMPAIGN, "execs", METRIC_COUNT, true, "carol_executions_total", "Executions of completed turns", campaign_execs},
    {METRIC_CAMPAIGN, "execs_per_s", METRIC_NUMBER, false, "carol_executions_per_second", "Executions per second of campaign time, all slots, since the start", campaign_rate},
    {METRIC_CAMPAIGN, "execs_per_s_recent", METRIC_NUMBER, false, "carol_executions_per_second_recent", "Executions per second of campaign time, all slots, over the last turns", campaign_recent},
    {METRIC_CAMPAIGN, "distinct_defects", METRIC_COUNT, false, "carol_defects", "Distinct defects among the crashes and hangs that were triaged", campaign_defects},
    {METRIC_CAMPAIGN, "confirmed_defects", METRIC_COUNT, false, "carol_defects_confirmed", "Distinct defects that the plain build shows every time", campaign_confirmed},
    {METRIC_CAMPAIGN, "untriaged", METRIC_COUNT, false, "carol_untriaged", "Crashes and hangs that triage has not looked into", campaign_untriaged},

    {METRIC_FUZZER, "turns", METRIC_COUNT, true, "carol_fuzzer_turns_total", "Completed turns of a fuzzer", fuzzer_turns},
    {METRIC_FUZZER, "active_s", METRIC_SECONDS, true, "carol_fuzzer_active_seconds_total", "Time it ran, start-up not counted", fuzzer_active},
    {METRIC_FUZZER, "startup_s", METRIC_SECONDS, true, "carol_fuzzer_startup_seconds_total", "Time its instances took to start", fuzzer_startup},
    {METRIC_FUZZER, "share", METRIC_SHARE, false, "carol_fuzzer_share", "Its part of the time all fuzzers were active", fuzzer_share},
    {METRIC_FUZZER, "first_edges", METRIC_COUNT, true, "carol_fuzzer_first_edges_total", "Edges it covered first", fuzzer_first_edges},
    {METRIC_FUZZER, "last_reward", METRIC_NUMBER, false, "carol_fuzzer_last_reward", "Reward of its last turn, 0 to 1", fuzzer_last_reward},
    {METRIC_FUZZER, "offered", METRIC_COUNT, true, "carol_fuzzer_imports_offered_total", "Inputs of others given to it", fuzzer_offered},
    {METRIC_FUZZER, "taken", METRIC_COUNT, true, "carol_fuzzer_imports_taken_total", "Inputs of others it executed", fuzzer_taken},
    {METRIC_FUZZER, "exports", METRIC_COUNT, true, "carol_fuzzer_exports_total", "Inputs it found that went into the store", fuzzer_exports},
    {METRIC_FUZZER, "crashes", METRIC_COUNT, true, "carol_fuzzer_crashes_total", "Crashing inputs it found", fuzzer_crashes},
    {METRIC_FUZZER, "hangs", METRIC_COUNT, true, "carol_fuzzer_hangs_total", "Hanging inputs it found", fuzzer_hangs},
    {METRIC_FUZZER, "execs", METRIC_COUNT, true, "carol_fuzzer_executions_total", "Its executions", fuzzer_execs},
    {METRIC_FUZZER, "deaths", METRIC_COUNT, true, "carol_fuzzer_deaths_total", "Turns in which it ended by itself", fuzzer_deaths},
    {METRIC_FUZZER, "defects", METRIC_COUNT, false, "carol_fuzzer_defects", "Distinct defects it was the first to show", fuzzer_defects},

    {METRIC_SLOT, "start_s", METRIC_SECONDS, true, "carol_slot_start_seconds_total", "Slot time spent starting fuzzers", slot_start},
    {METRIC_SLOT, "fuzz_s", METRIC_SECONDS, true, "carol_slot_fuzz_seconds_total", "Slot time spent inside fuzzers", slot_fuzz},
    {METRIC_SLOT, "eval_s", METRIC_SECONDS, true, "carol_slot_eval_seconds_total", "Slot time spent measuring", slot_eval},
    {METRIC_SLOT, "idle_s", METRIC_SECONDS, true, "carol_slot_idle_seconds_total", "Slot time in which nothing ran", slot_idle},
    {METRIC_SLOT, "wall_s", METRIC_SECONDS, true, "carol_slot_wall_seconds_total", "Slot time, the sum of the others", slot_wall},
    {METRIC_NONE, NULL, 0, false, NULL, NULL, NULL},
};
/* clang-format on */

const struct metric *metric_find(enum metric_scope scope, const char *name)
{
    const struct metric *m = metrics;
    while (m->name && (m->scope != scope || strcmp(m->name, name) != 0))
        m++;
    BUG_ON(!m->name);
    return m;
}

double metric_value(const struct status *st, enum metric_scope scope, const char *name, int i)
{
    return metric_find(scope, name)->read(st, i);
}

unsigned long long metric_count(const struct status *st, enum metric_scope scope, const char *name,
                                int i)
{
    return (unsigned long long)metric_value(st, scope, name, i);
}

unsigned long long metric_total(const struct status *st, const char *name)
{
    return metric_count(st, METRIC_CAMPAIGN, name, 0);
}

int metric_rows(const struct metric *m, const struct status *st)
{
    return m->scope == METRIC_CAMPAIGN ? 1
           : m->scope == METRIC_FUZZER ? st->tally.n_arms
                                       : st->gauges.n_slots;
}

const char *metric_label(const struct metric *m, const struct status *st, int i)
{
    static char slot[16];
    if (m->scope == METRIC_FUZZER)
        return st->tally.arm[i].name;
    if (m->scope == METRIC_CAMPAIGN)
        return "";
    snprintf(slot, sizeof slot, "%d", i);
    return slot;
}

/* A label's value: backslash, quote and line break are escaped. */
static void label_text(struct buf *out, const char *s)
{
    for (; *s; s++)
        switch (*s) {
        case '\\': buf_str(out, "\\\\"); break;
        case '"': buf_str(out, "\\\""); break;
        case '\n': buf_str(out, "\\n"); break;
        default: buf_add(out, s, 1);
        }
}

static void value_line(const struct metric *m, const struct status *st, int i, struct buf *out)
{
    buf_str(out, m->prometheus);
    if (m->scope != METRIC_CAMPAIGN) {
        buf_printf(out, "{%s=\"", m->scope == METRIC_FUZZER ? "fuzzer" : "slot");
        label_text(out, metric_label(m, st, i));
        buf_str(out, "\"}");
    }
    double v = m->read(st, i);
    if (m->unit == METRIC_COUNT)
        buf_printf(out, " %.0f\n", v);
    else if (isfinite(v))
        buf_printf(out, " %.9g\n", v);
    else
        buf_str(out, " NaN\n");
}

void metrics_prometheus(const struct status *st, struct buf *out)
{
    for (const struct metric *m = metrics; m->name; m++) {
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", m->prometheus, m->help, m->prometheus,
                   str_ends(m->prometheus, "_total") ? "counter" : "gauge");
        for (int i = 0; i < metric_rows(m, st); i++)
            value_line(m, st, i, out);
    }
    buf_str(out, "# HELP carol_state The campaign's state, 1 for the one it is in\n"
                 "# TYPE carol_state gauge\n");
    buf_printf(out, "carol_state{state=\"%s\"} 1\n", st->state);
}
