/* aflpp: AFL++ as its authors ship it: deterministic stage and FrameShift on. */
#include "fuzzer/afl.h"

static const struct afl_way way = {.library = "ctl/libcarolctl.so", .imports = "havoc"};

int aflpp_check(const struct instance_opts *o, struct err *e)
{
    return afl_check(o, &way, e);
}

int aflpp_command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_aflpp = {
    .name = "aflpp",
    .family = FAMILY_AFL,
    .cycle = "one queue entry fuzzed",
    .check = aflpp_check,
    .command = aflpp_command,
    AFL_ARM,
};
