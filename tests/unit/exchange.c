/* exchange: who is given what: everything in order under `--share all`, what is worth it under `worth`. */
#include "fakes.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "journal/exchange.h"
#include "journal/worth.h"
#include "store_kit.h"

/* What a query says of the campaign, rows and all, in 16 hex digits. */
static void print_of(const char *sql, char out[17])
{
    char *dir = fs_join(fakes_dir, "out");
    struct buf b = BUF_INIT((size_t)1 << 26);
    struct digest h;
    kit_rows(dir, sql, &b);
    hash_bytes(b.p, b.len, &h);
    for (int i = 0; i < 8; i++)
        snprintf(out + 2 * i, 3, "%02x", h.b[i]);
    buf_free(&b);
    free(dir);
}

static int64_t ask(const char *sql)
{
    char *out = fs_join(fakes_dir, "out");
    int64_t n = kit_query(out, sql);
    free(out);
    return n;
}

/* Campaigns that share everything, the paper's way, are what they were before there was a choice. */
static void all_is_as_it_was(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *print;
    } golden[] = {
        {"SELECT id, state, round, at_decision, arm, slot, instance, start_ns, end_ns, offered, "
         "taken,"
         " inputs, new_edges, crashes, raw, reward FROM turns ORDER BY id",
         "9cadc4306c3d50e9"},
        {"SELECT turn, data FROM decisions ORDER BY turn", "b5fac5c258b602ef"},
        {"SELECT id, instance, seed, turn, delivered FROM imports ORDER BY id", "c2ba33ab63c46e65"},
        {"SELECT id, hash, size, instance, turn, parent, name, state, status, round, share, edges"
         " FROM seeds ORDER BY id",
         "3fbbf5d4a55ea039"},
    };
    struct fakes f;
    struct tally a;
    fakes_init(&f, 4);
    fakes_run(&f, fakes_options(fakes_dir, "contextual", 4, 3, 4 * 3600), &a);
    assert_true(f.imports > 100);
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        char print[17];
        print_of(golden[i].sql, print);
        assert_string_equal(print, golden[i].print);
    }
    fakes_free(&f);
}

/* Records from before there was a choice do not have the setting. */
static void without_the_setting_it_is_all(void **state)
{
    (void)state;
    struct fakes f;
    struct tally a;
    struct settings o = fakes_options(fakes_dir, "equal", 3, 1, 3600);
    char *out = fs_join(fakes_dir, "out");
    fakes_init(&f, 3);
    fakes_run(&f, o, &a);
    assert_int_equal(kit_exec(out, "DELETE FROM settings WHERE key = 'share'"), 1);
    o = fakes_options(fakes_dir, "equal", 3, 1, 2 * 3600);
    o.resume = o.budget_given = true;
    o.share = SHARE_WORTH;
    uint64_t turns = a.turns;
    fakes_run(&f, o, &a);
    assert_true(a.turns > turns);
    assert_int_equal(f.doubles, 0);
    assert_int_equal(ask("SELECT min(shared) > 0 FROM instances"), 1); /* in order of sharing */
    free(out);
    fakes_free(&f);
}

/* --- campaigns that share what is worth it ------------------------------------------------------ */

static struct settings worth(int arms, int jobs, int64_t budget_s)
{
    struct settings o = fakes_options(fakes_dir, "random", arms, jobs, budget_s);
    o.share = SHARE_WORTH;
    return o;
}

#define HEAVY_SEEDS "SELECT count(*) FROM seeds WHERE size > 2 AND instance > 0"
#define HEAVY_IMPORTS                                                                              \
    "SELECT count(*) FROM imports i JOIN seeds s ON s.id = i.seed WHERE s.size > 2"
#define OWN_IMPORTS                                                                                \
    "SELECT count(*) FROM imports i JOIN seeds s ON s.id = i.seed WHERE s.instance = i.instance"

/* Edges covered in the end. */
static uint32_t run_heavy(enum fake_heavy heavy, bool rigid, uint32_t bytes, uint32_t us)
{
    struct fakes f;
    struct tally a;
    char *out = fs_join(fakes_dir, "out");
    assert_int_equal(fs_remove_tree(out, NULL), 0);
    free(out);
    fakes_init(&f, 3);
    f.heavy = heavy;
    f.rigid = rigid;
    f.heavy_bytes = bytes;
    f.heavy_us = us;
    fakes_run(&f, worth(3, 2, 4 * 3600), &a);
    assert_int_equal(f.doubles, 0);
    assert_int_equal(ask(OWN_IMPORTS), 0);
    fakes_free(&f);
    return a.edges;
}

static void what_is_heavy_and_brings_nothing_is_offered_to_nobody(void **state)
{
    (void)state;
    static const uint32_t heavy[][2] = {{6, 300}, {6, 50000}, {301, 10}, {30000, 10}};
    for (size_t i = 0; i < sizeof heavy / sizeof *heavy; i++) {
        assert_true(run_heavy(HEAVY_TOO, false, heavy[i][0], heavy[i][1]) > 50);
        assert_true(ask(HEAVY_SEEDS) > 10);
        assert_int_equal(ask(HEAVY_SEEDS " AND share IS NOT NULL"), 0);
        assert_int_equal(ask(HEAVY_IMPORTS), 0);
    }
    assert_true(run_heavy(HEAVY_TOO, false, 300, 40) > 50); /* that is not heavy */
    assert_true(ask(HEAVY_IMPORTS) > 10);
}

/* Without what arm 0 finds nobody else gets on. */
static void what_alone_has_an_edge_is_offered(void **state)
{
    (void)state;
    assert_true(run_heavy(HEAVY_ONLY, true, 400, 60) > 50);
    assert_true(ask(HEAVY_IMPORTS) > 10);
    assert_in_range(run_heavy(HEAVY_ONLY, true, 8001, 10), 2, 6);
    assert_int_equal(ask(HEAVY_IMPORTS), 0);
    assert_in_range(run_heavy(HEAVY_ONLY, true, 6, 1001), 2, 6);
    assert_int_equal(ask(HEAVY_IMPORTS), 0);
}

#define TRIMMED_SEEDS                                                                              \
    "SELECT count(*) FROM seeds s JOIN seeds p ON p.id = s.parent WHERE s.name = 'trimmed' AND"    \
    " s.size < p.size AND s.turn = p.turn AND s.instance = p.instance AND s.share IS NOT NULL"

/* What only heavy inputs cover goes on as what is left of them; they stay, given to nobody. */
static void what_is_too_heavy_is_trimmed(void **state)
{
    (void)state;
    static const uint32_t heavy[][2] = {{8001, 10}, {60000, 10}, {7, 1001}};
    for (size_t i = 0; i < sizeof heavy / sizeof *heavy; i++) {
        assert_true(run_heavy(HEAVY_ONLY, false, heavy[i][0], heavy[i][1]) > 50);
        assert_true(ask(TRIMMED_SEEDS) > 10);
        assert_int_equal(ask("SELECT count(*) FROM seeds WHERE name = 'trimmed'"),
                         ask(TRIMMED_SEEDS));
        assert_true(ask("SELECT count(*) FROM imports i JOIN seeds s ON s.id = i.seed WHERE s.name"
                        " = 'trimmed'") > 10);
        assert_true(ask(HEAVY_SEEDS " AND name <> 'trimmed'") > 10);
        assert_int_equal(ask(HEAVY_SEEDS " AND name <> 'trimmed' AND share IS NOT NULL"), 0);
        assert_int_equal(ask("SELECT sum(inputs) FROM turns"),
                         ask("SELECT count(*) FROM seeds WHERE turn IS NOT NULL"));
        assert_true(ask("SELECT sum(eval_ns) < sum(active_ns) / 40 FROM turns"));
    }
}

/* Drop the supervisor after a number of loop steps, as kill -9 would, and resume; many times. */
static void many_lives(enum fake_heavy heavy)
{
    struct fakes f;
    struct replay r;
    struct tally a;
    struct err e = {0};
    fakes_init(&f, 4);
    f.heavy = heavy;
    f.heavy_bytes = 1000;
    f.heavy_us = 100;
    for (int life = 0; life < 120; life++) {
        struct settings o = worth(4, 3, 8 * 3600);
        o.resume = life > 0;
        o.share = life > 0 ? SHARE_ALL : SHARE_WORTH; /* the record knows */
        struct loop *l = loop_new_virtual(life * 1000 * NS_PER_S);
        struct campaign_env env = fakes_env(&f, l);
        struct campaign *c = NULL;
        if (campaign_new(&c, &o, &env, NULL, &e) < 0 || campaign_begin(c, &e) < 0)
            fail_msg("life %d: %s", life, e.msg);
        for (int step = 0; step < 1 + life && loop_step(l, -1); step++)
            ;
        campaign_free(c);
        loop_free(l);
    }
    f.lost_answers = 3;
    struct settings o = worth(4, 3, 8 * 3600);
    o.resume = true;
    fakes_run(&f, o, &a);
    assert_int_equal(f.doubles, 0);
    assert_true(a.edges > 50);
    assert_true(f.imports > 50);
    assert_int_equal(ask(OWN_IMPORTS), 0);
    fakes_replay(&f, fakes_dir, NULL, NULL, &r);
    assert_int_equal(r.mismatch.turn, 0);
    assert_int_equal(r.matched, r.decisions);
    assert_true(r.state_equal);
    replay_free(&r);
    fakes_free(&f);
}

static void given_once_whatever_happens(void **state)
{
    (void)state;
    many_lives(HEAVY_TOO);
}

static void trimmed_whatever_happens(void **state)
{
    (void)state;
    many_lives(HEAVY_ONLY);
    assert_true(ask(TRIMMED_SEEDS) > 10);
    assert_int_equal(ask("SELECT sum(inputs) FROM turns"),
                     ask("SELECT count(*) FROM seeds WHERE turn IS NOT NULL"));
}

/* --- the exchange itself ------------------------------------------------------------------------ */

#define EDGES 1000

struct thing {
    size_t size;
    uint32_t cpu_us;
    uint32_t first, n; /* edges */
};

/* Initial seeds of these sizes, times and edges; seed numbers count from 1. */
static void make_shop(struct store *s, const struct thing *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *bytes = xcalloc(1, v[i].size + sizeof i);
        memcpy(bytes, &i, sizeof i);
        struct store_seed seed = {.data = bytes, .size = v[i].size, .name = "thing"};
        struct buf edges = BUF_INIT(1 << 16);
        uint32_t ids[EDGES];
        for (uint32_t k = 0; k < v[i].n; k++)
            ids[k] = v[i].first + k;
        edges_encode(&(struct edges){ids, v[i].n}, &edges);
        struct store_result r = {.seed = (int64_t)i + 1,
                                 .status = 1,
                                 .cpu_us = v[i].cpu_us,
                                 .edges = edges.p,
                                 .edges_size = edges.len,
                                 .share = true};
        OK(store_add_seeds(s, &seed, 1, &oops));
        OK(store_seeds_commit(s, &(struct store_commit){.results = &r, .n = 1}, &oops));
        buf_free(&edges);
        free(bytes);
    }
}

static struct exchange *load_shop(struct store *s)
{
    struct exchange *x = exchange_new(EDGES);
    OK(exchange_load(x, s, &oops));
    return x;
}

/* The next offer to an instance, claimed for a new turn when s is to know of it. */
static void offer(struct exchange *x, struct store *s, int64_t *instance, bool start, bool claim,
                  struct exchange_list *out)
{
    static int64_t turn;
    struct exchange_portion p = {
        .max_inputs = 2000, .max_bytes = SIZE_MAX, .turn_ns = 100 * NS_PER_MS, .start = start};
    *out = (struct exchange_list){0};
    OK(exchange_offer(x, s, *instance, &p, out, &oops));
    if (!claim)
        return;
    struct store_turn t = {.id = ++turn, .instance = *instance};
    struct store_claim c = {.decision = "",
                            .fuzzer = "f0",
                            .number = (int)turn,
                            .chosen = true,
                            .seeds = out->seeds,
                            .n_seeds = out->n};
    struct inputs in = {0};
    OK(store_order_take(s, &oops));
    OK(store_turn_begin(s, &t, &c, &in, &oops));
    store_order_leave(s);
    assert_int_equal(in.n, out->n);
    for (size_t i = 0; i < in.n; i++)
        assert_int_equal(in.v[i].id, out->seeds[i]);
    inputs_free(&in);
    exchange_given(x, t.instance);
    *instance = t.instance;
}

static void expect(struct exchange_list *l, const int64_t *seeds, size_t n)
{
    assert_int_equal(l->n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(l->seeds[i], seeds[i]);
    free(l->seeds);
}
#define EXPECT(l, ...)                                                                             \
    expect(l, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static void small_and_fast_ones_with_edges_come_first(void **state)
{
    struct fixture *f = *state;
    static const struct thing shop[] = {
        {100, 50, 0, 4}, {10, 10, 0, 2},    {10, 20, 0, 2},
        {8, 5, 9, 1},    {3000, 900, 0, 5}, {3000, 900, 0, 6},
    };
    make_shop(f->s, shop, 6);
    struct exchange *x = load_shop(f->s);
    struct exchange_list l;
    int64_t instance = 0;
    offer(x, f->s, &instance, true, true, &l);
    EXPECT(&l, 4, 2, 1); /* 3 brings nothing, 5 and 6 are too much to start with */
    offer(x, f->s, &instance, false, true, &l);
    EXPECT(&l, 5, 6);
    offer(x, f->s, &instance, false, true, &l);
    EXPECT(&l, 3); /* now there is time for what brings nothing */
    offer(x, f->s, &instance, false, true, &l);
    expect(&l, NULL, 0);
    exchange_free(x);
}

static void a_heavy_one_whose_edges_came_otherwise_is_never_given(void **state)
{
    struct fixture *f = *state;
    static const struct thing shop[] = {
        {8, 5, 100, 4}, {8, 6, 20, 4}, {9, 5, 103, 4}, {3000, 900, 102, 5}};
    make_shop(f->s, shop, 4);
    struct exchange *x = load_shop(f->s);
    struct exchange_list l;
    int64_t instance = 0;
    offer(x, f->s, &instance, true, true, &l);
    EXPECT(&l, 1, 3, 2);
    for (int i = 0; i < 3; i++) {
        offer(x, f->s, &instance, false, true, &l);
        expect(&l, NULL, 0);
    }
    exchange_free(x);
}

/* Of those whose time is too short to be measured, too. */
static void of_the_fastest_the_smallest_comes_first(void **state)
{
    struct fixture *f = *state;
    static const struct thing shop[] = {{100, 0, 0, 4}, {10, 0, 10, 4}, {50, 0, 20, 4}};
    make_shop(f->s, shop, 3);
    struct exchange *x = load_shop(f->s);
    struct exchange_list l;
    int64_t instance = 0;
    offer(x, f->s, &instance, true, true, &l);
    EXPECT(&l, 2, 3, 1);
    exchange_free(x);
}

/* A resume knows of all that was given, also when one of them does not count any more. */
static void what_was_given_is_not_offered_after_a_resume(void **state)
{
    struct fixture *f = *state;
    static const struct thing shop[] = {{8, 5, 0, 4}, {9, 5, 10, 4}, {10, 5, 20, 4}};
    make_shop(f->s, shop, 3);
    struct exchange *x = load_shop(f->s);
    struct exchange_list l;
    int64_t instance = 0;
    offer(x, f->s, &instance, true, true, &l);
    EXPECT(&l, 1, 2, 3);
    exchange_free(x);
    char *set = str_fmt("UPDATE seeds SET state = %d WHERE id = 1", SEED_QUARANTINED);
    assert_int_equal(kit_exec(f->dir, set), 1);
    free(set);
    reopen(f);
    x = load_shop(f->s);
    offer(x, f->s, &instance, false, false, &l);
    expect(&l, NULL, 0);
    exchange_free(x);
}

/* Even if everything is heavy in its own way. */
static void a_start_corpus_is_never_empty(void **state)
{
    struct fixture *f = *state;
    static const struct thing shop[] = {{10, 90000, 0, 4}, {90000, 10, 0, 4}, {1, 1, 0, 0}};
    make_shop(f->s, shop, 3);
    struct exchange *x = load_shop(f->s);
    struct exchange_list l;
    int64_t instance = 0;
    offer(x, f->s, &instance, true, true, &l);
    EXPECT(&l, 3);
    exchange_free(x);
}

/* 40 of 1 ms each: a tenth of 100 ms has no room for one, so few come at a time.  A resume at any of these
 * moments goes on in the same way. */
static void portions_are_bounded_and_a_resume_goes_on(void **state)
{
    struct fixture *f = *state;
    struct thing shop[40];
    for (uint32_t i = 0; i < 40; i++)
        shop[i] = (struct thing){100 - i, 1000, i, 1};
    make_shop(f->s, shop, 40);
    struct exchange *x = load_shop(f->s);
    struct exchange_list l, again;
    int64_t instance = 0, seed = 40;
    size_t given = 0;
    offer(x, f->s, &instance, true, true, &l);
    for (size_t portion = l.n; given < 40; portion = l.n) {
        assert_true(portion == 16 || given + portion == 40);
        for (size_t i = 0; i < portion; i++)
            assert_int_equal(l.seeds[i], seed--);
        given += portion;
        free(l.seeds);
        struct exchange *y = load_shop(f->s);
        offer(y, f->s, &instance, false, false, &again);
        offer(x, f->s, &instance, false, true, &l);
        expect(&again, l.seeds, l.n);
        exchange_free(y);
    }
    expect(&l, NULL, 0);
    exchange_free(x);
}

/* Each costs its receiver ten executions of 50 us: of a tenth of 100 ms twenty leave nothing. */
static void a_portion_uses_all_of_its_time(void **state)
{
    struct fixture *f = *state;
    struct thing shop[45];
    static const size_t portions[] = {20, 20, 5, 0};
    for (uint32_t i = 0; i < 45; i++)
        shop[i] = (struct thing){100 - i, 49, i, 1};
    make_shop(f->s, shop, 45);
    struct exchange *x = load_shop(f->s);
    struct exchange_list l;
    int64_t instance = 0;
    for (int i = 0; i < 4; i++) {
        offer(x, f->s, &instance, false, true, &l);
        assert_int_equal(l.n, portions[i]);
        free(l.seeds);
    }
    exchange_free(x);
}

static void medians_are_an_eighth_off_at_most(void **state)
{
    (void)state;
    for (uint32_t v = 1; v < 2000000000; v += 1 + v / 7) {
        struct spread s = {0};
        assert_int_equal(spread_median(&s), 0);
        spread_add(&s, 0);
        spread_add(&s, v);
        spread_add(&s, UINT32_MAX);
        uint32_t m = spread_median(&s);
        assert_true(m <= v && v - m <= v / 8);
    }
}

/* What is heavy is heavy compared with the usual. */
static void slow_targets_have_slow_inputs(void **state)
{
    (void)state;
    struct worth w = {0};
    assert_int_equal(worth_weigh(&w, 40, 300), WEIGHT_LIGHT);
    assert_int_equal(worth_weigh(&w, 41, 300), WEIGHT_HEAVY);
    assert_int_equal(worth_weigh(&w, 1, 401), WEIGHT_TOO_HEAVY);
    for (int i = 0; i < 5; i++)
        worth_add(&w, 1024, 65536);
    assert_int_equal(worth_weigh(&w, 3 * 1024, 3 * 65536), WEIGHT_LIGHT);
    assert_int_equal(worth_weigh(&w, 3 * 1024 + 1, 65536), WEIGHT_HEAVY);
    assert_int_equal(worth_weigh(&w, 4 * 1024, 4 * 65536), WEIGHT_HEAVY);
    assert_int_equal(worth_weigh(&w, 4 * 1024 + 1, 1), WEIGHT_TOO_HEAVY);
    assert_int_equal(worth_weigh(&w, 1, 4 * 65536 + 1), WEIGHT_TOO_HEAVY);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_are_an_eighth_off_at_most),
        cmocka_unit_test(slow_targets_have_slow_inputs),
        TEST(small_and_fast_ones_with_edges_come_first),
        TEST(a_heavy_one_whose_edges_came_otherwise_is_never_given),
        TEST(of_the_fastest_the_smallest_comes_first),
        TEST(what_was_given_is_not_offered_after_a_resume),
        TEST(a_start_corpus_is_never_empty),
        TEST(portions_are_bounded_and_a_resume_goes_on),
        TEST(a_portion_uses_all_of_its_time),
        cmocka_unit_test_setup_teardown(all_is_as_it_was, fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(without_the_setting_it_is_all, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(what_is_heavy_and_brings_nothing_is_offered_to_nobody,
                                        fakes_fresh_dir, fakes_remove_dir),
        cmocka_unit_test_setup_teardown(what_alone_has_an_edge_is_offered, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(what_is_too_heavy_is_trimmed, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(given_once_whatever_happens, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(trimmed_whatever_happens, fakes_fresh_dir,
                                        fakes_remove_dir),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
