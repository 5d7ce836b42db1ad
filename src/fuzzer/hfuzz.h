/* hfuzz: what the two files of the honggfuzz arm share.
 *
 * DIR/in     the start corpus, files named s<id of the seed>
 * DIR/out    honggfuzz's corpus: what a restart begins with
 * DIR/new    what it found after the start corpus; pruned once the store has it
 * DIR/crash  crashes and time-outs, a few of each place
 * DIR/stage  imports on their way to DIR/dyn
 * DIR/dyn    imports offered; honggfuzz removes what it has read
 * DIR/finds  names of all files ever harvested from new and crash, in that order: the cursor counts them
 * DIR/known  hashes of all we ever gave (fuzzer/inbox.h) */
#ifndef CAROL_FUZZER_HFUZZ_H
#define CAROL_FUZZER_HFUZZ_H

#include "fuzzer/arm.h"
#include "fuzzer/live.h"

CAROL_MUST_CHECK int hfuzz_harvest(struct live *lv, struct harvest *h, struct err *e);
void hfuzz_harvested(struct live *lv, const struct harvest *h);

#endif
