/* lafintel: AFL++ on the binary whose switches and comparisons are split (laf-intel). */
#include "fuzzer/afl.h"

const struct arm arm_lafintel = {
    .name = "lafintel",
    .family = FAMILY_LAF,
    .cycle = "one queue entry fuzzed",
    .check = aflpp_check,
    .command = aflpp_command,
    AFL_ARM,
};
