/* lf: the test plays libFuzzer and calls the mutator of runtime/ctl/lf.c as it does: what it executes, in which order,
 * how often, and what it then goes on with. */
#include "../../runtime/ctl/lf.h"
#include "../../runtime/ctl/ctl.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX 64

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* The rest of the library. */
static struct ctl_page page;
struct ctl_page *ctl_page = &page;
char ctl_dir[PATH_MAX];
static struct {
    struct ctl_record head;
    char bytes[8];
} imports[2] = {{{.id = 1, .size = 6}, "import"}, {{.id = 2, .size = 1000}, "large"}};
static size_t pending; /* of them, from the first on */
static int done, parks, cycles;
static bool turn_over, watching, begun;
static const uint8_t *unit; /* under execution */

void ctl_safe_point(void)
{
    assert_null(unit);
    parks += turn_over || !page.ready;
    assert_true(!turn_over || !watching);
    page.ready = 1;
    turn_over = false;
}

bool ctl_parking_wanted(void)
{
    return turn_over;
}

void ctl_add_exec(void)
{
    page.execs++;
}

void ctl_add_cycle(void)
{
    cycles++;
}

const struct ctl_record *ctl_import_next(void)
{
    return pending ? &imports[--pending].head : NULL;
}

void ctl_import_done(void)
{
    done++;
}

void lf_life_begin(void)
{
    begun = watching = true;
}

void lf_life_unit(const uint8_t *data, size_t size)
{
    (void)size;
    unit = data;
}

void lf_life_watch(bool on)
{
    watching = on;
}

void lf_life_refresh(void)
{
}

/* Descriptors in use: none, all that the target may have, all. */
static enum { PLENTY, FEW, NONE } descriptors;
static void let_open(bool on)
{
    static struct rlimit all;
    struct rlimit none;
    if (!all.rlim_cur)
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    none = (struct rlimit){0, all.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, on ? &all : &none), 0);
}

void lf_life_room(bool on)
{
    if (descriptors == FEW)
        let_open(on);
}

static bool silent;
void lf_life_silence(void)
{
    silent = true;
}

bool lf_life_is_over(void)
{
    return false;
}

void lf_leave(void)
{
    abort();
}

/* A mutation of libFuzzer's: a point more. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
    assert_true(size < max);
    data[size] = '.';
    return size + 1;
}

/* What libFuzzer executes when it has this in its buffer. */
static char buffer[MAX];
static const char *next(const char *text)
{
    static char ran[MAX + 1];
    if (text)
        memcpy(buffer, text, strlen(text) + 1);
    size_t n = LLVMFuzzerCustomMutator((uint8_t *)buffer, strlen(buffer), MAX - 1, 0);
    assert_ptr_equal(unit, buffer);
    buffer[n] = 0;
    memcpy(ran, buffer, n + 1);
    return ran;
}

static void put(const char *sub, const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", ctl_dir, sub);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%s/%s", ctl_dir, sub, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static bool there(const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", ctl_dir, name);
    return access(path, F_OK) == 0;
}

/* libFuzzer's fopen() is the one without 64: this file was not compiled as it was. */
FILE *plain_fopen(const char *path, const char *mode) __asm__("fopen");

/* First of all the corpus, small ones first; each file goes when it was executed, and not before. */
static void the_corpus_comes_first(void **state)
{
    (void)state;
    put("old", "a", "second one");
    put("old", "b", "");
    put("new", "c", "first");
    put("new", "d", "the third of them");
    lf_replay_gather(ctl_dir);
    assert_true(there("old/c") && there("old/d") && !there("new/c"));
    char path[PATH_MAX + 64]; /* what libFuzzer finds, and what it gets */
    put(".", LF_NOTHING, "\n");
    snprintf(path, sizeof path, "%s/" LF_NOTHING, ctl_dir);
    assert_true(!plain_fopen(path, "r") && !fopen(path, "r") && silent);
    assert_int_equal(unlink(path), 0);
    pending = 1;
    assert_string_equal(next("base"), "first");
    assert_true(begun && there("old/c") && !there("old/b"));
    assert_string_equal(next(NULL), "second one");
    assert_true(!there("old/c") && there("old/a"));
    /* libFuzzer keeps this one: its file is moved, not written. */
    snprintf(path, sizeof path, "%s/new/kept", ctl_dir);
    assert_null(plain_fopen(path, "wb"));
    assert_true(there("new/kept") && !there("old/a"));
    assert_string_equal(next("other"), "the third of them");
    assert_int_equal(page.ready, 0);
    assert_int_equal(pending, 1);
    assert_int_equal(parks, 0);
    assert_true(there("new/kept"));
    assert_int_equal(unlink(path), 0);
}

/* A target that has all descriptors takes no file from us: not what is to be executed, nor what is found. */
static void without_descriptors_nothing_is_lost(void **state)
{
    (void)state;
    char path[PATH_MAX + 64];
    put("old", "a", "one");
    put("old", "b", "number two");
    snprintf(path, sizeof path, "%s/new/found", ctl_dir);
    lf_replay_begin();
    size_t n = 0;
    descriptors = NONE;
    let_open(false);
    assert_null(lf_replay_next(MAX, &n));
    assert_null(plain_fopen(path, "wb"));
    let_open(true);
    lf_replay_done();
    assert_true(there("old/a") && there("old/b") && !lf_replay_pending());
    lf_replay_begin();
    descriptors = FEW;
    let_open(false);
    const uint8_t *bytes = lf_replay_next(MAX, &n);
    assert_true(bytes && n == 3 && memcmp(bytes, "one", 3) == 0);
    lf_replay_done();
    bytes = lf_replay_next(MAX, &n);
    assert_true(bytes && n == 10);
    assert_null(plain_fopen(path, "wb")); /* kept: its file is moved */
    assert_true(there("new/found") && !there("old/a") && !there("old/b"));
    assert_int_equal(unlink(path), 0);
    FILE *f = plain_fopen(path, "wb");
    assert_non_null(f);
    fclose(f);
    assert_null(plain_fopen("/dev/null", "r")); /* of the target's */
    let_open(true);
    descriptors = PLENTY;
    assert_int_equal(unlink(path), 0);
}

/* The start is over: it parks, and takes imports; then it goes on with what it had. */
static void imports_are_executed_and_not_mutated(void **state)
{
    (void)state;
    done = 0;
    assert_string_equal(next(NULL), "import");
    assert_int_equal(parks, 1);
    assert_true(!there("old/d") && watching);
    assert_string_equal(next(NULL), "other.");
    assert_true(done >= 1);
    assert_string_equal(next(NULL), "other..");
    pending = 1;
    assert_string_equal(next("base"), "import");
    assert_string_equal(next("entry"), "entry."); /* it had enough of the last one */
}

static void what_is_too_large_is_passed_over(void **state)
{
    (void)state;
    pending = 2;
    assert_string_equal(next("base"), "import");
    assert_int_equal(pending, 0);
}

static void it_parks_between_two_executions(void **state)
{
    (void)state;
    parks = 0;
    turn_over = true;
    next("base");
    next("base");
    assert_int_equal(parks, 1);
    assert_true(watching);
}

static void a_cycle_is_a_thousand(void **state)
{
    (void)state;
    page.steps = 0;
    cycles = 0;
    uint64_t before = page.execs;
    for (int i = 0; i < 2500; i++)
        next("base");
    assert_int_equal(cycles, 2);
    assert_int_equal(page.steps, 500);
    assert_int_equal(page.execs - before, 2500);
}

int main(void)
{
    snprintf(ctl_dir, sizeof ctl_dir, "/tmp/carol-unit-lf.XXXXXX");
    if (!mkdtemp(ctl_dir))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_corpus_comes_first),
        cmocka_unit_test(imports_are_executed_and_not_mutated),
        cmocka_unit_test(what_is_too_large_is_passed_over),
        cmocka_unit_test(it_parks_between_two_executions),
        cmocka_unit_test(a_cycle_is_a_thousand),
        cmocka_unit_test(without_descriptors_nothing_is_lost),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    char path[PATH_MAX + 8];
    for (const char *const *s = (const char *const[]){"/old", "/new", "", NULL}; *s; s++) {
        snprintf(path, sizeof path, "%s%s", ctl_dir, *s);
        rmdir(path);
    }
    return rc;
}
