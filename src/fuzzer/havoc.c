/* havoc: AFL++ without its deterministic stage and FrameShift. */
#include "fuzzer/afl.h"
#include "fuzzer/ctlpage.h"

static const struct afl_way way = {.plain = true};

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_havoc = {
    .name = "havoc",
    .summary = "AFL++ without its deterministic stage and FrameShift",
    .family = FAMILY_AFL,
    .library = "ctl/libcarolctl.so",
    .cycle = "one queue entry fuzzed",
    .command = command,
    AFL_ARM,
    AFL_MODE(CTL_MODE_HAVOC),
};
