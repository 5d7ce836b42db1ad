/* ctl_afl: the hooks of afl-fuzz's custom mutator interface that every AFL arm shares.
 *
 * afl-fuzz calls post_process before every execution (calibration, trim, every stage), post_run after
 * it, queue_get before an entry is fuzzed and queue_new_entry after a new one was written.  We park
 * in post_process and in queue_get, never before the first entry is fuzzed, and not while a new entry is
 * calibrated (its speed is being measured) unless executions are slow.
 *
 * Imports run between two executions, whatever stage is at work (METHOD R22f): our build of afl-fuzz calls carol_next_import
 * before each (engines/changes.txt), and does not count what they bring as finds of the entry at hand.
 *
 * When a turn begins in another mode (modes.c) than that of the entry at hand, afl-fuzz is made to put the entry off:
 * SIGUSR1 also keeps it from looking at what the execution under way did, so nothing that the old mode made counts as a
 * find of the new one. */
#ifndef CAROL_CTL_AFL_H
#define CAROL_CTL_AFL_H

#include "ctl.h"

#define CTL_AFL_ENV_BATCHES "CAROL_CTL_BATCHES" /* if set, a cycle is 1,000 executions */
#define CTL_AFL_ENV_SEED "CAROL_CTL_SEED"

/* For a library with modes.  An entry of the queue begins: the mode to fuzz it in (page.h), in which turns may
 * pass, and whether a cycle of that mode is 1,000 executions or an entry. */
uint32_t ctl_afl_next_entry(void);
void ctl_afl_count_batches(bool yes);
bool ctl_afl_leaving(void); /* the entry at hand is to be put off */

/* Called by the hooks; a library with a mutator of its own defines them, others link ctl_afl_none.c. */
void ctl_afl_on_init(void);
void ctl_afl_on_new_entry(void); /* a new entry of the fuzzer's own (not of an import) was found */

#endif
