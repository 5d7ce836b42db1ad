/* report: golden files, one per case (tests/golden/sanitizer): what is said of each text, also when it ends anywhere. */
#include "triage/report.h"
#include "base/die.h"
#include "base/fs.h"
#include "triage/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GOLDEN CAROL_SOURCE "/tests/golden/sanitizer"

struct golden {
    struct buf file;
    char *head, *text;
    size_t len;
    int signal;
};

static void load(struct golden *g, const char *name)
{
    struct err e = {0};
    char *path = fs_join(GOLDEN, name);
    *g = (struct golden){.file = BUF_INIT(BUF_TEXT_MAX)};
    if (fs_read(path, &g->file, &e) < 0)
        fail_msg("%s", e.msg);
    char *gap = strstr(g->file.p, "\n\n");
    assert_non_null(gap);
    gap[1] = '\0';
    g->head = g->file.p;
    g->text = gap + 2;
    g->len = g->file.len - (size_t)(g->text - g->file.p);
    assert_int_equal(sscanf(g->head, "signal: %d", &g->signal), 1);
    free(path);
}

static char *described(const struct report *r, int signal)
{
    static const char *const outcomes[] = {
        [TRIAGE_CRASH] = "crash", [TRIAGE_HANG] = "hang", [TRIAGE_OOM] = "oom"};
    return str_fmt("signal: %d\nkind: %s\nfault: %s\nfunction: %s\nfile: %s\nline: %d\nentry: %s\n"
                   "access: %s\nbytes: %lld\ncwe: %d\nclass: %s\n",
                   signal, outcomes[r->kind->outcome], r->fault, r->function, r->file, r->line,
                   r->entry, r->access, (long long)r->bytes, r->cwe,
                   r->withheld ? "withheld" : "crash");
}

static void every_golden_file_says_what_it_should(void **state)
{
    (void)state;
    struct strv names = {0};
    struct err e = {0};
    int cases = 0, wrong = 0;
    assert_int_equal(fs_list(GOLDEN, &names, &e), 0);
    for (size_t i = 0; i < names.n; i++) {
        struct golden g;
        struct report r;
        if (!str_ends(names.v[i], ".txt"))
            continue;
        load(&g, names.v[i]);
        bool found = report_parse(&r, g.text, g.len, g.signal);
        char *is = found ? described(&r, g.signal) : xstrdup("nothing\n");
        if (strcmp(is, g.head) != 0) {
            print_error("%s: expected\n%sis\n%s", names.v[i], g.head, is);
            wrong++;
        }
        cases++;
        free(is);
        report_free(&r);
        buf_free(&g.file);
    }
    strv_free(&names);
    assert_int_equal(wrong, 0);
    assert_true(cases >= 50);
}

/* Whatever is missing, what is said of the rest is not another place or fault: it is the same, or unknown. */
static void a_text_that_ends_anywhere_gives_what_there_is(void **state)
{
    (void)state;
    static const char *const names[] = {"heap_read.txt",     "null_write.txt", "recursion.txt",
                                        "cxx_exception.txt", "ub_index.txt",   "double_free.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct golden g;
        struct report whole, r;
        load(&g, names[i]);
        assert_true(report_parse(&whole, g.text, g.len, g.signal));
        for (size_t n = 0; n < g.len; n += i == 2 ? 97 : 1) {
            char *exact = xmemdup(g.text, n); /* no byte behind it may be read */
            bool found = report_parse(&r, exact, n, 0);
            if (found && *r.function && r.function[strlen(r.function) - 1] != ':')
                assert_non_null(strstr(g.text, r.function));
            free(exact);
            report_free(&r);
        }
        report_free(&whole);
        buf_free(&g.file);
    }
}

static void names_lose_what_differs_between_instantiations(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"parse", "parse"},
        {"media::Box<int>::at(unsigned long) const", "media::Box::at"},
        {"int media::convert<int, long>(media::Box<int> const&, long)", "media::convert"},
        {"std::vector<int, std::allocator<int>>::at(unsigned long)", "std::vector::at"},
        {"media::Reader::operator()(int) const", "media::Reader::operator()"},
        {"operator new(unsigned long)", "operator new"},
        {"bool operator< <int>(A<int> const&, A<int> const&)", "operator<"},
        {"Map::operator[](unsigned long)", "Map::operator[]"},
        {"(anonymous namespace)::hidden(media::Reader&)", "(anonymous)::hidden"},
        {"cxx_lambda()::$_0::operator()(int*) const", "cxx_lambda::$_0::operator()"},
        {"foo.isra.0", "foo"},
        {"name[abi:cxx11](int)", "name"},
        {"Ptr::operator->() const", "Ptr::operator->"},
        {"void (*pick<int>(int))(char)", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *is = frame_function(pairs[i][0]);
        if (*pairs[i][1]) /* the last: only that it ends */
            assert_string_equal(is, pairs[i][1]);
        free(is);
    }
}

static char *bucket_of(const char *text)
{
    struct report r;
    char id[BUCKET_LEN];
    assert_true(report_parse(&r, text, strlen(text), 0));
    report_bucket(&r, id);
    report_free(&r);
    return xstrdup(id);
}

static void expect_bucket(bool same, const char *a, const char *b)
{
    char *x = bucket_of(a), *y = bucket_of(b);
    assert_int_equal(strcmp(x, y) == 0, same);
    free(x);
    free(y);
}

#define OVERFLOW(access, stack)                                                                    \
    "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602\n" access                 \
    " of size 4 at 0x602 thread T0\n" stack
#define BELOW "    #1 0x2 in load /a/p.c:9:1\n    #2 0x3 in LLVMFuzzerTestOneInput /a/f.c:3:1\n"

static void a_bucket_is_function_file_line_fault_and_entry(void **state)
{
    (void)state;
    const char *one = OVERFLOW("READ", "    #0 0x1 in get /a/p.c:12:5\n" BELOW);
    /* elsewhere on the disk, another column, another address of the code: the same */
    expect_bucket(true, one, OVERFLOW("READ", "    #0 0x9 in get /other/dir/p.c:12:8\n" BELOW));
    /* called through a library function: the same */
    expect_bucket(
        true, one,
        OVERFLOW("READ", "    #0 0x7 in memcpy (/t+0x1)\n    #1 0x1 in get /a/p.c:12:5\n" BELOW));
    expect_bucket(false, one, OVERFLOW("WRITE", "    #0 0x1 in get /a/p.c:12:5\n" BELOW));
    expect_bucket(false, one, OVERFLOW("READ", "    #0 0x1 in get /a/p.c:13:5\n" BELOW));
    expect_bucket(false, one, OVERFLOW("READ", "    #0 0x1 in put /a/p.c:12:5\n" BELOW));
    expect_bucket(false, one, OVERFLOW("READ", "    #0 0x1 in get /a/q.c:12:5\n" BELOW));
    expect_bucket(false, one,
                  OVERFLOW("READ", "    #0 0x1 in get /a/p.c:12:5\n    #1 0x2 in other /a/p.c:9:1\n"
                                   "    #2 0x3 in LLVMFuzzerTestOneInput /a/f.c:3:1\n"));
}

#define SEGV(at)                                                                                   \
    "==1==ERROR: AddressSanitizer: SEGV on unknown address " at " (pc 0x1 bp 0x2 sp 0x3 T0)\n"     \
    "==1==The signal is caused by a READ memory access.\n    #0 0x1 in get /a/p.c:12:5\n" BELOW

static void null_and_wild_at_one_place_are_one_bucket_of_two_classes(void **state)
{
    (void)state;
    struct report low, high;
    assert_true(report_parse(&low, SEGV("0x00000000ffff"), strlen(SEGV("0x00000000ffff")), 0));
    assert_true(report_parse(&high, SEGV("0x000000010000"), strlen(SEGV("0x000000010000")), 0));
    assert_false(low.withheld);
    assert_int_equal(low.cwe, 476);
    assert_true(high.withheld);
    assert_int_equal(high.cwe, 125);
    report_free(&low);
    report_free(&high);
    expect_bucket(true, SEGV("0x000000000008"), SEGV("0x602000001234"));
}

#define FREED(says)                                                                                \
    "==1==ERROR: AddressSanitizer: " says "    #1 0x1 in __interceptor_free (/t+0x1)\n"            \
    "    #2 0x1 in drop /a/p.c:20:5\n" BELOW

/* Whether the sanitizer can tell that a pointer is none of the heap's, or falls over it while it reads or writes there. */
static void freeing_a_wild_pointer_is_one_bucket(void **state)
{
    (void)state;
    const char *told =
        FREED("attempting free on address which was not malloc()-ed: 0x55 in thread T0\n");
    expect_bucket(true, told,
                  FREED("SEGV on unknown address 0x54453e (pc 0x1 bp 0x2 sp 0x3 T0)\n"
                        "==1==The signal is caused by a WRITE memory access.\n"
                        "    #0 0x1 in __asan::Allocator::Deallocate(void*) crtstuff.c:0\n"));
    expect_bucket(true, told,
                  FREED("SEGV on unknown address (pc 0x1 bp 0x2 sp 0x3 T0)\n"
                        "==1==The signal is caused by a READ memory access.\n"
                        "    #0 0x1 in __asan::Allocator::Deallocate(void*) crtstuff.c:0\n"));
    expect_bucket(false, told,
                  "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x54453e (pc 0x1 bp 0x2)\n"
                  "==1==The signal is caused by a WRITE memory access.\n"
                  "    #0 0x1 in drop /a/p.c:20:5\n" BELOW);
}

#define ENTER "    #9 0x1 in load /a/p.c:9:1\n    #10 0x1 in LLVMFuzzerTestOneInput /a/f.c:3:1\n"

/* It was stopped twice in what loop() calls, in different places: the loop is the place. */
static void a_hang_is_where_its_stacks_meet(void **state)
{
    (void)state;
    const char *const texts[] = {
        "    #0 0x1 in step /a/p.c:1:1\n    #1 0x1 in loop /a/p.c:7:1\n" ENTER,
        "    #0 0x1 in memcpy (/t+0x1)\n    #1 0x1 in move /a/p.c:4:1\n    #2 0x1 in loop "
        "/a/p.c:8:1\n" ENTER,
    };
    struct report r;
    report_hang(&r, texts, 2);
    assert_string_equal(r.function, "loop");
    assert_string_equal(r.entry, "load");
    assert_string_equal(r.fault, "hang");
    assert_int_equal(r.kind->outcome, TRIAGE_HANG);
    report_free(&r);
    report_hang(&r, texts, 0);
    assert_string_equal(r.function, "");
    report_free(&r);
}

static void text_without_a_fault_is_none(void **state)
{
    (void)state;
    struct report r;
    assert_false(report_parse(&r, "", 0, 0));
    static const char text[] =
        "#0 0x1 in nobody /x/y.c:1\nAddressSanitizer\nERROR: AddressSanitizer: \n";
    assert_false(report_parse(&r, text, strlen(text), 0));
    assert_false(report_parse(&r, "a\0b", 3, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_golden_file_says_what_it_should),
        cmocka_unit_test(a_text_that_ends_anywhere_gives_what_there_is),
        cmocka_unit_test(names_lose_what_differs_between_instantiations),
        cmocka_unit_test(a_bucket_is_function_file_line_fault_and_entry),
        cmocka_unit_test(null_and_wild_at_one_place_are_one_bucket_of_two_classes),
        cmocka_unit_test(freeing_a_wild_pointer_is_one_bucket),
        cmocka_unit_test(a_hang_is_where_its_stacks_meet),
        cmocka_unit_test(text_without_a_fault_is_none),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
