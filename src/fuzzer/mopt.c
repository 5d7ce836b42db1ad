/* mopt: AFL++ with MOpt's particle swarm choosing the havoc operators, and nothing else.
 *
 * afl-fuzz refuses a custom mutator library together with -L 0; the build of ours has that one check
 * lifted.  A user's own unmodified binary is run the other way: -L -1, all other stages off by a
 * library that asks for no mutation of its own.  Which of the two a binary is, its message tells. */
#include "base/where.h"
#include "fuzzer/afl.h"
#include "fuzzer/ctlpage.h"

#include <string.h>

static const char *const pure_args[] = {"-L", "0", NULL};
static const struct afl_way pure = {.imports = "address", .plain = true, .args = pure_args};
static const char *const beside_args[] = {"-L", "-1", NULL};
static const struct afl_way beside = {.library = "ctl/libcarolnull.so",
                                      .imports = "address",
                                      .only_library = true,
                                      .plain = true,
                                      .args = beside_args};

/* The refusal is compiled out together with its message. */
static bool is_patched(void)
{
    static int known = -1;
    if (known < 0)
        known = !afl_program_has("MOpt and custom mutator are mutually exclusive");
    return known == 1;
}

static int check(const struct instance_opts *o, struct err *e)
{
    (void)o;
    return is_patched() ? 0
                        : live_need_file(where_runtime(beside.library), "the control library", e);
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    return afl_command(lv, again, is_patched() ? &pure : &beside, argv, env, e);
}

/* No hook tells the library that start-up is over; this line does. */
static void line(struct live *lv, const char *text)
{
    if (strstr(text, "Fuzzing test case #"))
        ctl_set32(&lv->page->started, 1);
}

const struct arm arm_mopt = {
    .name = "mopt",
    .summary = "AFL++ with MOpt's particle swarm choosing the mutations",
    .rosters = ROSTER_PAPER,
    .family = FAMILY_AFL,
    .library = "ctl/libcarolctl.so",
    .cycle = "1000 executions",
    .find_mark = "op:MOpt",
    .check = check,
    .command = command,
    .line = line,
    AFL_ARM,
    AFL_MODE(CTL_MODE_MOPT),
};
