/* roster: the table of fuzzers, here with a seventh (tests/fuzzer/meson.build), and what -f makes of a text. */
#include "base/buf.h"
#include "base/str.h"
#include "fuzzer/fuzzer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char six[] = "aflpp darwin honggfuzz mopt lafintel radamsa";

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
    expect("", "paper", six);
    expect("", "default", six);
    expect("", "all", "aflpp darwin honggfuzz mopt lafintel radamsa rare");
}

static void a_list_keeps_its_order(void **state)
{
    (void)state;
    expect("", "rare,aflpp", "rare aflpp");
    expect("", ",mopt,,", "mopt");
    expect("mopt", "aflpp", "mopt aflpp");
    expect("", "radamsa,paper", "radamsa aflpp darwin honggfuzz mopt lafintel");
    expect("", "paper,rare", "aflpp darwin honggfuzz mopt lafintel radamsa rare");
    expect("", "paper,default", six);
}

static void refusals_say_what_there_is(void **state)
{
    (void)state;
    expect_refusal("", "aflpp,afl", "'afl'");
    expect_refusal("", "x", "mopt, lafintel, radamsa, rare; the rosters are paper, default, all");
    expect_refusal("", "aflpp,aflpp", "'aflpp' is named twice");
    expect_refusal("rare", "rare", "'rare' is named twice");
    expect_refusal("", "paper,mopt", "'mopt' is named twice");
    expect_refusal("", "", "no fuzzer");
    expect_refusal("", ",", "no fuzzer");
}

static void facts_by_name(void **state)
{
    (void)state;
    size_t n = 0;
    for (const char *const *name = fuzzer_names(); *name; name++, n++) {
        assert_int_not_equal(fuzzer_family(*name), FAMILY_NONE);
        assert_non_null(fuzzer_cycle(*name));
    }
    assert_int_equal(n, 7);
    assert_string_equal(fuzzer_names()[6], "rare");
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
    assert_string_equal(b.p, "aflpp, darwin, mopt, radamsa, rare");
    buf_clear(&b);
    fuzzer_list(FAMILY_NEUTRAL, ", ", &b);
    assert_int_equal(b.len, 0);
    fuzzer_list(FAMILY_NONE, " ", &b);
    assert_string_equal(b.p, "aflpp darwin honggfuzz mopt lafintel radamsa rare");
    buf_free(&b);
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
    assert_non_null(strstr(e.msg, "radamsa, rare"));
    e = (struct err){0};
    o.fuzzer = "rare";
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "rare needs the afl build"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rosters_have_names),       cmocka_unit_test(a_list_keeps_its_order),
        cmocka_unit_test(refusals_say_what_there_is), cmocka_unit_test(facts_by_name),
        cmocka_unit_test(families_know_their_fuzzers), cmocka_unit_test(checks_before_a_campaign),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
