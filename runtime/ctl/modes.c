/* modes: several fuzzers as modes of one afl-fuzz with one queue (METHOD R19e).  Our build of afl-fuzz asks
 * carol_mode how to fuzz the next entry (engines/changes.txt). */
#include "ctl_afl.h"
#include "mutator.h"

#include <stdlib.h>

/* What carol_mode answers, added up. */
enum { ONLY_US = 1, PLAIN = 2, MOPT = 4 };

static const struct mode {
    unsigned how;
    const struct mutator *mutator;
    const char *mark; /* in the names of what the mutator finds */
} modes[] = {
    [CTL_MODE_NONE] = {0, NULL, NULL},
    [CTL_MODE_AFLPP] = {0, NULL, NULL},
    [CTL_MODE_HAVOC] = {PLAIN, NULL, NULL},
    [CTL_MODE_MOPT] = {PLAIN | MOPT, NULL, NULL},
    [CTL_MODE_DARWIN] = {PLAIN | ONLY_US, &mutator_darwin, "op:darwin"},
    [CTL_MODE_RADAMSA] = {PLAIN | ONLY_US, &mutator_radamsa, "op:radamsa"},
};
static const struct mode *now = modes;

CTL_EXPORTED unsigned carol_mode(void);
CTL_EXPORTED size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t n, uint8_t **out,
                                    uint8_t *other, size_t other_n, size_t max);
CTL_EXPORTED const char *afl_custom_describe(void *data, size_t max);

void ctl_afl_on_init(void)
{
    mutator_darwin.init();
    if (getenv("CAROL_CTL_RADAMSA"))
        mutator_radamsa.init();
}

void ctl_afl_on_new_entry(void)
{
    if (now->mutator && now->mutator->found)
        now->mutator->found();
}

unsigned carol_mode(void)
{
    uint32_t number = ctl_afl_next_entry();
    const struct mode *next = &modes[number < sizeof modes / sizeof *modes ? number : 0];
    if (next != now && next->mutator && next->mutator->take_over)
        next->mutator->take_over();
    now = next;
    ctl_afl_count_batches((now->how & MOPT) != 0);
    return now->how;
}

size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t n, uint8_t **out, uint8_t *other,
                       size_t other_n, size_t max)
{
    (void)data;
    if (now->mutator && !ctl_afl_leaving())
        return now->mutator->fuzz(buf, n, out, other, other_n, max);
    *out = buf;
    return n;
}

const char *afl_custom_describe(void *data, size_t max)
{
    (void)data;
    (void)max;
    return now->mark;
}
