/* campaign: one run of the ensemble on one target: seeds in, a journal out.
 *
 *     campaign_new(&c, &settings, &env, target, &e);    // a new directory, or settings.resume
 *     campaign_watch(c, draw, screen);                  // anybody who wants to see it run
 *     campaign_run(c, &e);                              // until the budget, a signal, or a reason to stop
 *     campaign_free(c);
 *
 * The campaign is driven by the loop of `env`; where its instances and evaluators come from is env's
 * business, so a unit test runs whole campaigns with fakes on virtual time.  Everything it decides is in
 * the store before it happens, so it can be killed at any moment and resumed. */
#ifndef CAROL_CAMPAIGN_CAMPAIGN_H
#define CAROL_CAMPAIGN_CAMPAIGN_H

#include "base/err.h"
#include "eval/eval.h"
#include "fuzzer/fuzzer.h"
#include "journal/settings.h"
#include "journal/status.h"
#include "proc/loop.h"
#include "target/manifest.h"
#include "target/table.h"
#include "triage/live.h"

#include <stdbool.h>
#include <stdint.h>

struct campaign;

/* Where the moving parts come from. */
struct campaign_env {
    struct loop *loop;
    const struct table *table;
    void *arg;
    int (*open_instance)(void *arg, struct instance **out, const struct instance_opts *o,
                         struct err *e);
    int (*open_evaluator)(void *arg, struct evaluator **out, int slot, int cpu, struct err *e);
    /* The name under which a fuzzer shares its instances with others when they are fused (METHOD R19e); NULL: it does
     * not.  May be NULL itself: none does. */
    const char *(*host)(const char *fuzzer);
    /* What a fuzzer runs and in which version, malloc'ed; NULL: unknown.  May be NULL itself. */
    char *(*version)(const char *fuzzer);
    /* Prove that an arm works here, before the first decision: call `done` from the loop with NULL or the
     * reason it does not.  done_arg is malloc'ed: an env that gives a test up frees it instead of calling
     * `done`.  NULL: no self-tests. */
    int (*selftest)(void *arg, const struct instance_opts *o, const struct input *seeds, size_t n,
                    void (*done)(void *done_arg, const char *why), void *done_arg, struct err *e);
    /* Triage of crashes while it runs; what the campaign wants to hear of it is in o.  NULL, or *out left NULL: there is
     * none. */
    int (*open_live)(void *arg, struct live **out, struct store *s, struct live_opts *o,
                     struct err *e);
};

/* Takes the settings (they are empty then).  On a resume all but the budget and the stop rules come from the
 * store. */
CAROL_MUST_CHECK int campaign_new(struct campaign **out, struct settings *o,
                                  const struct campaign_env *env, const struct manifest *target,
                                  struct err *e);
/* Everything up to the first turn of the loop; campaign_run does this itself. */
CAROL_MUST_CHECK int campaign_begin(struct campaign *c, struct err *e);
/* 0: ended as asked; negative: it could not go on, e says why and what to do. */
CAROL_MUST_CHECK int campaign_run(struct campaign *c, struct err *e);
/* Ask for the end: the first time finishes turns cleanly, the second stops at once. */
void campaign_interrupt(struct campaign *c);
void campaign_free(struct campaign *c);

/* --- looking at it while it runs ------------------------------------------------------------- */
/* Whoever watches is called once a second of campaign time. */
#define CAMPAIGN_WATCHERS 8
typedef void campaign_watch_fn(void *arg, const struct campaign *c);
void campaign_watch(struct campaign *c, campaign_watch_fn *fn, void *arg);

const struct settings *campaign_settings(const struct campaign *c);
const struct tally *campaign_tally(const struct campaign *c);
const struct gauges *campaign_gauges(const struct campaign *c);
/* The state as it is in memory, which is what the record says. */
void campaign_status(const struct campaign *c, struct status *st);
/* Reads what the record says of defects, into the gauges: `carol triage` may work beside the campaign.  At most once a
 * second, and on at most a thousandth of the time. */
CAROL_MUST_CHECK int campaign_look_at_triage(struct campaign *c, struct err *e);
int64_t campaign_elapsed(const struct campaign *c);
/* Campaign time since the last new edge. */
int64_t campaign_quiet(const struct campaign *c);
/* Who runs on a slot: its arm, or -1 idle; *measuring says its finds are being measured. */
int campaign_slot_arm(const struct campaign *c, int slot, bool *measuring);
bool campaign_found_crash(const struct campaign *c);
/* Was it stopped at once, in a hurry? */
bool campaign_cut_off(const struct campaign *c);
/* Did it end because of --stop-on-defect? */
bool campaign_found_defects(const struct campaign *c);
const char *campaign_end_reason(const struct campaign *c); /* NULL while it runs */

#endif
