/* contrast: two held-out errors of the same campaigns: which is larger, how often, by how much, and whether that is
 * more than chance. */
#ifndef CAROL_ANALYZE_CONTRAST_H
#define CAROL_ANALYZE_CONTRAST_H

#include "analyze/grid.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTRAST_ALPHA 0.05
#define CONTRAST_SAME 1e-9 /* errors that differ by less of themselves are equal */

struct contrast {
    size_t n;             /* campaigns with both errors */
    size_t worse, better; /* of them: the other error is larger, smaller */
    double base, other;   /* medians */
    double more;          /* median of 100 * (other / base - 1) */
    bool up;              /* by signed ranks the other is the larger */
    double p, p_holm; /* two-sided Wilcoxon signed ranks of other - base; p_holm by contrast_holm */
    bool hopeless; /* by contrast_holm: so few pairs that nothing they say could be significant */
};

/* Pairs in which one is NaN are left out. */
void contrast_of(const double *base, const double *other, size_t n, struct contrast *c);
/* Holm over those of n that have a pair; `step` apart in the array.  The clearest result of k pairs has p = 2^(1-k); where
 * not even that, times the number of tests, is below 0.05 for the one with most pairs, all are hopeless. */
void contrast_holm(struct contrast *c, size_t n, size_t step);
/* "worse" or "better" when that is significant, "open", or "too few". */
const char *contrast_says(const struct contrast *c);

/* The columns and cells that all of them share. */
#define CONTRAST_COLUMNS                                                                           \
    {"campaigns", GRID_COUNT}, {"base_error", 6}, {"error", 6}, {"more_error_pct", 2},             \
        {"worse_pct", 1}, {"p", GRID_P}, {"p_holm", GRID_P},                                       \
    {                                                                                              \
        "says", GRID_TEXT                                                                          \
    }
void contrast_cells(struct grid *g, const struct contrast *c);
/* What they mean; holm: over what the correction is. */
void contrast_note(struct grid *g, const char *base, const char *holm);

#endif
