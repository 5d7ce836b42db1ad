/* replay: journals of fake campaigns under every scheduler: nothing of a turn is in what was known before
 * it; a changed number is found and named; other schedulers on the same journal; explanations. */
#include "fakes.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "journal/explain.h"
#include "journal/settings.h"
#include "sched/schedulers.h"
#include "store_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARMS 4
#define JOBS 3
#define MAX_TURNS 400

/* The name to ask for: "single:" needs one of the roster. */
static const char *full_name(const struct sched_ops *ops)
{
    return str_ends(ops->name, ":") ? "single:f1" : ops->name;
}

/* --- the journal in memory ---------------------------------------------------------------------- */
struct record {
    size_t n;
    struct store_turn row[MAX_TURNS];
    struct buf blob[MAX_TURNS];
};

static void record_free(struct record *r)
{
    for (size_t i = 0; i < r->n; i++)
        buf_free(&r->blob[i]);
    r->n = 0;
}

static void read_journal(struct record *r)
{
    struct store *s;
    struct store_turns *turns;
    struct store_blob blob;
    struct err e = {0};
    char *out = fs_join(fakes_dir, "out");
    r->n = 0;
    if (store_open(&s, out, STORE_READ, &e) < 0 ||
        store_turns_open(&turns, s, TURNS_BY_ID, 0, &e) < 0)
        fail_msg("%s", e.msg);
    while (r->n < MAX_TURNS && store_turns_next(turns, &r->row[r->n], &blob, &e) > 0) {
        r->blob[r->n] = (struct buf)BUF_INIT(BUF_TEXT_MAX);
        buf_add(&r->blob[r->n++], blob.data, blob.size);
    }
    assert_true(r->n < MAX_TURNS);
    store_turns_close(turns);
    store_close(s);
    free(out);
}

static void run_campaign(struct fakes *f, const char *scheduler, int64_t seconds)
{
    struct tally t;
    char *out = fs_join(fakes_dir, "out");
    if (fs_exists(out))
        assert_int_equal(fs_remove_tree(out, NULL), 0);
    free(out);
    f->resumes = 0;
    fakes_run(f, fakes_options(fakes_dir, scheduler, ARMS, JOBS, seconds), &t);
}

/* --- nothing of a turn is known before it ends ---------------------------------------------------- */
/* Of turns of one fuzzer at the same time, the first to park has what both found, and the other less to measure. */
static bool has_company(const struct record *r, size_t i)
{
    for (size_t k = i - JOBS; k <= i + JOBS; k++)
        if (k != i && r->row[k].arm == r->row[i].arm &&
            llabs(r->row[k].end_ns - r->row[i].end_ns) < NS_PER_S)
            return true;
    return false;
}

/* One that found something, if any did: a single arm comes to no end of the chain. */
static size_t turn_with_finds(const struct record *r)
{
    size_t found = 0;
    for (size_t i = 10; i + JOBS < r->n; i++)
        if (r->row[i].new_edges > 0 && r->row[i].at_decision + 5 < (int64_t)r->n) {
            if (!has_company(r, i))
                return i;
            found = found ? found : i;
        }
    return found ? found : 10;
}

/* All decisions served before that turn was completed are the same bytes; some later one is not. */
static void same_until(const struct record *a, const struct record *b, size_t turn,
                       const char *what)
{
    int64_t end = a->row[turn].at_decision, end_b = b->row[turn].at_decision;
    size_t until = (size_t)(end < end_b ? end : end_b), later = 0;
    assert_true(until > turn);
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        bool same = a->blob[i].len == b->blob[i].len &&
                    memcmp(a->blob[i].p, b->blob[i].p, a->blob[i].len) == 0;
        if (i < until && !same)
            fail_msg("%s: decision %zu knows of turn %zu, which ended after decision %zu", what,
                     i + 1, turn + 1, until);
        later += i >= until && !same;
    }
    if (!later)
        fail_msg("%s: turn %zu was not odd at all", what, turn + 1);
}

static void a_turn_is_not_in_what_was_known_before(void **state)
{
    (void)state;
    static struct record a, b;
    struct fakes f;
    fakes_init(&f, ARMS);
    for (int i = 0; sched_table[i]; i++) {
        const char *name = full_name(sched_table[i]);
        f.odd = ODD_NONE;
        run_campaign(&f, name, 3600);
        read_journal(&a);
        size_t turn = turn_with_finds(&a);
        for (enum fake_odd odd = ODD_EDGES; odd < ODD_END; odd++) {
            char what[80];
            if (odd == ODD_NOTHING && !a.row[turn].new_edges)
                continue;
            f.odd = odd;
            f.odd_turn = turn + 1;
            run_campaign(&f, name, 3600);
            read_journal(&b);
            snprintf(what, sizeof what, "%s, odd turn of kind %d", name, (int)odd);
            same_until(&a, &b, turn, what);
            record_free(&b);
        }
        f.odd_turn = 0;
        record_free(&a);
    }
    fakes_free(&f);
}

/* --- a changed number is found and named ---------------------------------------------------------- */
/* One row of the record of the campaign. */
static void sql(const char *text)
{
    char *out = fs_join(fakes_dir, "out");
    assert_int_equal(kit_exec(out, text), 1);
    free(out);
}

static void put_decision(size_t turn, const void *blob, size_t n)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    buf_str(&b, "UPDATE decisions SET data = x'");
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%02x", ((const unsigned char *)blob)[i]);
    buf_printf(&b, "' WHERE turn = %zu", turn);
    sql(b.p);
    buf_free(&b);
}

static void expect(struct fakes *f, size_t turn, const char *what, uint64_t unmatched)
{
    struct replay r;
    fakes_replay(f, fakes_dir, NULL, NULL, &r);
    if (r.mismatch.turn != (int64_t)turn || strcmp(r.mismatch.what, what) != 0)
        fail_msg("turn %zu, %s expected; found turn %lld, %s: %s, %s", turn, what,
                 (long long)r.mismatch.turn, r.mismatch.what, r.mismatch.logged,
                 r.mismatch.computed);
    assert_string_not_equal(r.mismatch.logged, r.mismatch.computed);
    assert_int_equal(r.matched + unmatched, r.decisions);
    replay_free(&r);
}

/* The lowest bit of one double. */
static void flip(double *v)
{
    uint64_t bits;
    memcpy(&bits, v, sizeof bits);
    bits ^= 1;
    memcpy(v, &bits, sizeof bits);
}

static void change_decision(struct fakes *f, size_t turn, const struct decision *d,
                            const char *what)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    decision_encode(d, &b);
    put_decision(turn, b.p, b.len);
    buf_free(&b);
    expect(f, turn, what, 1);
}

static void each_number_of_a_decision(struct fakes *f, const struct record *a, size_t turn)
{
    struct decision was, d;
    assert_int_equal(decision_decode(a->blob[turn - 1].p, a->blob[turn - 1].len, &was, NULL), 0);
    d = was;
    flip(&d.arm[1].signals[SIGNAL_SINCE_RUN]);
    change_decision(f, turn, &d, "f1 signal time_since_run");
    d = was;
    flip(&d.arm[0].standardised[SIGNAL_UNC]);
    change_decision(f, turn, &d, "f0 standardised ctx_unc");
    d = was;
    flip(&d.arm[2].phi[3]);
    change_decision(f, turn, &d, "f2 phi 3");
    d = was;
    flip(&d.arm[3].mean);
    flip(&d.arm[1].width); /* the first one is named */
    change_decision(f, turn, &d, "f3 mean");
    d = was;
    flip(&d.arm[1].width);
    change_decision(f, turn, &d, "f1 width");
    d = was;
    flip(&d.arm[0].noise);
    change_decision(f, turn, &d, "f0 noise");
    d = was;
    flip(&d.arm[0].draw);
    change_decision(f, turn, &d, "f0 draw");
    d = was;
    d.choice = (d.choice + 1) % ARMS;
    change_decision(f, turn, &d, "choice");
    d = was;
    d.turn_ns++;
    change_decision(f, turn, &d, "turn_ns");
    put_decision(turn, a->blob[turn - 1].p, a->blob[turn - 1].len);
}

static void change_turn(struct fakes *f, size_t turn, const char *column, const char *by)
{
    char *set = str_fmt("UPDATE turns SET %s = %s + %s WHERE id = %zu", column, column, by, turn);
    sql(set);
    expect(f, turn, column, 0);
    char *back = str_fmt("UPDATE turns SET %s = %s - %s WHERE id = %zu", column, column, by, turn);
    sql(back);
    free(set);
    free(back);
}

/* What the contexts learn from: seen in the first decision after the turn. */
static void change_crashes(struct fakes *f, const struct record *a, size_t turn)
{
    struct replay r;
    char *what = str_fmt("f%d signal g_bug", a->row[turn - 1].arm);
    char *set = str_fmt("UPDATE turns SET crashes = crashes + 1 WHERE id = %zu", turn);
    sql(set);
    fakes_replay(f, fakes_dir, NULL, NULL, &r);
    assert_int_equal(r.mismatch.turn, a->row[turn - 1].at_decision + 1);
    assert_string_equal(r.mismatch.what, what);
    assert_int_equal(r.decisions - r.matched, r.decisions - (uint64_t)r.mismatch.turn + 1);
    replay_free(&r);
    free(what);
    free(set);
}

/* The state is compared when there is one; the decisions are not concerned. */
static void change_state(struct fakes *f, const char *to, bool equal)
{
    struct replay r;
    char *set = str_fmt("UPDATE learner SET state = %s", to);
    sql(set);
    fakes_replay(f, fakes_dir, NULL, NULL, &r);
    assert_int_equal(r.state_equal, equal);
    assert_int_equal(r.matched, r.decisions);
    replay_free(&r);
    free(set);
}

static void a_changed_number_is_named(void **state)
{
    (void)state;
    static struct record a;
    struct fakes f;
    fakes_init(&f, ARMS);
    for (int i = 0; sched_table[i]; i++) {
        run_campaign(&f, full_name(sched_table[i]), 3600);
        read_journal(&a);
        size_t turn = 20;
        assert_true(a.n > 40);
        each_number_of_a_decision(&f, &a, turn);
        change_turn(&f, turn, "reward", "0.0625");
        change_turn(&f, turn, "raw", "1");
        change_turn(&f, turn, "new_edges", "1");
        change_turn(&f, turn, "rarity", "0.5");
        change_turn(&f, turn, "sec", "0.5");
        struct replay r;
        fakes_replay(&f, fakes_dir, NULL, NULL, &r);
        assert_int_equal(r.mismatch.turn, 0);
        assert_int_equal(r.matched, r.decisions);
        assert_true(r.state_equal);
        replay_free(&r);
        change_state(&f, "zeroblob(length(state))", false);
        change_state(&f, "zeroblob(length(state) + 1)", false);
        change_state(&f, "x''", true);
        change_crashes(&f, &a, turn);
        record_free(&a);
    }
    fakes_free(&f);
}

/* --- other schedulers on the same journal ---------------------------------------------------------- */
static void the_same_scheduler_differs_never(void **state)
{
    (void)state;
    struct fakes f;
    struct replay r;
    fakes_init(&f, ARMS);
    for (int i = 0; sched_table[i]; i++) {
        const char *name = full_name(sched_table[i]);
        run_campaign(&f, name, 3600);
        fakes_replay(&f, fakes_dir, name, &(struct replay_how){.other = true}, &r);
        assert_true(r.decisions > 40);
        assert_int_equal(r.differs, 0);
        assert_int_equal(r.matched, r.decisions);
        assert_memory_equal(r.logged, r.choices, sizeof r.logged);
        replay_free(&r);
    }
    fakes_free(&f);
}

static void a_scheduler_that_is_not_there(void **state)
{
    (void)state;
    struct fakes f;
    struct replay r;
    struct err e = {0};
    struct store *s;
    struct settings o = {0};
    struct fold_settings st;
    char *out = fs_join(fakes_dir, "out");
    fakes_init(&f, ARMS);
    run_campaign(&f, "equal", 600);
    assert_int_equal(store_open(&s, out, STORE_READ, &e), 0);
    assert_int_equal(settings_read(&o, s, &e), 0);
    settings_fold(&o, &f.table, &st);
    st.scheduler = "nosuch";
    assert_true(replay_journal(&r, s, &st, &(struct replay_how){.other = true}, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    replay_free(&r);
    settings_free(&o);
    store_close(s);
    fakes_free(&f);
    free(out);
}

static void equal_on_a_random_journal(void **state)
{
    (void)state;
    static struct record a;
    struct fakes f;
    struct replay r;
    fakes_init(&f, ARMS);
    run_campaign(&f, "random", 3600);
    read_journal(&a);
    uint64_t differs = 0, would[ARMS] = {0}, ran[ARMS] = {0};
    int order[SCHED_MAX_ARMS];
    choose_order(7, ARMS, order); /* the seed of fakes_options */
    for (size_t i = 0; i < a.n; i++) {
        differs += a.row[i].arm != order[i % ARMS];
        would[order[i % ARMS]]++;
        ran[a.row[i].arm]++;
    }
    fakes_replay(&f, fakes_dir, "equal", &(struct replay_how){.other = true}, &r);
    assert_int_equal(r.decisions, a.n);
    assert_true(differs > 10);
    assert_int_equal(r.differs, differs);
    assert_int_equal(r.matched, a.n - differs);
    assert_memory_equal(r.choices, would, sizeof would);
    assert_memory_equal(r.logged, ran, sizeof ran);
    assert_string_equal(r.mismatch.what, "choice");
    replay_free(&r);
    const char *first = a.row[0].arm ? "single:f0" : "single:f1"; /* the other one's name is told */
    fakes_replay(&f, fakes_dir, first, &(struct replay_how){.other = true}, &r);
    assert_int_equal(r.mismatch.turn, 1);
    assert_string_equal(r.mismatch.computed, first + strlen("single:"));
    replay_free(&r);
    fakes_replay(&f, fakes_dir, "single:f2", &(struct replay_how){.other = true}, &r);
    assert_int_equal(r.differs, a.n - ran[2]);
    assert_int_equal(r.choices[2], a.n);
    replay_free(&r);
    record_free(&a);
    fakes_free(&f);
}

static void one_that_was_dropped_is_no_choice(void **state)
{
    (void)state;
    struct fakes f;
    struct replay r;
    fakes_init(&f, ARMS);
    f.dies = 1;
    run_campaign(&f, "equal", 3600);
    fakes_replay(&f, fakes_dir, "single:f1", &(struct replay_how){.other = true}, &r);
    assert_true(r.choices[1] >= 3);
    assert_true(r.none > 20);
    assert_int_equal(r.choices[1] + r.none, r.decisions);
    replay_free(&r);
    fakes_free(&f);
}

/* Contexts follow what ran, not what another scheduler would have run: they are as logged. */
static void contexts_as_logged(void *arg, const struct replay_step *step)
{
    uint64_t *seen = arg;
    for (int i = 0; i < ARMS; i++)
        assert_memory_equal(step->logged->arm[i].signals, step->computed->arm[i].signals,
                            sizeof step->logged->arm[i].signals);
    ++*seen;
}

static void another_scheduler_sees_what_happened(void **state)
{
    (void)state;
    struct fakes f;
    fakes_init(&f, ARMS);
    run_campaign(&f, "random", 3600);
    for (int i = 0; sched_table[i]; i++) {
        struct replay r;
        uint64_t seen = 0;
        fakes_replay(
            &f, fakes_dir, full_name(sched_table[i]),
            &(struct replay_how){.other = true, .decided = contexts_as_logged, .arg = &seen}, &r);
        assert_int_equal(seen, r.decisions);
        uint64_t sum = r.none;
        for (int k = 0; k < ARMS; k++)
            sum += r.choices[k];
        assert_int_equal(sum, r.decisions);
        replay_free(&r);
    }
    fakes_free(&f);
}

/* --- explanations ------------------------------------------------------------------------------------ */
/* With one turn of warm-up each: whatever an arm is given first, the schedulers that have one. */
static uint64_t warmup_by_hand(const struct sched_ops *ops, const struct record *a)
{
    bool has = strcmp(ops->name, "contextual") == 0 || strcmp(ops->name, "phase") == 0;
    uint64_t n = 0, seen = 0;
    for (size_t i = 0; has && i < a->n; i++) {
        n += !(seen >> a->row[i].arm & 1);
        seen |= (uint64_t)1 << a->row[i].arm;
    }
    return n;
}

static uint64_t explored_by_hand(const struct record *a, size_t from)
{
    uint64_t n = 0;
    for (size_t i = from; i < a->n; i++) {
        struct decision d;
        int best = 0;
        assert_int_equal(decision_decode(a->blob[i].p, a->blob[i].len, &d, NULL), 0);
        for (int k = 1; k < ARMS; k++)
            best = d.arm[k].mean > d.arm[best].mean ? k : best;
        n += d.arm[best].mean > d.arm[d.choice].mean;
    }
    return n;
}

static void explain_one_campaign(struct fakes *f, const struct sched_ops *ops)
{
    static struct record a;
    struct store *s;
    struct err e = {0};
    struct settings o = {0};
    struct fold_settings st;
    struct influence v;
    struct explained x;
    struct buf why = BUF_INIT(1 << 16);
    char *out = fs_join(fakes_dir, "out");
    run_campaign(f, full_name(ops), 3600);
    read_journal(&a);
    if (store_open(&s, out, STORE_READ, &e) < 0 || settings_read(&o, s, &e) < 0)
        fail_msg("%s", e.msg);
    settings_fold(&o, &f->table, &st);
    if (explain_campaign(&v, s, &st, 0, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(v.decisions, a.n);
    assert_int_equal(v.signals,
                     strcmp(ops->name, "contextual") == 0); /* rate could, but does not */
    assert_int_equal(v.predicts,
                     strcmp(ops->name, "contextual") == 0 || strcmp(ops->name, "phase") == 0 ||
                         strcmp(ops->name, "bandfuzz") == 0 || strcmp(ops->name, "rate") == 0);
    assert_int_equal(v.warmup, warmup_by_hand(ops, &a));
    assert_int_equal(v.explored, v.predicts ? explored_by_hand(&a, v.warmup) : 0);
    uint64_t most = 0;
    for (int k = 0; k < SIGNAL_COUNT; k++)
        most = v.changed[k] > most ? v.changed[k] : most;
    assert_int_equal(most > 0, v.signals);
    assert_true(most <= v.decisions - v.warmup);
    assert_int_equal(explain_turn(&x, s, 30, &e), 0);
    assert_int_equal(x.d.t, 30);
    assert_int_equal(x.row.reward == a.row[29].reward, 1);
    explain_why(ops, &x.d, (const char *const *)o.fuzzers.v, &why);
    assert_non_null(strstr(why.p, ops->columns[3] ? o.fuzzers.v[x.d.choice] : ops->summary));
    assert_true(explain_turn(&x, s, (int64_t)a.n + 1, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    buf_free(&why);
    settings_free(&o);
    store_close(s);
    record_free(&a);
    free(out);
}

static void every_scheduler_is_explained(void **state)
{
    (void)state;
    struct fakes f;
    fakes_init(&f, ARMS);
    for (int i = 0; sched_table[i]; i++)
        explain_one_campaign(&f, sched_table[i]);
    fakes_free(&f);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_turn_is_not_in_what_was_known_before, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_changed_number_is_named, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(the_same_scheduler_differs_never, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(a_scheduler_that_is_not_there, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(equal_on_a_random_journal, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(one_that_was_dropped_is_no_choice, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(another_scheduler_sees_what_happened, fakes_fresh_dir,
                                        fakes_remove_dir),
        cmocka_unit_test_setup_teardown(every_scheduler_is_explained, fakes_fresh_dir,
                                        fakes_remove_dir),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
