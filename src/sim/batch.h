/* batch: many simulated campaigns under several schedulers, on several processes.
 *
 * Campaign i has the same world and the same seed under every scheduler, so differences can be taken pair by
 * pair; the results do not depend on the number of processes. */
#ifndef CAROL_SIM_BATCH_H
#define CAROL_SIM_BATCH_H

#include "sim/run.h"

struct batch_settings {
    struct run_settings run;       /* scheduler, params, seeds and out are set per campaign */
    const struct strv *schedulers; /* NAME[/key=value...] each */
    const char *params;            /* options for all of them; NULL: none */
    int campaigns, processes;
    uint64_t seed;
    const char
        *out; /* journals: here if there is one campaign, else in directories in it; NULL: none */
};

/* Whether every one of the schedulers exists and takes its options; runs nothing, writes nothing. */
CAROL_MUST_CHECK int batch_check(const struct batch_settings *st, struct err *e);
/* results[scheduler * campaigns + campaign]; the caller gives room for all. */
CAROL_MUST_CHECK int batch_run(const struct batch_settings *st, struct run_result *results,
                               struct err *e);
/* "NAME/key=value/..." -> name and "key=value,...[,more]"; both to be freed. */
void batch_spec(const char *spec, const char *more, char **name, char **params);

#endif
