/* live: when there is time to look at a crash while the campaign runs, and what becomes of the result.  Which crash it is, is
 * in queue.c. */
#include "triage/live.h"

#include "base/die.h"
#include "base/str.h"
#include "triage/look.h"
#include "triage/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPENT "triage.live_us" /* the fact */

struct live {
    struct loop *loop;
    struct store *store;
    struct live_opts o;
    struct lab *lab;
    struct strv buckets; /* every defect there is */
    int64_t seen;        /* crashes up to this number are in the queue, or have been */
    struct queue *queue;
    struct waiting put_off; /* taken from it, and not looked at; id 0: none */
    struct look *look;
    struct buf data;
    int64_t now;      /* number of the crash that is looked at */
    int64_t spent_us; /* by earlier lives of the campaign */
    uint64_t looks;   /* in this one */
    int64_t elapsed_ns;
    struct timer again; /* after a look, not inside it */
};

/* --- what there is -------------------------------------------------------------------------------- */

static void on_again(void *arg)
{
    struct live *v = arg;
    live_pump(v, v->elapsed_ns);
}

static int add_bucket(void *arg, const struct store_triage *t, const struct store_crash *c,
                      struct err *e)
{
    struct live *v = arg;
    (void)c;
    (void)e;
    if (*t->defect && strcmp(t->build, lab_builds(v->lab)) == 0 &&
        !strv_has(&v->buckets, t->defect))
        strv_add(&v->buckets, t->defect);
    return 0;
}

static int load(struct live *v, struct err *e)
{
    char *spent = NULL;
    uint64_t us = 0;
    int rc = store_put(v->store, &(struct store_fact){"triage.build", lab_builds(v->lab)}, 1, e);
    if (rc == 0)
        rc = store_get(v->store, SPENT, &spent, e);
    if (rc == 0 && spent)
        rc = str_to_u64(spent, SPENT, 0, INT64_MAX, &us, e);
    v->spent_us = (int64_t)us;
    free(spent);
    return rc < 0 ? rc : store_triage_rows(v->store, add_bucket, v, e);
}

int live_new(struct live **out, struct loop *l, struct store *s, const struct live_opts *o,
             struct err *e)
{
    struct live *v = xcalloc(1, sizeof *v);
    v->loop = l;
    v->store = s;
    v->o = *o;
    v->queue = queue_new();
    v->again = (struct timer){.fn = on_again, .arg = v};
    int rc = lab_new(&v->lab, l, &o->lab, e);
    if (rc == 0 && !lab_has(v->lab, FAMILY_ASAN))
        rc = err_set(e, -ENOENT, "there is no asan build");
    if (rc == 0)
        rc = load(v, e);
    if (rc < 0)
        live_free(v);
    else
        *out = v;
    return rc;
}

/* --- time ----------------------------------------------------------------------------------------- */

int64_t live_allowance_us(int64_t elapsed_ns, int64_t budget_ns, int slots)
{
    int64_t ahead = budget_ns && budget_ns < LIVE_AHEAD_NS ? budget_ns : LIVE_AHEAD_NS;
    return (elapsed_ns > ahead ? elapsed_ns : ahead) / 1000 * slots / LIVE_SHARE;
}

static int64_t spent_us(const struct live *v)
{
    return v->spent_us + lab_cpu_us(v->lab);
}

/* Is there time for another?  It will take about as long as those before. */
static bool may_run(const struct live *v)
{
    int64_t next = v->looks ? lab_cpu_us(v->lab) / (int64_t)v->looks : 0;
    bool first = !v->looks && !v->spent_us;
    return first ||
           spent_us(v) + next <= live_allowance_us(v->elapsed_ns, v->o.budget_ns, v->o.slots);
}

/* --- one crash ------------------------------------------------------------------------------------ */

static void tell(struct live *v, const struct store_triage *row)
{
    bool fresh = !strv_has(&v->buckets, row->defect);
    if (fresh)
        strv_add(&v->buckets, row->defect);
    v->o.bucketed(v->o.arg, row, fresh);
}

static void on_verdict(void *arg, struct verdict *d)
{
    struct live *v = arg;
    struct err e = {0};
    char bucket[BUCKET_LEN], spent[24];
    struct store_triage row = verdict_row(d, v->now, lab_builds(v->lab), bucket);
    snprintf(spent, sizeof spent, "%lld", (long long)spent_us(v));
    v->look = NULL;
    int rc = *bucket ? store_triage_put(v->store, &row, &e) : 0;
    if (rc == 0)
        rc = store_put(v->store, &(struct store_fact){SPENT, spent}, 1, &e);
    if (rc < 0) {
        v->o.failed(v->o.arg, &e);
        return;
    }
    if (*bucket)
        tell(v, &row);
    loop_timer(v->loop, &v->again, loop_now(v->loop));
}

/* 1: there is no process to be had now; it waits for the next time. */
static int look_at(struct live *v, const struct waiting *w)
{
    struct err e = {0};
    if (store_crash_bytes(v->store, w->id, &v->data, &e) < 0)
        return 0; /* `carol triage` says what is the matter with it */
    struct look_spec s = {.kind = LOOK_BUCKET,
                          .data = v->data.p ? v->data.p : "",
                          .size = v->data.len,
                          .cpu = v->o.core(v->o.arg, w->slot),
                          .most_ms = live_allowance_us(0, 0, v->o.slots) / 1000,
                          .once = true};
    v->now = w->id;
    if (look_start(&v->look, v->lab, &s, on_verdict, v, &e) < 0) {
        v->look = NULL;
        v->put_off = *w;
        return 1;
    }
    v->looks++;
    return 0;
}

/* What `carol triage` beside us has found out already. */
struct other {
    const struct live *v;
    bool there;
    char defect[BUCKET_LEN], fault[64], function[128], file[256];
};

static int note_other(void *arg, const struct store_triage *t, struct err *e)
{
    struct other *o = arg;
    (void)e;
    o->there = strcmp(t->build, lab_builds(o->v->lab)) == 0;
    snprintf(o->defect, sizeof o->defect, "%s", t->defect);
    snprintf(o->fault, sizeof o->fault, "%s", t->fault);
    snprintf(o->function, sizeof o->function, "%s", t->function);
    snprintf(o->file, sizeof o->file, "%s", t->file);
    return 0;
}

static int next_of(struct live *v, struct waiting *w, struct err *e)
{
    *w = v->put_off;
    v->put_off.id = 0;
    return w->id ? 1 : queue_take(v->queue, queue_edges, v->store, w, e);
}

static int take_up(struct live *v, const struct waiting *w, struct err *e)
{
    struct other o = {.v = v};
    int rc = store_triage_row(v->store, w->id, note_other, &o, e);
    if (rc < 0)
        return rc;
    struct store_triage row = {.crash = w->id,
                               .defect = o.defect,
                               .fault = o.fault,
                               .function = o.function,
                               .file = o.file};
    if (!o.there)
        return look_at(v, w);
    if (*o.defect)
        tell(v, &row);
    return 0;
}

/* --- all of them ---------------------------------------------------------------------------------- */

static int enqueue(void *arg, const struct store_crash *c, struct err *e)
{
    struct live *v = arg;
    (void)e;
    v->seen = c->id;
    if (!c->hang)
        queue_add(v->queue, c);
    return 0;
}

void live_pump(struct live *v, int64_t elapsed_ns)
{
    struct err e = {0};
    struct waiting w;
    if (!v)
        return;
    v->elapsed_ns = elapsed_ns;
    int rc = store_untriaged(v->store, lab_builds(v->lab), v->seen, enqueue, v, &e);
    while (rc == 0 && !v->look && may_run(v) && (rc = next_of(v, &w, &e)) > 0)
        rc = take_up(v, &w, &e);
    if (rc < 0)
        v->o.failed(v->o.arg, &e);
}

size_t live_defects(const struct live *v)
{
    return v ? v->buckets.n : 0;
}

void live_free(struct live *v)
{
    if (!v)
        return;
    loop_timer_clear(v->loop, &v->again);
    look_cancel(v->look);
    lab_free(v->lab);
    queue_free(v->queue);
    strv_free(&v->buckets);
    buf_free(&v->data);
    free(v);
}
