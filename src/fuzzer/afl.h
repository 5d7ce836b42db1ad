/* afl: what the arms on afl-fuzz share: directories, command line, imports, harvest.
 *
 * DIR/in              the start corpus, files named s<id of the seed>
 * DIR/out/default     afl-fuzz's own output directory
 * DIR/out/default/{crashes,hangs}.<n>   those of the n-th life of it (before each restart we move them)
 * DIR/ctl.so          link to the control library, preloaded and given as the custom mutator
 * DIR/export          written by the library: "<import id or -1> <queue file>" per new entry
 *
 * An arm is a table of the differences: */
#ifndef CAROL_FUZZER_AFL_H
#define CAROL_FUZZER_AFL_H

#include "fuzzer/arm.h"
#include "fuzzer/live.h"

struct afl_way {
    bool batches;            /* a cycle is 1,000 executions, not an entry of the queue */
    bool only_library;       /* AFL_CUSTOM_MUTATOR_ONLY */
    bool plain;              /* no deterministic stage, no FrameShift */
    const char *const *args; /* further words; NULL: none */
};

extern const struct engine afl_engine;
CAROL_MUST_CHECK int afl_prepare(struct live *lv, const struct input *seeds, size_t n,
                                 struct err *e);
CAROL_MUST_CHECK int afl_command(struct live *lv, bool again, const struct afl_way *w,
                                 struct strv *argv, struct strv *env, struct err *e);
CAROL_MUST_CHECK int afl_deliver(struct live *lv, const struct input *inputs, size_t n,
                                 struct err *e);
CAROL_MUST_CHECK int afl_harvest(struct live *lv, struct harvest *h, struct err *e);

/* Is the program our build of afl-fuzz? */
CAROL_MUST_CHECK int afl_check(const struct instance_opts *o, struct err *e);

/* What every arm on afl-fuzz has in its table. */
#define AFL_COMMON                                                                                 \
    .engine = &afl_engine, .prepare = afl_prepare, .deliver = afl_deliver, .harvest = afl_harvest, \
    .noise = "Fuzzing test case #"
#define AFL_ARM AFL_COMMON, .check = afl_check

/* fuzzer/aflpp.c; lafintel is the same fuzzer on another binary. */
CAROL_MUST_CHECK int aflpp_command(struct live *lv, bool again, struct strv *argv, struct strv *env,
                                   struct err *e);

/* fuzzer/afl_modes.c: one afl-fuzz that is by turns each of those whose table has AFL_MODE. */
extern const struct arm host_afl;
#define AFL_MODE(m) .host = &host_afl, .mode = (m)
/* What the mutators of fuzzer/darwin.c and fuzzer/radamsa.c are told. */
void darwin_environment(const struct live *lv, struct strv *env);
void radamsa_environment(struct strv *env);

/* Is it built with the change of ours that brings this symbol (engines/changes.txt)?  If not, the message says what the
 * program lacks and what to do instead. */
CAROL_MUST_CHECK int afl_need_change(const char *symbol, const char *lacks, const char *otherwise,
                                     struct err *e);

/* fuzzer/afl_harvest.c: after a death, before anything is read or started again: an import that was being
 * executed when afl-fuzz was killed, and whose file was written, gets its line in the export list. */
void afl_settle(struct live *lv);

#endif
