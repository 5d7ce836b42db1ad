/* paired: values that belong together, such as the means of two schedulers on the same targets. */
#ifndef CAROL_STATS_PAIRED_H
#define CAROL_STATS_PAIRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGN_MOST 10000000 /* wins and losses; takes time in proportion */

/* The exact two-sided sign test: how likely heads and tails come out at least this uneven.  Ties count for
 * neither.  No pairs at all: 1.  wins + losses is at most SIGN_MOST. */
double stats_sign(uint64_t wins, uint64_t losses);

/* P(k or more of n happen) when each does with probability p in (0, 1): whether something happens too often.  n is at
 * most SIGN_MOST. */
double stats_binomial(uint64_t k, uint64_t n, double p);

struct wilcoxon {
    size_t n, zeros; /* differences that count, and those of 0, which do not */
    double w;        /* the smaller of the two rank sums */
    double w_plus;   /* ranks of the positive differences */
    double z;        /* normal approximation with tie and continuity corrections */
    double p;        /* two-sided: exact up to 50 differences without ties, else by z */
    double p_exact;  /* two-sided, over all signs, also with ties; NaN beyond 500 differences */
    bool exact;      /* what p is */
};

/* Wilcoxon's signed ranks of n differences (zeros are dropped, as Wilcoxon did).  Only zeros: p is 1. */
void stats_wilcoxon(const double *difference, size_t n, struct wilcoxon *r);

#endif
