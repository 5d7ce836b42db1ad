/* shares: cores dealt by shares, autofz and legion, by hand and against tests/vectors/shares.py. */
#include "base/die.h"
#include "base/rng.h"
#include "base/str.h"
#include "sched/deal.h"
#include "sched/params.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#define S INT64_C(1000000000)
#define PICKS 2359 /* in shares.txt */

static const char *const roster[SCHED_MAX_ARMS] = {"f0", "f1", "f2", "f3", "f4", "f5"};

static struct sched *make(const char *name, int arms, int workers, int64_t turn_ns,
                          const char *opts, const struct table *t)
{
    struct sched_settings st = {.n_arms = arms,
                                .arms = roster,
                                .workers = workers,
                                .turn_ns = turn_ns,
                                .params = opts,
                                .table = t};
    struct sched *s;
    struct err e = {0};
    if (sched_new(&s, name, &st, &e) < 0)
        fail_msg("%s: %s", name, e.msg);
    return s;
}

/* --- deal ---------------------------------------------------------------------------------- */

static void expect_cores(const uint64_t *weight, int n, int slots, const int *cores)
{
    struct deal d;
    int had[SCHED_MAX_ARMS] = {0};
    deal_init(&d, n);
    deal_start(&d, weight, slots);
    for (int k = 0; k < slots; k++)
        had[deal_next(&d, 0)]++;
    for (int i = 0; i < n; i++) {
        assert_int_equal(d.cores[i], cores[i]);
        assert_int_equal(had[i], cores[i]);
    }
}

static void whole_cores_by_hand(void **state)
{
    (void)state;
    expect_cores((uint64_t[]){50, 30, 20, 0, 0, 0}, 6, 6, (int[]){3, 2, 1, 0, 0, 0});
    expect_cores((uint64_t[]){9, 9, 9, 9, 9, 9}, 6, 6, (int[]){1, 1, 1, 1, 1, 1});
    expect_cores((uint64_t[]){41, 19, 14, 12, 8, 6}, 6, 6, (int[]){2, 1, 1, 1, 1, 0});
    expect_cores((uint64_t[]){0, 0, 0}, 3, 4, (int[]){2, 1, 1}); /* nobody has any: all the same */
    expect_cores((uint64_t[]){1, 4}, 2, 7, (int[]){1, 6});
    /* Remainders 2/3, 2/3, 2/3: the larger share first (floating point says otherwise). */
    expect_cores((uint64_t[]){1, 1, 4}, 3, 4, (int[]){1, 0, 3});
    expect_cores((uint64_t[]){UINT64_MAX, UINT64_MAX}, 2, DEAL_MAX_SLOTS,
                 (int[]){DEAL_MAX_SLOTS / 2 + 1, DEAL_MAX_SLOTS / 2});
}

/* Any W decisions in a row, wherever they begin, give each arm its cores. */
static void every_cycle_is_exact(void **state)
{
    (void)state;
    struct rng rng;
    rng_seed(&rng, 3);
    for (int n = 1; n <= SCHED_MAX_ARMS; n++)
        for (int slots = 1; slots <= 256; slots += n % 3 ? 17 : 5) {
            uint64_t weight[SCHED_MAX_ARMS];
            int had[SCHED_MAX_ARMS] = {0}, first = (int)rng_below(&rng, (uint64_t)slots), sum = 0;
            struct deal d;
            for (int i = 0; i < n; i++)
                weight[i] = rng_below(&rng, 3) ? rng_below(&rng, 1000) : 0;
            deal_init(&d, n);
            deal_start(&d, weight, slots);
            for (int k = 0; k < first; k++)
                deal_next(&d, 0);
            for (int k = 0; k < slots; k++)
                had[deal_next(&d, 0)]++;
            for (int i = 0; i < n; i++) {
                assert_int_equal(had[i], d.cores[i]);
                assert_true(fabs(d.cores[i] - d.share[i] * slots) < 1 + 1e-9);
                sum += d.cores[i];
            }
            assert_int_equal(sum, slots);
        }
}

static void dropped_arms_leave_their_cores(void **state)
{
    (void)state;
    struct deal d;
    deal_init(&d, 4);
    deal_start(&d, (uint64_t[]){3, 2, 1, 0}, 6);
    const int first[] = {0, 0, 0, 1};
    for (int k = 0; k < 4; k++)
        assert_int_equal(deal_next(&d, 0), first[k]);
    const int without[] = {1, 1, 1, 1, 2, 2, 1}; /* 2 : 1 of six cores, from slot 0 */
    for (int k = 0; k < 7; k++)
        assert_int_equal(deal_next(&d, 1), without[k]);
    assert_int_equal(deal_next(&d, 15), -1);
    assert_int_equal(deal_next(&d, 1), 1);   /* as if that had not been asked */
    const int nobody[] = {3, 3, 3, 3, 3, 3}; /* no share, but the only one left */
    for (int k = 0; k < 6; k++)
        assert_int_equal(deal_next(&d, 7), nobody[k]);
    const int three[] = {0, 2, 3};
    deal_start(&d, NULL, DEAL_ONE_EACH);
    for (int k = 0; k < 6; k++)
        assert_int_equal(deal_next(&d, 2), three[k % 3]);
}

/* --- autofz by hand ------------------------------------------------------------------------ */

static struct decision ask(struct sched *s, int64_t now_ns, uint64_t dropped)
{
    struct decision d;
    decision_ask(&d, s->n_arms, 1, 0, now_ns, dropped);
    sched_tick(s, now_ns, NULL);
    sched_pick(s, &d);
    return d;
}

static void finish(struct sched *s, const struct decision *d, int64_t now_ns, uint32_t new_edges)
{
    sched_tick(s, now_ns, NULL);
    sched_learn(s, d, &(struct sched_outcome){.now_ns = now_ns, .new_edges = new_edges});
}

static void expect_focus(const struct decision *d, double theta, int round)
{
    assert_true(d->arm[0].phi[0] == 1);
    assert_true(d->arm[0].phi[1] == theta);
    assert_true(d->arm[0].phi[2] == round);
}

/* The threshold after rounds without and with a winner, in 131.25 as a double. */
static void theta_goes_up_and_down(void **state)
{
    (void)state;
    const int won[] = {0, 0, 1, 0, 1, 1, 0};
    const double theta[] = {50, 25, 125, 62.5, 162.5, 262.5, 131.25};
    struct sched *s = make("autofz", 2, 2, 0, NULL, NULL);
    for (int r = 0; r < 7; r++) {
        struct decision d = ask(s, r * 600 * S, 0);
        assert_true(d.arm[0].phi[0] == 0);
        finish(s, &d, r * 600 * S + 290 * S, won[r] ? 1000 : 1);
        d = ask(s, r * 600 * S + 300 * S, 0);
        expect_focus(&d, theta[r], r);
        assert_true(d.arm[0].phi[3] == won[r]);
    }
    sched_free(s);
    s = make("autofz", 2, 2, 0, "aimd=off,theta=7", NULL);
    struct decision d = ask(s, 1300 * S + 300 * S, 0);
    expect_focus(&d, 7, 2);
    sched_free(s);
}

/* A lead of exactly theta is none; one more ends the preparation at that check, and focus lasts longer. */
static void a_winner_ends_the_preparation(void **state)
{
    (void)state;
    for (int more = 0; more <= 1; more++) {
        struct sched *s = make("autofz", 3, 6, 0, NULL, NULL);
        struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 0, 0);
        assert_int_equal(a.choice, 0);
        assert_int_equal(b.choice, 1);
        assert_int_equal(c.choice, 2);
        assert_int_equal(a.turn_ns, 30 * S);
        finish(s, &b, 31 * S, (uint32_t)(105 + more));
        finish(s, &a, 32 * S, 5);
        finish(s, &c, 33 * S, 40);
        struct decision d = ask(s, 60 * S - 1, 0);
        assert_true(d.arm[1].phi[0] == 0);
        d = ask(s, 60 * S, 0);
        if (!more) {
            assert_true(d.arm[1].phi[0] == 0);
        } else {
            expect_focus(&d, 200, 0);
            assert_true(d.arm[1].draw == 6 && d.arm[1].width == 1 && d.arm[1].mean == 106);
            assert_int_equal(d.choice, 1);
            assert_int_equal(d.turn_ns, 120 * S);
            assert_int_equal(ask(s, 500 * S, 0).turn_ns, 100 * S); /* cut at the end of the round */
            assert_int_equal(ask(s, 570 * S, 0).turn_ns, 30 * S);
            assert_int_equal(ask(s, 571 * S, 0).turn_ns, 30 * S); /* but never shorter */
            assert_int_equal(ask(s, 599 * S, 0).choice, 1);
        }
        assert_true(ask(s, 600 * S, 0).arm[0].phi[2] == 1);
        sched_free(s);
    }
}

/* Only what was dispatched since the preparation began and evaluated before the check. */
static void turns_over_a_boundary_do_not_count(void **state)
{
    (void)state;
    struct sched *s = make("autofz", 2, 2, 0, NULL, NULL);
    struct decision early = ask(s, 590 * S, 0), at = ask(s, 600 * S, 0);
    finish(s, &early, 610 * S, 5000);
    struct decision d = ask(s, 630 * S, 0);
    assert_true(d.arm[0].mean == 0 && d.arm[1].mean == 0 && d.arm[0].phi[0] == 0);
    finish(s, &at, 900 * S, 5000); /* the last check is at 900 and comes before it */
    d = ask(s, 900 * S, 0);
    assert_true(d.arm[0].mean == 0 && d.arm[1].mean == 0 && d.arm[0].phi[3] == 0);
    finish(s, &d, 1000 * S, 5000); /* in the focus nothing is counted */
    assert_true(ask(s, 1001 * S, 0).arm[d.choice].mean == 0);
    sched_free(s);
}

static void ties_and_no_winner(void **state)
{
    (void)state;
    const int tied[] = {0, 0, 2, 2}, shares[] = {0, 1, 1, 1}, zero[] = {0, 0, 1, 2};
    struct sched *s = make("autofz", 3, 4, 0, "theta=10", NULL);
    struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 0, 0);
    finish(s, &a, 5 * S, 20);
    finish(s, &c, 6 * S, 20);
    for (int k = 0; k < 8; k++) /* two winners, two cores each */
        assert_int_equal(ask(s, 30 * S + k, 0).choice, tied[k % 4]);
    finish(s, &b, 40 * S, 99);
    a = ask(s, 600 * S, 0), b = ask(s, 600 * S, 0);
    finish(s, &a, 620 * S, 4);
    finish(s, &b, 621 * S, 12);
    for (int k = 0; k < 4; k++) /* 4 : 12 : 0, and 12 is no lead over 20 */
        assert_int_equal(ask(s, 900 * S + k, 0).choice, shares[k]);
    for (int k = 0; k < 4; k++) /* nobody found anything: 2, 1, 1 */
        assert_int_equal(ask(s, 1500 * S + k, 0).choice, zero[k]);
    sched_free(s);
}

/* An arm that cannot run is no standard for the others, and wins nothing. */
static void dropped_arms_do_not_count(void **state)
{
    (void)state;
    struct sched *s = make("autofz", 3, 2, 0, "theta=10", NULL);
    struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 1, 0);
    finish(s, &a, 5 * S, 500);
    finish(s, &b, 6 * S, 12);
    finish(s, &c, 7 * S, 9);
    assert_int_equal(ask(s, 8 * S, 1).choice, 1);
    struct decision d = ask(s, 300 * S, 1); /* 12 - 9 is no lead: 12 : 9 */
    assert_true(d.arm[0].phi[3] == 0 && d.arm[0].draw == 0 && d.arm[1].draw == 1);
    expect_close(d.arm[1].width, 12.0 / 21, "share", 1);
    sched_free(s);
}

static void times_scale_with_the_turn(void **state)
{
    (void)state;
    struct sched *s = make("autofz", 2, 2, 12 * S, "focus=20s", NULL);
    struct buf b = BUF_INIT(4096);
    sched_describe(s, &b);
    assert_string_equal(b.p, "prep=30.000000000s,focus=20.000000000s,check=3.000000000s,theta=100,"
                             "aimd=on,decrease=0.5");
    assert_int_equal(ask(s, 0, 0).turn_ns, 3 * S);
    assert_int_equal(ask(s, 31 * S, 0).turn_ns, 12 * S);
    assert_int_equal(ask(s, 45 * S, 0).turn_ns, 5 * S);
    assert_int_equal(ask(s, 49 * S, 0).turn_ns, 3 * S);
    assert_true(ask(s, 50 * S, 0).arm[0].phi[2] == 1);
    sched_free(s);
    buf_clear(&b);
    s = make("legion", 2, 2, 12 * S, "legion.units=last", NULL);
    sched_describe(s, &b);
    assert_string_equal(b.p, "round=60.000000000s,units=last,monitor=off,check=3.000000000s");
    sched_free(s);
    buf_free(&b);
}

/* --- legion by hand ------------------------------------------------------------------------ */

/* One unit each and only the edges differ, so R is their number. */
static void shares_after_round_0(void **state)
{
    (void)state;
    const uint32_t edges[] = {40, 0, 3, 3, 1, 0};
    const double share[] = {0.2518, 0.0949, 0.2009, 0.2009, 0.1565, 0.0949};
    struct sched *s = make("legion", 6, 6, 0, NULL, NULL);
    struct decision d[6];
    for (int i = 0; i < 6; i++)
        d[i] = ask(s, 0, 0);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(d[i].choice, i);
        assert_int_equal(d[i].turn_ns, 120 * S);
        finish(s, &d[i], 120 * S, edges[i]);
    }
    assert_true(ask(s, 600 * S - 1, 0).arm[0].phi[0] == 0);
    for (int i = 0; i < 6; i++) {
        struct decision q = ask(s, 600 * S, 0);
        assert_int_equal(q.choice, i);
        assert_true(fabs(q.arm[i].noise - share[i]) < 0.00005);
        assert_true(q.arm[i].draw == 1 && q.arm[i].phi[0] == 1);
        assert_true(q.arm[i].phi[1] == edges[i] && q.arm[i].phi[2] == 1);
    }
    sched_free(s);
}

static void a_round_of_nothing_weighs_all_the_same(void **state)
{
    (void)state;
    struct sched *s = make("legion", 3, 3, 0, NULL, NULL);
    struct decision d = ask(s, 600 * S, 0);
    for (int k = 0; k < 5; k++)
        assert_true(d.arm[0].phi[8 + k] == 0.2);
    for (int i = 0; i < 3; i++)
        expect_close(d.arm[i].noise, 1.0 / 3, "share", i);
    sched_free(s);
}

/* f1 scores on, f0 and f2 stop: at 330 s f1 has all, at 360 s nobody scored and the round is over. */
static void the_monitor_takes_cores_back(void **state)
{
    (void)state;
    struct sched *s = make("legion", 3, 3, 0, "monitor=on", NULL);
    struct decision a = ask(s, 0, 0), b = ask(s, 0, 0), c = ask(s, 0, 0);
    assert_int_equal(ask(s, 200 * S, 0).turn_ns, 100 * S); /* to the half */
    finish(s, &a, 290 * S, 10);
    finish(s, &b, 291 * S, 20);
    finish(s, &c, 292 * S, 30);
    struct decision d = ask(s, 300 * S, 0); /* all have scored so far */
    assert_true(d.arm[0].draw == 1 && d.arm[1].draw == 1 && d.arm[2].draw == 1);
    assert_int_equal(d.turn_ns, 30 * S);
    finish(s, &b, 310 * S, 5);
    d = ask(s, 330 * S, 0); /* f2 keeps its core: it is the best of the round; f0's goes to it */
    assert_true(d.arm[0].draw == 0 && d.arm[1].draw == 1 && d.arm[2].draw == 2);
    d = ask(s, 360 * S, 0);
    assert_true(d.arm[0].phi[0] == 1);
    expect_close(d.arm[0].phi[2], 330.0 / 600, "units", 0);
    expect_close(d.arm[1].phi[2], 360.0 / 600, "units", 1);
    expect_close(d.arm[2].phi[2], 390.0 / 600, "units", 2);
    assert_true(ask(s, 660 * S - 1, 0).arm[0].phi[0] == 1); /* its own half is at 660 */
    assert_true(ask(s, 660 * S, 0).arm[0].phi[0] == 2);
    sched_free(s);
}

/* --- the oracle ---------------------------------------------------------------------------- */

/* A campaign of shares.txt being told. */
struct tale {
    struct sched *s;
    bool legion;
    int arms, workers;
    int64_t turn_ns;
    char *opts;
    bool swaps; /* before every decision the scheduler is saved, and a new one goes on */
    struct rng rng;
    struct table table;
    struct ledger map;
    struct decision *d; /* of every pick */
    size_t n, cap;
    double rows[SCHED_MAX_ARMS][4];
};

static void tale_end(struct tale *t)
{
    if (t->s && t->legion)
        ledger_free(&t->map);
    sched_free(t->s);
    free(t->table.funcs);
    free(t->table.edges);
    free(t->opts);
    free(t->d);
    *t = (struct tale){.swaps = t->swaps, .rng = t->rng};
}

static struct sched *another(const struct tale *t)
{
    return make(t->legion ? "legion" : "autofz", t->arms, t->workers, t->turn_ns, t->opts,
                &t->table);
}

static void tale_make(struct tale *t, struct vectors *v, bool legion)
{
    tale_end(t);
    t->arms = (int)vectors_int(v);
    t->workers = (int)vectors_int(v);
    t->turn_ns = vectors_int(v);
    const char *opts = vectors_word(v);
    t->opts = strcmp(opts, "-") ? xstrdup(opts) : NULL;
    t->legion = legion;
    if (legion) {
        assert_string_equal(vectors_word(v), "table");
        t->table.n_funcs = (uint32_t)vectors_int(v);
        t->table.funcs = xcalloc(t->table.n_funcs, sizeof *t->table.funcs);
        for (uint32_t i = 0; i < t->table.n_funcs; i++)
            t->table.funcs[i].depth = (uint16_t)vectors_int(v);
        t->table.n_edges = (uint32_t)vectors_int(v);
        t->table.edges = xcalloc(t->table.n_edges, sizeof *t->table.edges);
        for (uint32_t i = 0; i < t->table.n_edges; i++) {
            t->table.edges[i].func = (uint32_t)vectors_int(v);
            t->table.edges[i].depth = t->table.funcs[t->table.edges[i].func].depth;
        }
        ledger_init(&t->map, &t->table);
    }
    t->s = another(t);
}

static struct edges *read_sets(struct vectors *v, size_t *n)
{
    *n = (size_t)vectors_int(v);
    struct edges *sets = xcalloc(*n + 1, sizeof *sets);
    for (size_t i = 0; i < *n; i++) {
        sets[i].n = (uint32_t)vectors_int(v);
        sets[i].ids = xcalloc(sets[i].n + 1, sizeof *sets[i].ids);
        for (uint32_t k = 0; k < sets[i].n; k++)
            sets[i].ids[k] = (uint32_t)vectors_int(v);
    }
    return sets;
}

static void free_sets(struct edges *sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        edges_free(&sets[i]);
    free(sets);
}

/* What it notes in phi, of the chosen arm. */
static void check_facts(const struct tale *t, const struct decision *d, struct vectors *v)
{
    static const char *const autofz[] = {"phase", "theta", "round", "winner"};
    static const char *const legion[] = {"round", "R", "units"};
    for (int k = 0; k < (t->legion ? 3 : 4); k++)
        expect_close(d->arm[d->choice].phi[k], vectors_real(v), (t->legion ? legion : autofz)[k],
                     (int64_t)t->n);
}

static void expect_state(const struct sched *s, const struct buf *want)
{
    struct buf b = BUF_INIT(1 << 20);
    sched_save(s, &b);
    assert_int_equal(b.len, want->len);
    assert_memory_equal(b.p, want->p, b.len);
    buf_free(&b);
}

/* Cut short it is refused and changes nothing; with other bytes it is refused or at least of use. */
static void damage(struct tale *t, const struct buf *saved)
{
    struct sched *s = another(t);
    struct buf fresh = BUF_INIT(1 << 20);
    sched_save(s, &fresh);
    for (size_t n = 0; n < saved->len; n++)
        assert_int_equal(sched_load(s, saved->p, n, NULL), -EBADMSG);
    expect_state(s, &fresh);
    char *bytes = xmalloc(saved->len + 1);
    memcpy(bytes, saved->p, saved->len);
    bytes[saved->len] = 0;
    assert_int_equal(sched_load(s, bytes, saved->len + 1, NULL), -EBADMSG);
    for (int i = 0; i < 300; i++) {
        size_t at = (size_t)rng_below(&t->rng, saved->len);
        bytes[at] = (char)rng_u64(&t->rng);
        int rc = sched_load(s, bytes, saved->len, NULL);
        assert_true(rc == 0 || rc == -EBADMSG);
        struct decision d;
        decision_ask(&d, t->arms, 1, 0, 0, 0);
        sched_pick(s, &d);
        assert_in_range(d.choice, 0, t->arms - 1);
        bytes[at] = saved->p[at];
    }
    free(bytes);
    buf_free(&fresh);
    sched_free(s);
}

static void swap(struct tale *t)
{
    struct buf saved = BUF_INIT(1 << 20);
    struct sched *s = another(t);
    sched_save(t->s, &saved);
    assert_int_equal(sched_load(s, saved.p, saved.len, NULL), 0);
    expect_state(s, &saved);
    if (t->n % 40 == 7)
        damage(t, &saved);
    sched_free(t->s);
    t->s = s;
    buf_free(&saved);
}

static void check_pick(struct tale *t, struct vectors *v)
{
    if (t->n == t->cap)
        t->d = xrealloc(t->d, (t->cap = t->cap ? 2 * t->cap : 64) * sizeof *t->d);
    if (t->swaps)
        swap(t);
    struct decision *d = &t->d[t->n++];
    int64_t now = vectors_int(v);
    decision_ask(d, t->s->n_arms, t->n, 0, now, (uint64_t)vectors_int(v));
    sched_tick(t->s, now, t->legion ? &t->map : NULL);
    sched_pick(t->s, d);
    int64_t choice = vectors_int(v), turn_ns = vectors_int(v);
    if (d->choice != choice || d->turn_ns != turn_ns)
        fail_msg("pick %zu of %s at %lld: arm %d for %lld, expected %lld for %lld", t->n,
                 t->s->ops->name, (long long)now, d->choice, (long long)d->turn_ns,
                 (long long)choice, (long long)turn_ns);
    check_facts(t, d, v);
    bool rows = strcmp(vectors_word(v), "rows") == 0;
    for (int i = 0; i < d->n_arms; i++) {
        for (int k = 0; rows && k < 4; k++)
            t->rows[i][k] = vectors_real(v);
        expect_close(d->arm[i].mean, t->rows[i][0], "mean", (int64_t)t->n);
        expect_close(d->arm[i].width, t->rows[i][1], "width", (int64_t)t->n);
        expect_close(d->arm[i].noise, t->rows[i][2], "noise", (int64_t)t->n);
        expect_close(d->arm[i].draw, t->rows[i][3], "draw", (int64_t)t->n);
    }
}

static void tell_done(struct tale *t, struct vectors *v)
{
    const struct decision *d = &t->d[vectors_int(v)];
    struct sched_outcome o = {.now_ns = vectors_int(v)};
    o.new_edges = (uint32_t)vectors_int(v);
    o.crashes = (uint32_t)vectors_int(v);
    struct gain g = {0};
    size_t n;
    struct edges *sets = read_sets(v, &n);
    sched_tick(t->s, o.now_ns, t->legion ? &t->map : NULL);
    if (t->legion) {
        static uint32_t round;
        ledger_add_turn(&t->map, ++round, d->choice, sets, n, &g);
        assert_int_equal(g.fresh.n, o.new_edges);
        o.gain = &g;
    }
    sched_learn(t->s, d, &o);
    gain_free(&g);
    free_sets(sets, n);
}

static void tell_seeds(struct tale *t, struct vectors *v)
{
    size_t n;
    struct edges *sets = read_sets(v, &n);
    ledger_add_seeds(&t->map, sets, n);
    free_sets(sets, n);
}

static void check_whole(struct vectors *v)
{
    int slots = (int)vectors_int(v), n = (int)vectors_int(v), cores[SCHED_MAX_ARMS];
    uint64_t weight[SCHED_MAX_ARMS];
    for (int i = 0; i < n; i++)
        weight[i] = (uint64_t)vectors_int(v);
    for (int i = 0; i < n; i++)
        cores[i] = (int)vectors_int(v);
    expect_cores(weight, n, slots, cores);
}

static void tell(struct tale *t)
{
    struct vectors v;
    int picks = 0, cores = 0;
    vectors_open(&v, "shares.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "whole") == 0) {
            check_whole(&v);
            cores++;
        } else if (strcmp(word, "pick") == 0) {
            check_pick(t, &v);
            picks++;
        } else if (strcmp(word, "done") == 0) {
            tell_done(t, &v);
        } else if (strcmp(word, "seeds") == 0) {
            tell_seeds(t, &v);
        } else {
            assert_true(strcmp(word, "autofz") == 0 || strcmp(word, "legion") == 0);
            tale_make(t, &v, strcmp(word, "legion") == 0);
        }
    }
    assert_int_equal(cores, 307);
    assert_int_equal(picks, PICKS);
    tale_end(t);
    vectors_close(&v);
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    tell(&(struct tale){0});
}

static void saved_anywhere_it_goes_on(void **state)
{
    (void)state;
    struct tale t = {.swaps = true};
    rng_seed(&t.rng, 21);
    tell(&t);
}

/* --- any size ------------------------------------------------------------------------------ */

/* One hour of W workers; every question has an answer that can run, and a length. */
static void an_hour(struct sched *s, int workers, const struct ledger *map)
{
    static struct decision running[256];
    struct gain g = {0};
    struct rng rng;
    rng_seed(&rng, (uint64_t)workers);
    for (int64_t now = 0; now < 3600 * S; now += 120 * S)
        for (int w = 0; w < workers; w++) {
            struct decision *d = &running[w];
            sched_tick(s, now, map);
            if (now)
                sched_learn(s, d,
                            &(struct sched_outcome){.now_ns = now,
                                                    .new_edges = (uint32_t)rng_below(&rng, 30),
                                                    .gain = &g});
            uint64_t dropped = rng_below(&rng, 50) ? 0 : 1 & (uint64_t)(s->n_arms > 1);
            decision_ask(d, s->n_arms, 1, w, now, dropped);
            sched_pick(s, d);
            assert_in_range(d->choice, 0, s->n_arms - 1);
            assert_true(decision_may(d, d->choice));
            assert_in_range(d->turn_ns, 30 * S, 120 * S);
            assert_true(d->arm[d->choice].draw > 0);
        }
}

static void any_number_of_arms_and_workers(void **state)
{
    (void)state;
    struct table_edge edges[70] = {{.depth = 0}};
    struct table_func funcs[1] = {{.depth = 0}};
    struct table t = {.n_edges = 70, .n_funcs = 1, .edges = edges, .funcs = funcs};
    struct ledger map;
    ledger_init(&map, &t);
    const int sizes[] = {1, 2, 3, 6, 7, 31, 63, 64};
    for (int k = 0; k < 8; k++)
        for (int w = 1; w <= 256; w += w < 8 ? 1 : 31)
            for (int which = 0; which < 3; which++) {
                struct sched *s = make(which ? "legion" : "autofz", sizes[k], w, 0,
                                       which == 2 ? "monitor=on" : NULL, &t);
                an_hour(s, w, &map);
                sched_free(s);
            }
    ledger_free(&map);
}

static void it_says_why(void **state)
{
    (void)state;
    const char *const names[] = {"autofz", "legion"};
    const char *const says[][2] = {{"preparation of round 0", "focus of round 0: f0 won"},
                                   {"in the first round", "its share is"}};
    for (int k = 0; k < 2; k++) {
        struct sched *s = make(names[k], 3, 3, 0, NULL, NULL);
        struct buf b = BUF_INIT(4096);
        struct decision d = ask(s, 0, 0);
        s->ops->why(&d, roster, &b);
        assert_non_null(strstr(b.p, says[k][0]));
        finish(s, &d, 10 * S, 500);
        d = ask(s, k ? 600 * S : 100 * S, 0);
        buf_clear(&b);
        s->ops->why(&d, roster, &b);
        if (!strstr(b.p, says[k][1]))
            fail_msg("%s", b.p);
        d.choice = -1;
        buf_clear(&b);
        s->ops->why(&d, roster, &b);
        assert_int_equal(b.len, 0);
        buf_free(&b);
        sched_free(s);
    }
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const char *const wrong[][2] = {
        {"autofz", "prep=0s"},      {"autofz", "theta=-1"},  {"autofz", "decrease=2"},
        {"autofz", "aimd=maybe"},   {"legion", "units=all"}, {"legion", "monitor"},
        {"legion", "round=0.001s"}, {"legion", "prep=30s"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sched_settings st = {
            .n_arms = 2, .arms = roster, .workers = 2, .params = wrong[i][1]};
        struct sched *s;
        struct err e = {0};
        assert_true(sched_new(&s, wrong[i][0], &st, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
        assert_null(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_cores_by_hand),
        cmocka_unit_test(every_cycle_is_exact),
        cmocka_unit_test(dropped_arms_leave_their_cores),
        cmocka_unit_test(theta_goes_up_and_down),
        cmocka_unit_test(a_winner_ends_the_preparation),
        cmocka_unit_test(turns_over_a_boundary_do_not_count),
        cmocka_unit_test(ties_and_no_winner),
        cmocka_unit_test(dropped_arms_do_not_count),
        cmocka_unit_test(times_scale_with_the_turn),
        cmocka_unit_test(shares_after_round_0),
        cmocka_unit_test(a_round_of_nothing_weighs_all_the_same),
        cmocka_unit_test(the_monitor_takes_cores_back),
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(saved_anywhere_it_goes_on),
        cmocka_unit_test(any_number_of_arms_and_workers),
        cmocka_unit_test(it_says_why),
        cmocka_unit_test(wrong_options_are_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
