/* shrink: the smallest input that still fails is found, with questions that are few and never larger than the input. */
#include "triage/shrink.h"
#include "base/die.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef bool fails_fn(const char *p, size_t n);

/* The best in the end; how many questions it took. */
static size_t play(const char *input, size_t n, fails_fn *fails, size_t most, char **best,
                   size_t *best_size)
{
    struct shrink *s = shrink_new(input, n);
    const void *c, *b;
    size_t size, asked = 0;
    while (asked < most && shrink_next(s, &c, &size)) {
        char *exact = xmemdup(c, size); /* no byte behind it */
        assert_true(size <= n);
        shrink_tell(s, fails(exact, size));
        free(exact);
        asked++;
    }
    shrink_best(s, &b, best_size);
    *best = xmemdup(b, *best_size);
    assert_true(fails(*best, *best_size));
    shrink_free(s);
    return asked;
}

static bool has_ab(const char *p, size_t n)
{
    return n >= 2 && memmem(p, n, "AB", 2);
}

static void what_matters_remains(void **state)
{
    (void)state;
    char input[1000], *best;
    size_t n;
    memset(input, 'x', sizeof input);
    memcpy(input + 617, "AB", 2);
    size_t asked = play(input, sizeof input, has_ab, SIZE_MAX, &best, &n);
    assert_int_equal(n, 2);
    assert_memory_equal(best, "AB", 2);
    assert_true(asked < 200);
    free(best);
}

/* Two bytes far apart, each needed, and a length in front that must be right. */
static bool has_length(const char *p, size_t n)
{
    return n >= 3 && (unsigned char)p[0] == n && p[1] == 'q';
}

static void what_cannot_go_becomes_zeros(void **state)
{
    (void)state;
    char input[40], *best;
    size_t n;
    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (char)('a' + i % 26);
    input[0] = 40;
    input[1] = 'q';
    play(input, sizeof input, has_length, SIZE_MAX, &best, &n);
    assert_int_equal(n, 40);
    for (size_t i = 2; i < n; i++)
        assert_int_equal(best[i], '0');
    free(best);
}

static void what_cannot_go_stays_if_only_cuts_are_wanted(void **state)
{
    (void)state;
    const char input[] = "xxxABxxxx";
    struct shrink *s = shrink_new(input, 9);
    const void *c;
    size_t n;
    shrink_cut_only(s);
    while (shrink_next(s, &c, &n)) {
        assert_null(memchr(c, '0', n));
        shrink_tell(s, has_ab(c, n));
    }
    shrink_best(s, &c, &n);
    assert_int_equal(n, 2);
    assert_memory_equal(c, "AB", 2);
    shrink_free(s);
}

static bool always(const char *p, size_t n)
{
    (void)p;
    (void)n;
    return true;
}

static void the_empty_input_may_fail_too(void **state)
{
    (void)state;
    char *best;
    size_t n;
    play("abcdefg", 7, always, SIZE_MAX, &best, &n);
    assert_int_equal(n, 0);
    free(best);
    assert_int_equal(play("", 0, always, SIZE_MAX, &best, &n), 0);
    free(best);
}

static bool is_whole(const char *p, size_t n)
{
    return n == 9 && memcmp(p, "incompres", 9) == 0;
}

static void it_ends_where_nothing_can_go(void **state)
{
    (void)state;
    char *best;
    size_t n;
    size_t asked = play("incompres", 9, is_whole, SIZE_MAX, &best, &n);
    assert_int_equal(n, 9);
    assert_true(asked < 60);
    free(best);
}

static void it_may_be_stopped_anywhere(void **state)
{
    (void)state;
    char input[300], *best;
    size_t n;
    memset(input, 'x', sizeof input);
    memcpy(input + 100, "AB", 2);
    for (size_t most = 0; most < 60; most++) {
        play(input, sizeof input, has_ab, most, &best, &n);
        free(best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_matters_remains),
        cmocka_unit_test(what_cannot_go_becomes_zeros),
        cmocka_unit_test(what_cannot_go_stays_if_only_cuts_are_wanted),
        cmocka_unit_test(the_empty_input_may_fail_too),
        cmocka_unit_test(it_ends_where_nothing_can_go),
        cmocka_unit_test(it_may_be_stopped_anywhere),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
