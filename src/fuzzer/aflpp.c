/* aflpp: AFL++ as its authors ship it: deterministic stage and FrameShift on. */
#include "fuzzer/afl.h"
#include "fuzzer/ctlpage.h"

static const struct afl_way way = {0};

int aflpp_command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_aflpp = {
    .name = "aflpp",
    .summary = "AFL++ as its authors ship it",
    .rosters = ROSTER_PAPER | ROSTER_DEFAULT,
    .family = FAMILY_AFL,
    .library = "ctl/libcarolctl.so",
    .cycle = "one queue entry fuzzed",
    .command = aflpp_command,
    AFL_ARM,
    AFL_MODE(CTL_MODE_AFLPP),
};
