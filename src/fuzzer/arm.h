/* arm: what differs from fuzzer to fuzzer: one file with one `const struct arm`, and one line in arms.def
 * (docs/ADDING_A_FUZZER.md).  Doctor, help, rosters, builds and self-tests know fuzzers from here only.
 *
 * fuzzer/instance.c does everything that is common: the cage, the control page and its eventfd, turns,
 * time caps, the log, death and restart; it calls the arm for the rest. */
#ifndef CAROL_FUZZER_ARM_H
#define CAROL_FUZZER_ARM_H

#include "base/err.h"
#include "base/str.h"
#include "fuzzer/fuzzer.h"
#include "target/tools.h"

#include <stdbool.h>
#include <stdint.h>

struct live; /* fuzzer/live.h: the common part of a real instance */

/* The rosters that an arm can belong to (fuzzer_roster); every arm is in "all". */
enum { ROSTER_PAPER = 1, ROSTER_DEFAULT = 2 };

struct arm {
    const char *name, *summary;  /* the summary is a line of help texts */
    unsigned rosters;            /* ROSTER_..., or 0 */
    enum family family;          /* the build of the target it runs on */
    enum family also;            /* a second build that it needs; FAMILY_NONE: none */
    const struct engine *engine; /* the program it runs (target/tools.h); NULL: the target itself */
    const char *library;         /* our control library for it, below the runtime directory */
    const char *part;            /* one more file of the engines that it needs; may be NULL */
    const char *cycle;           /* one internal cycle, in words */
    const char *find_mark;       /* part of the name of each of its own finds; may be NULL */
    /* Is there what the fields above do not name?  The message names the missing file and the fix; may be
     * NULL. */
    int (*check)(const struct instance_opts *o, struct err *e);
    /* Lay out the start corpus (first start only; `again` finds the fuzzer's own directory). */
    int (*prepare)(struct live *lv, const struct input *seeds, size_t n, struct err *e);
    /* argv (argv[0] a path) and environment additions "K=V". */
    int (*command)(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e);
    int (*deliver)(struct live *lv, const struct input *inputs, size_t n, struct err *e);
    int (*harvest)(struct live *lv, struct harvest *h, struct err *e);
    void (*harvested)(struct live *lv, const struct harvest *h); /* may prune; may be NULL */
    void (*line)(struct live *lv, const char *line); /* a line of its output; may be NULL */
    void (*close)(struct live *lv); /* the instance ends: free what lv->own holds; may be NULL */
    bool own_proc;                  /* it looks its target up in /proc (proc/cage.h) */
    const char *noise;              /* lines with this text in them are not logged; may be NULL */
    /* With fused instances (METHOD R19e) it is this mode (enum ctl_mode) of the instances of its host, which is no
     * fuzzer of its own; NULL: it never is. */
    const struct arm *host;
    uint32_t mode;
};

#define ARM(name) extern const struct arm arm_##name;
#include "fuzzer/arms.def"
#undef ARM

extern const struct arm *const arm_table[];   /* all of them, then NULL */
const struct arm *arm_find(const char *name); /* NULL: there is none */
/* Wrong usage: the message lists fuzzers and rosters. */
int arm_unknown(const char *name, struct err *e);

#endif
