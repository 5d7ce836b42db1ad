/* figure: the two figures of a benchmark, as SVG that needs nothing else. */
#ifndef CAROL_BENCH_FIGURE_H
#define CAROL_BENCH_FIGURE_H

#include "base/buf.h"
#include "bench/outcome.h"

/* Mean number of bugs triggered over CPU time, summed over the targets, a line per contender. */
void figure_bugs(const struct outcome *t, struct buf *out);
/* Critical-difference diagram: mean ranks on an axis, bars over those that do not differ. */
void figure_ranks(const struct outcome *t, const struct ranking *r, struct buf *out);

#endif
