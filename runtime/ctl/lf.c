/* lf: the custom mutator of libFuzzer: parks before an execution, counts it, and has it run an input from the
 * corpus or an import instead of a mutation.  Mutates nothing itself: that is left to libFuzzer. */
#include "lf.h"

#include "ctl.h"

#include <stdlib.h>
#include <string.h>

#define CYCLE 1000 /* executions: libFuzzer has no cycle of its own */

/* libFuzzer's own, in the target; a build without it is not started (src/fuzzer/libfuzzer.c). */
extern size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
CTL_EXPORTED size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* libFuzzer mutates the same buffer several times before it takes the next entry.  What it was working on when we put
 * something else there comes back afterwards, so that an input of ours is executed, and not also mutated. */
static uint8_t *base, *last; /* its own bytes; the last of ours */
static size_t base_size, last_size, room;

static bool make_room(size_t max)
{
    if (room < max) {
        free(base);
        free(last);
        base = malloc(max);
        last = malloc(max);
        room = base && last ? max : 0;
        last_size = 0;
    }
    return room >= max;
}

static bool is_ours(const uint8_t *data, size_t size)
{
    return last_size && size == last_size && memcmp(data, last, size) == 0;
}

static size_t put_ours(uint8_t *data, size_t size, const void *ours, size_t n)
{
    if (!is_ours(data, size)) {
        memcpy(base, data, size);
        base_size = size;
    }
    memcpy(data, ours, n);
    memcpy(last, ours, n);
    last_size = n;
    return n;
}

static size_t mutate(uint8_t *data, size_t size, size_t max)
{
    if (is_ours(data, size)) {
        memcpy(data, base, base_size);
        size = base_size;
    }
    last_size = 0;
    return LLVMFuzzerMutate(data, size, max);
}

/* It opens files when there are new ones, and at first; the target may have used up all descriptors but ours. */
static const struct ctl_record *next_import(void)
{
    static bool looked;
    bool opens = !looked || __atomic_load_n(&ctl_page->gen, __ATOMIC_ACQUIRE) != ctl_page->gen_at;
    looked = true;
    if (opens)
        lf_life_room(true);
    const struct ctl_record *r = ctl_import_next();
    if (opens)
        lf_life_room(false);
    return r;
}

/* The next import that fits; its size, 0: there is none. */
static size_t take_import(uint8_t *data, size_t size, size_t max)
{
    const struct ctl_record *r;
    struct ctl_record head;
    while ((r = next_import())) {
        memcpy(&head, r, sizeof head);
        if (head.size && head.size <= max)
            return put_ours(data, size, r + 1, head.size);
        ctl_import_done();
    }
    return 0;
}

/* The start corpus is no part of a turn.  A process that begins again in one may be asked to park on the way. */
static void park_if_asked(void)
{
    if (!ctl_page->ready && lf_replay_pending())
        return;
    if (!ctl_page->ready)
        ctl_page->steps = 0;
    bool wait = ctl_parking_wanted() || !ctl_page->ready;
    if (wait)
        lf_life_watch(false);
    ctl_safe_point();
    if (wait)
        lf_life_watch(true);
}

static void count(void)
{
    ctl_add_exec();
    if (!ctl_page->ready || ++ctl_page->steps < CYCLE)
        return;
    ctl_page->steps = 0;
    ctl_add_cycle();
    if (!lf_replay_pending()) /* what the corpus takes is not lost */
        lf_life_refresh();
}

/* One execution is over and the next has not begun. */
static void between(void)
{
    static bool begun;
    lf_life_unit(NULL, 0);
    lf_replay_done();
    ctl_import_done();
    if (!begun) {
        begun = true;
        lf_replay_begin();
        lf_life_begin();
    }
    park_if_asked();
    if (lf_life_is_over())
        lf_leave();
    count();
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size_t n = 0;
    (void)seed;
    if (!ctl_page || !make_room(max))
        return LLVMFuzzerMutate(data, size, max);
    between();
    const uint8_t *again = lf_replay_next(max, &n);
    if (again)
        n = put_ours(data, size, again, n);
    else if (!(n = take_import(data, size, max)))
        n = mutate(data, size, max);
    lf_life_unit(data, n);
    return n;
}
