/* sim: the graphs, Proposition 1, simulated campaigns, and that their journals replay. */
#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "journal/replay.h"
#include "journal/settings.h"
#include "journal/write.h"
#include "proc/loop.h"
#include "sim/batch.h"
#include "sim/gauge.h"
#include "sim/known.h"
#include "sim/play.h"
#include "sim/prop1.h"
#include "target/manifest.h"
#include "temp_dir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void ok(int rc, const struct err *e)
{
    if (rc < 0)
        fail_msg("%s", e->msg);
}

/* Written and read again it is the same table. */
static void a_graph_is_a_build(void **state)
{
    (void)state;
    struct graph g, again;
    struct manifest m;
    struct table t;
    struct err e = {0};
    char *build = fs_join(temp_dir, "build");
    graph_synthetic(&g, 700, 5);
    ok(graph_write(&g, build, &e), &e);
    ok(manifest_load(build, NULL, &m, &e), &e);
    ok(table_load(m.table, &t, &e), &e);
    assert_int_equal(t.n_edges, 700);
    assert_string_equal(t.build_id, g.table->build_id);
    assert_memory_equal(t.preds, g.table->preds, t.n_preds * sizeof *t.preds);
    assert_memory_equal(t.edges, g.table->edges, t.n_edges * sizeof *t.edges);
    graph_of(&again, &t);
    assert_int_equal(again.n_reachable, 700);
    assert_int_equal(g.n_reachable, 700);
    assert_memory_equal(again.succ_off, g.succ_off, 701 * sizeof *g.succ_off);
    graph_free(&again);
    graph_free(&g);
    table_free(&t);
    manifest_free(&m);
    free(build);
}

/* Drawing turns leaves the frontier as it was: the same edges, none lost, none twice. */
static void a_view_leaves_no_trace(void **state)
{
    (void)state;
    struct graph g;
    struct world w;
    struct play p;
    struct play_turn t = {0};
    struct play_instance who = {0};
    graph_synthetic(&g, 3000, 1);
    world_make(&w, &g, &(struct world_settings){.fuzzers = 6, .bugs = 20, .seed = 1});
    play_init(&p, &w, 1);
    play_seeds(&p, &t);
    play_settle(&p, &t);
    size_t opened = 0;
    for (int i = 0; i < 200; i++) {
        bool *before = calloc(3000, sizeof *before);
        for (uint32_t k = 0; k < 3000; k++)
            before[k] = frontier_has(&p.frontier[5], k);
        who.arm = i % 6;
        play_turn(&p, &who, 120, &t);
        opened += t.n_opened;
        for (uint32_t k = 0; k < 3000; k++) {
            for (int f = 0; f < 6; f++)
                assert_int_equal(before[k], frontier_has(&p.frontier[f], k));
            assert_false(p.known[k] && before[k]);
        }
        free(before);
        play_settle(&p, &t);
    }
    assert_true(opened > 50);
    for (size_t i = 0; i < t.n_inputs; i++)
        for (uint32_t k = 1; k < t.sets[i].n; k++)
            assert_true(t.sets[i].ids[k - 1] < t.sets[i].ids[k]);
    play_turn_free(&t);
    play_free(&p);
    world_free(&w);
    graph_free(&g);
}

/* A fuzzer opens one edge at the frontier within s seconds with probability 1 - exp(-rate s). */
static void openings_come_at_their_rate(void **state)
{
    (void)state;
    struct graph g;
    struct world w;
    struct frontier f;
    struct rng r;
    int within = 0;
    graph_synthetic(&g, 700, 5);
    world_make(&w, &g, &(struct world_settings){.fuzzers = 6, .seed = 1});
    frontier_init(&f, &w, 2);
    rng_seed(&r, 7);
    uint32_t edge = 0;
    while (!w.barred[edge])
        edge++;
    frontier_add(&f, edge);
    double rate = w.rate[w.level[2][edge]];
    for (int i = 0; i < 20000; i++) {
        double seconds;
        assert_int_equal(frontier_next(&f, w.rate, &r, &seconds), edge);
        within += seconds * rate <= 1;
    }
    assert_true(within > 12300 && within < 12980); /* 1 - 1/e = 0.632: 12642, five sigmas 341 */
    frontier_free(&f);
    world_free(&w);
    graph_free(&g);
}

/* What is easy for one fuzzer says next to nothing about another: levels differ widely and alone. */
static void luck_is_each_pairs_own(void **state)
{
    (void)state;
    struct graph g;
    struct world w;
    double n = 0, sum[2] = {0}, square[2] = {0}, product = 0;
    graph_synthetic(&g, 20000, 5);
    world_make(&w, &g, &(struct world_settings){.fuzzers = 6, .seed = 3});
    for (uint32_t i = 0; i < 20000; i++) {
        if (!w.barred[i])
            continue;
        double x[2] = {w.level[0][i], w.level[3][i]};
        for (int k = 0; k < 2; k++) {
            sum[k] += x[k];
            square[k] += x[k] * x[k];
        }
        product += x[0] * x[1];
        n++;
    }
    assert_true(n > 2000); /* a quarter, less what must follow */
    double var0 = square[0] / n - sum[0] / n * (sum[0] / n),
           var1 = square[1] / n - sum[1] / n * (sum[1] / n),
           cov = product / n - sum[0] / n * (sum[1] / n);
    assert_true(var0 > 7.5 * 7.5 && var0 < 9.5 * 9.5); /* 3/0.36 = 8.3 levels, and the skills */
    assert_true(var1 > 7.5 * 7.5 && var1 < 9.5 * 9.5);
    assert_true(cov / sqrt(var0 * var1) < 0.15 && cov / sqrt(var0 * var1) > -0.1);
    world_free(&w);
    graph_free(&g);
}

static struct estimate late_reward(const char *spec, int runs)
{
    struct prop1_settings st = {.spec = spec, .turns = 1200, .runs = runs, .seed = 3};
    struct prop1_result r;
    struct err e = {0};
    ok(prop1_run(&st, &r, &e), &e);
    assert_true(r.late.half > 0 && r.late.half < 0.05);
    return r.late;
}

/* Six sigmas of the mean of 8 x 300 turns with sd 1/4 are 0.03. */
static void history_earns_three_quarters(void **state)
{
    (void)state;
    for (int i = 0; sched_table[i]; i++) {
        const char *name = sched_table[i]->name;
        struct estimate x = late_reward(str_ends(name, ":") ? "single:one" : name, 8);
        if (x.mean < 0.72 || x.mean > 0.78)
            fail_msg("%s earns %g", name, x.mean);
    }
}

static void the_indicator_earns_more(void **state)
{
    (void)state;
    assert_true(late_reward("contextual+z", 8).mean > 0.85);
    double blind = late_reward("equal+z", 8).mean; /* it is given the indicator and does not look */
    assert_true(blind > 0.72 && blind < 0.78);
}

static struct known_result known(const char *spec)
{
    struct known_settings st = {
        .spec = spec, .fuzzers = 6, .workers = 6, .turns = 2000, .runs = 30, .seed = 21};
    struct known_result r;
    struct err e = {0};
    ok(known_run(&st, &r, &e), &e);
    return r;
}

/* The paper's ablation: without exploration no fuzzer that was passed over comes back. */
static void without_exploration_it_locks(void **state)
{
    (void)state;
    struct known_result equal = known("equal"), full = known("contextual"),
                        greedy = known("contextual/explore=0");
    assert_true(equal.could.mean == full.could.mean); /* the same fuzzers */
    for (int q = 0; q < KNOWN_QUARTERS; q++) {
        double expected = equal.equal.mean;
        assert_true(equal.reward[q].mean > 0.93 * expected);
        assert_true(equal.reward[q].mean < 1.07 * expected);
        assert_true(equal.top[q].mean < 0.17);
    }
    assert_true(full.reward[1].mean > 1.3 * equal.reward[1].mean);
    assert_true(full.reward[3].mean > 1.3 * equal.reward[3].mean); /* it noticed */
    assert_true(full.change[1].mean > 0.3);
    assert_true(greedy.top[1].mean > 0.97); /* 0.982 to 0.999 over eight seeds */
    assert_true(greedy.change[1].mean < 0.005);
    assert_true(greedy.best[1].mean < 0.8); /* on whichever it had taken to */
    assert_true(greedy.reward[2].mean < full.reward[2].mean);
    assert_true(greedy.reward[3].mean < equal.reward[3].mean);
    assert_true(full.locked == 0);
}

static void a_gauge_reads(void **state)
{
    (void)state;
    struct gauge g = {.last = -1};
    struct gauge_reading r;
    const int picks[] = {0, 1, 1, 1, 0, 2};
    for (int i = 0; i < 6; i++)
        gauge_decision(&g, picks[i], i >= 2);
    /* raw rates of the three fuzzers: 8, 6, 4 and then 1, 2, 3: each falls, the ranking turns round */
    static const struct {
        int arm;
        double at, raw, reward;
    } t[] = {{0, 0.00, 9, 0.9}, {0, 0.30, 7, 0.7}, {1, 0.10, 6, 0.6}, {1, 0.20, 6, 0.6},
             {2, 0.31, 5, 0.5}, {2, 0.49, 3, 0.3}, {0, 0.50, 1, 0.1}, {0, 0.60, 1, 0.1},
             {1, 0.70, 4, 0.4}, {1, 0.80, 0, 0.0}, {2, 0.90, 3, 0.3}, {2, 1.00, 3, 0.3}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        gauge_turn(&g, t[i].arm, t[i].at, t[i].raw, t[i].reward);
    gauge_read(&g, 3, &r);
    assert_int_equal(r.pairs, 3);
    assert_true(r.falling == 1);
    assert_true(r.retained > 0.3333 && r.retained < 0.3334); /* of 1/8, 2/6, 3/4 */
    assert_true(r.earning > 0.8333 && r.earning < 0.8334);
    assert_true(r.ranked && r.lasting == -1);
    /* first turns 9, 6, 5 and second 7, 6, 3: tau 1; 1, 4, 3 and 1, 0, 3: one pair of three agrees */
    assert_true(r.itself > 0.3333 && r.itself < 0.3334);
    assert_true(r.changing == 0.5); /* 1 1 0 2: of four, two */
    assert_true(r.tenth[3] > 0.5999 && r.tenth[3] < 0.6001);
    assert_true(r.tenth[9] > 0.2999 && r.tenth[9] < 0.3001);
}

/* No seed is turned away at the door, so no world is dead from the start. */
static void seeds_lead_somewhere(void **state)
{
    (void)state;
    struct graph g;
    graph_synthetic(&g, 3000, 4);
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct world w;
        struct play p;
        struct play_turn t = {0};
        world_make(&w, &g, &(struct world_settings){.fuzzers = 6, .seed = seed});
        play_init(&p, &w, seed);
        play_seeds(&p, &t);
        for (size_t i = 0; i < t.n_inputs; i++)
            assert_true(t.sets[i].n >= 3000 / 100);
        play_turn_free(&t);
        play_free(&p);
        world_free(&w);
    }
    graph_free(&g);
}

/* --- campaigns --------------------------------------------------------------------------------- */

static struct batch_settings batch(const struct graph *g, const struct strv *fuzzers,
                                   const struct strv *schedulers, int campaigns)
{
    return (struct batch_settings){.run = {.graph = g,
                                           .fuzzers = fuzzers,
                                           .workers = 3,
                                           .n_bugs = 20,
                                           .budget_ns = 2 * 3600 * NS_PER_S,
                                           .turn_ns = 120 * NS_PER_S,
                                           .target = GRAPH_TARGET},
                                   .schedulers = schedulers,
                                   .campaigns = campaigns,
                                   .processes = 1,
                                   .seed = 11};
}

/* Everything but what the clock of this machine says. */
static bool same_result(const struct run_result *a, const struct run_result *b)
{
    return a->edges == b->edges && a->bugs == b->bugs && a->crashes == b->crashes &&
           a->turns == b->turns && a->reward == b->reward &&
           memcmp(a->picks, b->picks, sizeof a->picks) == 0;
}

static void processes_change_nothing(void **state)
{
    (void)state;
    struct graph g;
    struct strv fuzzers = {0}, schedulers = {0};
    struct run_result one[6], three[6];
    struct err e = {0};
    graph_synthetic(&g, 3000, 2);
    world_roster(&fuzzers, 6);
    strv_split(&schedulers, "equal,random", ',');
    struct batch_settings st = batch(&g, &fuzzers, &schedulers, 3);
    ok(batch_run(&st, one, &e), &e);
    st.processes = 3;
    ok(batch_run(&st, three, &e), &e);
    for (int i = 0; i < 6; i++) {
        assert_true(same_result(&one[i], &three[i]));
        assert_true(one[i].edges > one[i].seed_edges);
        assert_int_equal(one[i].seed_edges, one[i % 3].seed_edges); /* the same world */
        assert_true(one[i].turns >= 170 && one[i].turns <= 200);    /* 3 x 2 h / 120 s = 180 */
    }
    assert_false(same_result(&one[0], &one[1]));
    st.seed = 12;
    ok(batch_run(&st, three, &e), &e);
    assert_false(same_result(&one[0], &three[0]));
    strv_free(&fuzzers);
    strv_free(&schedulers);
    graph_free(&g);
}

/* Days under equal look like the paper's: rewards sink, for everybody, and something is still found.  (Its
 * rankings need hundreds of days to tell; docs/SIMULATION.md has them.) */
static void rewards_sink(void **state)
{
    (void)state;
    struct graph g;
    struct strv fuzzers = {0}, schedulers = {0};
    struct run_result days[4];
    struct err e = {0};
    graph_synthetic(&g, 20000, 1);
    world_roster(&fuzzers, 6);
    strv_add(&schedulers, "equal");
    struct batch_settings st = batch(&g, &fuzzers, &schedulers, 4);
    st.run.budget_ns = 86400 * NS_PER_S;
    st.run.workers = 6;
    ok(batch_run(&st, days, &e), &e);
    for (int i = 0; i < 4; i++) {
        struct gauge_reading r;
        gauge_read(&days[i].gauge, 6, &r);
        assert_int_equal(r.pairs, 6);
        assert_true(r.retained < 0.24 && r.falling > 0.88);
        assert_true(r.earning > 0.0005 && r.earning < 0.4);
    }
    strv_free(&fuzzers);
    strv_free(&schedulers);
    graph_free(&g);
}

static void replay_one(const char *out, const struct table *t, struct replay *r)
{
    struct store *s;
    struct settings o = {0};
    struct fold_settings fs;
    struct err e = {0};
    ok(store_open(&s, out, STORE_READ, &e), &e);
    bool simulated = false;
    ok(journal_is_simulated(s, &simulated, &e), &e);
    assert_true(simulated);
    ok(settings_read(&o, s, &e), &e);
    settings_fold(&o, t, &fs);
    ok(replay_journal(r, s, &fs, NULL, &e), &e);
    settings_free(&o);
    store_close(s);
}

/* A real table has functions without a known caller; such a graph learns calls as it goes. */
static void orphan_some(struct graph *g)
{
    struct table *t = &g->own;
    for (uint32_t f = 1; f < t->n_funcs; f += 5) {
        t->edges[t->preds[t->edges[t->funcs[f].entry].pred_off]].ind = 1;
        t->edges[t->funcs[f].entry].pred_n = 0;
    }
}

static void journals_replay(void **state)
{
    (void)state;
    struct graph made, g;
    struct strv fuzzers = {0}, schedulers = {0};
    struct run_result results[32];
    struct err e = {0};
    graph_synthetic(&made, 3000, 2);
    orphan_some(&made);
    graph_of(&g, made.table);
    world_roster(&fuzzers, 6);
    for (int i = 0; sched_table[i]; i++)
        strv_add(&schedulers,
                 str_ends(sched_table[i]->name, ":") ? "single:mopt" : sched_table[i]->name);
    strv_add(&schedulers, "contextual/explore=0");
    assert_true(schedulers.n <= 32);
    struct batch_settings st = batch(&g, &fuzzers, &schedulers, 1);
    st.out = temp_dir;
    st.run.build = temp_dir;
    ok(batch_run(&st, results, &e), &e);
    for (size_t i = 0; i < schedulers.n; i++) {
        struct replay r;
        char *name = xstrdup(schedulers.v[i]);
        for (char *p = name; *p; p++)
            *p = *p == '/' || *p == ':' ? '+' : *p;
        char *out = str_fmt("%s/%s-1", temp_dir, name);
        replay_one(out, g.table, &r);
        if (r.mismatch.turn)
            fail_msg("%s: turn %lld: %s: logged %s, computed %s", name, (long long)r.mismatch.turn,
                     r.mismatch.what, r.mismatch.logged, r.mismatch.computed);
        assert_int_equal(r.decisions, results[i].turns);
        assert_int_equal(r.matched, r.decisions);
        assert_true(r.state_equal);
        assert_int_equal(r.fold.ledger.covered, results[i].edges);
        assert_true(r.fold.ledger.n_calls > 0);
        replay_free(&r);
        free(out);
        free(name);
    }
    strv_free(&fuzzers);
    strv_free(&schedulers);
    graph_free(&g);
    graph_free(&made);
}

static void specs_are_taken_apart(void **state)
{
    (void)state;
    char *name, *params;
    batch_spec("contextual/explore=0/ridge=100", "gamma=0.9", &name, &params);
    assert_string_equal(name, "contextual");
    assert_string_equal(params, "explore=0,ridge=100,gamma=0.9");
    free(name);
    free(params);
    batch_spec("equal", NULL, &name, &params);
    assert_string_equal(name, "equal");
    assert_null(params);
    free(name);
}

static void wrong_schedulers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *params, *says;
    } t[] = {{"contextual/explore=0", NULL, NULL},
             {"legion/monitor=on/units=last", NULL, NULL},
             {"single:f3", NULL, NULL},
             {"single:f9", NULL, "there are: f1, f2, f3"},
             {"best", NULL, "there is no such scheduler"},
             {"contextual/explore=-1", NULL, "explore"},
             {"equal", "explore=0", "takes no options"}};
    struct strv arms = {0};
    world_roster(&arms, 3);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct strv list = {0};
        struct err e = {0};
        strv_add(&list, t[i].spec);
        struct batch_settings st = {.run = {.fuzzers = &arms, .workers = 2, .turn_ns = NS_PER_S},
                                    .schedulers = &list,
                                    .params = t[i].params};
        int rc = batch_check(&st, &e);
        if (t[i].says)
            assert_non_null(strstr(e.msg, t[i].says));
        assert_int_equal(rc < 0, t[i].says != NULL);
        strv_free(&list);
    }
    strv_free(&arms);
}

static void intervals_are_students(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, y[] = {0, 2, 3, 4, 5, 6, 7, 8, 9, 11};
    struct estimate e = estimate_of(x, 10); /* sd 3.02765, t 2.26216 */
    assert_true(e.mean > 5.4999 && e.mean < 5.5001);
    assert_true(e.half > 2.165849 && e.half < 2.165852);
    assert_true(estimate_paired(x, y, 10).mean < 1e-9);
    assert_true(estimate_of(x, 1).half == 0);
}

int main(void)
{
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_graph_is_a_build, temp_dir_make, temp_dir_remove),
        cmocka_unit_test(a_view_leaves_no_trace),
        cmocka_unit_test(openings_come_at_their_rate),
        cmocka_unit_test(luck_is_each_pairs_own),
        cmocka_unit_test(history_earns_three_quarters),
        cmocka_unit_test(the_indicator_earns_more),
        cmocka_unit_test(without_exploration_it_locks),
        cmocka_unit_test(a_gauge_reads),
        cmocka_unit_test(seeds_lead_somewhere),
        cmocka_unit_test(processes_change_nothing),
        cmocka_unit_test(rewards_sink),
        cmocka_unit_test_setup_teardown(journals_replay, temp_dir_make, temp_dir_remove),
        cmocka_unit_test(specs_are_taken_apart),
        cmocka_unit_test(wrong_schedulers_are_refused),
        cmocka_unit_test(intervals_are_students),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
