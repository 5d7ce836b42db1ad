/* words: what becomes of the lines that the compiler noted. */
#include "target/words.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"
#include "temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The lines that come out; none: no file is made. */
static struct strv collect(const char *text)
{
    struct buf got = BUF_INIT(1 << 20);
    struct strv lines = {0};
    char *raw = fs_join(temp_dir, "raw"), *to = fs_join(temp_dir, "made");
    unlink(raw);
    unlink(to);
    if (text)
        assert_int_equal(fs_write_quick(raw, text, strlen(text), NULL), 0);
    assert_int_equal(words_collect(raw, to, NULL), 0);
    if (fs_exists(to)) {
        assert_int_equal(fs_read(to, &got, NULL), 0);
        strv_split(&lines, got.p, '\n');
    }
    buf_free(&got);
    free(raw);
    free(to);
    return lines;
}

static void each_comes_once(void **state)
{
    (void)state;
    struct strv none = collect(NULL), empty = collect(""), two = collect("\"b\"\n\"a\"\n\"b\"\n");
    assert_int_equal(none.n, 0); /* no comparison at all */
    assert_int_equal(empty.n, 0);
    assert_int_equal(two.n, 2);
    assert_string_equal(two.v[0], "\"a\"");
    assert_string_equal(two.v[1], "\"b\"");
    strv_free(&none);
    strv_free(&empty);
    strv_free(&two);
}

/* Of too many some of every kind stay: numbers, which begin with a backslash, and words in upper and lower case. */
static void too_many_are_thinned_evenly(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    int upper = 0, lower = 0, numbers = 0;
    for (int i = 0; i < WORDS_MAX; i++)
        buf_printf(&b, "\"A%04d\"\n\"a%04d\"\n\"\\x%02X\\x%02X\"\n\"A0000\"\n", i, i, i >> 8,
                   i & 255);
    struct strv lines = collect(b.p);
    assert_int_equal(lines.n, WORDS_MAX);
    for (size_t i = 0; i < lines.n; i++) {
        upper += lines.v[i][1] == 'A';
        lower += lines.v[i][1] == 'a';
        numbers += lines.v[i][1] == '\\';
        assert_true(i == 0 || strcmp(lines.v[i - 1], lines.v[i]) < 0);
    }
    assert_in_range(upper, WORDS_MAX / 3 - 1, WORDS_MAX / 3 + 1);
    assert_in_range(lower, WORDS_MAX / 3 - 1, WORDS_MAX / 3 + 1);
    assert_in_range(numbers, WORDS_MAX / 3 - 1, WORDS_MAX / 3 + 1);
    strv_free(&lines);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_comes_once),
        cmocka_unit_test(too_many_are_thinned_evenly),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
