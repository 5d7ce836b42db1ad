/* sim: what the files of `carol sim` share. */
#ifndef CAROL_CLI_SIM_H
#define CAROL_CLI_SIM_H

#include "sim/batch.h"
#include "stats/estimate.h"

#include <jansson.h>
#include <stdbool.h>

int sim_ensemble(int argc, char **argv);
int sim_known(int argc, char **argv);

/* The options of prop1 and known. */
struct sim_args {
    const char *what; /* prop1 or known */
    struct strv list; /* schedulers */
    uint64_t turns, runs, seed, fuzzers, workers;
    bool json, help;
    bool trial; /* print nothing */
};
/* prop1 and known from the command line to the exit code: options into a, which holds the defaults (-k and -j
 * only when a->fuzzers says there is a pool); without -s every scheduler and `also`; then play. */
int sim_play(int argc, char **argv, struct sim_args *a, const char *help, const char *also,
             int (*play)(const struct sim_args *a, struct err *e));
/* {schema, simulated, turns, runs, seed, schedulers} to standard output; takes rows. */
void sim_dump(const struct sim_args *a, json_t *rows);

/* Every scheduler there is that needs no argument. */
void sim_all_schedulers(struct strv *list);
/* {mean, low, high} of a 95 % interval. */
json_t *sim_estimate_json(struct estimate e);

/* The answer of an ensemble. */
struct sim_answer {
    const struct batch_settings *st;
    const struct run_result *results;
    double wall_s;
    const char *graph; /* "synthetic", or the build directory */
};
void sim_print_text(const struct sim_answer *a);
void sim_print_json(const struct sim_answer *a);

#endif
