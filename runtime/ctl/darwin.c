/* darwin: DARWIN as a mutator of afl-fuzz: every execution of its own evaluates one child (darwin_core.h); imports
 * evaluate none. */
#include "ctl_afl.h"
#include "darwin_core.h"
#include "dict.h"
#include "mutator.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct darwin d;
    struct dict dict;
    struct darwin_context context;
    bool running;   /* an execution of ours is to be evaluated */
    unsigned found; /* new entries since it began */
    uint64_t dry;   /* cycles when something was last found */
    uint8_t *buf;
    size_t room;
} st;

static void init(void)
{
    const char *seed = getenv(CTL_AFL_ENV_SEED), *dict = getenv("CAROL_CTL_DICT");
    if (dict)
        dict_read(&st.dict, dict);
    unsetenv("CAROL_CTL_DICT");
    st.context = (struct darwin_context){1, st.dict.tokens, st.dict.n};
    darwin_init(&st.d, st.dict.n ? DARWIN_OPERATORS_DICT : DARWIN_OPERATORS,
                seed ? strtoull(seed, NULL, 10) : 1);
}

static void found(void)
{
    st.found++;
}

static void take_over(void)
{
    st.running = false;
    st.found = 0;
}

static bool reserve(size_t max)
{
    if (st.room >= max)
        return true;
    uint8_t *p = realloc(st.buf, max);
    if (!p)
        return false;
    st.buf = p;
    st.room = max;
    return true;
}

/* afl-fuzz does not tell passes over the queue; entries fuzzed per entry there is are as good. */
static void follow_cycles(void)
{
    uint64_t cycles = ctl_page ? ctl_page->cycles : 0,
             entries = 1 + (ctl_page ? ctl_page->entries : 0);
    uint64_t pass = 1 + cycles / entries;
    st.context.queue_cycle = pass > 3 ? 3 : (unsigned)pass;
    if (st.found)
        st.dry = cycles;
}

/* AFL splices when a whole pass found nothing: 480 of its 736 executions per entry then. */
static bool splicing(void)
{
    uint64_t cycles = ctl_page ? ctl_page->cycles : 0,
             entries = 1 + (ctl_page ? ctl_page->entries : 0);
    return cycles > st.dry + entries && darwin_below(&st.d.rng, 736) < 480;
}

static size_t mutate(const uint8_t *buf, size_t n, const uint8_t *other, size_t other_n, size_t max)
{
    memcpy(st.buf, buf, n);
    if (other && other_n && splicing())
        n = darwin_splice(&st.d.rng, st.buf, n, max, other, other_n);
    unsigned op = darwin_select(&st.d), times = darwin_stacking(&st.d.rng);
    while (times--)
        n = darwin_apply(&st.d.rng, op, st.buf, n, max, &st.context);
    return n;
}

static size_t fuzz(uint8_t *buf, size_t n, uint8_t **out, const uint8_t *other, size_t other_n,
                   size_t max)
{
    if (st.running) {
        follow_cycles();
        darwin_evaluate(&st.d, st.found);
    }
    st.running = false;
    st.found = 0;
    if (n > max || !reserve(max)) {
        *out = buf;
        return n;
    }
    n = mutate(buf, n, other, other_n, max);
    st.running = true;
    *out = st.buf;
    return n;
}

const struct mutator mutator_darwin = {init, fuzz, found, take_over};
