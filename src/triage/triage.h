/* triage: every crash and hang of a campaign becomes part of a defect, or is set aside with the reason.
 *
 *     triage_new(&t, loop, store, &opts, &e);     // the store of mode STORE_TRIAGE, or the campaign's
 *     triage_start(t, &e);                        // then the loop; opts.done is called when nothing is left
 *     triage_free(t);                             // at any time: what is under way is killed, what is stored stays
 *
 * The work goes in this order, each part on all lanes, and every result is a row of the store at once:
 *   buckets    each crash that has no row of these builds (look.h)
 *   confirm    of each defect the smallest input, then others, until one fails five times of five
 *   minimise   of each defect the input that counts, for so long (shrink.h)
 *   hangs      one at a time, alone, what may be another defect first (queue.h); then those are confirmed
 * So a second run does only what is new, and one that was killed goes on. */
#ifndef CAROL_TRIAGE_TRIAGE_H
#define CAROL_TRIAGE_TRIAGE_H

#include "base/str.h"
#include "proc/loop.h"
#include "store/store.h"
#include "triage/lab.h"

struct triage;

enum triage_part {
    PART_BUCKETS = 0,
    PART_CONFIRM,
    PART_MINIMISE,
    PART_HANGS,
    PART_CONFIRM_HANGS,
    PART_OVER
};
const char *triage_part_name(enum triage_part p); /* "running each again", ... */

struct triage_opts {
    struct lab_opts lab;
    const char *const *roster; /* names of the fuzzers, by arm; NULL at the end */
    int jobs;
    int64_t minimise_ns; /* for each defect; 0: not at all */
    int64_t hangs_ns;    /* no hang is begun after so long; the others wait.  -1: all are run */
    void *arg;
    void (*done)(void *arg, int rc, const struct err *e);
};

struct triage_progress {
    enum triage_part part;
    size_t done, total; /* of this part */
    size_t defects;
};

CAROL_MUST_CHECK int triage_new(struct triage **out, struct loop *l, struct store *s,
                                const struct triage_opts *o, struct err *e);
CAROL_MUST_CHECK int triage_start(struct triage *t, struct err *e);
void triage_progress(const struct triage *t, struct triage_progress *p);
const struct lab *triage_lab(const struct triage *t);
void triage_free(struct triage *t);

#endif
