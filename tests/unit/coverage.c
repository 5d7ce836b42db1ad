/* coverage: profiles, mappings and traces, whole and damaged; who is first on a line. */
#include "coverage/first.h"
#include "coverage/mapping.h"
#include "coverage/rawprofile.h"

#include "base/buf.h"
#include "base/die.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- mappings ------------------------------------------------------------------------------------ */

/* One record of __llvm_covfun: header, then the mapping. */
static size_t record(unsigned char *out, uint64_t name, uint64_t hash, const unsigned char *body,
                     uint32_t n)
{
    uint64_t files = 7;
    memset(out, 0, 64 + n);
    memcpy(out, &name, 8);
    memcpy(out + 8, &n, 4);
    memcpy(out + 12, &hash, 8);
    memcpy(out + 20, &files, 8);
    memcpy(out + 28, body, n);
    return (28 + (size_t)n + 7) & ~(size_t)7;
}

#define COUNTER(i) ((i) << 2 | 1)
#define LESS(i) ((i) << 2 | 2)
#define AND(i) ((i) << 2 | 3)
#define PLACE 1, 1, 2, 3

/* if/else by hand: counter 0 the function, 1 the then; sum 0 = 0 - 1 the else, sum 1 = sum 0 + 1 after it. */
static const unsigned char if_else[] = {
    1,       0,                                              /* one file */
    2,       COUNTER(0), COUNTER(1), LESS(0),    COUNTER(1), /* two sums */
    7,       COUNTER(0), PLACE,      COUNTER(1), PLACE,
    LESS(0), PLACE,      AND(1),     PLACE, /* code */
    4 << 3,  COUNTER(1), LESS(0),    PLACE, /* a branch: of no interest */
    4,       PLACE,                         /* an expansion */
    2 << 3,  PLACE,                         /* skipped by the preprocessor */
};

static void test_regions_of_an_if(void **state)
{
    unsigned char bytes[512];
    uint64_t scratch[2];
    struct mapping m;
    struct err e = {0};
    (void)state;
    size_t n = record(bytes, 11, 12, if_else, sizeof if_else);
    n += record(bytes + n, 3, 12, if_else, sizeof if_else);
    assert_int_equal(mapping_parse(&m, bytes, n, &e), 0);
    assert_int_equal(m.n, 2);
    assert_int_equal(m.most_sums, 2);
    const struct mapping_function *f = mapping_find(&m, 11, 12);
    assert_non_null(f);
    assert_null(mapping_find(&m, 11, 13));
    assert_int_equal(f->n_regions, 4);
    assert_int_equal(f->n_counters, 2);
    /* three calls, one of them into the then: the else ran twice */
    uint64_t counters[] = {3, 1}, ran[4], want[] = {3, 1, 2, 3};
    mapping_sums(f, counters, scratch);
    size_t seen = 0;
    for (size_t i = 0; i < 4; i++)
        ran[i] = mapping_ran(f, i, counters, scratch);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++)
            if (ran[k] == want[i]) {
                ran[k] = UINT64_MAX;
                seen++;
                break;
            }
    assert_int_equal(seen, 4);
    mapping_free(&m);
}

/* Cut anywhere, or with any byte changed, it is refused or read, never more. */
static void test_damaged_mappings(void **state)
{
    unsigned char good[512], bytes[512];
    struct mapping m;
    (void)state;
    size_t n = record(good, 11, 12, if_else, sizeof if_else);
    for (size_t at = 0; at < n; at++)
        for (int v = 0; v < 256; v += 5) {
            memcpy(bytes, good, n);
            bytes[at] = (unsigned char)v;
            void *exact = xmemdup(bytes, n);
            if (mapping_parse(&m, exact, n, NULL) == 0)
                mapping_free(&m);
            free(exact);
        }
    uint32_t longer = sizeof if_else + 64;
    memcpy(bytes, good, n);
    memcpy(bytes + 8, &longer, 4);
    assert_true(mapping_parse(&m, bytes, n, NULL) < 0);
}

static void test_sums_in_a_circle(void **state)
{
    static const unsigned char circle[] = {1,      0,          2, LESS(1), COUNTER(0),
                                           AND(0), COUNTER(0), 1, LESS(0), PLACE};
    unsigned char bytes[128];
    struct mapping m;
    struct err e = {0};
    (void)state;
    size_t n = record(bytes, 1, 2, circle, sizeof circle);
    assert_true(mapping_parse(&m, bytes, n, &e) < 0);
}

/* --- raw profiles -------------------------------------------------------------------------------- */

struct raw {
    uint64_t header[16];
    struct {
        uint64_t name, hash, counters, rest[3];
        uint32_t n, sites[3];
    } data[2];
    uint64_t counters[5];
};

static struct raw make_raw(void)
{
    struct raw r = {.header = {UINT64_C(0xff6c70726f667281), 10, 0, 2, 0, 5}};
    r.header[10] = (uint64_t)-64; /* the counters are 64 bytes before the records */
    r.data[0].name = 100;
    r.data[0].counters = (uint64_t)-64;
    r.data[0].n = 2;
    r.data[1].name = 200;
    r.data[1].counters = (uint64_t)(-64 + 16 - 64);
    r.data[1].n = 3;
    for (uint64_t i = 0; i < 5; i++)
        r.counters[i] = 10 + i;
    return r;
}

static void test_raw_profile(void **state)
{
    struct raw r = make_raw();
    struct rawprofile p;
    struct err e = {0};
    (void)state;
    assert_int_equal(sizeof r.data[0], 64);
    assert_int_equal(rawprofile_parse(&p, &r, sizeof r, &e), 0);
    assert_int_equal(p.n_functions, 2);
    assert_int_equal(p.n_counters, 5);
    assert_int_equal(p.functions[0].first, 0);
    assert_int_equal(p.functions[1].first, 2);
    assert_int_equal(p.functions[1].n, 3);
    assert_int_equal(p.counters[p.functions[1].first], 12);
    rawprofile_free(&p);
}

static void test_damaged_profiles(void **state)
{
    struct rawprofile p;
    (void)state;
    for (size_t size = 0; size < sizeof(struct raw); size += 8) {
        struct raw r = make_raw();
        void *exact = xmemdup(&r, size);
        assert_true(rawprofile_parse(&p, exact, size, NULL) < 0);
        free(exact);
    }
    for (size_t i = 0; i < sizeof(struct raw) / 8 - 5; i++) { /* any word but the counters' */
        struct raw r = make_raw();
        ((uint64_t *)&r)[i] = UINT64_MAX / 3;
        if (rawprofile_parse(&p, &r, sizeof r, NULL) == 0)
            rawprofile_free(&p);
    }
    struct raw other = make_raw();
    struct err e = {0};
    other.header[1] = 9;
    assert_true(rawprofile_parse(&p, &other, sizeof other, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
}

/* --- traces and who is first --------------------------------------------------------------------- */

static void parse(struct lcov *l, const char *text)
{
    char *copy = xstrdup(text);
    struct err e = {0};
    assert_int_equal(lcov_parse(l, copy, &e), 0);
    free(copy);
}

static void test_first_on_a_line(void **state)
{
    struct lcov all, one, two;
    (void)state;
    parse(&all, "SF:/b.c\nFN:1,f\nFNDA:3,f\nFNF:2\nFNH:1\nDA:1,3\nDA:2,1\nDA:3,0\nBRF:0\n"
                "end_of_record\nSF:/a.c\nDA:9,4\nend_of_record\n");
    parse(&one, "SF:/b.c\nDA:1,1\nDA:2,0\nDA:3,0\nend_of_record\n");
    parse(&two, "SF:/a.c\nDA:9,4\nend_of_record\nSF:/b.c\nDA:1,2\nDA:2,1\nend_of_record\n"
                "SF:/unknown.c\nDA:1,1\nend_of_record\n");
    assert_string_equal(all.files[0].name, "/a.c");
    assert_int_equal(lcov_find(&all, "/b.c")->functions, 2);
    assert_int_equal(lcov_find(&all, "/b.c")->functions_hit, 1);
    assert_int_equal(first_claim(&all, &one, 0), 1);
    assert_int_equal(first_claim(&all, &two, 1), 2);
    assert_int_equal(first_claim(&all, &two, 2), 0);
    assert_int_equal(lcov_line(lcov_find(&all, "/b.c"), 1)->step, 0);
    assert_int_equal(lcov_line(lcov_find(&all, "/b.c"), 2)->step, 1);
    assert_int_equal(lcov_line(lcov_find(&all, "/b.c"), 3)->step, -1);
    assert_int_equal(lcov_line(lcov_find(&all, "/a.c"), 9)->step, 1);
    assert_null(lcov_line(lcov_find(&all, "/a.c"), 8));
    assert_null(lcov_find(&all, "/c.c"));
    lcov_free(&all);
    lcov_free(&one);
    lcov_free(&two);
}

static void test_what_is_no_trace(void **state)
{
    static const char *const texts[] = {"warning: 3 functions have mismatched data\n",
                                        "SF:/a.c\nDA:1,2\n", "SF:/a.c\nDA:x,2\nend_of_record\n",
                                        "SF:/a.c\nDA:0,2\nend_of_record\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lcov l;
        char *copy = xstrdup(texts[i]);
        assert_true(lcov_parse(&l, copy, NULL) < 0);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions_of_an_if), cmocka_unit_test(test_damaged_mappings),
        cmocka_unit_test(test_sums_in_a_circle), cmocka_unit_test(test_raw_profile),
        cmocka_unit_test(test_damaged_profiles), cmocka_unit_test(test_first_on_a_line),
        cmocka_unit_test(test_what_is_no_trace),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
