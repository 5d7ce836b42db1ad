/* radamsa: the real libradamsa as the only mutator of afl-fuzz. */
#include "base/where.h"
#include "fuzzer/afl.h"

#include <stdlib.h>

static const struct afl_way way = {.imports = "fuzz", .only_library = true, .plain = true};

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    char *lib = where_engine(lv->arm->part), *real = realpath(lib, NULL);
    strv_addf(env, "CAROL_CTL_RADAMSA=%s", real ? real : lib);
    free(lib);
    free(real);
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_radamsa = {
    .name = "radamsa",
    .summary = "AFL++ with radamsa as its only mutator",
    .rosters = ROSTER_PAPER,
    .family = FAMILY_AFL,
    .library = "ctl/libcarolradamsa.so",
    .part = "radamsa/libradamsa.so",
    .cycle = "one queue entry fuzzed",
    .command = command,
    AFL_ARM,
};
