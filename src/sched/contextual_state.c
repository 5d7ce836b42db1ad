/* contextual_state: the scheduler's state as bytes and back, exactly.  What can be computed from the rest (the
 * factors, the solutions, 1/sd) is not stored but computed again.  Layout:
 *   u8 context, form, models, rank, then the generator, the feature map, for each fuzzer its dispatches and
 *   standardiser, for each model A and b, and under rank: its map, the directions, turns, and the log. */
#include "sched/contextual.h"

#include "base/die.h"
#include "sched/wire.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_doubles(struct buf *out, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        wire_put_double(out, v[i]);
}

/* NaN or infinity means damage. */
static void get_doubles(struct wire *w, double *v, int n)
{
    for (int i = 0; i < n; i++) {
        v[i] = wire_double(w);
        w->bad |= !isfinite(v[i]);
    }
}

static void save_features(const struct features *f, struct buf *out)
{
    for (int k = 0; k < SIGNAL_COUNT; k++)
        put_doubles(out, f->omega[k], FEATURES_COLUMNS);
    put_doubles(out, f->phase, FEATURES_COLUMNS);
    put_doubles(out, f->scale, FEATURES_COLUMNS);
}

static void load_features(struct features *f, struct wire *w)
{
    for (int k = 0; k < SIGNAL_COUNT; k++)
        get_doubles(w, f->omega[k], FEATURES_COLUMNS);
    get_doubles(w, f->phase, FEATURES_COLUMNS);
    get_doubles(w, f->scale, FEATURES_COLUMNS);
}

static void save_model(const struct linear *m, struct buf *out)
{
    for (int i = 0; i < LINEAR_DIM; i++)
        put_doubles(out, m->a[i], i + 1);
    put_doubles(out, m->b, LINEAR_DIM);
}

static void load_model(struct linear *m, struct wire *w)
{
    for (int i = 0; i < LINEAR_DIM; i++) {
        get_doubles(w, m->a[i], i + 1);
        w->bad |= m->a[i][i] < 0.999 * m->ridge; /* A is lambda I and squares */
    }
    get_doubles(w, m->b, LINEAR_DIM);
    linear_solve(m);
}

static void save_arm(const struct contextual_arm *a, struct buf *out)
{
    wire_put_u64(out, a->standard.n);
    put_doubles(out, a->standard.mean, SIGNAL_COUNT);
    put_doubles(out, a->standard.m2, SIGNAL_COUNT);
}

static void load_arm(struct contextual_arm *a, struct wire *w)
{
    a->standard.n = wire_u64(w);
    get_doubles(w, a->standard.mean, SIGNAL_COUNT);
    get_doubles(w, a->standard.m2, SIGNAL_COUNT);
    for (int k = 0; k < SIGNAL_COUNT; k++)
        w->bad |= a->standard.m2[k] < 0;
    standard_refresh(&a->standard);
}

static void save_project(const struct project *p, struct buf *out)
{
    save_features(&p->features, out);
    for (int r = 0; r < p->rank; r++)
        put_doubles(out, p->v[r], SIGNAL_COUNT);
    wire_put_u64(out, p->turns);
    for (size_t i = 0; i < p->n; i++) {
        wire_put_u8(out, (uint8_t)p->log[i].arm);
        put_doubles(out, p->log[i].x, SIGNAL_COUNT);
        wire_put_double(out, p->log[i].reward);
    }
}

static void load_project(struct project *p, int n_arms, struct wire *w)
{
    load_features(&p->features, w);
    for (int r = 0; r < p->rank; r++)
        get_doubles(w, p->v[r], SIGNAL_COUNT);
    p->turns = wire_u64(w);
    p->n = p->cap = p->turns < PROJECT_MAX ? (size_t)p->turns : 0;
    w->bad |= w->left != p->n * (1 + (SIGNAL_COUNT + 1) * sizeof(double));
    if (w->bad || !p->n) {
        p->n = p->cap = 0;
        return;
    }
    p->log = xcalloc(p->n, sizeof *p->log);
    for (size_t i = 0; i < p->n; i++) {
        p->log[i].arm = wire_u8(w);
        get_doubles(w, p->log[i].x, SIGNAL_COUNT);
        get_doubles(w, &p->log[i].reward, 1);
        w->bad |= p->log[i].arm >= n_arms;
    }
}

void contextual_save(const struct sched *s, struct buf *out)
{
    const struct contextual *c = (const struct contextual *)s;
    wire_put_u8(out, (uint8_t)c->o.context);
    wire_put_u8(out, (uint8_t)c->o.form);
    wire_put_u8(out, (uint8_t)c->o.models);
    wire_put_u8(out, (uint8_t)c->o.rank);
    wire_put_rng(out, &c->noise);
    save_features(&c->features, out);
    for (int i = 0; i < s->n_arms; i++) {
        wire_put_u64(out, c->dispatched[i]);
        save_arm(&c->arm[i], out);
    }
    for (int i = 0; i < contextual_models(c); i++)
        save_model(&c->arm[i].model, out);
    if (c->project)
        save_project(c->project, out);
}

static bool same_kind(const struct contextual_opts *o, struct wire *w)
{
    int context = wire_u8(w), form = wire_u8(w), models = wire_u8(w), rank = wire_u8(w);
    return context == o->context && form == o->form && models == o->models && rank == o->rank;
}

static void read_state(struct contextual *c, struct wire *w)
{
    wire_rng(w, &c->noise);
    load_features(&c->features, w);
    for (int i = 0; i < c->base.n_arms; i++) {
        c->dispatched[i] = wire_u64(w);
        load_arm(&c->arm[i], w);
        w->bad |= c->dispatched[i] < c->arm[i].standard.n;
    }
    for (int i = 0; i < contextual_models(c); i++)
        load_model(&c->arm[i].model, w);
    if (c->project)
        load_project(c->project, c->base.n_arms, w);
}

/* Into a copy, which replaces the old state only when it is complete. */
int contextual_load(struct sched *s, const void *data, size_t n, struct err *e)
{
    struct contextual *c = (struct contextual *)s;
    struct wire w = {.p = data, .left = n};
    if (!same_kind(&c->o, &w))
        return err_set(e, -EBADMSG,
                       "the saved state of the scheduler contextual was made with other options");
    struct contextual *fresh = xmemdup(c, contextual_size(s->n_arms));
    if (c->project) {
        fresh->project = project_new(c->o.rank);
        fresh->project->features.form = c->project->features.form;
    }
    read_state(fresh, &w);
    bool whole = !w.bad && !w.left;
    struct project *gone = whole ? c->project : fresh->project;
    if (whole)
        memcpy(c, fresh, contextual_size(s->n_arms));
    project_free(gone);
    free(fresh);
    return whole ? 0
                 : err_set(e, -EBADMSG, "the saved state of the scheduler contextual is damaged");
}
