/* radamsa: libradamsa as a mutator of afl-fuzz.  The library is the real one, loaded from the path in
 * CAROL_CTL_RADAMSA; its output depends on its whole history, not on the seed alone. */
#include "ctl_afl.h"
#include "mutator.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_LEAST ((size_t)64 << 10)

static struct {
    size_t (*radamsa)(uint8_t *in, size_t n, uint8_t *out, size_t max, unsigned seed);
    unsigned seed;
    uint8_t *buf;
    size_t room;
} st;

static void init(void)
{
    const char *path = getenv("CAROL_CTL_RADAMSA"), *seed = getenv(CTL_AFL_ENV_SEED);
    void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*start)(void) = lib ? (void (*)(void))dlsym(lib, "radamsa_init") : NULL;
    st.radamsa =
        lib ? (size_t (*)(uint8_t *, size_t, uint8_t *, size_t, unsigned))dlsym(lib, "radamsa")
            : NULL;
    if (!start || !st.radamsa) {
        fprintf(stderr, "ABORT: cannot load libradamsa (%s)\n", path ? dlerror() : "no path given");
        exit(1);
    }
    start();
    st.seed = (unsigned)(seed ? strtoull(seed, NULL, 10) : 1);
    unsetenv("CAROL_CTL_RADAMSA");
}

/* Some of its mutations multiply the input: room for a multiple of it, not always for all of max. */
static size_t reserve(size_t n, size_t max)
{
    size_t want = 4 * n > OUTPUT_LEAST ? 4 * n : OUTPUT_LEAST;
    want = want < max ? want : max;
    if (want > st.room) {
        uint8_t *p = realloc(st.buf, want);
        if (!p)
            return 0;
        st.buf = p;
        st.room = want;
    }
    return want;
}

static size_t fuzz(uint8_t *buf, size_t n, uint8_t **out, const uint8_t *other, size_t other_n,
                   size_t max)
{
    (void)other;
    (void)other_n;
    size_t room = reserve(n, max), made = room ? st.radamsa(buf, n, st.buf, room, st.seed++) : 0;
    *out = made ? st.buf : buf;
    return made ? made : n;
}

const struct mutator mutator_radamsa = {init, fuzz, NULL, NULL};
