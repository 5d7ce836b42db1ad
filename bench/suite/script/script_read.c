/* script_read: runs the input as a script with MuJS.
 * A state is made once and copied: every script has a fresh one, at the same place.  A script ends
 * when it has spent its steps: instructions, look-ups, characters and patterns read, and a share of
 * what it allocates. */
#include "oracle.h"

#include <mujs.h>
#include <sanitizer/asan_interface.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LONGEST = 8192, STEPS = 50000, BYTES_PER_STEP = 64, UNIT = 16, MADE = 1 << 19 };

struct block {
    _Alignas(UNIT) size_t size;
};

/* What a script can pay for fits.  Blocks lie one behind the other and are never used again. */
static _Alignas(UNIT) char area[MADE + STEPS * BYTES_PER_STEP];
static char made[MADE]; /* a copy of area as it was when the state was made */
static size_t used, used_when_made;
static js_State *state;
static int steps;   /* left */
static int running; /* steps count */
static jmp_buf spent;

void script_spend(int n); /* called by MuJS */

void script_spend(int n)
{
    if (running && (steps -= n) < 0)
        longjmp(spent, 1);
}

static void *new_block(size_t size)
{
    struct block *b = (struct block *)(area + used);
    size_t whole = sizeof *b + (size + UNIT - 1) / UNIT * UNIT + UNIT; /* a gap behind it */
    script_spend((int)(whole / BYTES_PER_STEP + 1));
    if (whole > sizeof area - used)
        return NULL;
    used += whole;
    ASAN_UNPOISON_MEMORY_REGION(b, sizeof *b + size);
    b->size = size;
    return b + 1;
}

static void *allocate(void *unused, void *at, int size)
{
    (void)unused;
    void *to = size > 0 ? new_block((size_t)size) : NULL;
    if (!at || (size && !to))
        return to;
    size_t old = ((struct block *)at - 1)->size;
    if (to)
        memcpy(to, at, old < (size_t)size ? old : (size_t)size);
    ASAN_POISON_MEMORY_REGION(at, old);
    return to;
}

static void say_nothing(js_State *unused, const char *message)
{
    (void)unused;
    (void)message;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    ASAN_POISON_MEMORY_REGION(area, sizeof area);
    state = js_newstate(allocate, NULL, 0);
    if (!state || used > MADE)
        __builtin_trap();
    js_setreport(state, say_nothing);
    js_gc(state, 0);
    ASAN_UNPOISON_MEMORY_REGION(area, used);
    memcpy(made, area, used);
    used_when_made = used;
    return 0;
}

static void run(const char *text)
{
    ASAN_POISON_MEMORY_REGION(area + used_when_made, used - used_when_made);
    ASAN_UNPOISON_MEMORY_REGION(area, used_when_made);
    used = used_when_made;
    memcpy(area, made, used);
    steps = STEPS;
    running = 1;
    if (setjmp(spent) == 0)
        js_dostring(state, text);
    running = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[LONGEST + 1];
    carol_input("script");
    if (size > LONGEST)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    run(text);
    return 0;
}
