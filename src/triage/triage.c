/* triage: which input is looked at next, on which lane, and where the result goes.  What a look is, is in look.c; what
 * a result means, in report.c and defect.c. */
#include "triage/triage.h"

#include "base/die.h"
#include "base/log.h"
#include "fuzzer/fuzzer.h"
#include "triage/cases.h"
#include "triage/look.h"
#include "triage/minimise.h"
#include "triage/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES_MAX 64

struct lane {
    struct triage *t;
    struct item *item; /* NULL: idle */
    struct group *group;
    struct look *look;
    struct minimise *minimise;
    struct buf data;
    struct timer next;
    bool busy;
};

struct triage {
    struct loop *loop;
    struct store *store;
    struct triage_opts o;
    struct lab *lab;
    struct cases c;
    size_t cursor;
    struct queue *hangs; /* that wait */
    int64_t hangs_until; /* no other is begun from then on */
    struct lane lane[LANES_MAX];
    int n_lanes;
    enum triage_part part;
    size_t part_done, part_total;
    bool over;
};

const char *triage_part_name(enum triage_part p)
{
    static const char *const names[] = {[PART_BUCKETS] = "run again on the asan build",
                                        [PART_CONFIRM] = "confirmed on the plain build",
                                        [PART_MINIMISE] = "minimised",
                                        [PART_HANGS] = "hangs run again, each alone",
                                        [PART_CONFIRM_HANGS] = "confirmed on the plain build",
                                        [PART_OVER] = "done"};
    return names[p];
}

/* --- ending ------------------------------------------------------------------------------------- */

static void lane_rest(struct lane *l)
{
    l->busy = false;
    l->item = NULL;
    l->group = NULL;
    l->look = NULL;
    l->minimise = NULL;
    buf_free(&l->data);
}

static void stop(struct triage *t, int rc, const struct err *e)
{
    if (t->over)
        return;
    t->over = true;
    for (int i = 0; i < t->n_lanes; i++)
        loop_timer_clear(t->loop, &t->lane[i].next);
    t->o.done(t->o.arg, rc, e);
}

static void wake(struct triage *t)
{
    for (int i = 0; i < t->n_lanes; i++)
        if (!t->lane[i].busy && !t->over)
            loop_timer(t->loop, &t->lane[i].next, loop_now(t->loop));
}

/* What the lane did is stored, or could not be. */
static void lane_free(struct lane *l, int rc, const struct err *e)
{
    lane_rest(l);
    if (rc < 0)
        stop(l->t, rc, e);
    else
        wake(l->t);
}

static bool all_idle(const struct triage *t)
{
    for (int i = 0; i < t->n_lanes; i++)
        if (t->lane[i].busy)
            return false;
    return true;
}

/* --- one look ----------------------------------------------------------------------------------- */

static void take_counts(struct item *i, const struct verdict *v)
{
    i->asan_runs = v->asan_runs;
    i->asan_hits = v->asan_hits;
    i->plain_runs = v->plain_runs;
    i->plain_hits = v->plain_hits;
    i->tried = i->tried || v->plain_runs || *v->why;
}

static void on_bucket(void *arg, struct verdict *v)
{
    struct lane *l = arg;
    struct triage *t = l->t;
    struct err e = {0};
    char bucket[BUCKET_LEN];
    struct store_triage row = verdict_row(v, l->item->id, lab_builds(t->lab), bucket);
    int rc = store_triage_put(t->store, &row, &e);
    l->item->done = true;
    l->item->outcome = v->outcome;
    snprintf(l->item->defect, sizeof l->item->defect, "%s", bucket);
    take_counts(l->item, v);
    t->part_done++;
    lane_free(l, rc, &e);
}

static void on_confirm(void *arg, struct verdict *v)
{
    struct lane *l = arg;
    struct triage *t = l->t;
    struct err e = {0};
    struct store_triage row = {.crash = l->item->id,
                               .build = lab_builds(t->lab),
                               .asan_runs = v->asan_runs ? v->asan_runs : l->item->asan_runs,
                               .asan_hits = v->asan_runs ? v->asan_hits : l->item->asan_hits,
                               .plain_runs = v->plain_runs,
                               .plain_hits = v->plain_hits,
                               .plain_signal = v->plain_signal,
                               .withheld = v->withheld,
                               .cpu_us = v->cpu_us,
                               .why = v->why};
    int rc = store_triage_confirm(t->store, &row, &e);
    take_counts(l->item, v);
    l->item->asan_runs = row.asan_runs;
    l->item->asan_hits = row.asan_hits;
    l->item->tried = true;
    l->group->tries++;
    l->group->confirmed = case_is_sure(l->item);
    l->group->busy = false;
    t->part_done += l->group->confirmed || l->group->tries == CONFIRM_TRIES;
    lane_free(l, rc, &e);
}

static enum family finder_of(const struct triage *t, const struct item *i)
{
    int n = 0;
    while (t->o.roster && t->o.roster[n])
        n++;
    return i->arm >= 0 && i->arm < n ? fuzzer_family(t->o.roster[i->arm]) : FAMILY_NONE;
}

/* 1: it has begun.  An input whose bytes are lost is set aside; the rest goes on. */
static int look_at(struct lane *l, struct item *i, enum look_kind kind, look_fn *fn, struct err *e)
{
    struct triage *t = l->t;
    struct err why = {0};
    if (store_crash_bytes(t->store, i->id, &l->data, &why) < 0) {
        struct store_triage row = {
            .crash = i->id, .build = lab_builds(t->lab), .outcome = TRIAGE_BROKEN, .why = why.msg};
        log_warn("crash %lld is set aside: %s", (long long)i->id, why.msg);
        i->done = i->tried = true;
        i->defect[0] = '\0';
        t->part_done++;
        return store_triage_put(t->store, &row, e);
    }
    struct look_spec s = {.kind = kind,
                          .data = l->data.p ? l->data.p : "",
                          .size = l->data.len,
                          .cpu = -1,
                          .worst = true,
                          .finder = finder_of(t, i),
                          .signal = i->signal};
    int rc = look_start(&l->look, t->lab, &s, fn, l, e);
    l->busy = rc == 0;
    l->item = i;
    return rc < 0 ? rc : 1;
}

/* --- minimising --------------------------------------------------------------------------------- */

static void on_smallest(void *arg, const struct smallest *s, const struct err *why)
{
    struct lane *l = arg;
    struct triage *t = l->t;
    struct err e = {0};
    if (!s) {
        lane_free(l, why->code, why);
        return;
    }
    struct store_minimised m = {.defect = l->group->id,
                                .build = lab_builds(t->lab),
                                .crash = l->item->id,
                                .runs = s->runs,
                                .done = s->complete,
                                .data = s->data,
                                .size = s->size};
    int rc = store_minimised_put(t->store, &m, &e);
    l->group->minimised = true;
    l->group->busy = false;
    t->part_done++;
    lane_free(l, rc, &e);
}

/* 1: it has begun.  A defect whose input is lost stays as it is; the rest goes on. */
static int shrink_it(struct lane *l, struct group *g, struct item *i)
{
    struct triage *t = l->t;
    struct err why = {0};
    if (store_crash_bytes(t->store, i->id, &l->data, &why) < 0) {
        log_warn("defect %s is not minimised: %s", g->id, why.msg);
        g->minimised = true;
        t->part_done++;
        return 0;
    }
    l->busy = g->busy = true;
    l->group = g;
    l->item = i;
    struct minimise_spec s = {.data = l->data.p ? l->data.p : "",
                              .size = l->data.len,
                              .bucket = g->id,
                              .confirmed = g->confirmed,
                              .until = loop_now(t->loop) + t->o.minimise_ns};
    minimise_start(&l->minimise, t->lab, t->loop, &s, on_smallest, l);
    return 1;
}

/* --- what next ---------------------------------------------------------------------------------- */

static int next_bucket(struct triage *t, struct lane *l, struct err *e)
{
    while (t->cursor < t->c.n) {
        struct item *i = &t->c.items[t->cursor++];
        int rc = i->done || i->hang ? 0 : look_at(l, i, LOOK_BUCKET, on_bucket, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int next_confirm(struct triage *t, struct lane *l, struct err *e)
{
    for (size_t i = 0; i < t->c.n_groups; i++) {
        struct group *g = &t->c.groups[i];
        struct item *x = case_to_try(&t->c, g);
        if (!x)
            continue;
        l->group = g;
        int rc = look_at(l, x, LOOK_CONFIRM, on_confirm, e);
        g->busy = rc > 0;
        if (rc)
            return rc;
        i--; /* that one was lost: another of the same */
    }
    return 0;
}

static bool may_shrink(const struct triage *t)
{
    return t->o.minimise_ns && lab_has(t->lab, FAMILY_ASAN);
}

static int next_shrink(struct triage *t, struct lane *l)
{
    for (size_t i = 0; may_shrink(t) && i < t->c.n_groups; i++) {
        struct item *x = case_to_shrink(&t->c, &t->c.groups[i]);
        if (x && shrink_it(l, &t->c.groups[i], x))
            return 1;
    }
    return 0;
}

/* Alone: with other runs beside it, time means little.  What may be another defect goes first: there may not be time
 * for all. */
static int next_hang(struct triage *t, struct lane *l, struct err *e)
{
    struct waiting w;
    int rc = 0;
    while (rc == 0 && all_idle(t) && loop_now(t->loop) < t->hangs_until &&
           (rc = queue_take(t->hangs, queue_edges, t->store, &w, e)) > 0) {
        struct item *i = cases_find(&t->c, w.id);
        rc = look_at(l, i, LOOK_HANG, on_bucket, e);
    }
    return rc;
}

static int add_hang(void *arg, const struct store_crash *k, struct err *e)
{
    struct triage *t = arg;
    (void)e;
    const struct item *i = k->hang ? cases_find(&t->c, k->id) : NULL;
    if (i && !i->done)
        queue_add(t->hangs, k);
    return 0;
}

/* --- the parts ---------------------------------------------------------------------------------- */

static size_t work_of(struct triage *t)
{
    size_t n = 0;
    bool confirm = t->part == PART_CONFIRM || t->part == PART_CONFIRM_HANGS;
    for (size_t i = 0; i < t->c.n; i++) {
        const struct item *x = &t->c.items[i];
        n += !x->done && t->part == (x->hang ? PART_HANGS : PART_BUCKETS);
    }
    for (size_t i = 0; i < t->c.n_groups; i++) {
        const struct group *g = &t->c.groups[i];
        n += confirm && case_to_try(&t->c, g);
        n += t->part == PART_MINIMISE && may_shrink(t) && case_to_shrink(&t->c, g);
    }
    return n;
}

static int begin_part(struct triage *t, struct err *e)
{
    int rc = cases_group(&t->c, t->store, e);
    t->cursor = t->part_done = 0;
    t->part_total = work_of(t);
    if (t->part == PART_HANGS) {
        int64_t now = loop_now(t->loop);
        t->hangs_until = t->o.hangs_ns < 0 ? INT64_MAX : now + t->o.hangs_ns;
        if (rc == 0)
            rc = store_crash_list(t->store, 0, add_hang, t, e);
    }
    return rc;
}

/* 1: the lane has something to do; 0: nothing in this part. */
static int next_of_part(struct triage *t, struct lane *l, struct err *e)
{
    switch (t->part) {
    case PART_BUCKETS: return next_bucket(t, l, e);
    case PART_CONFIRM:
    case PART_CONFIRM_HANGS: return next_confirm(t, l, e);
    case PART_MINIMISE: return next_shrink(t, l);
    case PART_HANGS: return next_hang(t, l, e);
    case PART_OVER: break;
    }
    return 0;
}

static void on_next(void *arg)
{
    struct lane *l = arg;
    struct triage *t = l->t;
    struct err e = {0};
    int rc = 0;
    while (!l->busy && !t->over && (rc = next_of_part(t, l, &e)) == 0 && all_idle(t) &&
           t->part < PART_OVER) {
        t->part++;
        if ((rc = begin_part(t, &e)) < 0)
            break;
        wake(t);
    }
    if (rc < 0)
        stop(t, rc, &e);
    else if (t->part == PART_OVER && all_idle(t))
        stop(t, 0, NULL);
}

/* --- making it ---------------------------------------------------------------------------------- */

static int note_builds(struct triage *t, struct err *e)
{
    struct store_fact build = {"triage.build", lab_builds(t->lab)};
    char *was;
    int rc = store_get(t->store, build.key, &was, e);
    if (rc == 0 && was && strcmp(was, build.value) != 0)
        log_info("the builds are not those of the last triage: everything is run again");
    if (rc == 0 && (!was || strcmp(was, build.value) != 0))
        rc = store_put(t->store, &build, 1, e);
    free(was);
    return rc;
}

int triage_new(struct triage **out, struct loop *l, struct store *s, const struct triage_opts *o,
               struct err *e)
{
    struct triage *t = xcalloc(1, sizeof *t);
    t->loop = l;
    t->store = s;
    t->o = *o;
    t->hangs = queue_new();
    t->n_lanes = o->jobs < 1 ? 1 : o->jobs > LANES_MAX ? LANES_MAX : o->jobs;
    for (int i = 0; i < t->n_lanes; i++) {
        t->lane[i].t = t;
        t->lane[i].next = (struct timer){.fn = on_next, .arg = &t->lane[i]};
    }
    int rc = lab_new(&t->lab, l, &o->lab, e);
    if (rc == 0 && !lab_has(t->lab, FAMILY_ASAN) && !lab_has(t->lab, FAMILY_PLAIN))
        rc = err_usage(e,
                       "%s has neither an asan nor a plain build (or their files are gone), so "
                       "nothing can be run "
                       "again: carol build -o %s with the families asan and plain",
                       o->lab.target->dir, o->lab.target->dir);
    if (rc == 0)
        rc = note_builds(t, e);
    if (rc == 0)
        rc = cases_load(&t->c, s, lab_builds(t->lab), e);
    if (rc < 0)
        triage_free(t);
    else
        *out = t;
    return rc;
}

int triage_start(struct triage *t, struct err *e)
{
    int rc = begin_part(t, e);
    if (rc == 0)
        wake(t);
    return rc;
}

void triage_progress(const struct triage *t, struct triage_progress *p)
{
    *p = (struct triage_progress){
        .part = t->part, .done = t->part_done, .total = t->part_total, .defects = t->c.n_groups};
}

const struct lab *triage_lab(const struct triage *t)
{
    return t->lab;
}

void triage_free(struct triage *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->n_lanes; i++) {
        struct lane *l = &t->lane[i];
        loop_timer_clear(t->loop, &l->next);
        look_cancel(l->look);
        minimise_cancel(l->minimise);
        lane_rest(l);
    }
    lab_free(t->lab);
    queue_free(t->hangs);
    cases_free(&t->c);
    free(t);
}
