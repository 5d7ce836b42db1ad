/* hfuzz: the honggfuzz arm without honggfuzz: its directories are filled by hand.  Deliveries cut by a
 * kill, harvest exactly once over restarts of the supervisor, echoes of imports, floods of crashes. */
#include "base/fs.h"
#include "fuzzer/fuzzer.h"
#include "proc/loop.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "harvest_kit.h"

static int setup(void **state)
{
    return world_begin(state, "honggfuzz", ".");
}

static size_t files_in(struct world *w, const char *sub)
{
    char path[256];
    struct strv names = {0};
    snprintf(path, sizeof path, "%s/%s", w->dir, sub);
    assert_int_equal(fs_list(path, &names, NULL), 0);
    size_t n = names.n;
    strv_free(&names);
    return n;
}

static void deliver(struct world *w, uint64_t batch, const char *const *texts, size_t n)
{
    struct input in[8];
    for (size_t i = 0; i < n; i++)
        in[i] = (struct input){(int64_t)(batch * 100 + i), texts[i], strlen(texts[i])};
    assert_int_equal(w->in->ops->deliver(w->in, batch, in, n, NULL), 0);
}

/* Harvest; commit it when asked to. */
static size_t harvest(struct world *w, struct harvest *h, bool commit)
{
    *h = (struct harvest){0};
    assert_int_equal(w->in->ops->harvest(w->in, h, NULL), 0);
    if (commit)
        w->in->ops->harvested(w->in, h);
    return h->n;
}

#define NAME_5 "00000000000000010000000000000002.00000005.honggfuzz.cov"
#define NAME_6 "00000000000000030000000000000004.00000006.honggfuzz.cov"

static void a_file_is_harvested_once_over_restarts(void **state)
{
    struct world *w = *state;
    struct harvest h;
    put(w, "new", NAME_5, "first");
    assert_int_equal(harvest(w, &h, false), 1);
    assert_int_equal(h.finds[0].kind, FIND_SEED);
    assert_memory_equal(h.finds[0].data, "first", 5);
    assert_string_equal(h.finds[0].name, NAME_5);
    assert_int_equal(h.finds[0].signal, 0);
    /* honggfuzz does not say what it was made from */
    assert_true(h.finds[0].entry == -1 && h.finds[0].parent_entry == -1 && h.finds[0].seed == -1);
    harvest_free(&h);
    assert_int_equal(harvest(w, &h, true), 1); /* not committed: it is there again */
    char *cursor = strdup(h.cursor);
    harvest_free(&h);
    assert_int_equal(files_in(w, "new"), 0); /* the store has it: pruned */
    assert_int_equal(harvest(w, &h, false), 0);
    harvest_free(&h);
    put(w, "new", NAME_6, "second");
    open_in(w, cursor); /* a new supervisor */
    assert_int_equal(harvest(w, &h, true), 1);
    assert_memory_equal(h.finds[0].data, "second", 6);
    harvest_free(&h);
    put(w, "new", NAME_6, "second"); /* found again by a restarted honggfuzz */
    assert_int_equal(harvest(w, &h, true), 0);
    harvest_free(&h);
    free(cursor);
}

static void all_that_is_stored_is_pruned(void **state)
{
    struct world *w = *state;
    struct harvest h;
    put(w, "new", NAME_5, "first");
    put(w, "new", NAME_6, "second");
    put(w, "crash", "SIGABRT.PC.1.STACK.2.CODE.1.ADDR.0.INSTR.x.fuzz", "boom");
    assert_int_equal(harvest(w, &h, true), 3);
    harvest_free(&h);
    assert_int_equal(files_in(w, "new"), 0);
    assert_int_equal(files_in(w, "crash"), 1); /* honggfuzz would find it again */
    put(w, "new", NAME_5,
        "first"); /* as it does with these; the list of a new supervisor is whole */
    put(w, "new", NAME_6, "second");
    open_in(w, "3");
    assert_int_equal(harvest(w, &h, true), 0);
    harvest_free(&h);
}

static void an_empty_crash_waits_for_its_bytes(void **state)
{
    struct world *w = *state;
    struct harvest h;
    const char *name = "SIGABRT.PC.1.STACK.2.CODE.-6.ADDR.0.INSTR.mov.fuzz";
    put(w, "crash", name, "");
    assert_int_equal(harvest(w, &h, true), 0);
    harvest_free(&h);
    put(w, "crash", name, "x");
    assert_int_equal(harvest(w, &h, true), 1);
    assert_int_equal(h.finds[0].kind, FIND_CRASH);
    harvest_free(&h);
}

/* The list of finds grows for ever: what was read of it is not read again. */
static void of_the_list_only_the_new_part_is_read(void **state)
{
    struct world *w = *state;
    struct harvest h;
    put(w, "new", NAME_5, "first");
    assert_int_equal(harvest(w, &h, true), 1);
    char *cursor = strdup(h.cursor);
    harvest_free(&h);
    put(w, "", "finds", NAME_6 "\n"); /* of the same length */
    put(w, "new", NAME_5, "first");
    assert_int_equal(harvest(w, &h, true), 0);
    harvest_free(&h);
    open_in(w, cursor); /* a new supervisor reads it whole */
    put(w, "new", NAME_5, "first");
    assert_int_equal(harvest(w, &h, true), 1);
    harvest_free(&h);
    free(cursor);
}

static void a_line_cut_by_a_kill_is_written_over(void **state)
{
    struct world *w = *state;
    struct harvest h;
    put(w, "", "finds", NAME_6 "\nSIGSEGV.PC.1.STA");
    put(w, "crash", "SIGSEGV.PC.1.STACK.2.CODE.1.ADDR.0.INSTR.x.fuzz", "boom");
    open_in(w, "1");
    assert_int_equal(harvest(w, &h, true), 1);
    assert_string_equal(h.cursor, "2");
    open_in(w, h.cursor);
    harvest_free(&h);
    assert_int_equal(harvest(w, &h, true), 0);
    assert_string_equal(h.cursor, "2");
    harvest_free(&h);
}

/* In the order in which they were written; of the same moment, in that of their names. */
static void finds_come_in_their_order(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *name;
        struct timespec at;
    } made[] = {{"d", {5, 7}}, {"a", {5, 9}}, {"c", {5, 8}},
                {"b", {6, 0}}, {"e", {4, 9}}, {"f", {5, 8}}};
    struct harvest h;
    char name[64], path[256], order[8] = "";
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        snprintf(name, sizeof name, "%s.00000001.honggfuzz.cov", made[i].name);
        put(w, "new", name, made[i].name);
        snprintf(path, sizeof path, "%s/new/%s", w->dir, name);
        assert_int_equal(utimensat(AT_FDCWD, path, (struct timespec[2]){made[i].at, made[i].at}, 0),
                         0);
    }
    assert_int_equal(harvest(w, &h, true), 6);
    for (size_t i = 0; i < 6; i++)
        order[i] = *(char *)h.finds[i].data;
    assert_string_equal(order, "edcfab");
    harvest_free(&h);
}

/* The list of finds is gone: those that come are new. */
static void what_comes_after_a_loss_is_new(void **state)
{
    struct world *w = *state;
    struct harvest h;
    open_in(w, "7");
    assert_int_equal(harvest(w, &h, true), 0);
    assert_string_equal(h.cursor, "0");
    harvest_free(&h);
    put(w, "new", NAME_5, "first");
    assert_int_equal(harvest(w, &h, true), 1);
    harvest_free(&h);
    put(w, "new", NAME_6, "second");
    open_in(w, "9");
    assert_int_equal(harvest(w, &h, true), 1); /* the other one has been pruned */
    assert_string_equal(h.cursor, "2");
    harvest_free(&h);
}

/* What could not be listed is found again when it can. */
static void a_list_that_cannot_be_written_costs_nothing(void **state)
{
    struct world *w = *state;
    struct harvest h = {0};
    char path[256];
    snprintf(path, sizeof path, "%s/finds", w->dir);
    put(w, "new", NAME_5, "first");
    assert_int_equal(symlink("/nonexistent/finds", path), 0);
    assert_true(w->in->ops->harvest(w->in, &h, NULL) < 0);
    assert_int_equal(h.n, 0);
    harvest_free(&h);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(fs_mkdirs(path, NULL), 0);
    assert_true(w->in->ops->harvest(w->in, &h, NULL) < 0);
    harvest_free(&h);
    assert_int_equal(rmdir(path), 0);
    put(w, "new", NAME_6, "second");
    assert_int_equal(harvest(w, &h, true), 2);
    assert_string_equal(h.cursor, "2");
    harvest_free(&h);
}

static void nothing_found_is_nothing_written(void **state)
{
    struct world *w = *state;
    struct harvest h;
    char path[256];
    snprintf(path, sizeof path, "%s/finds", w->dir);
    assert_int_equal(harvest(w, &h, true), 0);
    assert_string_equal(h.cursor, "0");
    harvest_free(&h);
    assert_false(fs_exists(path));
}

/* A hundred at once, and as many later: each is there, once. */
static void many_are_harvested_once(void **state)
{
    struct world *w = *state;
    struct harvest h;
    char name[128], text[8];
    for (unsigned round = 0; round < 2; round++) {
        bool seen[200] = {0};
        for (unsigned i = 0; i < 100; i++) {
            unsigned id = round * 100 + i;
            /* in an order that is not that of the names */
            snprintf(name, sizeof name, "%016x%016x.00000004.honggfuzz.cov", id * 37 % 200, id);
            snprintf(text, sizeof text, "%04u", id);
            put(w, "new", name, text);
        }
        assert_int_equal(harvest(w, &h, false), 100);
        for (size_t i = 0; i < h.n; i++) {
            snprintf(text, sizeof text, "%.4s", (char *)h.finds[i].data);
            unsigned id = (unsigned)strtoul(text, NULL, 10);
            assert_true(id / 100 == round && !seen[id]);
            seen[id] = true;
        }
        w->in->ops->harvested(w->in, &h);
        harvest_free(&h);
    }
    struct stat st;
    snprintf(name, sizeof name, "%s/finds", w->dir);
    assert_true(stat(name, &st) == 0 && (st.st_mode & 0711) == 0600);
    open_in(w, "150"); /* the store lost the last ones: their files are gone, their names are not */
    assert_int_equal(harvest(w, &h, true), 0);
    assert_string_equal(h.cursor, "200");
    harvest_free(&h);
}

static void a_file_cut_by_a_kill_is_left_out(void **state)
{
    struct world *w = *state;
    struct harvest h;
    put(w, "new", NAME_5, "fir");
    assert_int_equal(harvest(w, &h, true), 0);
    harvest_free(&h);
}

static void echoes_of_what_we_gave_are_no_finds(void **state)
{
    struct world *w = *state;
    struct harvest h;
    deliver(w, 1, (const char *const[]){"given"}, 1);
    put(w, "new", NAME_5, "given");
    put(w, "crash", "SIGSEGV.PC.1.STACK.2.CODE.1.ADDR.0.INSTR.x.fuzz", "given");
    assert_int_equal(harvest(w, &h, true), 1);
    assert_int_equal(h.finds[0].kind, FIND_ECHO); /* the crash is kept, but is not its find */
    harvest_free(&h);
}

static void crashes_and_hangs_are_told_apart(void **state)
{
    struct world *w = *state;
    struct harvest h;
    put(w, "crash", "SIGABRT.PC.1.STACK.2.CODE.1.ADDR.0.INSTR.x.fuzz", "boom");
    put(w, "crash", "SIGVTALRM.PC.1.STACK.2.CODE.0.ADDR.0.INSTR.x.fuzz", "slow");
    assert_int_equal(harvest(w, &h, true), 2);
    int hangs = 0;
    for (size_t i = 0; i < 2; i++) {
        hangs += h.finds[i].kind == FIND_HANG;
        if (h.finds[i].kind == FIND_CRASH)
            assert_int_equal(h.finds[i].signal, SIGABRT);
    }
    assert_int_equal(hangs, 1);
    harvest_free(&h);
    put(w, "crash", "SIGABRTX.PC.1.STACK.2.CODE.1.ADDR.0.INSTR.x.fuzz", "a signal we do not know");
    assert_int_equal(harvest(w, &h, true), 1);
    assert_true(h.finds[0].kind == FIND_CRASH && h.finds[0].signal == 0);
    harvest_free(&h);
}

static void of_one_place_only_a_few_crashes_are_kept(void **state)
{
    struct world *w = *state;
    struct harvest h;
    char name[128];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "SIGSEGV.PC.1.STACK.2.CODE.1.ADDR.%x.INSTR.x.fuzz", i + 1);
        put(w, "crash", name, name);
    }
    put(w, "crash", "SIGSEGV.PC.9.STACK.2.CODE.1.ADDR.0.INSTR.x.fuzz", "elsewhere");
    assert_int_equal(harvest(w, &h, true), 3 + 1);
    harvest_free(&h);
    assert_int_equal(files_in(w, "crash"), 3 + 1);
    put(w, "crash", "SIGSEGV.PC.1.STACK.2.CODE.1.ADDR.ff.INSTR.x.fuzz", "later");
    assert_int_equal(harvest(w, &h, true), 0);
    harvest_free(&h);
}

/* Each place is counted apart, wherever its names sort. */
static void places_are_counted_apart(void **state)
{
    struct world *w = *state;
    struct harvest h;
    char name[128];
    size_t kept = 0;
    for (const char *place = "5917"; *place; place++, kept += 3) {
        for (int i = 0; i < 5; i++) {
            snprintf(name, sizeof name, "SIGSEGV.PC.%c.STACK.2.CODE.1.ADDR.%x.INSTR.x.fuzz", *place,
                     i + 1);
            put(w, "crash", name, name);
        }
        assert_int_equal(harvest(w, &h, true), 3);
        harvest_free(&h);
        assert_int_equal(files_in(w, "crash"), kept + 3);
    }
}

static void each_input_is_offered_once(void **state)
{
    struct world *w = *state;
    deliver(w, 1, (const char *const[]){"one", "two", ""}, 3);
    assert_int_equal(files_in(w, "dyn"), 2); /* honggfuzz cannot map an empty file */
    deliver(w, 1, (const char *const[]){"one", "two", ""}, 3);
    deliver(w, 2, (const char *const[]){"two", "three"}, 2);
    assert_int_equal(files_in(w, "dyn"), 3);
    assert_int_equal(files_in(w, "stage"), 0);
}

static void a_delivery_cut_by_a_kill_is_completed_or_dropped(void **state)
{
    struct world *w = *state;
    deliver(w, 1, (const char *const[]){"noted"}, 1);
    put(w, "stage", "7", "noted");   /* killed between the note and the move */
    put(w, "stage", "8", "unknown"); /* killed before the note: the batch will come again */
    size_t before = files_in(w, "dyn");
    open_in(w, NULL);
    deliver(w, 2, (const char *const[]){"unknown"}, 1);
    assert_int_equal(files_in(w, "dyn"), before + 2);
    assert_int_equal(files_in(w, "stage"), 0);
}

static void an_input_above_its_limit_is_not_offered(void **state)
{
    struct world *w = *state;
    char *big = malloc((1 << 20) + 2);
    memset(big, 'x', (1 << 20) + 1);
    big[(1 << 20) + 1] = 0;
    deliver(w, 1, (const char *const[]){big, "small"}, 2);
    assert_int_equal(files_in(w, "dyn"), 1);
    big[32768] = 0; /* with small seeds the limit is 32 KB, and may be reached */
    deliver(w, 2, (const char *const[]){big}, 1);
    assert_int_equal(files_in(w, "dyn"), 2);
    free(big);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_file_is_harvested_once_over_restarts),
        T(of_the_list_only_the_new_part_is_read),
        T(an_empty_crash_waits_for_its_bytes),
        T(all_that_is_stored_is_pruned),
        T(a_line_cut_by_a_kill_is_written_over),
        T(a_file_cut_by_a_kill_is_left_out),
        T(echoes_of_what_we_gave_are_no_finds),
        T(crashes_and_hangs_are_told_apart),
        T(of_one_place_only_a_few_crashes_are_kept),
        T(places_are_counted_apart),
        T(finds_come_in_their_order),
        T(what_comes_after_a_loss_is_new),
        T(a_list_that_cannot_be_written_costs_nothing),
        T(nothing_found_is_nothing_written),
        T(many_are_harvested_once),
        T(each_input_is_offered_once),
        T(a_delivery_cut_by_a_kill_is_completed_or_dropped),
        T(an_input_above_its_limit_is_not_offered),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
