/* figure: the figures of a benchmark, as SVG that needs nothing else. */
#ifndef CAROL_BENCH_FIGURE_H
#define CAROL_BENCH_FIGURE_H

#include "base/buf.h"
#include "bench/outcome.h"

/* Mean number of bugs triggered over CPU time, summed over the targets, a line per contender. */
void figure_bugs(const struct outcome *t, struct buf *out);
/* Kaplan-Meier: the part of a target's bugs that a campaign has not triggered yet, over CPU time. */
void figure_survival(const struct outcome *t, size_t target, struct buf *out);
/* Mean neutral edges over CPU time, summed over the targets that all contenders were run on. */
void figure_edges(const struct outcome *t, struct buf *out);
/* Critical-difference diagram: mean ranks on an axis, bars over those that do not differ. */
void figure_ranks(const struct outcome *t, const struct ranking *r, struct buf *out);

#endif
