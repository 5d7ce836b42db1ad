/* eval: sets of edges and their stored form, flags to bitsets, and the table's reader against files that
 * are cut, bent or of something else. */
#include "eval/eval.h"
#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/rng.h"
#include "eval/area.h"
#include "eval/edges.h"
#include "eval/team.h"
#include "runtime/cov/bits.h"
#include "runtime/cov/protocol.h"
#include "runtime/cov/text.h"
#include "target/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void bits_of_any_width_agree(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 7);
    unsigned char flags[1000];
    uint64_t a[16], b[16], c[16];
    for (int round = 0; round < 2000; round++) {
        size_t n = 1 + rng_below(&r, 900), off = rng_below(&r, 64);
        uint64_t density = 1 + rng_below(&r, 20);
        for (size_t i = 0; i < sizeof flags; i++)
            flags[i] = rng_below(&r, density) ? 0 : (unsigned char)(1 + rng_below(&r, 255));
        memset(a, 0xaa, sizeof a);
        memset(b, 0x55, sizeof b);
        memset(c, 0x33, sizeof c);
        size_t bytes = (n + 63) / 64 * 8;
        carol_cov_bits_scalar(a, flags + off, n);
        carol_cov_bits_sse2(b, flags + off, n);
        carol_cov_bits(c, flags + off, n);
        assert_memory_equal(a, b, bytes);
        assert_memory_equal(a, c, bytes);
        if (__builtin_cpu_supports("avx2")) {
            memset(c, 0x33, sizeof c);
            carol_cov_bits_avx2(c, flags + off, n);
            assert_memory_equal(a, c, bytes);
        }
        for (size_t i = 0; i < n; i++)
            assert_int_equal((a[i / 64] >> i % 64) & 1, flags[off + i] != 0);
    }
}

static void bits_of_modules_join_at_any_place(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 8);
    for (int round = 0; round < 500; round++) {
        size_t at = rng_below(&r, 200), n = 1 + rng_below(&r, 300);
        uint64_t src[5] = {0}, dst[9] = {0};
        for (size_t i = 0; i < n; i++)
            src[i / 64] |= (rng_u64(&r) & 1) << i % 64;
        carol_cov_bits_or(dst, at, src, n);
        for (size_t i = 0; i < 9 * 64; i++) {
            uint64_t want = i >= at && i < at + n ? src[(i - at) / 64] >> (i - at) % 64 & 1 : 0;
            assert_int_equal(dst[i / 64] >> i % 64 & 1, want);
        }
    }
}

/* Code that asks for flag `flag` of the 64 flags at the end of the page, at `at`, and what follows it. */
static unsigned char *put_site(unsigned char *at, const unsigned char *flags, ptrdiff_t flag,
                               const char *branch, size_t n)
{
    static const unsigned char cmp[] = {0x80, 0x3d, 0, 0, 0, 0, 0};
    int32_t rel = (int32_t)(flags + flag - (at + sizeof cmp));
    memcpy(at, cmp, sizeof cmp);
    memcpy(at + 2, &rel, sizeof rel);
    memcpy(at + sizeof cmp, branch, n);
    return at + sizeof cmp + n;
}

static void code_that_asks_is_made_to_set(void **state)
{
    (void)state;
    static const struct {
        const char *branch, *becomes;
        size_t n;
    } forms[] = {{"\x74\x10", "\x66\x90", 2},
                 {"\x75\x10", "\xeb\x10", 2},
                 {"\x0f\x84\x01\x02\x03\x04", "\x66\x0f\x1f\x44\x00\x00", 6},
                 {"\x0f\x85\x01\x02\x03\x04", "\x90\xe9\x01\x02\x03\x04", 6},
                 {"\x90\x74\x10", NULL, 3}, /* something in between */
                 {"\x0f\x8f\x00\x00\x00\x00", NULL, 6}};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t before = 0; before < 40; before++) {
            unsigned char page[256], was[256];
            unsigned char *flags = page + 192;
            memset(page, 0xcc, sizeof page);
            unsigned char *end =
                put_site(page + before, flags, (ptrdiff_t)before, forms[f].branch, forms[f].n);
            memcpy(was, page, sizeof page);
            uint32_t flag = 99;
            unsigned char *at = carol_cov_text_find(page, end, flags, 64, &flag);
            assert_ptr_equal(at, page + before);
            assert_int_equal(flag, before);
            size_t n = carol_cov_text_set(at, end);
            if (!forms[f].becomes) {
                assert_int_equal(n, 0);
                assert_memory_equal(page, was, sizeof page);
                continue;
            }
            assert_int_equal(n, 7 + forms[f].n);
            assert_memory_equal(at + 7, forms[f].becomes, forms[f].n);
            was[before] = 0xc6; /* movb $1, and the rest as it was */
            was[before + 1] = 0x05;
            was[before + 6] = 1;
            memcpy(was + before + 7, forms[f].becomes, forms[f].n);
            assert_memory_equal(page, was, sizeof page);
            assert_null(carol_cov_text_find(at + n, page + 192, flags, 64, &flag));
        }
}

static void other_code_is_left_alone(void **state)
{
    (void)state;
    unsigned char page[256];
    unsigned char *flags = page + 192;
    uint32_t flag;
    memset(page, 0xcc, sizeof page);
    put_site(page + 20, flags, 64, "\x74\x10", 2); /* what lies behind the flags is not ours */
    put_site(page + 60, flags, -1, "\x74\x10", 2);
    put_site(page + 100, flags, 5, "\x74\x10", 2);
    page[106] = 7; /* not a comparison with 0 */
    assert_null(carol_cov_text_find(page, page + 192, flags, 64, &flag));
    put_site(page + 140, flags, 5, "\x74\x10", 2);
    assert_null(carol_cov_text_find(page, page + 146, flags, 64, &flag)); /* cut */
    assert_ptr_equal(carol_cov_text_find(page, page + 147, flags, 64, &flag), page + 140);
    assert_int_equal(carol_cov_text_set(page + 140, page + 148), 0); /* the branch is cut */
}

static void edges_come_back_as_they_went(void **state)
{
    (void)state;
    struct rng r;
    rng_seed(&r, 9);
    for (int round = 0; round < 1000; round++) {
        uint32_t n = 1 + (uint32_t)rng_below(&r, round % 10 ? 3000 : 3000000);
        size_t words = ((size_t)n + 63) / 64;
        uint64_t *bits = xcalloc(words, 8);
        for (uint64_t k = rng_below(&r, 500); k > 0; k--) {
            uint64_t id = rng_below(&r, n);
            bits[id / 64] |= UINT64_C(1) << id % 64;
        }
        uint64_t beyond = bits[words - 1];
        if (n % 64)
            bits[words - 1] |= ~UINT64_C(0) << n % 64; /* bits past the end do not count */
        struct edges s, back;
        edges_from_bits(&s, bits, n);
        assert_int_equal(edges_count(bits, n), s.n);
        bits[words - 1] = beyond;
        for (uint32_t i = 0; i < s.n; i++) {
            assert_true(s.ids[i] < n && (i == 0 || s.ids[i] > s.ids[i - 1]));
            assert_true(bits[s.ids[i] / 64] >> s.ids[i] % 64 & 1);
            bits[s.ids[i] / 64] &= ~(UINT64_C(1) << s.ids[i] % 64);
        }
        for (size_t w = 0; w < words; w++)
            assert_true(bits[w] == 0); /* all were listed */
        struct buf b = BUF_INIT(1 << 20);
        edges_encode(&s, &b);
        assert_int_equal(edges_decode(b.p, b.len, n, &back, NULL), 0);
        assert_int_equal(back.n, s.n);
        assert_memory_equal(back.ids, s.ids, s.n * sizeof *s.ids);
        edges_free(&s);
        edges_free(&back);
        buf_free(&b);
        free(bits);
    }
}

static void hostile_sets_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } bad[] = {{"\x80", 1},                         /* does not end */
               {"\x05\x00", 2},                     /* the same edge twice */
               {"\x64", 1},                         /* edge 100 of 100 */
               {"\x05\x7f", 2},                     /* past the end */
               {"\xff\xff\xff\xff\x1f", 5},         /* more than 32 bits */
               {"\x80\x80\x80\x80\x80\x80\x01", 7}, /* endless */
               {"\x05\xff\xff\xff\xff\x0f", 6}};    /* wraps around */
    struct edges s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {0};
        assert_true(edges_decode(bad[i].bytes, bad[i].n, 100, &s, &e) < 0);
        assert_true(e.msg[0] && !s.ids);
    }
    assert_int_equal(edges_decode("\x63", 1, 100, &s, NULL), 0);
    edges_free(&s);
    assert_int_equal(edges_decode("", 0, 100, &s, NULL), 0);
    assert_int_equal(s.n, 0);
    edges_free(&s);
    struct rng r;
    rng_seed(&r, 10);
    for (int round = 0; round < 20000; round++) {
        unsigned char junk[24];
        size_t n = rng_below(&r, sizeof junk);
        for (size_t i = 0; i < n; i++)
            junk[i] = (unsigned char)rng_u64(&r) & (round & 1 ? 0x8f : 0xff);
        if (edges_decode(junk, n, 5000, &s, NULL) == 0)
            for (uint32_t i = 0; i < s.n; i++)
                assert_true(s.ids[i] < 5000 && (i == 0 || s.ids[i] > s.ids[i - 1]));
        edges_free(&s);
    }
}

/* A small valid table: two functions, three edges. */
struct file {
    struct cov_table_hdr h;
    struct cov_table_edge e[3];
    uint32_t preds[2];
    struct cov_table_func f[2];
    char names[16];
};
_Static_assert(sizeof(struct file) == 120 + 3 * 40 + 2 * 4 + 2 * 12 + 16, "as in the file");

static struct file valid_file(void)
{
    struct file t = {.h = {.version = COV_TABLE_VERSION,
                           .hdr_bytes = sizeof t.h,
                           .n_modules = 1,
                           .n_edges = 3,
                           .n_funcs = 2,
                           .n_preds = 2,
                           .names_bytes = sizeof t.names,
                           .layout = 77},
                     .e = {{.pc = 16, .flags = EDGE_ENTRY, .succ_n = 1},
                           {.pc = 32, .pred_off = 0, .pred_n = 1, .mem = 2},
                           {.pc = 64, .func = 1, .pred_off = 1, .pred_n = 1, .flags = EDGE_ENTRY}},
                     .preds = {0, 1},
                     .f = {{.name = 0, .entry = 0}, {.name = 5, .entry = 2, .depth = 1}},
                     .names = "main\0helper"};
    memcpy(t.h.magic, COV_TABLE_MAGIC, 8);
    memset(t.h.build_id, 'a', 64);
    return t;
}

static char path[] = "/tmp/carol-unit-table-XXXXXX";

static int load(struct file *t, size_t n, bool sum, struct table *out, struct err *e)
{
    if (sum)
        t->h.checksum = cov_fnv(COV_FNV_START, (char *)t + sizeof t->h, sizeof *t - sizeof t->h);
    assert_int_equal(fs_write_quick(path, t, n, NULL), 0);
    return table_load(path, out, e);
}

static void a_table_is_read(void **state)
{
    (void)state;
    struct file f = valid_file();
    struct table t;
    struct err e = {0};
    if (load(&f, sizeof f, true, &t, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(t.n_edges, 3);
    assert_int_equal(t.edges[1].mem, 2);
    assert_int_equal(t.preds[t.edges[2].pred_off], 1);
    assert_string_equal(t.funcs[1].name, "helper");
    assert_int_equal(t.funcs[1].depth, 1);
    assert_int_equal(strlen(t.build_id), 64);
    assert_true(t.layout == 77);
    table_free(&t);
}

static void a_cut_or_bent_table_is_refused(void **state)
{
    (void)state;
    struct table t;
    for (size_t n = 0; n < sizeof(struct file); n++) { /* cut anywhere */
        struct file f = valid_file();
        struct err e = {0};
        assert_true(load(&f, n, true, &t, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
        assert_non_null(strstr(e.msg, "carol build"));
    }
    for (size_t at = 0; at < sizeof(struct file); at++) { /* any byte changed, sum not made anew */
        struct file f = valid_file();
        if (at >= 16 && at < 80)
            continue; /* the build id is compared with the binary, not here */
        if (at >= offsetof(struct cov_table_hdr, n_modules) &&
            at < offsetof(struct cov_table_hdr, n_edges))
            continue;
        if (at >= offsetof(struct cov_table_hdr, pad) &&
            at < offsetof(struct cov_table_hdr, checksum))
            continue; /* pad, layout: compared with the running program */
        f.h.checksum = cov_fnv(COV_FNV_START, (char *)&f + sizeof f.h, sizeof f - sizeof f.h);
        ((unsigned char *)&f)[at] ^= 0x41;
        assert_true(load(&f, sizeof f, false, &t, NULL) < 0);
    }
}

static void indices_are_checked_even_with_a_right_sum(void **state)
{
    (void)state;
    struct table t;
    for (int what = 0; what < 8; what++) {
        struct file f = valid_file();
        switch (what) {
        case 0: f.e[1].func = 2; break;
        case 1: f.e[1].pred_off = 2; break;
        case 2: f.e[1].pred_n = UINT32_MAX; break;
        case 3: f.preds[1] = 3; break;
        case 4: f.f[1].entry = 3; break;
        case 5: f.f[1].name = 16; break;
        case 6: memset(f.names, 'x', sizeof f.names); break;
        case 7: f.h.n_edges = f.h.n_funcs = f.h.n_preds = UINT32_MAX; break;
        }
        if (load(&f, sizeof f, true, &t, NULL) == 0)
            fail_msg("case %d was accepted", what);
    }
    assert_true(table_load("/nonexistent/table", &t, NULL) < 0);
}

static void the_area_holds_what_fits(void **state)
{
    (void)state;
    struct area a;
    assert_int_equal(area_make(&a, 1000, 2, 1 << 16, NULL), 0);
    char byte = 7;
    char *large = xcalloc(1, 70000);
    assert_false(area_add(&a, &(struct eval_input){large, 70000}));
    for (uint32_t i = 0; i < a.h.max_inputs; i++)
        assert_true(area_add(&a, &(struct eval_input){&byte, i % 2}));
    assert_false(area_add(&a, &(struct eval_input){&byte, 1}));
    assert_false(area_is_final(&a, 0));
    area_set_final(&a, 0, RUN_QUARANTINED);
    assert_true(area_is_final(&a, 0));
    uint64_t known[16] = {0};
    struct eval_result r = {0};
    area_take(&a, 0, true, &r, known);
    assert_int_equal(r.status, RUN_QUARANTINED);
    assert_int_equal(r.edges.n, 0);
    edges_free(&r.edges);
    struct eval_call c;
    assert_false(area_call(&a, a.h.ring_cap, &c));
    free(large);
    area_free(&a);
}

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd) < 0;
}

static int drop_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void count_wakes(void *arg)
{
    ++*(int *)arg;
}

static void the_turn_of_a_team_passes_in_order(void **state)
{
    (void)state;
    int first = 0, second = 0;
    struct team *t = team_new();
    assert_null(team_first(t));
    team_join(t, count_wakes, &first);
    team_join(t, count_wakes, &second);
    assert_ptr_equal(team_first(t), &first);
    assert_ptr_equal(team_known(t, 3), team_known(t, 3));
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(team_number(t), i);
    assert_true(team_has_turn(t, 0) && !team_has_turn(t, 1));
    team_done(t, 2); /* before its turn: the turn stays, and later skips it */
    team_done(t, 1);
    assert_true(team_has_turn(t, 0));
    assert_int_equal(first, 0);
    team_done(t, 0);
    assert_true(team_has_turn(t, 3));
    assert_int_equal(first, 1);
    team_leave(t, &first);
    team_done(t, 3);
    assert_int_equal(team_number(t), 4);
    assert_true(team_has_turn(t, 4));
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    team_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_of_any_width_agree),
        cmocka_unit_test(bits_of_modules_join_at_any_place),
        cmocka_unit_test(code_that_asks_is_made_to_set),
        cmocka_unit_test(other_code_is_left_alone),
        cmocka_unit_test(edges_come_back_as_they_went),
        cmocka_unit_test(hostile_sets_are_refused),
        cmocka_unit_test(a_table_is_read),
        cmocka_unit_test(a_cut_or_bent_table_is_refused),
        cmocka_unit_test(indices_are_checked_even_with_a_right_sum),
        cmocka_unit_test(the_area_holds_what_fits),
        cmocka_unit_test(the_turn_of_a_team_passes_in_order),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_path, drop_path);
}
