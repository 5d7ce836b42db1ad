/* journal: what is told to programs of a campaign on fakes: its decisions, what moved them, its state. */
#include "fakes.h"

#include "base/fs.h"
#include "base/log.h"
#include "journal/json.h"
#include "journal/write.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct fakes f;
static char *out;

static int make(void **state)
{
    struct tally t;
    int rc = fakes_fresh_dir(state);
    fakes_init(&f, 3);
    fakes_run(&f, fakes_options(fakes_dir, "contextual", 3, 2, 3600), &t);
    out = fs_join(fakes_dir, "out");
    return rc;
}

static int drop(void **state)
{
    fakes_free(&f);
    free(out);
    return fakes_remove_dir(state);
}

static const char *text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static double number(const json_t *o, const char *key)
{
    assert_true(json_is_number(json_object_get(o, key)));
    return json_number_value(json_object_get(o, key));
}

static void a_decision_names_its_fuzzers(void **state)
{
    (void)state;
    struct journal j;
    struct explained x;
    struct err e = {0};
    unsigned seen = 0;
    assert_int_equal(journal_open(&j, out, JOURNAL_RECORD, &e), 0);
    assert_false(j.simulated);
    for (int64_t turn = 1; turn <= 9; turn++) {
        assert_int_equal(explain_turn(&x, j.store, turn, &e), 0);
        json_t *o = explain_turn_json(&j, &x, "because"), *arms = json_object_get(o, "fuzzers");
        const char *chosen = text(o, "chosen");
        assert_non_null(chosen);
        assert_int_equal(chosen[1] - '0', x.d.choice);
        assert_int_equal((int64_t)number(o, "turn"), turn);
        assert_int_equal((int)number(o, "schema"), 1);
        assert_true(number(o, "turn_s") == 120);
        assert_true(number(o, "time_s") == (double)x.d.now_ns / 1e9);
        assert_string_equal(text(o, "why"), "because");
        assert_int_equal(json_object_size(arms), 3);
        assert_true(number(json_object_get(arms, "f2"), "draw") == x.d.arm[2].draw);
        assert_true(json_is_null(json_object_get(o, "without")));
        json_t *came = json_object_get(o, "outcome");
        assert_string_equal(text(came, "state"), "completed");
        assert_true(number(came, "reward") == x.row.reward);
        assert_int_equal((uint32_t)number(came, "new_edges"), x.row.new_edges);
        assert_int_equal((uint64_t)number(came, "cycles"), x.row.cycles);
        seen |= 1u << x.d.choice;
        json_decref(o);
    }
    assert_int_equal(seen, 7); /* the first of the roster too */
    x.d.choice = -1;
    json_t *o = explain_turn_json(&j, &x, "");
    assert_true(json_is_null(json_object_get(o, "chosen")));
    json_decref(o);
    journal_close(&j);
}

/* What the numbers of a decision are under its scheduler. */
static void columns_are_named(void **state)
{
    (void)state;
    static const char *const names[] = {"mean", "width", "noise", "draw"};
    struct journal j;
    struct explained x;
    struct err e = {0};
    assert_int_equal(journal_open(&j, out, JOURNAL_RECORD, &e), 0);
    assert_int_equal(explain_turn(&x, j.store, 1, &e), 0);
    json_t *o = explain_turn_json(&j, &x, ""), *columns = json_object_get(o, "columns");
    assert_int_equal(json_object_size(columns), 4);
    for (int i = 0; i < 4; i++) {
        assert_non_null(j.ops->columns[i]);
        assert_string_equal(text(columns, names[i]), j.ops->columns[i]);
    }
    json_decref(o);
    journal_close(&j);
}

/* Only signals without which another would have been chosen are named. */
static void signals_that_decided_are_named(void **state)
{
    (void)state;
    struct journal j;
    struct explained x;
    struct err e = {0};
    assert_int_equal(journal_open(&j, out, JOURNAL_RECORD, &e), 0);
    assert_int_equal(explain_turn(&x, j.store, 9, &e), 0);
    x.asked = true;
    for (int k = 0; k < SIGNAL_COUNT; k++)
        x.without[k] = x.d.choice;
    x.without[0] = (x.d.choice + 1) % 3;
    x.without[5] = -1; /* nobody */
    x.without[SIGNAL_COUNT - 1] = (x.d.choice + 2) % 3;
    json_t *o = explain_turn_json(&j, &x, ""), *w = json_object_get(o, "without");
    assert_int_equal(json_object_size(w), 2);
    assert_string_equal(text(w, signal_name(0)), j.arms[x.without[0]]);
    assert_string_equal(text(w, signal_name(SIGNAL_COUNT - 1)),
                        j.arms[x.without[SIGNAL_COUNT - 1]]);
    json_decref(o);
    journal_close(&j);
}

static void the_strongest_signal_comes_first(void **state)
{
    (void)state;
    struct influence v = {.decisions = 50, .warmup = 10, .signals = true};
    int order[SIGNAL_COUNT];
    v.changed[0] = 4;
    v.changed[3] = 20;
    v.changed[7] = 4;
    v.changed[14] = 30;
    for (int i = 0; i < SIGNAL_COUNT; i++)
        order[i] = 13; /* whatever was there */
    influence_order(&v, order);
    const int right[] = {14, 3, 0, 7, 1, 2, 4};
    for (int i = 0; i < 7; i++)
        assert_int_equal(order[i], right[i]);
    assert_int_equal(order[SIGNAL_COUNT - 1], 13);
    assert_true(influence_share(&v, 20) == 0.5); /* of those after the warm-up */
}

static void a_campaign_says_what_moved_it(void **state)
{
    (void)state;
    struct journal j;
    struct influence v;
    struct err e = {0};
    uint64_t all = 0;
    assert_int_equal(journal_open(&j, out, JOURNAL_RECORD, &e), 0);
    j.fold.table = &f.table;
    assert_int_equal(explain_campaign(&v, j.store, &j.fold, 1, &e), -ETIME); /* it is later */
    assert_int_equal(explain_campaign(&v, j.store, &j.fold, INT64_MAX, &e), 0);
    all = v.decisions;
    assert_int_equal(explain_campaign(&v, j.store, &j.fold, 0, &e), 0);
    assert_int_equal(v.decisions, all);
    all = 0;
    json_t *o = influence_json(&j, &v), *by = json_object_get(o, "influence");
    assert_true(v.decisions > 20 && v.explored > 0 && v.explored < v.decisions);
    assert_int_equal((uint64_t)number(o, "decisions"), v.decisions);
    assert_int_equal((uint64_t)number(o, "warmup"), 3);
    assert_int_equal((int)number(o, "schema"), 1);
    for (int a = 0; a < 3; a++) {
        json_t *arm = json_object_get(json_object_get(o, "fuzzers"), j.arms[a]);
        all += (uint64_t)number(arm, "choices");
        assert_true(number(arm, "share") == (double)v.choices[a] / (double)v.decisions);
    }
    assert_int_equal(all, v.decisions);
    assert_int_equal(json_array_size(by), SIGNAL_COUNT);
    for (size_t i = 1; i < SIGNAL_COUNT; i++)
        assert_true(number(json_array_get(by, i), "changed") <=
                    number(json_array_get(by, i - 1), "changed"));
    json_t *explored = json_object_get(o, "exploration");
    assert_true(number(explored, "share") == (double)v.explored / (double)(v.decisions - 3));
    json_decref(o);
    journal_close(&j);
}

/* `carol sim` leaves a record, too. */
static void a_simulated_one_is_known_as_such(void **state)
{
    (void)state;
    struct settings o = fakes_options(fakes_dir, "equal", 2, 1, 600);
    struct store *s;
    struct journal j;
    struct err e = {0};
    char *dir = fs_join(fakes_dir, "simulated");
    assert_int_equal(fs_mkdirs(dir, &e), 0);
    assert_int_equal(store_open(&s, dir, STORE_CREATE, &e), 0);
    assert_int_equal(journal_start(s, &o, &f.table, true, &e), 0);
    store_close(s);
    if (journal_open(&j, dir, JOURNAL_RECORD, &e) < 0)
        fail_msg("%s", e.msg);
    assert_true(j.simulated);
    journal_close(&j);
    settings_free(&o);
    free(dir);
}

static void a_fold_may_be_freed_twice(void **state)
{
    (void)state;
    struct journal j;
    struct fold x;
    struct err e = {0};
    assert_int_equal(journal_open(&j, out, JOURNAL_RECORD, &e), 0);
    j.fold.table = &f.table;
    assert_int_equal(fold_init(&x, &j.fold, &e), 0);
    fold_free(&x);
    assert_null(x.sched);
    fold_free(&x);
    journal_close(&j);
}

/* All cores that we may use. */
static void without_a_word_it_uses_all_cores(void **state)
{
    (void)state;
    struct settings s;
    struct err e = {0};
    cpu_set_t may;
    assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
    assert_int_equal(settings_defaults(&s, &e), 0);
    assert_int_equal(s.jobs, CPU_COUNT(&may));
    assert_string_equal(s.scheduler, "rate");
    settings_free(&s);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &may))
            CPU_SET(i, &one);
    pid_t p = fork(); /* also as a process that may use one only */
    if (p == 0)
        _exit(sched_setaffinity(0, sizeof one, &one) < 0 || settings_defaults(&s, &e) < 0 ? 9
                                                                                          : s.jobs);
    int status;
    assert_int_equal(waitpid(p, &status, 0), p);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

/* The time in milliseconds: two campaigns begun one after the other differ. */
static void without_a_word_the_seed_is_the_time(void **state)
{
    (void)state;
    struct settings s;
    struct err e = {0};
    uint64_t before = (uint64_t)time(NULL);
    assert_int_equal(settings_defaults(&s, &e), 0);
    assert_in_range(s.seed / 1000, before, (uint64_t)time(NULL));
    settings_free(&s);
}

static void its_state_adds_up(void **state)
{
    (void)state;
    struct status st;
    struct err e = {0};
    int64_t active = 0;
    if (status_load(&st, out, &e) < 0)
        fail_msg("%s", e.msg);
    json_t *o = status_json(&st);
    assert_string_equal(text(o, "state"), "ended");
    assert_int_equal((int)number(o, "schema"), 1);
    assert_int_equal(json_object_size(json_object_get(o, "fuzzers")), 3);
    assert_int_equal(json_array_size(json_object_get(o, "slots")), 2);
    assert_int_equal(st.tally.n_arms, 3);
    assert_int_equal(tally_find(&st.tally, "f2"), 2);
    assert_int_equal(tally_find(&st.tally, "f3"), -1);
    assert_string_equal(st.tally.arm[0].name, "f0");
    for (int a = 0; a < 3; a++)
        active += st.tally.arm[a].active_ns;
    assert_true(active == st.gauges.slot[0].fuzz_ns + st.gauges.slot[1].fuzz_ns);
    json_decref(o);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decision_names_its_fuzzers),
        cmocka_unit_test(columns_are_named),
        cmocka_unit_test(signals_that_decided_are_named),
        cmocka_unit_test(the_strongest_signal_comes_first),
        cmocka_unit_test(a_campaign_says_what_moved_it),
        cmocka_unit_test(a_simulated_one_is_known_as_such),
        cmocka_unit_test(a_fold_may_be_freed_twice),
        cmocka_unit_test(without_a_word_it_uses_all_cores),
        cmocka_unit_test(without_a_word_the_seed_is_the_time),
        cmocka_unit_test(its_state_adds_up),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make, drop);
}
