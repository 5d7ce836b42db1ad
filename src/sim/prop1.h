/* prop1: the paper's Proposition 1 as an environment for schedulers.
 *
 * Two fuzzers.  Whatever runs publishes an input that opens new ground for each of them with probability 1/2,
 * independently; a fuzzer earns 1 if the turn before opened ground for it, else 1/2.  What happened before
 * tells nothing about the coins of the next turn, so a scheduler that sees only history earns 3/4 per turn
 * whatever it does; one that sees the coins (the indicator) can earn 7/8. */
#ifndef CAROL_SIM_PROP1_H
#define CAROL_SIM_PROP1_H

#include "base/err.h"
#include "stats/estimate.h"

#include <stdbool.h>
#include <stdint.h>

#define PROP1_BLIND 0.75
#define PROP1_INFORMED 0.875
/* The signal that carries the indicator for a scheduler written NAME+z. */
#define PROP1_SIGNAL SIGNAL_SEC

struct prop1_settings {
    const char *spec; /* NAME[/key=value...][+z]: +z gives it the indicator */
    const char *params;
    int turns, runs;
    uint64_t seed;
};

struct prop1_result {
    struct estimate all;  /* reward per turn, over the runs */
    struct estimate late; /* the same, of the last quarter of the turns */
    bool informed;
};

CAROL_MUST_CHECK int prop1_run(const struct prop1_settings *st, struct prop1_result *out,
                               struct err *e);

#endif
