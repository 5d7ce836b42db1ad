/* libfuzzer: the arm without libFuzzer: its directories are filled by hand.  What is a find and what is not, each
 * once, wherever its file is; what is delivered. */
#include "base/fs.h"
#include "base/hash.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/live.h"
#include "proc/loop.h"

#include <setjmp.h>
#include <signal.h>
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
    return world_begin(state, "libfuzzer", ".");
}

/* As libFuzzer saves it. */
static void put_entry(struct world *w, const char *sub, const char *text)
{
    char name[41];
    hash_sha1_hex(text, strlen(text), name);
    put(w, sub, name, text);
}

static size_t harvest(struct world *w, struct harvest *h)
{
    *h = (struct harvest){0};
    assert_int_equal(w->in->ops->harvest(w->in, h, NULL), 0);
    w->in->ops->harvested(w->in, h);
    return h->n;
}

static void deliver(struct world *w, uint64_t batch, const struct input *in, size_t n)
{
    assert_int_equal(w->in->ops->deliver(w->in, batch, in, n, NULL), 0);
}

static void an_entry_is_harvested_once_wherever_it_is(void **state)
{
    struct world *w = *state;
    struct harvest h;
    put_entry(w, "new", "first");
    put_entry(w, "new", "second");
    put_entry(w, "old", "second"); /* begun again, and executed again */
    assert_int_equal(harvest(w, &h), 2);
    for (size_t i = 0; i < h.n; i++)
        assert_int_equal(h.finds[i].kind, FIND_SEED);
    harvest_free(&h);
    put_entry(w, "old", "first"); /* begun again */
    put_entry(w, "old", "third"); /* and what it had found in between */
    assert_int_equal(harvest(w, &h), 1);
    assert_int_equal(h.finds[0].size, 5);
    assert_memory_equal(h.finds[0].data, "third", 5);
    open_in(w, h.cursor);
    harvest_free(&h);
    assert_int_equal(harvest(w, &h), 0);
    harvest_free(&h);
}

static void seeds_and_cut_files_are_no_finds(void **state)
{
    struct world *w = *state;
    struct harvest h;
    char name[41];
    hash_sha1_hex("whole", 5, name);
    put(w, "old", "s000000000003", "a seed");
    put(w, "new", name, "who");
    put(w, "crash", "whole", "on its way");
    put(w, "crash", "SIGSEGV.0000000000000001.0", "");
    assert_int_equal(harvest(w, &h), 0);
    harvest_free(&h);
    put(w, "new", name, "whole"); /* written again later */
    assert_int_equal(harvest(w, &h), 1);
    harvest_free(&h);
}

static void crashes_hangs_and_echoes(void **state)
{
    struct world *w = *state;
    struct harvest h;
    const struct input given[] = {
        {1, "crash we gave", 13}, {2, "hang we gave", 12}, {3, "kept", 4}};
    deliver(w, 1, given, 3);
    put(w, "crash", "SIGSEGV.00000000000000aa.0", "crash");
    put(w, "crash", "SIGABRT.00000000000000bb.0", "crash we gave");
    put(w, "crash", "SIGALRM.00000000000000cc.0", "hang");
    put(w, "crash", "SIGALRM.00000000000000cc.1", "hang we gave");
    put_entry(w, "new", "kept");
    assert_int_equal(harvest(w, &h), 3);
    int crashes = 0, echoes = 0, hangs = 0;
    for (size_t i = 0; i < h.n; i++) {
        const struct find *f = &h.finds[i];
        crashes += f->kind == FIND_CRASH && f->signal == SIGSEGV && f->size == 5;
        echoes += f->kind == FIND_ECHO && f->signal == SIGABRT && f->size == 13;
        hangs += f->kind == FIND_HANG && f->size == 4;
    }
    assert_true(crashes == 1 && echoes == 1 && hangs == 1);
    harvest_free(&h);
}

static void what_does_not_fit_is_not_offered(void **state)
{
    struct world *w = *state;
    static char big[(32 << 10) + 1];
    const struct input in[] = {{1, "one", 3}, {2, "", 0}, {3, big, sizeof big}, {4, big, 32 << 10}};
    struct live *lv = (struct live *)w->in;
    deliver(w, 1, in, 4);
    assert_int_equal(lv->offered, 2);
    assert_int_equal(ctl_get64(&lv->page->gen), 1);
    deliver(w, 2, in + 1, 2); /* nothing of it: no file that the library would find empty */
    assert_int_equal(lv->offered, 2);
    assert_int_equal(ctl_get64(&lv->page->gen), 1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(an_entry_is_harvested_once_wherever_it_is),
        T(seeds_and_cut_files_are_no_finds),
        T(crashes_hangs_and_echoes),
        T(what_does_not_fit_is_not_offered),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
