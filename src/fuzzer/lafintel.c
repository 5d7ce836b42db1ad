/* lafintel: AFL++ on the binary whose switches and comparisons are split (laf-intel). */
#include "fuzzer/afl.h"

static const struct afl_way way = {.library = "ctl/libcarolctl.so", .imports = "havoc"};

static int check(const struct instance_opts *o, struct err *e)
{
    return afl_check(o, &way, e);
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_lafintel = {
    .name = "lafintel",
    .family = FAMILY_LAF,
    .cycle = "one queue entry fuzzed",
    .check = check,
    .prepare = afl_prepare,
    .command = command,
    .deliver = afl_deliver,
    .taken = afl_taken,
    .harvest = afl_harvest,
    .noise = "Fuzzing test case #",
};
