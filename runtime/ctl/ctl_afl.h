/* ctl_afl: the hooks of afl-fuzz's custom mutator interface that every AFL arm shares.
 *
 * afl-fuzz calls post_process before every execution (calibration, trim, every stage), post_run after
 * it, queue_get before an entry is fuzzed and queue_new_entry after a new one was written.  We park
 * in post_process and in queue_get, never before the first entry is fuzzed, and not while a new entry is
 * calibrated (its speed is being measured) unless executions are slow.
 *
 * Ways of import, CAROL_CTL_IMPORT: "havoc" (the havoc stage asks us for a mutation: the buffer stays
 * and the next execution runs the import; the CmpLog stage calls carol_import between its executions), "address"
 * (MOpt calls no hook in its stage: any call from where the very first came), "fuzz" (the library's own
 * afl_custom_fuzz takes imports by itself).
 *
 * A library with modes (modes.c) changes the way from entry to entry.  When a turn begins in another mode than that of
 * the entry at hand, afl-fuzz is made to put the entry off: SIGUSR1 also keeps it from looking at what the execution
 * under way did, so nothing that the old mode made counts as a find of the new one. */
#ifndef CAROL_CTL_AFL_H
#define CAROL_CTL_AFL_H

#include "ctl.h"

#define CTL_AFL_ENV_IMPORT "CAROL_CTL_IMPORT"
#define CTL_AFL_ENV_TIMEOUT "CAROL_CTL_TIMEOUT_MS"
#define CTL_AFL_ENV_SEED "CAROL_CTL_SEED"

enum ctl_way { CTL_WAY_HAVOC = 0, CTL_WAY_ADDRESS, CTL_WAY_FUZZ };

/* For a library with modes.  An entry of the queue begins: the mode to fuzz it in (page.h), in which turns may
 * pass, and how that mode takes imports. */
uint32_t ctl_afl_next_entry(void);
void ctl_afl_take_by(enum ctl_way way);
bool ctl_afl_leaving(void); /* the entry at hand is to be put off */

/* Called by the hooks; a library with a mutator of its own defines them, others link ctl_afl_none.c. */
void ctl_afl_on_init(void);
void ctl_afl_on_new_entry(void); /* a new entry of the fuzzer's own (not of an import) was found */

/* For afl_custom_fuzz: the next import with at least one byte (valid until the next call) and its
 * size; 0: none, and what is executed next is the fuzzer's own. */
size_t ctl_afl_import(unsigned char **out);

#endif
