/* afl_hooks: the test plays afl-fuzz and calls the hooks of ctl_afl.c in its order: imports run between two
 * executions of any stage, and a change of mode ends the entry at hand. */
#include "../../runtime/ctl/ctl_afl.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SLOW_NS INT64_C(20000000) /* one execution */

/* The hooks, as afl-fuzz looks them up. */
void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_post_process(void *data, unsigned char *buf, size_t n, unsigned char **out);
void afl_custom_post_run(void *data);
unsigned char afl_custom_queue_get(void *data, const unsigned char *name);
unsigned char afl_custom_queue_new_entry(void *data, const unsigned char *name,
                                         const unsigned char *parent);
uint32_t carol_next_import(unsigned char **out);

/* The rest of the library: a page, a clock and an inbox of the test. */
static struct ctl_page page = {.started = 1, .ready = 1};
struct ctl_page *ctl_page = &page;
static struct {
    struct ctl_record record;
    unsigned char bytes[4];
} import = {.record = {.id = 7, .size = 4}, .bytes = "seed"};
static int pending, cycles, dropped, parked;
static bool turn_over;
static int64_t flying = -1; /* the import under way */
static int64_t exported;    /* the import that the last new entry is of */
static int64_t now_ns = 1;

void ctl_safe_point(void)
{
    parked += turn_over;
    turn_over = false;
}

bool ctl_parking_wanted(void)
{
    return turn_over;
}

void ctl_add_exec(void)
{
}

void ctl_add_cycle(void)
{
    cycles++;
}

void ctl_drop_cycle(void)
{
    dropped++;
}

bool ctl_import_pending(void)
{
    return pending > 0;
}

const struct ctl_record *ctl_import_next(void)
{
    if (!pending)
        return NULL;
    pending--;
    flying = (int64_t)import.record.id;
    return &import.record;
}

void ctl_import_done(void)
{
    flying = -1;
}

int64_t ctl_import_id(void)
{
    return flying;
}

void ctl_export(const char *name, int64_t id)
{
    (void)name;
    exported = id;
}

int64_t ctl_real_ns(void)
{
    return now_ns;
}

void ctl_afl_on_init(void)
{
}

void ctl_afl_on_new_entry(void)
{
}

/* afl-fuzz itself. */
static volatile sig_atomic_t skip;

static void on_usr1(int sig)
{
    (void)sig;
    skip = 1;
}

/* One execution, all from one place as in afl-fuzz. */
__attribute__((noinline)) static void execute(void)
{
    static unsigned char own[16];
    unsigned char *out;
    assert_int_equal(afl_custom_post_process(NULL, own, sizeof own, &out), sizeof own);
    assert_ptr_equal(out, own); /* nothing takes its place */
    assert_int_equal(flying, -1);
    now_ns += SLOW_NS;
    afl_custom_post_run(NULL);
}

/* What our afl-fuzz does before each: how many imports did it run? */
static int run_imports(void)
{
    int imports = 0;
    unsigned char *in, *out;
    for (uint32_t n; (n = carol_next_import(&in)); imports++) {
        assert_int_equal(afl_custom_post_process(NULL, in, n, &out), import.record.size);
        assert_ptr_equal(out, import.bytes);
        assert_int_equal(flying, import.record.id); /* what it finds is not the fuzzer's own */
        now_ns += SLOW_NS;
        afl_custom_post_run(NULL);
    }
    return imports;
}

static bool select_entry(int i)
{
    char name[32];
    snprintf(name, sizeof name, "queue/id:%06d,x", i);
    skip = 0;
    return afl_custom_queue_get(NULL, (const unsigned char *)name);
}

/* So many executions of any stage, and the imports in between; -1: abandoned by SIGUSR1. */
static int stage(int executions)
{
    int imports = 0;
    while (executions-- > 0) {
        imports += run_imports();
        execute();
        if (skip)
            return -1;
    }
    return imports;
}

static int setup(void **state)
{
    (void)state;
    signal(SIGUSR1, on_usr1);
    assert_non_null(afl_custom_init(NULL, 0));
    select_entry(0);
    execute();
    return 0;
}

/* However long the stage is: none is put off for them, and none passed over. */
static void imports_run_between_executions(void **state)
{
    (void)state;
    for (int entry = 0; entry < 3; entry++) {
        pending = 5;
        assert_true(select_entry(entry));
        assert_int_equal(stage(1), 5);
        assert_int_equal(pending, 0);
        assert_int_equal(stage(1000), 0);
    }
}

static void what_it_finds_is_the_imports(void **state)
{
    (void)state;
    unsigned char *in, *out, found[4] = "new";
    assert_true(select_entry(8));
    pending = 1;
    exported = -2;
    assert_true(carol_next_import(&in) > 0);
    afl_custom_post_process(NULL, in, 4, &out);
    afl_custom_queue_new_entry(NULL, (const unsigned char *)"q/id:000009", found);
    assert_int_equal(exported, import.record.id);
    for (int i = 0; i < 8; i++) /* calibration */
        execute();
    assert_int_equal(stage(1), 0);
    afl_custom_queue_new_entry(NULL, (const unsigned char *)"q/id:000010", found);
    assert_int_equal(exported, -1);
}

/* The stage's next execution says that a calibration is over: it may have been shorter than the longest. */
static void it_parks_after_a_short_calibration(void **state)
{
    (void)state;
    unsigned char found[4] = "new";
    pending = 0;
    assert_true(select_entry(8));
    afl_custom_queue_new_entry(NULL, (const unsigned char *)"q/id:000011", found);
    for (int i = 0; i < 3; i++)
        execute();
    parked = 0;
    turn_over = true;
    assert_int_equal(stage(1), 0);
    assert_int_equal(parked, 1);
}

static void it_parks_where_nothing_is_executed(void **state)
{
    (void)state;
    unsigned char *in;
    pending = parked = 0;
    assert_true(select_entry(5));
    turn_over = true;
    assert_int_equal(carol_next_import(&in), 0);
    assert_int_equal(parked, 1);
    turn_over = true; /* an import that was handed out is executed first */
    pending = 1;
    assert_int_equal(stage(1), 1);
    assert_int_equal(parked, 2);
}

/* The next entry, fuzzed in the mode of the turn. */
static void next_entry(enum ctl_mode mode)
{
    page.mode = mode;
    assert_int_equal(ctl_afl_next_entry(), mode);
    skip = 0;
}

static void a_change_of_mode_ends_the_entry(void **state)
{
    (void)state;
    pending = 0;
    next_entry(CTL_MODE_AFLPP);
    assert_int_equal(stage(100), 0);
    page.mode = CTL_MODE_MOPT;    /* a turn begins */
    for (int i = 0; i < 3; i++) { /* however often a stage swallows it */
        assert_true(ctl_afl_leaving());
        assert_int_equal(stage(1), -1);
        skip = 0;
    }
    next_entry(CTL_MODE_MOPT);
    assert_false(ctl_afl_leaving());
    assert_int_equal(stage(100), 0);
}

static void a_cut_entry_is_nobodys_cycle(void **state)
{
    (void)state;
    next_entry(CTL_MODE_AFLPP);
    cycles = dropped = 0;
    execute();
    next_entry(CTL_MODE_AFLPP);
    assert_int_equal(cycles, 1);
    assert_int_equal(dropped, 0);
    execute();
    page.mode = CTL_MODE_HAVOC;
    execute();
    next_entry(CTL_MODE_HAVOC);
    assert_int_equal(cycles, 1);
    assert_int_equal(dropped, 1); /* its time is not the next one's */
}

static void no_import_is_lost_by_it(void **state)
{
    (void)state;
    next_entry(CTL_MODE_AFLPP);
    pending = 1;
    page.mode = CTL_MODE_DARWIN; /* a turn begins, with an import for darwin */
    assert_int_equal(run_imports(), 0);
    execute();
    assert_true(skip);
    assert_int_equal(pending, 1);
    next_entry(CTL_MODE_DARWIN);
    assert_int_equal(stage(1), 1);
}

static void an_import_under_way_is_looked_at(void **state)
{
    (void)state;
    unsigned char *in, *out;
    next_entry(CTL_MODE_AFLPP);
    pending = 1;
    assert_int_equal(carol_next_import(&in), 4);
    page.mode = CTL_MODE_DARWIN;
    afl_custom_post_process(NULL, in, 4, &out);
    assert_false(skip);
    execute();
    assert_true(skip);
    next_entry(CTL_MODE_DARWIN);
}

/* A cycle is an entry, or 1,000 executions. */
static void cycles_by_batches(void **state)
{
    (void)state;
    next_entry(CTL_MODE_MOPT);
    ctl_afl_count_batches(true);
    cycles = 0;
    assert_int_equal(stage(2500), 0);
    assert_int_equal(cycles, 2);
    ctl_afl_count_batches(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_run_between_executions),
        cmocka_unit_test(what_it_finds_is_the_imports),
        cmocka_unit_test(it_parks_after_a_short_calibration),
        cmocka_unit_test(it_parks_where_nothing_is_executed),
        cmocka_unit_test(a_change_of_mode_ends_the_entry),
        cmocka_unit_test(a_cut_entry_is_nobodys_cycle),
        cmocka_unit_test(no_import_is_lost_by_it),
        cmocka_unit_test(an_import_under_way_is_looked_at),
        cmocka_unit_test(cycles_by_batches),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, NULL);
}
