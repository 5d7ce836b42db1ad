/* ranks: ranking with ties. */
#include "stats/ranks.h"

#include "base/die.h"

#include <stdlib.h>

struct placed {
    double value;
    size_t at;
};

static int order(double x, double y)
{
    return (x > y) - (x < y);
}

int ranks_order(const void *a, const void *b)
{
    return order(*(const double *)a, *(const double *)b);
}

static int order_placed(const void *a, const void *b)
{
    return order(((const struct placed *)a)->value, ((const struct placed *)b)->value);
}

size_t *ranks_index(const double *x, size_t n)
{
    struct placed *p = xmalloc(n * sizeof *p);
    size_t *index = xmalloc(n * sizeof *index);
    for (size_t i = 0; i < n; i++)
        p[i] = (struct placed){x[i], i};
    qsort(p, n, sizeof *p, order_placed);
    for (size_t i = 0; i < n; i++)
        index[i] = p[i].at;
    free(p);
    return index;
}

double ranks_doubled(const double *x, size_t n, double *rank)
{
    size_t *index = ranks_index(x, n);
    double ties = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && x[index[end]] == x[index[i]]; end++)
            ;
        for (size_t j = i; j < end; j++)
            rank[index[j]] = (double)(i + 1 + end);
        double t = (double)(end - i);
        ties += t * t * t - t;
    }
    free(index);
    return ties;
}

size_t ranks_ties(double *x, size_t n, size_t *size)
{
    size_t groups = 0;
    qsort(x, n, sizeof *x, ranks_order);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || x[i] != x[i - 1])
            size[groups++] = 0;
        size[groups - 1]++;
    }
    return groups;
}
