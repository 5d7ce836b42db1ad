/* havoc_wait: the test plays afl-fuzz and calls the hooks of ctl_afl.c in its order: imports that wait for
 * a havoc stage are not held up by entries that do not get there, a CmpLog stage takes them by itself, and a change of
 * mode ends the entry at hand. */
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
#define DEFAULT_PERCENT 6         /* what afl-fuzz takes where a library does not say */

/* The hooks, as afl-fuzz looks them up. */
void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_post_process(void *data, unsigned char *buf, size_t n, unsigned char **out);
void afl_custom_post_run(void *data);
unsigned char afl_custom_queue_get(void *data, const unsigned char *name);
size_t afl_custom_havoc_mutation(void *data, unsigned char *buf, size_t n, unsigned char **out,
                                 size_t max);
unsigned char afl_custom_havoc_mutation_probability(void *data);
uint32_t carol_import(unsigned char **out);

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
    (void)id;
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

/* One execution, all from one place as in afl-fuzz.  Is it an import? */
__attribute__((noinline)) static bool execute(void)
{
    static unsigned char own[16];
    unsigned char *out;
    size_t n = afl_custom_post_process(NULL, own, sizeof own, &out);
    bool imported = out == import.bytes && n == import.record.size;
    now_ns += SLOW_NS;
    afl_custom_post_run(NULL);
    return imported;
}

static bool select_entry(int i)
{
    char name[32];
    snprintf(name, sizeof name, "queue/id:%06d,x", i);
    skip = 0;
    return afl_custom_queue_get(NULL, (const unsigned char *)name);
}

/* So many executions of a deterministic stage; false: abandoned by SIGUSR1. */
static bool deterministic(int executions)
{
    while (executions-- > 0) {
        execute();
        if (skip)
            return false;
    }
    return true;
}

/* A havoc stage of so many executions of one mutation each, whose random numbers are the highest: only
 * what is certain happens.  How many were imports? */
static int havoc(int executions)
{
    int percent = afl_custom_havoc_mutation_probability(NULL), imports = 0;
    unsigned char buf[4] = "abcd", *out;
    for (int i = 0; i < executions; i++) {
        if (percent > 99)
            afl_custom_havoc_mutation(NULL, buf, sizeof buf, &out, 100);
        imports += execute();
    }
    return imports;
}

static void mark_quick(int entry)
{
    unsigned char buf[4] = "abcd", *out;
    assert_true(select_entry(entry));
    afl_custom_havoc_mutation(NULL, buf, sizeof buf, &out, 100);
    execute();
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

static void all_imports_at_the_beginning_of_a_havoc_stage(void **state)
{
    (void)state;
    pending = 0;
    assert_int_equal(afl_custom_havoc_mutation_probability(NULL), DEFAULT_PERCENT);
    pending = 5;
    assert_true(select_entry(0));
    assert_int_equal(havoc(12), 5); /* as short as the stage gets */
    assert_int_equal(pending, 0);
}

/* An entry that had its havoc stage and is given a deterministic one later, when it became a favourite. */
static void an_entry_that_was_quick_once_holds_nothing_up(void **state)
{
    (void)state;
    mark_quick(1);
    mark_quick(2);
    pending = 2;
    assert_true(select_entry(1));
    assert_false(deterministic(1000)); /* put off */
    assert_false(select_entry(1));     /* and not taken up again while imports wait */
    assert_true(select_entry(2));
    assert_int_equal(havoc(12), 2);
    execute();
    assert_true(select_entry(1)); /* nothing waits any more */
}

/* However many were put off: in the end one is fuzzed. */
static void without_a_quick_entry_any_is_taken(void **state)
{
    (void)state;
    mark_quick(3);
    pending = 1;
    assert_true(select_entry(3));
    assert_false(deterministic(1000));
    int passed = 0;
    while (!select_entry(passed % 4 == 0 ? 3 : 9) && passed < 100000)
        passed++;
    assert_in_range(passed, 0, 99999);
    assert_int_equal(havoc(12), 1);
}

/* A CmpLog stage of so many pairs of operands, each of which takes an execution.  How many imports did it run? */
static int cmplog(int pairs)
{
    int imports = 0;
    for (int i = 0; i < pairs && !skip; i++) {
        unsigned char *in, *out;
        for (uint32_t n; (n = carol_import(&in)); imports++) {
            assert_int_equal(afl_custom_post_process(NULL, in, n, &out), import.record.size);
            assert_ptr_equal(out, import.bytes);
            assert_int_equal(flying, import.record.id); /* what it finds is not the fuzzer's own */
            now_ns += SLOW_NS;
            afl_custom_post_run(NULL);
        }
        assert_false(execute());
        assert_int_equal(flying, -1);
    }
    return imports;
}

/* Put off, an entry would never have another CmpLog stage. */
static void a_cmplog_stage_takes_imports_and_is_not_cut(void **state)
{
    (void)state;
    pending = 3;
    assert_true(select_entry(5));
    assert_int_equal(cmplog(1000), 3);
    assert_false(skip);
}

static void it_parks_where_nothing_is_executed(void **state)
{
    (void)state;
    unsigned char *in;
    pending = parked = 0;
    assert_true(select_entry(5));
    turn_over = true;
    assert_int_equal(carol_import(&in), 0);
    assert_int_equal(parked, 1);
    turn_over = true; /* an import that was handed out is executed first */
    pending = 1;
    assert_int_equal(cmplog(1), 1);
    assert_int_equal(parked, 2);
}

/* The next entry, fuzzed in the mode of the turn. */
static void next_entry(enum ctl_mode mode, enum ctl_way imports)
{
    page.mode = mode;
    assert_int_equal(ctl_afl_next_entry(), mode);
    ctl_afl_take_by(imports);
    skip = 0;
}

static void a_change_of_mode_ends_the_entry(void **state)
{
    (void)state;
    pending = 0;
    next_entry(CTL_MODE_AFLPP, CTL_WAY_HAVOC);
    assert_true(deterministic(100));
    page.mode = CTL_MODE_MOPT;    /* a turn begins */
    for (int i = 0; i < 3; i++) { /* however often a stage swallows it */
        assert_true(ctl_afl_leaving());
        assert_false(deterministic(1));
        skip = 0;
    }
    next_entry(CTL_MODE_MOPT, CTL_WAY_ADDRESS);
    assert_false(ctl_afl_leaving());
    assert_true(deterministic(100));
}

static void a_cut_entry_is_nobodys_cycle(void **state)
{
    (void)state;
    next_entry(CTL_MODE_AFLPP, CTL_WAY_HAVOC);
    cycles = dropped = 0;
    execute();
    next_entry(CTL_MODE_AFLPP, CTL_WAY_HAVOC);
    assert_int_equal(cycles, 1);
    assert_int_equal(dropped, 0);
    execute();
    page.mode = CTL_MODE_HAVOC;
    execute();
    next_entry(CTL_MODE_HAVOC, CTL_WAY_HAVOC);
    assert_int_equal(cycles, 1);
    assert_int_equal(dropped, 1); /* its time is not the next one's */
}

static void no_import_is_lost_by_it(void **state)
{
    (void)state;
    unsigned char buf[4] = "abcd", *out;
    next_entry(CTL_MODE_AFLPP, CTL_WAY_HAVOC);
    pending = 1;
    afl_custom_havoc_mutation(NULL, buf, sizeof buf, &out, 100);
    page.mode = CTL_MODE_DARWIN; /* parked before it was executed */
    assert_false(execute());
    assert_int_equal(pending, 1);
    assert_true(skip);
    next_entry(CTL_MODE_DARWIN, CTL_WAY_FUZZ);
    flying = 7; /* as afl_custom_fuzz took it */
    page.mode = CTL_MODE_AFLPP;
    execute();
    assert_false(skip); /* it is looked at */
    flying = -1;
    execute();
    assert_true(skip);
    next_entry(CTL_MODE_AFLPP, CTL_WAY_HAVOC);
    assert_int_equal(havoc(12), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_imports_at_the_beginning_of_a_havoc_stage),
        cmocka_unit_test(an_entry_that_was_quick_once_holds_nothing_up),
        cmocka_unit_test(without_a_quick_entry_any_is_taken),
        cmocka_unit_test(a_cmplog_stage_takes_imports_and_is_not_cut),
        cmocka_unit_test(it_parks_where_nothing_is_executed),
        cmocka_unit_test(a_change_of_mode_ends_the_entry),
        cmocka_unit_test(a_cut_entry_is_nobodys_cycle),
        cmocka_unit_test(no_import_is_lost_by_it),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, setup, NULL);
}
