/* base: buffers, strings, numbers, files, rng, hash. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/where.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void csv_fields_are_quoted_where_they_must_be(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(100);
    buf_csv(&b, "plain text");
    buf_str(&b, ",");
    buf_csv(&b, "a,b");
    buf_str(&b, ",");
    buf_csv(&b, "say \"x\"\n");
    assert_string_equal(b.p, "plain text,\"a,b\",\"say \"\"x\"\"\n\"");
    buf_free(&b);
}

static void buf_stops_at_its_maximum(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(8);
    buf_str(&b, "12345678");
    assert_false(b.over);
    buf_str(&b, "9");
    assert_true(b.over);
    assert_string_equal(b.p, "12345678");
    buf_free(&b);
}

static void numbers_are_whole_and_in_range(void **state)
{
    (void)state;
    uint64_t v;
    struct err e = {0};
    assert_int_equal(str_to_u64("42", "x", 0, 100, &v, &e), 0);
    assert_int_equal(v, 42);
    assert_true(str_to_u64("101", "x", 0, 100, &v, &e) < 0);
    assert_true(str_to_u64("-1", "x", 0, 100, &v, &e) < 0);
    assert_true(str_to_u64("4x", "x", 0, 100, &v, &e) < 0);
    assert_true(str_to_u64("", "x", 0, 100, &v, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
}

static void times_and_sizes(void **state)
{
    (void)state;
    int64_t ns;
    uint64_t bytes;
    assert_int_equal(str_to_time("1.5h", "d", &ns, NULL), 0);
    assert_int_equal(ns, INT64_C(5400000000000));
    assert_int_equal(str_to_time("90", "d", &ns, NULL), 0);
    assert_int_equal(ns, INT64_C(90000000000));
    assert_true(str_to_time("-3", "d", &ns, NULL) < 0);
    assert_true(str_to_time("3x", "d", &ns, NULL) < 0);
    assert_int_equal(str_to_mem("2G", "m", &bytes, NULL), 0);
    assert_int_equal(bytes, UINT64_C(2) << 30);
    assert_int_equal(str_to_mem("512", "m", &bytes, NULL), 0);
    assert_int_equal(bytes, UINT64_C(512) << 20);
}

static void files_round_trip(void **state)
{
    (void)state;
    char dir[] = "/tmp/carol-unit-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char *deep = fs_join(dir, "a/b"), *file = fs_join(deep, "f");
    assert_int_equal(fs_mkdirs(deep, NULL), 0);
    assert_int_equal(fs_mkdirs("", NULL), -ENOENT);
    assert_int_equal(fs_write_atomic(file, "hello", 5, NULL), 0);
    struct buf b = BUF_INIT(5);
    assert_int_equal(fs_read(file, &b, NULL), 0);
    assert_string_equal(b.p, "hello");
    struct buf small = BUF_INIT(4);
    assert_int_equal(fs_read(file, &small, NULL), -EFBIG);
    struct strv all = {0};
    assert_int_equal(fs_walk(dir, &all, NULL), 0);
    assert_int_equal(all.n, 1); /* no temporary file left */
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
    assert_false(fs_exists(dir));
    strv_free(&all);
    buf_free(&b);
    buf_free(&small);
    free(deep);
    free(file);
}

/* The kernel gives a page of it at a time, and says that its size is 0. */
static void what_the_kernel_makes_up_is_read_whole(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(1 << 24);
    assert_int_equal(fs_read("/proc/self/smaps", &b, NULL), 0);
    assert_true(b.len > 4096);
    assert_non_null(strstr(b.p, "[stack]")); /* behind all libraries */
    buf_free(&b);
}

/* First outputs for the splitmix64 expansion of seed 0, from the authors' reference programs. */
static void rng_is_xoshiro256starstar(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 0);
    assert_true(r.s[0] == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(rng_u64(&r) == UINT64_C(0x99ec5f36cb75f2b4));
    double sum = 0, sq = 0;
    for (int i = 0; i < 100000; i++) {
        double x = rng_normal(&r);
        sum += x;
        sq += x * x;
    }
    assert_true(sum / 1e5 < 0.02 && sum / 1e5 > -0.02);
    assert_true(sq / 1e5 < 1.02 && sq / 1e5 > 0.98);
}

static void sha256_known_answer(void **state)
{
    (void)state;
    struct digest d;
    char hex[65];
    hash_bytes("abc", 3, &d);
    digest_hex(&d, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* Fuzzers are started in directories of their own. */
static void engines_are_found_from_everywhere(void **state)
{
    (void)state;
    where_set_engines(".");
    char *path = where_engine("afl"), cwd[4096];
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_true(path[0] == '/' && str_starts(path, cwd) && str_ends(path, "/afl"));
    where_set_engines(NULL);
    free(path);
}

/* Commands that we print are typed again. */
static void names_become_words_of_a_shell(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"/tmp/out-1,2", "/tmp/out-1,2"},
                                           {"a b;c", "'a b;c'"},
                                           {"it's", "'it'\\''s'"},
                                           {"", "''"},
                                           {"$HOME", "'$HOME'"},
                                           {"~", "'~'"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *word = str_shell(pairs[i][0]);
        assert_string_equal(word, pairs[i][1]);
        free(word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buf_stops_at_its_maximum),
        cmocka_unit_test(csv_fields_are_quoted_where_they_must_be),
        cmocka_unit_test(numbers_are_whole_and_in_range),
        cmocka_unit_test(times_and_sizes),
        cmocka_unit_test(names_become_words_of_a_shell),
        cmocka_unit_test(files_round_trip),
        cmocka_unit_test(what_the_kernel_makes_up_is_read_whole),
        cmocka_unit_test(rng_is_xoshiro256starstar),
        cmocka_unit_test(sha256_known_answer),
        cmocka_unit_test(engines_are_found_from_everywhere),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
