/* afl_harvest: what afl-fuzz left in its directories, written by hand: crashes exactly once over its lives,
 * though its numbers are not unique; crashes on what it was given; the origin of queue entries. */
#include "base/fs.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/inbox.h"
#include "proc/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harvest_kit.h"

static int setup(void **state)
{
    return world_begin(state, "aflpp", "out/default");
}

static void new_life(struct world *w, int n)
{
    char from[256], to[300];
    snprintf(from, sizeof from, "%s/out/default/crashes", w->dir);
    snprintf(to, sizeof to, "%s.%d", from, n);
    assert_int_equal(rename(from, to), 0);
}

/* Harvest and commit; the texts found, as "kind:text," in order. */
static const char *harvest(struct world *w)
{
    static char line[512];
    struct harvest h = {0};
    assert_int_equal(w->in->ops->harvest(w->in, &h, NULL), 0);
    line[0] = 0;
    for (size_t i = 0; i < h.n; i++) {
        size_t at = strlen(line);
        snprintf(line + at, sizeof line - at, "%c:%.*s,", "-schie"[h.finds[i].kind],
                 (int)h.finds[i].size, (char *)h.finds[i].data);
    }
    w->in->ops->harvested(w->in, &h);
    char *cursor = strdup(h.cursor);
    harvest_free(&h);
    open_in(w, cursor); /* every time a new supervisor */
    free(cursor);
    return line;
}

static void numbers_of_crashes_are_not_unique(void **state)
{
    struct world *w = *state;
    /* a crash of the dry run takes number 0 without using it up */
    put(w, "crashes", "id:000000,sig:11,src:000000,time:9,execs:90,op:dry_run,pos:0", "dry");
    assert_string_equal(harvest(w), "c:dry,");
    put(w, "crashes", "id:000000,sig:11,src:000000,time:50,execs:500,op:havoc,rep:1", "real");
    put(w, "crashes", "id:000001,sig:11,src:000000,time:40,execs:1000,op:havoc,rep:1", "next");
    assert_string_equal(harvest(w), "c:real,c:next,"); /* by executions: no clock is asked */
    assert_string_equal(harvest(w), "");
}

static void every_life_is_read_to_its_end(void **state)
{
    struct world *w = *state;
    put(w, "crashes", "id:000000,sig:06,src:000000,time:1,execs:10,op:havoc", "a");
    assert_string_equal(harvest(w), "c:a,");
    put(w, "crashes", "id:000001,sig:06,src:000000,time:1,execs:11,op:havoc", "b");
    new_life(w, 0); /* killed and restarted before the harvest */
    put(w, "crashes", "README.txt", "not a crash");
    put(w, "crashes", "id:000000,sig:06,src:000000,time:1,execs:12,op:havoc", "c");
    assert_string_equal(harvest(w), "c:b,c:c,");
    new_life(w, 1);
    assert_string_equal(harvest(w), "");
    put(w, "crashes", "id:000000,sig:06,src:000000,time:1,execs:3,op:havoc", "d");
    assert_string_equal(harvest(w), "c:d,");
}

/* Stopped by a signal between open and write, it goes on; killed there, it never does. */
static void an_empty_crash_waits_for_its_bytes(void **state)
{
    struct world *w = *state;
    const char *name = "id:000000,sig:06,src:000000,time:1,execs:10,op:havoc";
    put(w, "crashes", name, "");
    w->in->state = INST_PARKED;
    assert_string_equal(harvest(w), "");
    put(w, "crashes", name, "a");
    w->in->state = INST_PARKED;
    assert_string_equal(harvest(w), "c:a,");
    put(w, "crashes", "id:000001,sig:06,src:000000,time:1,execs:11,op:havoc", "");
    assert_string_equal(harvest(w), "");
    new_life(w, 0);
    put(w, "crashes", "id:000000,sig:06,src:000000,time:1,execs:3,op:havoc", "b");
    assert_string_equal(harvest(w), "c:b,");
}

/* Started again it links its queue back one by one; killed there, some are in both places. */
static void what_is_not_linked_back_yet_is_harvested(void **state)
{
    struct world *w = *state;
    put(w, "queue", "id:000000,src:000000,time:1,execs:1,op:havoc", "a");
    put(w, "_resume", "id:000000,src:000000,time:1,execs:1,op:havoc", "a");
    put(w, "_resume", "id:000001,src:000000,time:1,execs:2,op:havoc", "b");
    assert_string_equal(harvest(w), "s:a,s:b,");
    assert_string_equal(harvest(w), "");
}

/* Killed before it was written; its number may be given again.  Our made-up input is nobody's find. */
static void empty_and_made_up_entries_are_left_out(void **state)
{
    struct world *w = *state;
    put(w, "queue", "id:000000,time:0,execs:0,orig:z-fallback", "0");
    put(w, "queue", "id:000001,src:000000,time:1,execs:1,op:havoc", "");
    assert_string_equal(harvest(w), "");
    assert_string_equal(w->in->cursor, "q=1 c=0.0 h=0.0");
    put(w, "queue", "id:000001,src:000000,time:1,execs:1,op:havoc", "b");
    assert_string_equal(harvest(w), "s:b,");
}

static void a_crash_on_what_we_gave_is_an_echo(void **state)
{
    struct world *w = *state;
    struct input given = {1, "given", 5};
    assert_int_equal(inbox_known_add(w->dir, &given, 1, NULL), 0);
    put(w, "crashes", "id:000000,sig:11,src:000000,time:1,execs:10,op:havoc", "given");
    put(w, "crashes", "id:000001,sig:11,src:000001,time:1,execs:11,op:dry_run,pos:0", "own");
    put(w, "crashes", "id:000002,sig:11,src:000001,time:1,execs:12,op:dry_run,orig:s1", "trimmed");
    put(w, "hangs", "id:000000,src:000001,time:1,execs:12,op:havoc", "given");
    assert_string_equal(harvest(w), "e:given,c:own,e:trimmed,");
}

/* The lines of "export" say which queue entries are imports; one cut off by a kill does not count. */
static void imports_are_not_finds(void **state)
{
    struct world *w = *state;
    char path[128];
    const char *lines = "-1 id:000000,src:000000,time:1,execs:1,op:havoc\n"
                        "70 id:000002,time:2,execs:2\n"
                        "nonsense\n"
                        "71 id:000003,time:3,execs:3";
    snprintf(path, sizeof path, "%s/export", w->dir);
    assert_int_equal(fs_write_quick(path, lines, strlen(lines), NULL), 0);
    put(w, "queue", "id:000000,src:000000,time:1,execs:1,op:havoc", "a");
    put(w, "queue", "id:000001,time:0,execs:0,orig:s33", "start");
    put(w, "queue", "id:000002,time:2,execs:2", "given");
    put(w, "queue", "id:000003,time:3,execs:3", "cut");
    struct harvest h = {0};
    assert_int_equal(w->in->ops->harvest(w->in, &h, NULL), 0);
    assert_int_equal(h.n, 4);
    assert_int_equal(h.finds[0].kind, FIND_SEED);
    assert_int_equal(h.finds[0].parent_entry, 0);
    assert_int_equal(h.finds[1].kind, FIND_IMPORTED);
    assert_int_equal(h.finds[1].seed, 33);
    assert_int_equal(h.finds[2].kind, FIND_IMPORTED);
    assert_int_equal(h.finds[2].seed, 70);
    assert_int_equal(h.finds[2].entry, 2);
    assert_int_equal(h.finds[3].kind, FIND_SEED);
    assert_int_equal(h.finds[3].parent_entry, -1);
    harvest_free(&h);
}

/* Its files are gone, as after a power cut: what comes then has low numbers again, and is new. */
static void what_comes_after_a_loss_is_new(void **state)
{
    struct world *w = *state;
    open_in(w, "q=5 c=2.1 h=1.1");
    put(w, "queue", "id:000004,src:000000,time:1,execs:1,op:havoc", "known");
    assert_string_equal(harvest(w), "");
    assert_string_equal(w->in->cursor, "q=5 c=2.1 h=1.1");
    assert_int_equal(fs_remove_tree(w->dir, NULL), 0);
    open_in(w, "q=5 c=2.1 h=1.1");
    w->in->state = INST_PARKED; /* its queue may just be on its way */
    assert_string_equal(harvest(w), "");
    assert_string_equal(w->in->cursor, "q=5 c=2.1 h=1.1");
    assert_string_equal(harvest(w), "");
    assert_string_equal(w->in->cursor, "q=0 c=0.0 h=0.0");
    put(w, "queue", "id:000000,src:000000,time:1,execs:1,op:havoc", "a");
    put(w, "crashes", "id:000000,sig:06,src:000000,time:1,execs:3,op:havoc", "b");
    assert_string_equal(harvest(w), "s:a,c:b,");
    assert_string_equal(w->in->cursor, "q=1 c=0.1 h=0.0");
    open_in(w, "nonsense"); /* everything, rather than nothing */
    assert_string_equal(harvest(w), "s:a,c:b,");
}

/* The signal and the origin of a crash are in its name; a hang has no signal. */
static void crashes_have_a_signal_and_an_origin(void **state)
{
    struct world *w = *state;
    struct harvest h = {0};
    put(w, "crashes", "id:000000,sig:11,src:000042,time:1,execs:10,op:havoc", "a");
    put(w, "crashes", "id:000001,src:000043,time:1,execs:11,op:havoc", "b");
    put(w, "hangs", "id:000000,sig:11,src:000044,time:1,execs:12,op:havoc", "c");
    assert_int_equal(w->in->ops->harvest(w->in, &h, NULL), 0);
    assert_int_equal(h.n, 3);
    assert_int_equal(h.finds[0].signal, 11);
    assert_int_equal(h.finds[1].signal, 0);
    assert_int_equal(h.finds[2].signal, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(h.finds[i].parent_entry, 42 + i);
        assert_int_equal(h.finds[i].entry, -1); /* not in the queue */
    }
    harvest_free(&h);
}

static void numbers_may_be_large(void **state)
{
    struct world *w = *state;
    struct harvest h = {0};
    put(w, "queue", "id:123456,src:098765,time:1,execs:1,op:havoc", "a");
    assert_int_equal(w->in->ops->harvest(w->in, &h, NULL), 0);
    assert_int_equal(h.n, 1);
    assert_int_equal(h.finds[0].entry, 123456);
    assert_int_equal(h.finds[0].parent_entry, 98765);
    harvest_free(&h);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(numbers_of_crashes_are_not_unique),      T(every_life_is_read_to_its_end),
        T(an_empty_crash_waits_for_its_bytes),     T(what_is_not_linked_back_yet_is_harvested),
        T(a_crash_on_what_we_gave_is_an_echo),     T(imports_are_not_finds),
        T(empty_and_made_up_entries_are_left_out), T(crashes_have_a_signal_and_an_origin),
        T(what_comes_after_a_loss_is_new),         T(numbers_may_be_large),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
