/* arm: what differs from fuzzer to fuzzer: one file and one `const struct arm` each (docs/ADDING_A_FUZZER.md).
 *
 * fuzzer/instance.c does everything that is common: the cage, the control page and its eventfd, turns,
 * time caps, the log, death and restart; it calls the arm for the rest. */
#ifndef CAROL_FUZZER_ARM_H
#define CAROL_FUZZER_ARM_H

#include "base/err.h"
#include "base/str.h"
#include "fuzzer/fuzzer.h"

#include <stdbool.h>

struct live; /* fuzzer/live.h: the common part of a real instance */

struct arm {
    const char *name;
    enum family family;
    const char *cycle; /* one internal cycle, in words */
    /* Are engine, library and binary there?  The message names the missing file and the fix. */
    int (*check)(const struct instance_opts *o, struct err *e);
    /* Lay out the start corpus (first start only; `again` finds the fuzzer's own directory). */
    int (*prepare)(struct live *lv, const struct input *seeds, size_t n, struct err *e);
    /* argv (argv[0] a path) and environment additions "K=V". */
    int (*command)(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e);
    int (*deliver)(struct live *lv, const struct input *inputs, size_t n, struct err *e);
    /* How many of the delivered inputs have been taken so far, in all. */
    uint64_t (*taken)(struct live *lv);
    int (*harvest)(struct live *lv, struct harvest *h, struct err *e);
    void (*harvested)(struct live *lv, const struct harvest *h); /* may prune; may be NULL */
    void (*line)(struct live *lv, const char *line); /* a line of its output; may be NULL */
    void (*close)(struct live *lv); /* the instance ends: free what lv->own holds; may be NULL */
    bool own_proc;                  /* it looks its target up in /proc (proc/cage.h) */
    const char *noise;              /* lines with this text in them are not logged; may be NULL */
};

extern const struct arm arm_aflpp, arm_darwin, arm_honggfuzz, arm_mopt, arm_lafintel, arm_radamsa;

#endif
