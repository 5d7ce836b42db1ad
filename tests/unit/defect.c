/* defect: rows of triage are kept once per crash, beside a campaign that runs, and fold into defects. */
#include "store_kit.h"

#include "base/fs.h"
#include "triage/output.h"

/* Crashes "a", "bb", ... found in turn 1 by arm 1, each a nanosecond after the one before. */
static void have_crashes(struct store *s, int n)
{
    static const char *const text[] = {"a", "bb", "ccc", "dddd", "eeeee", "ffffff"};
    struct store_fact facts[] = {{"fuzzers", "aflpp,honggfuzz"}, {"triage.build", "B"}};
    OK(store_put(s, facts, 2, &oops));
    struct store_turn t = begun(s, 1, 0);
    struct store_find x[6];
    for (int i = 0; i < n; i++) {
        x[i] = find(text[i]);
        x[i].kind = STORE_FIND_CRASH;
        x[i].found_ns = 100 + i;
    }
    OK(store_turn_park(s, &t, x, (size_t)n, NULL, &oops));
}

static struct store_triage row(int64_t crash, const char *defect)
{
    return (struct store_triage){.crash = crash,
                                 .build = "B",
                                 .outcome = TRIAGE_CRASH,
                                 .defect = defect,
                                 .function = "parse",
                                 .file = "p.c",
                                 .line = 7,
                                 .fault = "null-pointer read",
                                 .entry = "load",
                                 .access = "read",
                                 .bytes = 4,
                                 .address = "0x8",
                                 .cwe = 476,
                                 .asan_runs = 1,
                                 .asan_hits = 1,
                                 .plain_runs = 5,
                                 .plain_hits = 5,
                                 .plain_signal = 11,
                                 .why = "",
                                 .report = "==1==ERROR"};
}

static struct defects loaded(struct store *s)
{
    struct defects d;
    OK(defects_load(&d, s, &oops));
    return d;
}

static void rows_with_one_bucket_are_one_defect(void **state)
{
    struct fixture *f = *state;
    have_crashes(f->s, 3);
    for (int64_t i = 1; i <= 3; i++) {
        struct store_triage t = row(i, i == 3 ? "y" : "x");
        OK(store_triage_put(f->s, &t, &oops));
    }
    struct defects d = loaded(f->s);
    assert_int_equal(d.n, 2);
    assert_int_equal(d.confirmed, 2);
    assert_int_equal(d.waiting, 0);
    assert_string_equal(d.v[0].id, "x");
    assert_int_equal(d.v[0].inputs, 2);
    assert_int_equal(d.v[0].by[1], 2);
    assert_string_equal(d.v[0].found_by, "honggfuzz");
    assert_int_equal(d.v[0].first_seen_ns, 100);
    assert_int_equal(d.v[0].best, 1); /* the smaller one */
    assert_string_equal(d.v[0].function, "parse");
    assert_string_equal(defect_class(&d.v[0]), "crash");
    defects_free(&d);
}

static void the_worst_run_gives_the_class_and_the_surest_the_input(void **state)
{
    struct fixture *f = *state;
    have_crashes(f->s, 3);
    struct store_triage t[3] = {row(1, "x"), row(2, "x"), row(3, "x")};
    t[0].plain_hits = 2; /* flaky */
    t[1].withheld = true;
    t[1].access = "write";
    t[1].cwe = 787;
    t[1].plain_hits = 0;
    t[1].why = "only the sanitizer sees it";
    for (int i = 0; i < 3; i++)
        OK(store_triage_put(f->s, &t[i], &oops));
    struct defects d = loaded(f->s);
    assert_int_equal(d.n, 1);
    assert_string_equal(defect_class(&d.v[0]), "withheld");
    assert_int_equal(d.v[0].cwe, 787);
    assert_int_equal(d.v[0].worst, 2);
    assert_int_equal(d.v[0].best, 3);
    assert_true(d.v[0].confirmed);
    assert_string_equal(d.v[0].why, "");
    defects_free(&d);
}

static void rows_of_other_builds_and_of_no_defect_do_not_count(void **state)
{
    struct fixture *f = *state;
    have_crashes(f->s, 5);
    struct store_triage t[4] = {row(1, "x"), row(2, ""), row(3, ""), row(4, "z")};
    t[0].build = "older";
    t[1].outcome = TRIAGE_SLOW;
    t[2].outcome = TRIAGE_CLEAN;
    t[3].plain_hits = 3;
    t[3].why = "3 of 5";
    for (int i = 0; i < 4; i++)
        OK(store_triage_put(f->s, &t[i], &oops));
    struct defects d = loaded(f->s);
    assert_int_equal(d.n, 1);
    assert_false(d.v[0].confirmed);
    assert_string_equal(d.v[0].why, "3 of 5");
    assert_int_equal(d.slow, 1);
    assert_int_equal(d.clean, 1);
    assert_int_equal(d.rows, 3);
    assert_int_equal(d.waiting, 2); /* the older one, and the one never run */
    json_t *o = defects_json(&d, "OUT");
    assert_int_equal(json_array_size(json_object_get(o, "defects")), 0);
    assert_int_equal(json_array_size(json_object_get(o, "unconfirmed")), 1);
    json_decref(o);
    defects_free(&d);
}

/* A crash must fail five times of five; one run that does not end is enough for a hang. */
static void one_run_confirms_a_hang_only(void **state)
{
    struct fixture *f = *state;
    have_crashes(f->s, 2);
    struct store_triage t[2] = {row(1, "x"), row(2, "y")};
    t[0].outcome = TRIAGE_HANG;
    for (int i = 0; i < 2; i++) {
        t[i].plain_runs = t[i].plain_hits = 1;
        OK(store_triage_put(f->s, &t[i], &oops));
    }
    struct defects d = loaded(f->s);
    assert_int_equal(d.confirmed, 1);
    assert_string_equal(d.v[0].id, "x");
    assert_non_null(strstr(defect_sure(&d.v[0]), "does not end"));
    defects_free(&d);
}

/* As a record of before may have it. */
static void text_that_is_no_utf8_drops_no_defect(void **state)
{
    struct fixture *f = *state;
    have_crashes(f->s, 1);
    struct store_triage t = row(1, "x");
    t.function = "caf\xe9";
    t.file = "\xff.c";
    t.fault = "uncaught-exception \xc3";
    OK(store_triage_put(f->s, &t, &oops));
    struct defects d = loaded(f->s);
    json_t *o = defects_json(&d, "OUT");
    json_t *x = json_array_get(json_object_get(o, "defects"), 0);
    assert_string_equal(json_string_value(json_object_get(x, "function")), "caf\\xe9");
    assert_string_equal(json_string_value(json_object_get(x, "id")), "x");
    json_decref(o);
    struct output out = {.d = &d};
    o = output_sarif(&out);
    json_t *run = json_array_get(json_object_get(o, "runs"), 0);
    assert_true(json_is_object(json_array_get(json_object_get(run, "results"), 0)));
    json_decref(o);
    defects_free(&d);
}

static int count_crash(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    *(int64_t *)arg = *(int64_t *)arg * 10 + c->id;
    return 0;
}

static int keep_minimised(void *arg, const struct store_minimised *m, struct err *e)
{
    (void)e;
    buf_printf(arg, "%s %s %lld %.*s;", m->defect, m->build, (long long)m->crash, (int)m->size,
               (const char *)m->data);
    return 0;
}

/* A second connection, as `carol triage` has it while the campaign's writer lives. */
static void a_second_writer_leaves_rows(void **state)
{
    struct fixture *f = *state;
    struct store *second;
    struct buf b = BUF_INIT(1000);
    have_crashes(f->s, 3);
    OK(store_open(&second, f->dir, STORE_TRIAGE, &oops));
    struct store_triage t = row(2, "x");
    t.plain_runs = t.plain_hits = 0;
    OK(store_triage_put(second, &t, &oops));
    t.report = "again";
    OK(store_triage_put(second, &t, &oops)); /* in place of the first */
    struct store_minimised m = {.defect = "x", .build = "B", .crash = 2, .data = "b", .size = 1};
    OK(store_minimised_put(second, &m, &oops));
    store_close(second);
    int64_t left = 0;
    OK(store_untriaged(f->s, "B", 0, count_crash, &left, &oops));
    assert_int_equal(left, 13);
    left = 0;
    OK(store_untriaged(f->s, "other", 1, count_crash, &left, &oops));
    assert_int_equal(left, 23);
    char *text;
    OK(store_triage_report(f->s, 2, &text, &oops));
    assert_string_equal(text, "again");
    free(text);
    OK(store_triage_report(f->s, 1, &text, &oops));
    assert_null(text);
    OK(store_minimised(f->s, keep_minimised, &b, &oops));
    assert_string_equal(b.p, "x B 2 b;");
    buf_free(&b);
    struct defects d = loaded(f->s);
    assert_true(d.v[0].minimised);
    assert_int_equal(d.v[0].minimised_size, 1);
    defects_free(&d);
}

/* The campaign's live triage knows a bucket and no more, and may come late with it. */
static void what_is_confirmed_stays(void **state)
{
    struct fixture *f = *state;
    struct store_triage live = row(1, "x"), sure = row(1, "x"), older = row(1, "x");
    have_crashes(f->s, 1);
    live.plain_runs = live.plain_hits = 0;
    OK(store_triage_put(f->s, &live, &oops));
    older.build = "older";
    OK(store_triage_confirm(f->s, &older, &oops)); /* of builds that the row is not of */
    assert_int_equal(kit_query(f->dir, "SELECT plain_runs FROM triage"), 0);
    OK(store_triage_confirm(f->s, &sure, &oops));
    OK(store_triage_put(f->s, &live, &oops));
    assert_int_equal(kit_query(f->dir, "SELECT plain_hits FROM triage"), 5);
    live.build = "newer";
    OK(store_triage_put(f->s, &live, &oops));
    assert_int_equal(kit_query(f->dir, "SELECT plain_hits FROM triage"), 0);
    live.outcome = TRIAGE_BROKEN;
    live.why = "it could not be run";
    OK(store_triage_put(f->s, &live, &oops));
    sure.build = "newer";
    OK(store_triage_put(f->s, &sure, &oops)); /* now it could */
    assert_int_equal(kit_query(f->dir, "SELECT outcome FROM triage"), TRIAGE_CRASH);
}

static void it_brings_an_older_record_up_to_date_when_nobody_writes(void **state)
{
    struct fixture *f = *state;
    struct store *second;
    struct err e = {0};
    have_crashes(f->s, 1);
    kit_exec(f->dir, "DROP TABLE triage; DROP TABLE minimised; PRAGMA user_version = 3");
    assert_int_equal(store_open(&second, f->dir, STORE_TRIAGE, &e), -EBUSY);
    store_close(f->s);
    f->s = NULL;
    assert_int_not_equal(store_open(&second, f->dir, STORE_READ, &e), 0);
    assert_non_null(strstr(e.msg, "carol triage"));
    OK(store_open(&second, f->dir, STORE_TRIAGE, &oops));
    struct store_triage t = row(1, "x");
    OK(store_triage_put(second, &t, &oops));
    store_close(second);
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops)); /* the lock is free again */
}

/* --- files -------------------------------------------------------------------------------------- */

#define TOLD "00000000000000aa"
#define HIDDEN "00000000000000bb"
#define GONE "00000000000000cc"

static void write_files(struct fixture *f, bool public, struct defects *d)
{
    struct settings o = {0};
    char name[] = "t";
    struct manifest target = {.target = name, .family[FAMILY_PLAIN] = {.binary = name}};
    char *dir = fs_join(f->dir, "triage-public");
    *d = loaded(f->s);
    struct output out = {
        .store = f->s, .o = &o, .target = &target, .d = d, .dir = dir, .public = public};
    OK(output_write(&out, &oops));
    free(dir);
}

static bool has_file(struct fixture *f, const char *name)
{
    char *path = str_fmt("%s/triage-public/%s", f->dir, name);
    bool has = fs_exists(path);
    free(path);
    return has;
}

static void have_told_and_hidden(struct fixture *f)
{
    have_crashes(f->s, 2);
    struct store_triage t[2] = {row(1, TOLD), row(2, HIDDEN)};
    for (int i = 0; i < 2; i++)
        OK(store_triage_put(f->s, &t[i], &oops));
}

/* What an earlier run wrote goes when it is no defect any more, or may not be told now. */
static void folders_of_earlier_runs_do_not_stay(void **state)
{
    struct fixture *f = *state;
    struct defects d;
    have_told_and_hidden(f);
    write_files(f, false, &d);
    defects_free(&d);
    assert_true(has_file(f, TOLD "/original") && has_file(f, HIDDEN "/original"));
    char *gone = str_fmt("%s/triage-public/" GONE, f->dir),
         *mine = str_fmt("%s/triage-public/mine", f->dir);
    OK(fs_mkdirs(gone, &oops));
    OK(fs_mkdirs(mine, &oops));
    kit_exec(f->dir, "UPDATE triage SET withheld = 1 WHERE crash = 2");
    write_files(f, true, &d);
    defects_free(&d);
    assert_true(has_file(f, TOLD "/original") && has_file(f, "mine"));
    assert_false(has_file(f, HIDDEN) || has_file(f, GONE));
    free(gone);
    free(mine);
}

static void expect_in_report(struct fixture *f, const char *text, bool is)
{
    char *path = str_fmt("%s/triage-public/" TOLD "/report.md", f->dir);
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    OK(fs_read(path, &b, &oops));
    assert_int_equal(memmem(b.p, b.len, text, strlen(text)) != NULL, is);
    buf_free(&b);
    free(path);
}

/* The first found is not the one to reproduce it with, and the worst report is of yet another. */
static void a_report_is_about_the_input_beside_it(void **state)
{
    struct fixture *f = *state;
    struct defects d;
    have_crashes(f->s, 3);
    struct store_triage t[3] = {row(1, TOLD), row(2, TOLD), row(3, TOLD)};
    t[0].plain_hits = 1;
    t[2].access = "write";
    t[2].plain_hits = 0;
    for (int i = 0; i < 3; i++)
        OK(store_triage_put(f->s, &t[i], &oops));
    kit_exec(f->dir, "UPDATE crashes SET name = 'number-' || id");
    write_files(f, false, &d);
    defects_free(&d);
    expect_in_report(f, "number-2", true);
    expect_in_report(f, "number-1", false);
    expect_in_report(f, "another input than `original`: crash 3", true);
}

static void a_lost_input_leaves_the_rest_of_the_report(void **state)
{
    struct fixture *f = *state;
    struct defects d;
    have_told_and_hidden(f);
    assert_int_equal(kit_exec(f->dir, "UPDATE crashes SET data = NULL WHERE id = 1"), 1);
    write_files(f, false, &d);
    defects_free(&d);
    assert_true(has_file(f, TOLD "/stack.txt") && has_file(f, HIDDEN "/original"));
    assert_false(has_file(f, TOLD "/original"));
    expect_in_report(f, "The input is lost: ", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_with_one_bucket_are_one_defect),
        TEST(the_worst_run_gives_the_class_and_the_surest_the_input),
        TEST(rows_of_other_builds_and_of_no_defect_do_not_count),
        TEST(one_run_confirms_a_hang_only),
        TEST(text_that_is_no_utf8_drops_no_defect),
        TEST(a_second_writer_leaves_rows),
        TEST(what_is_confirmed_stays),
        TEST(it_brings_an_older_record_up_to_date_when_nobody_writes),
        TEST(folders_of_earlier_runs_do_not_stay),
        TEST(a_report_is_about_the_input_beside_it),
        TEST(a_lost_input_leaves_the_rest_of_the_report),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
