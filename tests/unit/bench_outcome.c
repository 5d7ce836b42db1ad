/* bench_outcome: the tables of a benchmark from stored results: the paper's own campaigns must give the paper's
 * figures (tests/vectors/paper.txt). */
#include "base/fs.h"
#include "bench/figure.h"
#include "bench/outcome.h"
#include "temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vectors.h"

#define CAMPAIGNS 10
#define BUGS 8

static enum role role_in_paper(const char *name)
{
    return strcmp(name, "ctx") == 0 || strcmp(name, "rr") == 0 ? ROLE_OURS
           : strcmp(name, "best-single") == 0                  ? ROLE_SINGLE
                                                               : ROLE_BASELINE;
}

/* A campaign that triggered the first n bugs, one after another. */
static void store(const char *target, const char *contender, enum role role, int trial, int n)
{
    struct bug_result bugs[BUGS] = {0};
    struct result r = {.target = (char *)(uintptr_t)target,
                       .contender = (char *)(uintptr_t)contender,
                       .definition = (char[]){"d"},
                       .role = role,
                       .trial = trial,
                       .cores = 6,
                       .attempts = 1,
                       .ratio = 0.9,
                       .budget_s = 100,
                       .execs = 1000,
                       .bugs = bugs,
                       .n_bugs = BUGS,
                       .command = (char[]){""},
                       .version = (char[]){""},
                       .began = (char[]){""},
                       .host = (char[]){""}};
    for (int i = 0; i < BUGS; i++) {
        snprintf(bugs[i].id, sizeof bugs[i].id, "B%d", i + 1);
        if (i < n)
            bugs[i].triggered = bugs[i].reached =
                (struct first){true, (uint64_t)i + 1, 10.0 * (i + 1), 1};
    }
    r.edges[RESULT_MOMENTS] = (uint32_t)(100 + n);
    char *dir = str_fmt("%s/campaigns/%s,%s,%d", temp_dir, target, contender, trial),
         *path = fs_join(dir, "result.json");
    assert_int_equal(fs_mkdirs(dir, NULL), 0);
    assert_int_equal(result_write(&r, path, NULL), 0);
    free(dir);
    free(path);
}

static void store_cell(struct vectors *v)
{
    const char *name = vectors_word(v), *target = vectors_word(v);
    bool used = strcmp(name, "strongest") != 0 && strcmp(name, "intercept") != 0;
    for (int i = 0; i < CAMPAIGNS; i++) {
        int n = (int)vectors_int(v);
        if (used)
            store(target, name, role_in_paper(name), i + 1, n);
    }
}

static int make_paper(void **state)
{
    struct vectors v;
    char *word;
    if (temp_dir_make(state) < 0)
        return -1;
    vectors_open(&v, "paper.txt");
    while ((word = vectors_word(&v)))
        if (strcmp(word, "cell") == 0)
            store_cell(&v);
    vectors_close(&v);
    return 0;
}

static void load(struct outcome *t, size_t *ctx)
{
    struct err e = {0};
    if (outcome_load(t, temp_dir, NULL, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(outcome_reference(t, "ctx", ctx, &e), 0);
}

static const struct match *find(const struct outcome *t, const struct duel *duels, size_t n,
                                const char *against, const char *target)
{
    const char *name = strcmp(against, "strongest") == 0 ? "strongest baseline" : against;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; strcmp(duels[i].name, name) == 0 && k < duels[i].n; k++)
            if (strcmp(t->targets.v[duels[i].match[k].target], target) == 0)
                return &duels[i].match[k];
    fail_msg("no match against %s on %s", against, target);
    return NULL;
}

static void expect_print(double got, const char *want, const char *what)
{
    const char *dot = strchr(want, '.');
    char *text = str_fmt("%.*f", dot ? (int)strlen(dot + 1) : 0, got);
    if (strcmp(text, want) != 0)
        fail_msg("%s: %s, the paper has %s", what, text, want);
    free(text);
}

/* Every comparison of ctx that the paper makes by the normal approximation, and every resolution. */
static void test_paper(void **state)
{
    (void)state;
    struct outcome t;
    struct duel *duels;
    struct vectors v;
    size_t ctx, n, compared = 0, resolved = 0;
    char *word;
    load(&t, &ctx);
    assert_int_equal(t.targets.n, 9);
    assert_int_equal(t.n, 9 * 6 * CAMPAIGNS);
    outcome_duels(&t, ctx, MEASURE_BUGS, &duels, &n);
    vectors_open(&v, "paper.txt");
    while ((word = vectors_word(&v))) {
        bool comparison = strcmp(word, "compare") == 0;
        if (!comparison && strcmp(word, "resolution") != 0)
            continue;
        bool normal = !comparison || strcmp(vectors_word(&v), "normal") == 0;
        const char *a = vectors_word(&v), *b = vectors_word(&v), *target = vectors_word(&v),
                   *first = vectors_word(&v), *second = comparison ? vectors_word(&v) : NULL;
        if (!normal || strcmp(a, "ctx") != 0 || strcmp(b, "intercept") == 0)
            continue;
        const struct match *m = find(&t, duels, n, b, target);
        if (comparison) {
            expect_print(m->p_holm, second, target);
            compared++;
        } else {
            assert_true(isnan(strtod(first, NULL)) ? isnan(m->resolution)
                                                   : m->resolution == strtod(first, NULL));
            resolved++;
        }
    }
    vectors_close(&v);
    assert_true(compared >= 36);
    assert_true(resolved >= 9);
    assert_string_equal(duels[0].name, "strongest baseline");
    expect_print(duels[0].sum, "34.20", "sum");
    expect_print(duels[0].sum_other, "30.60", "sum of the strongest baseline");
    assert_int_equal(duels[0].wins, 6);
    assert_int_equal(duels[0].losses, 0);
    expect_print(duels[0].sign_p, "0.031", "sign test");
    duels_free(duels, n);
    outcome_free(&t);
}

static void expect_line(const char *text, const char *line)
{
    if (!strstr(text, line))
        fail_msg("\"%s\" is not in:\n%.6000s", line, text);
}

static void test_text(void **state)
{
    (void)state;
    struct outcome t;
    struct sheets s = {0};
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    size_t ctx;
    load(&t, &ctx);
    outcome_sheets(&t, ctx, MEASURE_BUGS, &s);
    sheets_text(&s, &b);
    expect_line(b.p, "\ntarget               ctx          rr      autofz        band      legion  "
                     "best-single\n");
    expect_line(b.p, "\nlibtiff       5.00 ±0.00  4.30 ±0.82  4.00 ±0.00  3.70 ±0.48  3.60 ±0.52 ");
    expect_line(b.p,
                "mean ± sample standard deviation over 10 to 10 trials of 100 CPU s on 6 cores\n");
    expect_line(b.p, "\nstrongest baseline        9  34.20  30.60  +3.60     11.8     6       0    "
                     " 3  0.0312\n");
    expect_line(b.p,
                "\nB5   10/10 50.0        3/10        0/10        0/10        0/10         4/10\n");
    expect_line(b.p, "critical difference");
    sheets_free(&s);
    buf_free(&b);
    outcome_free(&t);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void test_forms(void **state)
{
    (void)state;
    struct outcome t;
    struct buf csv = BUF_INIT(BUF_TEXT_MAX), bugs = BUF_INIT(BUF_TEXT_MAX),
               page = BUF_INIT(BUF_TEXT_MAX);
    size_t ctx;
    load(&t, &ctx);
    json_t *o = outcome_json(&t, ctx, MEASURE_AREA);
    assert_string_equal(json_string_value(json_object_get(o, "measure")), "area");
    assert_int_equal(json_array_size(json_object_get(o, "cells")), 54);
    assert_int_equal(json_array_size(json_object_get(o, "against")), 7);
    json_decref(o);
    outcome_csv(&t, &csv);
    outcome_csv_bugs(&t, &bugs);
    assert_int_equal(count(csv.p, "\n"), 541);
    assert_int_equal(count(bugs.p, "\n"), 1 + 540 * BUGS);
    expect_line(csv.p, "\nlibtiff,ctx,ours,1,0,6,100,0,0,0.9000,1,5,5,3.5,105,");
    expect_line(bugs.p, "\nlibtiff,ctx,ours,1,B6,,,,,,\n");
    outcome_html(&t, ctx, MEASURE_BUGS, &page);
    assert_int_equal(count(page.p, "<svg"),
                     3 + 9); /* bugs, ranks, edges; not triggered yet, per target */
    assert_int_equal(count(page.p, "<path class=\"line"), 6 + 6 + 9 * 6);
    assert_int_equal(count(page.p, "<table"), count(page.p, "</table>"));
    assert_int_equal(count(page.p, "src=") + count(page.p, "@import") + count(page.p, "url("), 0);
    assert_int_equal(count(page.p, "<link"), 1); /* the empty icon: it loads nothing */
    buf_free(&csv);
    buf_free(&bugs);
    buf_free(&page);
    outcome_free(&t);
}

static void test_refuses(void **state)
{
    (void)state;
    struct outcome t;
    struct err e = {0};
    size_t at;
    assert_true(outcome_load(&t, temp_dir, NULL, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    store("a", "one", ROLE_OURS, 1, 2);
    assert_int_equal(outcome_load(&t, temp_dir, NULL, &e), 0);
    assert_true(outcome_reference(&t, "two", &at, &e) < 0);
    outcome_free(&t);
    store("a", "two", ROLE_OURS, 1, 3);
    struct strv only = {0};
    strv_add(&only, "one");
    assert_int_equal(outcome_load(&t, temp_dir, &only, &e), 0);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.contenders.n, 1);
    outcome_free(&t);
    strv_add(&only, "three");
    assert_true(outcome_load(&t, temp_dir, &only, &e) < 0);
    assert_non_null(strstr(e.msg, "of 'three': they are of one, two"));
    strv_free(&only);
    assert_int_equal(outcome_load(&t, temp_dir, NULL, &e), 0);
    assert_int_equal(outcome_reference(&t, NULL, &at, &e), 0);
    struct sheets s = {0}; /* one contender, one trial: nothing to compare, and no fault */
    outcome_sheets(&t, at, MEASURE_BUGS, &s);
    assert_true(s.n > 4);
    sheets_free(&s);
    outcome_free(&t);
    char *path = str_fmt("%s/campaigns/a,one,1/result.json", temp_dir);
    assert_int_equal(fs_write_quick(path, "{}", 2, NULL), 0);
    assert_true(outcome_load(&t, temp_dir, NULL, &e) < 0);
    assert_non_null(strstr(e.msg, "is not the result"));
    free(path);
}

/* The last test begins without the paper's campaigns. */
static int make_empty(void **state)
{
    (void)state;
    char *path = fs_join(temp_dir, "campaigns");
    int rc = fs_remove_tree(path, NULL);
    free(path);
    return rc;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_forms),
        cmocka_unit_test_setup(test_refuses, make_empty),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_paper, temp_dir_remove);
}
