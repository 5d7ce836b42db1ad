/* ranks: midranks, doubled so that they are whole numbers. */
#ifndef CAROL_STATS_RANKS_H
#define CAROL_STATS_RANKS_H

#include <stddef.h>

/* The places of the n values of x in ascending order, equal ones in any; the caller frees. */
size_t *ranks_index(const double *x, size_t n);
/* For every x[i] twice its rank among the n, from 2 up, equal values sharing the mean of theirs; x stays.
 * Returns the sum of t*t*t - t over the groups of t equal values: 0 when there are no ties. */
double ranks_doubled(const double *x, size_t n, double *rank);
/* qsort's order for doubles, smallest first. */
int ranks_order(const void *a, const void *b);
/* Sizes of the groups of equal values in x, which becomes sorted; returns how many groups.  size has room for
 * n. */
size_t ranks_ties(double *x, size_t n, size_t *size);

#endif
