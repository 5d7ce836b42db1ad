/* permute: dynamic programming over (scores drawn so far, their sum). */
#include "stats/permute.h"

#include "base/die.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MOST_SCORES 4000
#define MOST_WORK 100e6 /* sums looked at */
#define MOST_SUMS 12e6  /* in memory at a time */

void permute_free(struct permute *d)
{
    free(d->sum);
    free(d->p);
    *d = (struct permute){0};
}

/* How far apart sums of the same scores may come out: nothing for whole numbers, else what rounding does. */
static double rounding(const double *score, size_t n)
{
    double size = 0;
    bool whole = true;
    for (size_t i = 0; i < n; i++) {
        size += fabs(score[i]);
        whole = whole && score[i] == floor(score[i]);
    }
    return whole && size < 0x1p53 ? 0 : (double)n * DBL_EPSILON * size;
}

static void put(struct permute *d, double sum, double p, double close)
{
    if (!(p > 0))
        return;
    if (d->n > 0 && sum - d->sum[d->n - 1] <= close) {
        d->p[d->n - 1] += p;
        return;
    }
    d->sum[d->n] = sum;
    d->p[d->n++] = p;
}

/* Of those who left the score out (weight stay) and those who drew it (weight go), by sum. */
static struct permute merge(const struct permute *out, double stay, const struct permute *in,
                            double go, double score, double close)
{
    struct permute d = {xmalloc((out->n + in->n) * sizeof(double)),
                        xmalloc((out->n + in->n) * sizeof(double)), 0};
    size_t i = 0, j = 0;
    while (i < out->n || j < in->n) {
        if (j == in->n || (i < out->n && out->sum[i] <= in->sum[j] + score)) {
            put(&d, out->sum[i], out->p[i] * stay, close);
            i++;
        } else {
            put(&d, in->sum[j] + score, in->p[j] * go, close);
            j++;
        }
    }
    return d;
}

struct effort {
    double work, sums;
};

/* One more score, the last of `left`: level[j] becomes the sums of j drawn.  From the top, because each level
 * is made of itself and the one below. */
static int add_score(struct permute *level, size_t draw, double score, double left, double close,
                     struct effort *f)
{
    static const struct permute none;
    f->sums = 0;
    for (size_t j = draw + 1; j-- > 0;) {
        const struct permute *below = j ? &level[j - 1] : &none;
        double stay = 1 - (double)(draw - j) / left, go = (double)(draw - j + 1) / left;
        if (level[j].n + below->n == 0)
            continue;
        struct permute d = merge(&level[j], stay, below, go, score, close);
        permute_free(&level[j]);
        level[j] = d;
        f->sums += (double)d.n;
        f->work += (double)d.n;
        if (f->work > MOST_WORK || f->sums > MOST_SUMS)
            return -E2BIG;
    }
    return 0;
}

int permute_sums(const double *score, size_t total, size_t draw, struct permute *out)
{
    *out = (struct permute){0};
    BUG_ON(draw > total || total == 0);
    if (total > MOST_SCORES)
        return -E2BIG;
    struct permute *level = xcalloc(draw + 1, sizeof *level);
    struct effort f = {0};
    double close = rounding(score, total);
    int rc = 0;
    level[0] = (struct permute){xcalloc(1, sizeof(double)), xcalloc(1, sizeof(double)), 1};
    level[0].p[0] = 1;
    for (size_t i = 0; rc == 0 && i < total; i++)
        rc = add_score(level, draw, score[i], (double)(total - i), close, &f);
    if (rc == 0) {
        *out = level[draw];
        level[draw] = (struct permute){0};
    }
    for (size_t j = 0; j <= draw; j++)
        permute_free(&level[j]);
    free(level);
    return rc;
}
