/* survival: times until something happens, of which some are only known to be longer: a campaign that ended
 * without the bug.  Times are finite and not negative.
 *
 *     struct lifetime x[] = {{5, true}, {7, false}, {9, true}};    // 5, 7+, 9
 *     struct km k;
 *     stats_km(x, 3, &k);
 *     ... k.step[i], stats_km_median(&k), stats_km_rmst(&k, 9) ...
 *     km_free(&k);
 */
#ifndef CAROL_STATS_SURVIVAL_H
#define CAROL_STATS_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>

struct lifetime {
    double time;
    bool event; /* false: censored, nothing had happened by then */
};

/* One distinct time.  Who is censored at the time of an event was still at risk. */
struct km_step {
    double time;
    size_t at_risk, events, censored;
    double survival; /* after it */
};

struct km {
    struct km_step *step; /* ascending */
    size_t n;
    size_t events;
    double last; /* the largest time */
};

/* The Kaplan-Meier curve of n > 0 lifetimes. */
void stats_km(const struct lifetime *x, size_t n, struct km *k);
void km_free(struct km *k);
/* The first time at which the curve is at most a half; NaN when it never is. */
double stats_km_median(const struct km *k);
/* Restricted mean survival time: the area under the curve up to `until`, which lies in [0, k->last]. */
double stats_km_rmst(const struct km *k, double until);

struct logrank {
    double expected; /* events in the first group if both were alike */
    double chi2, p;  /* one degree of freedom; 0 and 1 when no event tells them apart */
};

/* The log-rank test of two groups, neither empty. */
void stats_logrank(const struct lifetime *x, size_t n, const struct lifetime *y, size_t m,
                   struct logrank *r);

#endif
