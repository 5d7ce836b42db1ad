/* darwin: our own implementation of DARWIN's evolution strategy (runtime/ctl/darwin_core.h) as the only
 * mutator of afl-fuzz; not the authors' program, which cannot run targets of this AFL++. */
#include "fuzzer/afl.h"

static const struct afl_way way = {
    .library = "ctl/libcaroldarwin.so", .imports = "fuzz", .only_library = true, .plain = true};

static int check(const struct instance_opts *o, struct err *e)
{
    return afl_check(o, &way, e);
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    if (lv->o.dict) /* its operators 15 and 16; afl_command makes the link */
        strv_add(env, "CAROL_CTL_DICT=./dict");
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_darwin = {
    .name = "darwin",
    .family = FAMILY_AFL,
    .cycle = "one queue entry fuzzed",
    .check = check,
    .command = command,
    AFL_ARM,
};
