/* words: what a target compares its input with, and what stands in its tables, as a dictionary.
 *
 * While the neutral build is compiled, a pass of AFL++'s notes the constants of each file in WORDS_RAW, as lines of a
 * dictionary (engines/changes.txt, words-*).  Here they become DIR/neutral/WORDS_NAME: each once, sorted, at
 * most WORDS_MAX of them, spread evenly.  One file for all targets of a build, since the compiler does not know what will be linked into which. */
#ifndef CAROL_TARGET_WORDS_H
#define CAROL_TARGET_WORDS_H

#include "base/err.h"

#define WORDS_RAW "words"            /* in the private directory of a build */
#define WORDS_NAME "carol-words.txt" /* in $OUT */
#define WORDS_MAX 1000               /* more are no help: a fuzzer takes one at random */

/* Make `to` of `raw`; nothing is made when there are no words. */
CAROL_MUST_CHECK int words_collect(const char *raw, const char *to, struct err *e);

#endif
