/* campaign: one run of the ensemble on one target: seeds in, a journal out.
 *
 *     campaign_new(&c, &opts, &env, &e);    // a new directory, or opts.resume
 *     campaign_run(c, &e);                  // until the budget, a signal, or a reason to stop
 *     campaign_free(c);
 *
 * The campaign is driven by the loop of `env`; where its instances and evaluators come from is env's
 * business, so a unit test runs whole campaigns with fakes on virtual time.  Everything it decides is in
 * the store before it happens, so it can be killed at any moment and resumed. */
#ifndef CAROL_CAMPAIGN_CAMPAIGN_H
#define CAROL_CAMPAIGN_CAMPAIGN_H

#include "base/err.h"
#include "base/str.h"
#include "eval/eval.h"
#include "fuzzer/fuzzer.h"
#include "proc/loop.h"
#include "reward/reward.h"
#include "target/manifest.h"
#include "target/table.h"

#include <stdbool.h>
#include <stdint.h>

struct campaign;

/* What the user asked for.  On --resume everything but the budget and the stop rules comes from the
 * store. */
struct campaign_opts {
    char *out;            /* campaign directory */
    char *build, *target; /* build directory and target name (NULL: the only one) */
    struct strv seeds;    /* files, directories, zips */
    char *dict;
    struct strv fuzzers; /* roster */
    char *scheduler, *params;
    int jobs;          /* slots */
    int64_t budget_ns; /* 0: until stopped */
    int64_t turn_ns;   /* T_I */
    uint64_t seed;
    uint64_t mem_bytes;
    uint32_t timeout_ms;
    struct strv args; /* of a main() program, with @@ */
    enum reward_kind reward;
    int64_t plateau_ns; /* stop after this long without a new edge; 0: never */
    bool stop_on_crash;
    bool neutral_filter; /* share only inputs with a new edge on the neutral build */
    bool resume;
    bool budget_given; /* on resume: -d was given again */
};
void campaign_opts_free(struct campaign_opts *o);

/* Where the moving parts come from. */
struct campaign_env {
    struct loop *loop;
    const struct table *table;
    void *arg;
    int (*open_instance)(void *arg, struct instance **out, const struct instance_opts *o,
                         struct err *e);
    int (*open_evaluator)(void *arg, struct evaluator **out, int slot, int cpu, struct err *e);
    /* Prove that an arm works here, before the first decision: call `done` from the loop with NULL or the
     * reason it does not.  done_arg is malloc'ed: an env that gives a test up frees it instead of calling
     * `done`.  NULL: no self-tests. */
    int (*selftest)(void *arg, const struct instance_opts *o, const struct input *seeds, size_t n,
                    void (*done)(void *done_arg, const char *why), void *done_arg, struct err *e);
    /* Called once a second of campaign time and after every event worth showing; may be NULL. */
    void (*progress)(void *arg, struct campaign *c);
};

CAROL_MUST_CHECK int campaign_new(struct campaign **out, struct campaign_opts *o,
                                  const struct campaign_env *env, const struct manifest *target,
                                  struct err *e);
/* Arms that failed their self-test: dropped with the reason before the first decision. */
void campaign_drop(struct campaign *c, const char *fuzzer, const char *why);
/* Everything up to the first turn of the loop; campaign_run does this itself. */
CAROL_MUST_CHECK int campaign_begin(struct campaign *c, struct err *e);
/* 0: ended as asked; negative: it could not go on, e says why and what to do. */
CAROL_MUST_CHECK int campaign_run(struct campaign *c, struct err *e);
/* Ask for the end: the first time finishes turns cleanly, the second stops at once. */
void campaign_interrupt(struct campaign *c);
void campaign_free(struct campaign *c);

/* --- looking at it while it runs ------------------------------------------------------------- */
struct tally;
const struct tally *campaign_tally(const struct campaign *c);
int64_t campaign_elapsed(const struct campaign *c);
/* Who runs on a slot: its arm, or -1 idle; *evaluating says it is being measured. */
int campaign_slot_arm(const struct campaign *c, int slot, bool *evaluating);
bool campaign_found_crash(const struct campaign *c);
const char *campaign_end_reason(const struct campaign *c); /* NULL while it runs */

#endif
