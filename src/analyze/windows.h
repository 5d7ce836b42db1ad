/* windows: a campaign cut into equal parts of its time: turns and raw reward of every fuzzer in each.
 *
 * A turn belongs to the window in which it is completed.  Two windows are compared only when enough fuzzers have enough
 * turns in both: four fuzzers with four turns as in the paper, or all fuzzers when there are fewer. */
#ifndef CAROL_ANALYZE_WINDOWS_H
#define CAROL_ANALYZE_WINDOWS_H

#include "analyze/story.h"

#define WINDOWS_TURNS 4
#define WINDOWS_FUZZERS 4

/* Which of n equal parts of the campaign a moment lies in. */
int window_of(const struct story *l, int64_t at_ns, int n);
/* Fuzzers with enough turns in windows a and b of n, in roster order; 0: too few of them. */
int windows_admit(const struct story *l, int n, int a, int b, int arm[SCHED_MAX_ARMS]);
/* The fuzzer's turns in window w of n, in order of completion: places in l->turns.  Returns how many; out has room for all
 * turns. */
size_t windows_turns(const struct story *l, int n, int w, int arm, size_t *out);
/* Mean raw reward of some turns. */
double windows_rate(const struct story *l, const size_t *turns, size_t n);

#endif
