/* radamsa: the real libradamsa as the only mutator of afl-fuzz. */
#include "base/where.h"
#include "fuzzer/afl.h"

#include <stdlib.h>

static const struct afl_way way = {
    .library = "ctl/libcarolradamsa.so", .imports = "fuzz", .only_library = true, .plain = true};

static int check(const struct instance_opts *o, struct err *e)
{
    int rc = live_need_file(where_engine("radamsa/libradamsa.so"), "libradamsa", e);
    return rc < 0 ? rc : afl_check(o, &way, e);
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    char *lib = where_engine("radamsa/libradamsa.so"), *real = realpath(lib, NULL);
    strv_addf(env, "CAROL_CTL_RADAMSA=%s", real ? real : lib);
    free(lib);
    free(real);
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_radamsa = {
    .name = "radamsa",
    .family = FAMILY_AFL,
    .cycle = "one queue entry fuzzed",
    .check = check,
    .command = command,
    AFL_ARM,
};
