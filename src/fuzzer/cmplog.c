/* cmplog: AFL++ that also runs each entry twice on the CmpLog build, sees both sides of its comparisons and tries
 * the values it saw in the input. */
#include "fuzzer/afl.h"

/* Started again, it has been through its queue before: CmpLog then looks at new entries only. */
static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    const char *const args[] = {"-c", lv->o.target->family[lv->arm->also].binary, NULL};
    const struct afl_way way = {.args = args};
    if (again)
        strv_add(env, "AFL_CMPLOG_ONLY_NEW=1");
    return afl_command(lv, again, &way, argv, env, e);
}

const struct arm arm_cmplog = {
    .name = "cmplog",
    .summary = "AFL++ that tries the operands of comparisons (CmpLog)",
    .rosters = ROSTER_DEFAULT,
    .family = FAMILY_AFL,
    .also = FAMILY_CMPLOG,
    .library = "ctl/libcarolctl.so",
    .cycle = "one queue entry fuzzed",
    .command = command,
    AFL_ARM,
};
