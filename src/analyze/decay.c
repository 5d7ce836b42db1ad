/* decay: do rewards rot?  The raw reward per turn of every fuzzer, second half of a campaign against the first. */
#include "analyze/analyze.h"
#include "analyze/windows.h"
#include "base/die.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/series.h"

#include <math.h>
#include <stdlib.h>

struct answer {
    uint32_t falls, rises, same, empty, fresh; /* fresh: nothing in the first half */
    uint32_t n;                                /* retained ones */
    double retained[SCHED_MAX_ARMS];           /* second rate in percent of the first */
    uint64_t turns, earning;                   /* of the second half: all, with a reward */
};

static void count_pair(struct answer *a, double first, double second)
{
    a->falls += second < first;
    a->rises += second > first;
    a->same += second == first && first > 0;
    a->empty += first == 0 && second == 0;
    a->fresh += first == 0 && second > 0;
    if (first > 0)
        a->retained[a->n++] = 100 * second / first;
}

static int halves(void *arg, const struct story *l, size_t camp, void *result, struct err *e)
{
    struct answer *a = result;
    int arm[SCHED_MAX_ARMS], n = windows_admit(l, 2, 0, 1, arm);
    size_t *turns = xcalloc(l->n_turns, sizeof *turns);
    (void)arg;
    (void)camp;
    (void)e;
    for (int i = 0; i < n; i++) {
        double rate[2];
        for (int w = 0; w < 2; w++)
            rate[w] = windows_rate(l, turns, windows_turns(l, 2, w, arm[i], turns));
        count_pair(a, rate[0], rate[1]);
    }
    for (size_t i = 0; i < l->n_turns; i++)
        if (window_of(l, l->turns[i].end_ns, 2) == 1) {
            a->turns++;
            a->earning += l->turns[i].reward > 0;
        }
    free(turns);
    return 0;
}

struct sum {
    uint64_t campaigns, pairs, falls, rises, empty, fresh, wins, losses, turns, earning;
    double retained; /* median */
    double p, p_holm;
};

static void sum_up(const struct study *s, const struct answer *a, size_t target, struct sum *t)
{
    double *all = xcalloc(s->n * s->fuzzers.n + 1, sizeof *all);
    size_t n = 0;
    *t = (struct sum){.retained = NAN};
    for (size_t c = 0; c < s->n; c++) {
        if (target < s->targets.n && s->camps[c].target != target)
            continue;
        t->campaigns += a[c].falls + a[c].rises + a[c].same + a[c].empty > 0;
        t->pairs += a[c].falls + a[c].rises + a[c].same;
        t->falls += a[c].falls;
        t->rises += a[c].rises;
        t->empty += a[c].empty;
        t->fresh += a[c].fresh;
        t->wins += a[c].falls > a[c].rises;
        t->losses += a[c].falls < a[c].rises;
        t->turns += a[c].turns;
        t->earning += a[c].earning;
        for (uint32_t i = 0; i < a[c].n; i++)
            all[n++] = a[c].retained[i];
    }
    if (n)
        t->retained = stats_median(all, (int)n);
    t->p = t->pairs ? stats_sign(t->wins, t->losses) : NAN;
    free(all);
}

static void put(const struct study *s, const struct sum *t, struct grids *out)
{
    static const struct grid_column columns[] = {{"target", GRID_TEXT},
                                                 {"campaigns", GRID_COUNT},
                                                 {"pairs", GRID_COUNT},
                                                 {"falls_pct", 1},
                                                 {"retained_pct", 1},
                                                 {"rises", GRID_COUNT},
                                                 {"from_nothing", GRID_COUNT},
                                                 {"empty", GRID_COUNT},
                                                 {"earning_pct", 1},
                                                 {"p", GRID_P},
                                                 {"p_holm", GRID_P}};
    struct grid *g = grid_add(out, "decay", GRID_COLUMNS(columns),
                              "raw reward per turn: the second half against the first");
    g->drawn = "retained_pct";
    for (size_t i = 0; i <= s->targets.n; i++) {
        bool all = i == s->targets.n;
        if (all && s->targets.n == 1)
            break;
        grid_text(g, "%s", all ? "all" : s->targets.v[i]);
        grid_count(g, t[i].campaigns);
        grid_count(g, t[i].pairs);
        grid_real(g, t[i].pairs ? 100.0 * (double)t[i].falls / (double)t[i].pairs : NAN);
        grid_real(g, t[i].retained);
        grid_count(g, t[i].rises);
        grid_count(g, t[i].fresh);
        grid_count(g, t[i].empty);
        grid_real(g, t[i].turns ? 100.0 * (double)t[i].earning / (double)t[i].turns : NAN);
        grid_real(g, t[i].p);
        grid_real(g, all ? NAN : t[i].p_holm);
    }
    grid_note(g,
              "pairs: (campaign, fuzzer) with %d turns in both halves, in campaigns with %d such "
              "fuzzers or all of them, "
              "that earned something; falls %%: whose rate falls; retained %%: the median pair's "
              "second rate in percent of its first, over "
              "those that had a first",
              WINDOWS_TURNS, WINDOWS_FUZZERS);
    grid_note(g, "from nothing: rises that had earned nothing before; empty: pairs that never "
                 "earned, not counted; earning %%: turns of the "
                 "second half with a reward");
    grid_note(g, "p: exact sign test, two-sided, over campaigns (do more of its fuzzers fall or "
                 "rise?); p holm: Holm over the targets; below 6 campaigns nothing can be "
                 "significant");
}

int analyze_decay(const struct study *s, struct grids *out, struct err *e)
{
    struct answer *a = xcalloc(s->n, sizeof *a);
    struct sum *t = xcalloc(s->targets.n + 1, sizeof *t);
    int rc = study_each(s, sizeof *a, halves, NULL, a, e);
    for (size_t i = 0; rc == 0 && i <= s->targets.n; i++)
        sum_up(s, a, i, &t[i]);
    if (rc == 0 && !t[s->targets.n].campaigns)
        rc = err_usage(
            e, "too little data: in no campaign do enough fuzzers complete %d turns in both halves",
            WINDOWS_TURNS);
    else if (rc == 0 && !t[s->targets.n].pairs)
        rc = err_usage(e, "no turn earned anything: there is nothing that could fall");
    if (rc == 0) {
        stats_holm_fields(&t->p, &t->p_holm, s->targets.n, sizeof *t);
        put(s, t, out);
    }
    free(t);
    free(a);
    return rc;
}
