/* roster: the table of fuzzers, here with a seventh (tests/fuzzer/meson.build), and what -f makes of a text. */
#include "base/buf.h"
#include "base/str.h"
#include "fuzzer/fuzzer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIX "aflpp darwin honggfuzz mopt lafintel radamsa"

/* What `text` adds to `before`, as one string; the message when it is refused. */
static char *resolve(const char *before, const char *text)
{
    struct strv out = {0};
    struct buf b = BUF_INIT(4096);
    struct err e = {0};
    strv_split(&out, before, ' ');
    if (fuzzer_roster(text, &out, &e) < 0) {
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
        buf_printf(&b, "refused: %s", e.msg);
    }
    for (size_t i = 0; !e.exit && i < out.n; i++)
        buf_printf(&b, "%s%s", i ? " " : "", out.v[i]);
    strv_free(&out);
    return buf_take(&b);
}

static void expect(const char *before, const char *text, const char *result)
{
    char *got = resolve(before, text);
    assert_string_equal(got, result);
    free(got);
}

static void expect_refusal(const char *before, const char *text, const char *why)
{
    char *got = resolve(before, text);
    if (!str_starts(got, "refused: ") || !strstr(got, why))
        fail_msg("'%s' gave '%s'", text, got);
    free(got);
}

static void rosters_have_names(void **state)
{
    (void)state;
    struct buf all = BUF_INIT(4096);
    fuzzer_list(FAMILY_NONE, " ", &all);
    assert_true(str_starts(all.p, "aflpp cmplog darwin "));
    assert_true(str_ends(all.p, " rare"));
    expect("", "paper", SIX);
    expect("", "default", "aflpp cmplog honggfuzz lafintel");
    expect("", "all", all.p);
    buf_free(&all);
}

static void a_list_keeps_its_order(void **state)
{
    (void)state;
    expect("", "rare,aflpp", "rare aflpp");
    expect("", ",mopt,,", "mopt");
    expect("mopt", "aflpp", "mopt aflpp");
    expect("", "radamsa,paper", "radamsa aflpp darwin honggfuzz mopt lafintel");
    expect("", "paper,rare", SIX " rare");
    expect("", "paper,default", SIX " cmplog");
}

static void refusals_say_what_there_is(void **state)
{
    (void)state;
    expect_refusal("", "aflpp,afl", "'afl'");
    expect_refusal("", "x", ", rare; the rosters are paper, default, all");
    expect_refusal("", "aflpp,aflpp", "'aflpp' is named twice");
    expect_refusal("rare", "rare", "'rare' is named twice");
    expect_refusal("", "paper,mopt", "'mopt' is named twice");
    expect_refusal("", "", "no fuzzer");
    expect_refusal("", ",", "no fuzzer");
}

static void facts_by_name(void **state)
{
    (void)state;
    struct buf all = BUF_INIT(4096), names = BUF_INIT(4096);
    fuzzer_list(FAMILY_NONE, " ", &all);
    for (const char *const *name = fuzzer_names(); *name; name++) {
        assert_int_not_equal(fuzzer_family(*name), FAMILY_NONE);
        assert_non_null(fuzzer_cycle(*name));
        buf_printf(&names, "%s%s", names.len ? " " : "", *name);
    }
    assert_string_equal(names.p, all.p);
    buf_free(&all);
    buf_free(&names);
    assert_int_equal(fuzzer_family("rare"), FAMILY_AFL);
    assert_int_equal(fuzzer_family("paper"), FAMILY_NONE);
    assert_null(fuzzer_cycle("nobody"));
    assert_string_equal(fuzzer_find_mark("mopt"), "op:MOpt");
    assert_null(fuzzer_find_mark("rare"));
}

static void families_know_their_fuzzers(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(4096);
    fuzzer_list(FAMILY_AFL, ", ", &b);
    assert_true(str_starts(b.p, "aflpp, cmplog, darwin, mopt, radamsa, "));
    assert_true(str_ends(b.p, ", rare"));
    buf_clear(&b);
    fuzzer_list(FAMILY_NEUTRAL, ", ", &b);
    assert_int_equal(b.len, 0);
    fuzzer_list(FAMILY_CMPLOG, ", ", &b);
    assert_string_equal(b.p, "cmplog"); /* the second build that it needs */
    buf_clear(&b);
    fuzzer_list(FAMILY_LIBFUZZER, ", ", &b);
    assert_string_equal(b.p, "libfuzzer");
    buf_free(&b);
}

static void fuzzers_know_their_families(void **state)
{
    (void)state;
    bool one[FAMILY_END] = {0}, two[FAMILY_END] = {0};
    fuzzer_families("rare", one);
    fuzzer_families("cmplog", two);
    fuzzer_families("nobody", two);
    for (int f = 0; f < FAMILY_END; f++) {
        assert_int_equal(one[f], f == FAMILY_AFL);
        assert_int_equal(two[f], f == FAMILY_AFL || f == FAMILY_CMPLOG);
    }
}

/* A fuzzer there is not, and one whose build is not there. */
static void checks_before_a_campaign(void **state)
{
    (void)state;
    struct manifest m = {.dir = (char[]){"somewhere"}};
    struct instance_opts o = {.fuzzer = "nobody", .target = &m, .dir = "/tmp"};
    struct err e = {0};
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, ", rare;"));
    e = (struct err){0};
    o.fuzzer = "rare";
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "rare needs the afl build"));
    e = (struct err){0};
    o.fuzzer = "cmplog"; /* which needs two */
    m.family[FAMILY_AFL] = (struct manifest_family){.ok = true, .binary = (char[]){"t"}};
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "cmplog needs the cmplog build"));
    assert_non_null(strstr(e.msg, "--families cmplog"));
}

static void the_help_names_them_all(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 16);
    fuzzer_help(&b);
    for (const char *const *name = fuzzer_names(); *name; name++) {
        char line[64];
        snprintf(line, sizeof line, "  %-10s %s", *name, family_name(fuzzer_family(*name)));
        if (!strstr(b.p, line))
            fail_msg("'%s' is not in the help", line);
    }
    assert_non_null(strstr(b.p, "  paper      aflpp darwin honggfuzz mopt lafintel radamsa\n"));
    assert_non_null(strstr(b.p, " every fuzzer above\n"));
    assert_non_null(strstr(b.p, "; also needs cmplog\n"));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_help_names_them_all),
        cmocka_unit_test(rosters_have_names),
        cmocka_unit_test(a_list_keeps_its_order),
        cmocka_unit_test(refusals_say_what_there_is),
        cmocka_unit_test(facts_by_name),
        cmocka_unit_test(families_know_their_fuzzers),
        cmocka_unit_test(fuzzers_know_their_families),
        cmocka_unit_test(checks_before_a_campaign),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
