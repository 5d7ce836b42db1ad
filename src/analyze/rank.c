/* rank: do a few directions of the signals predict as well as all of them?  The directions are the right singular vectors
 * of the matrix of the fuzzers' weights, fitted without the campaign that is left out. */
#include "analyze/analyze.h"
#include "analyze/folds.h"
#include "base/die.h"
#include "sched/project.h"

#include <stdlib.h>
#include <string.h>

#define RANKS 6
static const double ridges[] = {10, 1, 3}; /* the first is that of the base */
#define RIDGES (sizeof ridges / sizeof *ridges)
#define Z (RANKS + 1) /* columns: the directions, the intercept */

/* Sums of one fuzzer in the directions; the intercept is column 0, so that the first r + 1 are those of rank r. */
struct turned {
    double n, rr, a[Z][Z], b[Z];
};

static double full(const struct moments *m, int i, int j)
{
    return i >= j ? m->a[i][j] : m->a[j][i];
}

/* w[c]: column c of the new ones in the old ones. */
static void turn(const struct moments *m, double w[Z][LINEAR_DIM], int columns, struct turned *t)
{
    double aw[Z][LINEAR_DIM] = {{0}};
    *t = (struct turned){.n = m->n, .rr = m->rr};
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < LINEAR_DIM; i++) {
            for (int j = 0; j < LINEAR_DIM; j++)
                aw[c][i] += full(m, i, j) * w[c][j];
            t->b[c] += m->b[i] * w[c][i];
        }
    for (int c = 0; c < columns; c++)
        for (int d = 0; d < columns; d++)
            for (int i = 0; i < LINEAR_DIM; i++)
                t->a[c][d] += w[c][i] * aw[d][i];
}

static void join(struct turned *t, const struct turned *o, double sign)
{
    t->n += sign * o->n;
    t->rr += sign * o->rr;
    for (int c = 0; c < Z; c++) {
        t->b[c] += sign * o->b[c];
        for (int d = 0; d < Z; d++)
            t->a[c][d] += sign * o->a[c][d];
    }
}

/* Weights of the first `columns` columns, in place of the first of them in the model's. */
static double error_of(const struct turned *train, const struct turned *held, int columns,
                       double ridge)
{
    struct linear m;
    linear_init(&m, ridge);
    for (int c = 0; c < columns; c++) {
        for (int d = 0; d <= c; d++)
            m.a[c][d] += train->a[c][d];
        m.b[c] = train->b[c];
    }
    linear_solve(&m);
    double error = held->rr;
    for (int c = 0; c < columns; c++) {
        error -= 2 * m.theta[c] * held->b[c];
        for (int d = 0; d < columns; d++)
            error += m.theta[c] * m.theta[d] * held->a[c][d];
    }
    return error > 0 ? error : 0;
}

/* All campaigns of a target in the directions of one fold. */
struct fold {
    const struct folds *f;
    size_t camp; /* left out */
    size_t *camps, n;
    struct turned *own; /* [camp][arm] */
    struct turned *sum; /* [arm], of all but the one left out */
};

static void directions(const struct folds *f, const struct linear *model, int rank,
                       double w[Z][LINEAR_DIM])
{
    double theta[SCHED_MAX_ARMS][SIGNAL_COUNT], v[SIGNAL_COUNT][SIGNAL_COUNT];
    for (int k = 0; k < f->arms; k++)
        memcpy(theta[k], model[k].theta, sizeof theta[k]);
    project_directions(theta, f->arms, rank, v);
    memset(w, 0, Z * sizeof *w);
    w[0][LINEAR_DIM - 1] = 1;
    for (int r = 0; r < rank; r++)
        memcpy(w[r + 1], v[r], sizeof v[r]);
}

static void fold_make(struct fold *o, const struct folds *f, size_t camp, double w[Z][LINEAR_DIM],
                      int rank)
{
    *o = (struct fold){.f = f, .camp = camp};
    o->camps = xcalloc(f->s->n, sizeof *o->camps);
    o->own = xcalloc(f->s->n * (size_t)f->arms, sizeof *o->own);
    o->sum = xcalloc((size_t)f->arms, sizeof *o->sum);
    for (size_t c = 0; c < f->s->n; c++) {
        if (f->s->camps[c].target != f->s->camps[camp].target)
            continue;
        o->camps[o->n++] = c;
        for (int k = 0; k < f->arms; k++) {
            struct turned *t = &o->own[c * (size_t)f->arms + (size_t)k];
            turn(folds_own(f, c, 0, k), w, rank + 1, t);
            if (c != camp)
                join(&o->sum[k], t, 1);
        }
    }
}

static void fold_free(struct fold *o)
{
    free(o->camps);
    free(o->own);
    free(o->sum);
}

/* Squared error on the one left out. */
static double held_out(const struct fold *o, int rank, double ridge)
{
    double error = 0;
    for (int k = 0; k < o->f->arms; k++)
        error += error_of(&o->sum[k], &o->own[o->camp * (size_t)o->f->arms + (size_t)k], rank + 1,
                          ridge);
    return error;
}

/* The ridge with the smallest error when the other campaigns are left out in turn; the directions stay. */
static double best_ridge(const struct fold *o, int rank)
{
    double least = 0, best = ridges[0];
    for (size_t i = 0; i < RIDGES; i++) {
        double error = 0;
        for (size_t n = 0; n < o->n; n++)
            for (int k = 0; o->camps[n] != o->camp && k < o->f->arms; k++) {
                const struct turned *own = &o->own[o->camps[n] * (size_t)o->f->arms + (size_t)k];
                struct turned rest = o->sum[k];
                join(&rest, own, -1);
                error += error_of(&rest, own, rank + 1, ridges[i]);
            }
        if (i == 0 || error < least) {
            least = error;
            best = ridges[i];
        }
    }
    return best;
}

static int ranks_of(int arms)
{
    return arms < RANKS ? arms : RANKS;
}

static void score_with(const struct folds *f, size_t camp, const struct moments *train,
                       struct linear *model, struct versus *v, bool choose)
{
    double w[Z][LINEAR_DIM];
    struct fold o;
    int most = ranks_of(f->arms);
    for (int k = 0; k < f->arms; k++)
        fit(&model[k], &train[k], FIT_RIDGE, NULL);
    *versus_at(v, 0, camp) = folds_error(f, camp, model);
    directions(f, model, most, w);
    fold_make(&o, f, camp, w, most);
    for (int r = 1; r <= most; r++)
        *versus_at(v, (size_t)r, camp) =
            held_out(&o, r, choose ? best_ridge(&o, r) : FIT_RIDGE) / folds_turns(f, camp);
    fold_free(&o);
}

static void score(const struct folds *f, size_t camp, const struct moments *train,
                  struct linear *model, struct versus *v)
{
    score_with(f, camp, train, model, v, false);
}

static void score_chosen(const struct folds *f, size_t camp, const struct moments *train,
                         struct linear *model, struct versus *v)
{
    score_with(f, camp, train, model, v, true);
}

int analyze_rank(const struct study *s, struct grids *out, struct err *e)
{
    static const char *const names[] = {"all",    "rank 1", "rank 2", "rank 3",
                                        "rank 4", "rank 5", "rank 6"};
    struct folds f;
    struct versus v = {.s = s,
                       .name = "rank",
                       .title = "held-out reward: the signals projected on a few directions",
                       .base =
                           "all 15 signals, per-fuzzer ridge (lambda 10), one campaign left out",
                       .names = names,
                       .models = (size_t)ranks_of((int)s->fuzzers.n) + 1,
                       .within = true};
    int rc = folds_gather(&f, s, NULL, 1, out, e);
    if (rc == 0) {
        folds_score(&f, score, &v);
        versus_put(&v, out);
        versus_free(&v);
        v.name = "rank_ridge";
        v.title = "the same, the projection's ridge chosen from 1, 3 and 10";
        folds_score(&f, score_chosen, &v);
        versus_put(&v, out);
        versus_free(&v);
        if (s->fuzzers.n < RANKS)
            grids_note(out, "%zu fuzzers have no more than %zu directions", s->fuzzers.n,
                       s->fuzzers.n);
        grids_note(out, "the ridge is chosen without the campaign that is left out: by leaving out "
                        "each of the others");
    }
    folds_free(&f);
    return rc;
}
