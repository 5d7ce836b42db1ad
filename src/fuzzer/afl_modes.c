/* afl_modes: the host of the fuzzers that are modes of one afl-fuzz (METHOD R19e): one queue, one map, and a library
 * with all their mutators, which does what the control page says (runtime/ctl/modes.c). */
#include "base/fs.h"
#include "base/where.h"
#include "fuzzer/afl.h"

#include <stdlib.h>

/* MOpt's swarm is made at the start; our build of afl-fuzz leaves it to the mode whether it is used. */
static const char *const args[] = {"-L", "0", NULL};
static const struct afl_way way = {.args = args};

static int check(const struct instance_opts *o, struct err *e)
{
    int rc = afl_check(o, e);
    return rc < 0 ? rc
                  : afl_need_change("carol_mode",
                                    "cannot change its mode, as --instances fused needs it",
                                    "run with --instances own", e);
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    char *part = where_engine(arm_radamsa.part);
    darwin_environment(lv, env);
    if (fs_exists(part))
        radamsa_environment(env);
    free(part);
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm host_afl = {
    .name = "afl",
    .family = FAMILY_AFL,
    .library = "ctl/libcarolmodes.so",
    .check = check,
    .command = command,
    AFL_COMMON,
};
