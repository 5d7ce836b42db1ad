/* radamsa: the real libradamsa as the only mutator of afl-fuzz. */
#include "base/where.h"
#include "fuzzer/afl.h"
#include "fuzzer/ctlpage.h"

#include <stdlib.h>

static const struct afl_way way = {.only_library = true, .plain = true};

void radamsa_environment(struct strv *env)
{
    char *lib = where_engine(arm_radamsa.part), *real = realpath(lib, NULL);
    strv_addf(env, "CAROL_CTL_RADAMSA=%s", real ? real : lib);
    free(lib);
    free(real);
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    radamsa_environment(env);
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
    AFL_MODE(CTL_MODE_RADAMSA),
};
