/* mopt: AFL++ with MOpt's particle swarm choosing the havoc operators, and nothing else.
 *
 * afl-fuzz refuses a custom mutator library together with -L 0; our build has that one check lifted. */
#include "fuzzer/afl.h"
#include "fuzzer/ctlpage.h"

#include <string.h>

static const char *const args[] = {"-L", "0", NULL};
static const struct afl_way way = {.batches = true, .plain = true, .args = args};

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    return afl_command(lv, again, &way, argv, env, e);
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
    .command = command,
    .line = line,
    AFL_ARM,
    AFL_MODE(CTL_MODE_MOPT),
};
