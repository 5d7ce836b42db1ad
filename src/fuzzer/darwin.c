/* darwin: our own implementation of DARWIN's evolution strategy (runtime/ctl/darwin_core.h) as the only
 * mutator of afl-fuzz; not the authors' program, which cannot run targets of this AFL++. */
#include "fuzzer/afl.h"
#include "fuzzer/ctlpage.h"

static const struct afl_way way = {.only_library = true, .plain = true};

void darwin_environment(const struct live *lv, struct strv *env)
{
    if (lv->o.dict) /* its operators 15 and 16; afl_command makes the link */
        strv_add(env, "CAROL_CTL_DICT=./dict");
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    darwin_environment(lv, env);
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_darwin = {
    .name = "darwin",
    .summary = "AFL++ with DARWIN's evolution strategy as its only mutator",
    .rosters = ROSTER_PAPER,
    .family = FAMILY_AFL,
    .library = "ctl/libcaroldarwin.so",
    .cycle = "one queue entry fuzzed",
    .command = command,
    AFL_ARM,
    AFL_MODE(CTL_MODE_DARWIN),
};
