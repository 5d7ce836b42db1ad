/* first: collects first triggers.  Judges nothing. */
#include "analyze/first.h"

#include "base/die.h"
#include "bench/outcome.h"
#include "triage/defect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t number_of(struct strv *names, const char *name)
{
    size_t i = 0;
    while (i < names->n && strcmp(names->v[i], name) != 0)
        i++;
    if (i == names->n)
        strv_add(names, name);
    return i;
}

static void add(struct firsts *f, size_t trial, const char *bug, double at_s)
{
    XGROW(f->v, f->n, f->cap);
    struct first_trigger *t = &f->v[f->n++];
    *t = (struct first_trigger){.trial = trial, .target = f->trials[trial].target, .at_s = at_s};
    snprintf(t->bug, sizeof t->bug, "%s", bug);
}

static void add_result(struct firsts *f, size_t trial, const struct result *r, bool cpu)
{
    f->trials[trial].known = true;
    for (size_t i = 0; i < r->n_bugs; i++)
        if (r->bugs[i].triggered.seen)
            add(f, trial, r->bugs[i].id,
                cpu ? r->bugs[i].triggered.cpu_s : r->bugs[i].triggered.wall_s);
}

int firsts_bench(struct firsts *f, const char *dir, const struct strv *only, struct err *e)
{
    struct outcome o;
    *f = (struct firsts){.clock = "CPU time"};
    int rc = outcome_load(&o, dir, only, e);
    if (rc < 0)
        return rc;
    f->trials = xcalloc(o.n + 1, sizeof *f->trials);
    for (size_t i = 0; i < o.contenders.n; i++)
        strv_add(&f->contenders, o.contenders.v[i]);
    for (size_t i = 0; i < o.n; i++) {
        const struct result *r = &o.results[i];
        f->trials[f->n_trials++] =
            (struct trial){.target = number_of(&f->targets, r->target),
                           .contender = number_of(&f->contenders, r->contender),
                           .length_s = r->budget_s};
        add_result(f, i, r, true);
    }
    outcome_free(&o);
    return 0;
}

static int add_defects(struct firsts *f, size_t trial, const struct camp *c, struct err *e)
{
    struct store *s;
    struct defects d;
    int rc = store_open(&s, c->out, STORE_READ, e);
    if (rc == -ENOENT) /* a journal alone: it has no crashes to look at */
        return 0;
    if (rc < 0)
        return rc;
    rc = defects_load(&d, s, e);
    f->trials[trial].known = rc == 0 && (d.rows > 0 || d.waiting == 0);
    for (size_t i = 0; rc == 0 && i < d.n; i++)
        add(f, trial, d.v[i].id, (double)d.v[i].first_seen_ns / 1e9);
    if (rc == 0)
        defects_free(&d);
    store_close(s);
    return rc;
}

static int add_campaign(struct firsts *f, size_t trial, const struct camp *c, struct err *e)
{
    struct result r;
    if (!c->result)
        return add_defects(f, trial, c, e);
    int rc = result_read(&r, c->result, e);
    if (rc == 0) {
        add_result(f, trial, &r, false);
        result_free(&r);
    }
    return rc;
}

int firsts_study(struct firsts *f, const struct study *s, struct err *e)
{
    int rc = 0;
    *f = (struct firsts){.clock = "campaign time"};
    f->trials = xcalloc(s->n + 1, sizeof *f->trials);
    for (size_t i = 0; i < s->targets.n; i++)
        strv_add(&f->targets, s->targets.v[i]);
    for (size_t i = 0; rc == 0 && i < s->n; i++) {
        const struct camp *c = &s->camps[i];
        f->trials[f->n_trials++] =
            (struct trial){.target = c->target,
                           .contender = number_of(&f->contenders, c->contender),
                           .length_s = (double)c->elapsed_ns / 1e9};
        rc = add_campaign(f, i, c, e);
    }
    return rc;
}

void firsts_free(struct firsts *f)
{
    strv_free(&f->targets);
    strv_free(&f->contenders);
    free(f->trials);
    free(f->v);
    *f = (struct firsts){0};
}
