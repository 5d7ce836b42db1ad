/* lafintel: AFL++ on the binary whose switches and comparisons are split (laf-intel). */
#include "fuzzer/afl.h"

const struct arm arm_lafintel = {
    .name = "lafintel",
    .summary = "AFL++ on a build whose switches and comparisons are split (laf-intel)",
    .rosters = ROSTER_PAPER | ROSTER_DEFAULT,
    .family = FAMILY_LAF,
    .library = "ctl/libcarolctl.so",
    .cycle = "one queue entry fuzzed",
    .command = aflpp_command,
    AFL_ARM,
};
