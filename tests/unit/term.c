/* term: what is taken for a terminal that draws, for UTF-8, and for one column. */
#include "cli/term.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void lines_end_at_the_last_column(void **state)
{
    (void)state;
    const char *bars = "a▁█z";
    assert_int_equal(term_clip("abc", 3, 2), 2);
    assert_int_equal(term_clip("abc", 3, 9), 3);
    assert_int_equal(term_clip("abc", 3, 0), 0);
    assert_int_equal(term_clip(bars, strlen(bars), 2), 4); /* no half of a character */
    assert_int_equal(term_clip(bars, strlen(bars), 3), 7);
}

static void the_first_locale_that_is_set_counts(void **state)
{
    (void)state;
    unsetenv("LC_ALL");
    unsetenv("LC_CTYPE");
    unsetenv("LANG");
    assert_false(term_utf8());
    setenv("LANG", "de_DE.UTF-8", 1);
    assert_true(term_utf8());
    setenv("LC_CTYPE", "C.utf8", 1);
    assert_true(term_utf8());
    setenv("LC_ALL", "C", 1);
    assert_false(term_utf8());
    setenv("LC_ALL", "", 1); /* as if it were not set */
    assert_true(term_utf8());
}

static void only_a_terminal_that_can_is_drawn_on(void **state)
{
    (void)state;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), file = open("/dev/null", O_RDWR);
    if (terminal < 0)
        skip();
    setenv("TERM", "xterm", 1);
    assert_true(term_draws(terminal));
    assert_false(term_draws(file));
    setenv("TERM", "dumb", 1);
    assert_false(term_draws(terminal));
    unsetenv("TERM");
    assert_false(term_draws(terminal));
    assert_int_equal(term_size(file).columns, 80);
    close(terminal);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_end_at_the_last_column),
                                       cmocka_unit_test(the_first_locale_that_is_set_counts),
                                       cmocka_unit_test(only_a_terminal_that_can_is_drawn_on)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
