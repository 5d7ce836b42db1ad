/* output: the log of a fuzzer: lines without colours, the reason of an end, a bounded size. */
#include "fuzzer/output.h"
#include "base/fs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];
static char *path;
static struct loop *loop;
static struct output o;
static unsigned lines;

static int make(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/carol-unit-output.XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    path = fs_join(dir, "log");
    lines = 0;
    int rc = loop_new(&loop, NULL);
    return rc < 0 ? rc : output_open(&o, loop, path, NULL);
}

static int drop(void **state)
{
    (void)state;
    free(path);
    loop_free(loop);
    return fs_remove_tree(dir, NULL);
}

static void print(const char *text)
{
    assert_int_equal(write(o.child_fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void count_line(void *arg, const char *text)
{
    assert_ptr_equal(arg, &lines);
    assert_non_null(strstr("red and\tplain,[D] noise,no end", text));
    lines++;
}

static const char *logged(const char *name)
{
    static char text[1024];
    char *file = fs_join(dir, name);
    struct buf b = BUF_INIT(sizeof text - 1);
    assert_int_equal(fs_read(file, &b, NULL), 0);
    snprintf(text, sizeof text, "%.*s", (int)b.len, b.p ? b.p : "");
    buf_free(&b);
    free(file);
    return text;
}

static void lines_have_no_colours(void **state)
{
    (void)state;
    o.on_line = count_line;
    o.arg = &lines;
    o.noise = "[D]";
    print("\033[1;31mred\033[0m and\tplain\r\n\n[D] noise\nno end");
    output_close(&o);
    assert_string_equal(logged("log"), "red and\tplain\nno end\n");
    assert_int_equal(lines, 3); /* who listens hears the noise too */
}

/* A sequence ends with a letter, whichever. */
static void escape_sequences_are_dropped(void **state)
{
    (void)state;
    print("1\033[2Aa\n2\033[1;2Zb\n3\033[3ac\n4\033[?25zd\n5\033[@[`{em\n");
    output_close(&o);
    assert_string_equal(logged("log"), "1a\n2b\n3c\n4d\n5m\n");
}

static void the_reason_of_an_end_is_kept(void **state)
{
    (void)state;
    print("starting\n");
    print("[-] PROGRAM ABORT : no forkserver\n");
    print("         Location : main()\n");
    output_close(&o);
    assert_string_equal(o.last, "[-] PROGRAM ABORT : no forkserver");
}

/* Each of the words by which fuzzers say why they end; the last such line counts, noise or not. */
static void reasons_have_words(void **state)
{
    static const char *const bad[] = {"[-] PROGRAM ABORT", "[-]  SYSTEM ERROR : x", "[F] no",
                                      "Fatal: x", "ERROR: x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        print("ABORT earlier\n");
        print(bad[i]);
        print("\nlast\n");
        output_close(&o);
        assert_string_equal(o.last, bad[i]);
        assert_int_equal(drop(state), 0);
        assert_int_equal(make(state), 0);
    }
    o.noise = "[D]";
    print("one\n[D] two\n");
    output_close(&o);
    assert_string_equal(o.last, "one");
    assert_int_equal(drop(state), 0);
    assert_int_equal(make(state), 0);
    o.noise = "[D]";
    print("one\n[D] ABORT\n\001two\037\x7f\n");
    output_close(&o);
    assert_string_equal(o.last, "[D] ABORT");
    assert_string_equal(logged("log"), "one\ntwo\x7f\n");
}

static void without_a_reason_it_is_the_last_line(void **state)
{
    (void)state;
    print("one\ntwo\n");
    output_close(&o);
    assert_string_equal(o.last, "two");
}

/* Of a file that its owner may read and write, and nobody can execute. */
static off_t size_of(const char *name)
{
    char *file = fs_join(dir, name);
    struct stat st;
    off_t n = stat(file, &st) < 0 ? -1 : st.st_size;
    assert_true(n < 0 || (st.st_mode & 0711) == 0600);
    free(file);
    return n;
}

/* 3,000 lines of 100 bytes: 64 to 128 KB of them stay, the newest. */
static void the_log_is_bounded(void **state)
{
    (void)state;
    char text[128];
    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "%099d\n", i);
        print(text);
        if (i % 100 == 99) /* the pipe holds 64 KB */
            loop_step(loop, NS_PER_S);
    }
    output_close(&o);
    off_t old = size_of("log.1"), now = size_of("log");
    assert_true(old > 64 << 10 && old <= (64 << 10) + 100);
    assert_true(now > 0 && now <= 64 << 10);
    assert_int_equal((old + now) % 100, 0);
    snprintf(text, sizeof text, "%099d\n", 2999);
    struct buf b = BUF_INIT(1 << 20);
    assert_int_equal(fs_read(path, &b, NULL), 0);
    assert_memory_equal(b.p + b.len - 100, text, 100);
    buf_free(&b);
}

/* 1,024 lines of 64 bytes fill the half to the last byte. */
static void a_full_log_is_not_too_long(void **state)
{
    (void)state;
    char text[65];
    snprintf(text, sizeof text, "%063d\n", 1);
    for (int i = 0; i < 1024; i++) {
        print(text);
        if (i % 100 == 99)
            loop_step(loop, NS_PER_S);
    }
    while (o.written < 64 << 10)
        loop_step(loop, NS_PER_S);
    assert_true(size_of("log") == 64 << 10 && size_of("log.1") == -1);
    print("more\n");
    output_close(&o);
    assert_true(size_of("log") == 0 && size_of("log.1") == (64 << 10) + 5);
}

/* What was in the log counts: a new life goes on behind it. */
static void a_new_life_goes_on_behind_it(void **state)
{
    (void)state;
    print("first\n");
    output_close(&o);
    assert_int_equal(output_open(&o, loop, path, NULL), 0);
    assert_int_equal(o.written, 6);
    print("second\n");
    output_close(&o);
    assert_string_equal(logged("log"), "first\nsecond\n");
}

/* At the end of the pipe no call fails, and errno is what another one left. */
static void an_end_is_no_interruption(void **state)
{
    (void)state;
    print("last\n");
    errno = EINTR;
    output_close(&o);
    assert_string_equal(logged("log"), "last\n");
}

static void a_long_line_is_cut(void **state)
{
    (void)state;
    char text[2001];
    memset(text, 'x', 2000);
    text[2000] = 0;
    print(text);
    output_close(&o);
    assert_int_equal(size_of("log"), 2002); /* 1023 and 977, each with its newline */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, make, drop)
    const struct CMUnitTest tests[] = {
        T(lines_have_no_colours),
        T(escape_sequences_are_dropped),
        T(the_reason_of_an_end_is_kept),
        T(reasons_have_words),
        T(without_a_reason_it_is_the_last_line),
        T(the_log_is_bounded),
        T(a_full_log_is_not_too_long),
        T(a_new_life_goes_on_behind_it),
        T(a_long_line_is_cut),
        T(an_end_is_no_interruption),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
