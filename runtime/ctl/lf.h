/* lf: the parts of libcarollf.so, which is preloaded into a target that has libFuzzer inside.
 *
 *     lf.c         the mutator that libFuzzer calls before each execution: parks, counts, takes imports
 *     lf_replay.c  the corpus, executed anew whenever the process begins
 *     lf_life.c    what ends libFuzzer's process makes it begin again: crashes, hangs, exits
 *
 * DIR/new is libFuzzer's corpus, empty when it begins; DIR/old what is to be executed first.  An execution from
 * there removes its file, or moves it to DIR/new when libFuzzer keeps it.  When the process begins, what is in
 * new goes to old.  So every entry is in one of them at any time, and one that ends the process is gone.
 * DIR/crash has the inputs of crashes (SIGSEGV.<place>.<n>) and hangs (SIGALRM.<place>.<n>), a few of each place.
 *
 * libFuzzer and the target are one process, and this library is in it: everything that may run after a crash uses
 * no heap and no lock. */
#ifndef CAROL_CTL_LF_H
#define CAROL_CTL_LF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LF_NOTHING "nothing" /* in DIR: a file that libFuzzer finds and cannot open */
#define LF_ENV_LIMIT "CAROL_CTL_TIMEOUT_MS" /* environment variable: of one execution */
#define LF_ENV_BYTES "CAROL_CTL_BYTES"      /* another: address space of the process; 0: no limit */

/* lf_replay.c */
void lf_replay_gather(const char *dir); /* before libFuzzer reads its corpus */
void lf_replay_begin(void);
bool lf_replay_pending(void);
/* The next input, cut to `max` bytes, valid until the next call; NULL: there is none. */
const uint8_t *lf_replay_next(size_t max, size_t *size);
void lf_replay_done(void); /* it was executed, or ended the process: its file goes */

/* lf_life.c: the process begins again when something ends it from lf_life_begin on. */
void lf_life_begin(void);
/* From here on these bytes are executed; they stay where they are.  NULL: nothing is. */
void lf_life_unit(const uint8_t *data, size_t size);
void lf_life_watch(bool on); /* for hangs */
/* Nothing is executed: begins again if the target has lost much memory, or all its descriptors. */
void lf_life_refresh(void);
void lf_life_silence(void);    /* what the target prints is not for the log */
void lf_life_room(bool on);    /* for a few descriptors more than the target may have */
bool lf_life_is_over(void);    /* it was asked to end */
_Noreturn void lf_leave(void); /* in order */

#endif
