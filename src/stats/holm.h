/* holm: several p-values at once. */
#ifndef CAROL_STATS_HOLM_H
#define CAROL_STATS_HOLM_H

#include <stddef.h>

/* Holm's step-down correction: adjusted[i] belongs to p[i].  The smallest of n is multiplied by n, the next
 * by n-1, and so on; none falls below the one before, none exceeds 1.  Rejecting where adjusted[i] <= alpha
 * keeps the chance of any false rejection at most alpha, however the tests depend on each other. */
void stats_holm(const double *p, size_t n, double *adjusted);
/* The same for numbers that lie `step` bytes apart, such as the fields of structs in an array.  A p that is NaN takes no
 * part: its adjusted one is NaN. */
void stats_holm_fields(const double *p, double *adjusted, size_t n, size_t step);

#endif
