/* dict: which lines of a dictionary are entries, and what is said of the others. */
#include "fuzzer/dict.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char said[512];

static void note(void *arg, enum log_level level, const char *line)
{
    (void)arg;
    assert_int_equal(level, LOG_WARN);
    snprintf(said, sizeof said, "%s", line);
}

/* What dict_check answers to a file of this text; its warning is in `said`. */
static int check(const char *text, struct err *e)
{
    char *path = fs_join(temp_dir, "words.dict");
    assert_int_equal(fs_write_quick(path, text, strlen(text), NULL), 0);
    said[0] = 0;
    log_to(note, NULL);
    int rc = dict_check(path, e);
    log_to(NULL, NULL);
    free(path);
    return rc;
}

static void what_fuzzers_read_is_no_mistake(void **state)
{
    (void)state;
    assert_int_equal(check("", NULL), 0);
    assert_int_equal(check("# only a comment\n\n", NULL), 0);
    assert_int_equal(
        check("a=\"x\"\n\"bare\"\n  kw_2@3 = \"\\x00\\\\\\\"\"  \r\nlast=\"no newline\"", NULL), 0);
    assert_int_equal(
        check("\" \"\n\"~\"\n_=\"x\"\na@=\"x\"\nb@12=\"\\xFf\"\n\t\"tab before\"", NULL), 0);
    assert_string_equal(said, "");
}

static void the_first_mistake_is_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "x=bare",    "x=\"open",     "\"\\xzz\"",  "\"\\n\"",
        "=",         "x=\"a\" tail", "x=\"\"",     "\"caf\xc3\xa9\"",
        "a-b=\"x\"", "\"\x7f\"",     "\"a\tb\"",   "\"\\xg0\"",
        "\"\\x0g\"", "x@3",          "a@3b=\"x\"", "x=\"a\"\"b\""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *text = str_fmt("good=\"1\"\n# comment\n%s\nalso=wrong\n", wrong[i]);
        assert_int_equal(check(text, NULL), 0);
        assert_non_null(strstr(said, "words.dict, line 3 "));
        assert_non_null(strstr(said, wrong[i]));
        assert_non_null(strstr(said, "2 lines are wrong, 1 can be used"));
        free(text);
    }
}

static void no_entry_at_all_is_an_error(void **state)
{
    (void)state;
    struct err e = {0};
    assert_true(check("this is\nno dictionary\n", &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "line 1 is 'this is'"));
    assert_true(check("\n# comment\nwrong\n", &e) < 0);
    assert_non_null(strstr(e.msg, "line 3 is 'wrong'"));
    assert_int_equal(check("\"one\"\nwrong", NULL), 0);
    assert_non_null(strstr(said, "line 2 "));
    assert_non_null(strstr(said, "1 line is wrong, 1 can be used"));
    assert_true(dict_check("/nonexistent", &e) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_fuzzers_read_is_no_mistake),
                                       cmocka_unit_test(the_first_mistake_is_named),
                                       cmocka_unit_test(no_entry_at_all_is_an_error)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
