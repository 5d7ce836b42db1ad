/* live: which crash is looked at next while the campaign runs, and when there is time for it. */
#include "triage/live.h"

#include "base/die.h"
#include "base/str.h"
#include "triage/look.h"
#include "triage/triage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct live {
    struct loop *loop;
    struct store *store;
    struct live_opts o;
    struct lab *lab;
    struct strv buckets; /* every defect there is */
    int64_t seen;        /* crashes up to this number are in the queue, or have been */
    int64_t *queue;
    int *cpu;
    size_t n, cap, next;
    int *found; /* cores of the crashes that are not in the queue yet, in order */
    size_t n_found, cap_found, next_found;
    struct look *look;
    struct buf data;
    int64_t now; /* number of the crash that is looked at */
    int64_t campaign_ns;
    struct timer again; /* after a look, not inside it */
};

static void on_again(void *arg)
{
    struct live *v = arg;
    live_pump(v, v->campaign_ns);
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

int live_new(struct live **out, struct loop *l, struct store *s, const struct live_opts *o,
             struct err *e)
{
    struct live *v = xcalloc(1, sizeof *v);
    v->loop = l;
    v->store = s;
    v->o = *o;
    v->again = (struct timer){.fn = on_again, .arg = v};
    int rc = lab_new(&v->lab, l, &o->lab, e);
    if (rc == 0 && !lab_has(v->lab, FAMILY_ASAN))
        rc = err_set(e, -ENOENT, "there is no asan build");
    if (rc == 0)
        rc = store_put(s, &(struct store_fact){"triage.build", lab_builds(v->lab)}, 1, e);
    if (rc == 0)
        rc = store_triage_rows(s, add_bucket, v, e);
    if (rc < 0)
        live_free(v);
    else
        *out = v;
    return rc;
}

void live_found(struct live *v, int cpu)
{
    if (!v)
        return;
    XGROW(v->found, v->n_found, v->cap_found);
    v->found[v->n_found++] = cpu;
}

static int enqueue(void *arg, const struct store_crash *c, struct err *e)
{
    struct live *v = arg;
    (void)e;
    v->seen = c->id;
    if (c->hang)
        return 0;
    if (v->n == v->cap) {
        v->cap = v->cap ? 2 * v->cap : 64;
        v->queue = xrealloc(v->queue, v->cap * sizeof *v->queue);
        v->cpu = xrealloc(v->cpu, v->cap * sizeof *v->cpu);
    }
    v->cpu[v->n] = v->next_found < v->n_found ? v->found[v->next_found++] : -1;
    v->queue[v->n++] = c->id;
    return 0;
}

static int keep_bytes(void *arg, const struct store_crash *c, struct err *e)
{
    struct live *v = arg;
    (void)e;
    buf_free(&v->data);
    v->data = (struct buf)BUF_INIT(c->size + 1);
    buf_add(&v->data, c->data, c->size);
    return 0;
}

static void on_verdict(void *arg, struct verdict *d)
{
    struct live *v = arg;
    struct err e = {0};
    char bucket[BUCKET_LEN];
    struct store_triage row = triage_row(d, v->now, lab_builds(v->lab), bucket);
    v->look = NULL;
    int rc = *bucket ? store_triage_put(v->store, &row, &e) : 0;
    if (rc < 0) {
        v->o.failed(v->o.arg, &e);
        return;
    }
    bool fresh = *bucket && !strv_has(&v->buckets, bucket);
    if (fresh)
        strv_add(&v->buckets, bucket);
    if (*bucket)
        v->o.bucketed(v->o.arg, &row, fresh);
    loop_timer(v->loop, &v->again, loop_now(v->loop));
}

/* Is there time for another?  It will take about as long as those before. */
static bool may_run(const struct live *v)
{
    return !v->next || lab_cpu_us(v->lab) * LIVE_SHARE <= v->campaign_ns / 1000;
}

void live_pump(struct live *v, int64_t campaign_ns)
{
    struct err e = {0};
    if (!v)
        return;
    v->campaign_ns = campaign_ns;
    if (store_untriaged(v->store, lab_builds(v->lab), v->seen, enqueue, v, &e) < 0) {
        v->o.failed(v->o.arg, &e);
        return;
    }
    if (v->look || v->next == v->n || !may_run(v))
        return;
    v->now = v->queue[v->next];
    int cpu = v->cpu[v->next++];
    if (store_crash_get(v->store, v->now, keep_bytes, v, &e) < 0)
        return; /* `carol triage` says what is the matter with it */
    struct look_spec s = {.kind = LOOK_BUCKET,
                          .data = v->data.p ? v->data.p : "",
                          .size = v->data.len,
                          .cpu = cpu,
                          .once = true};
    if (look_start(&v->look, v->lab, &s, on_verdict, v, &e) < 0)
        v->look = NULL; /* no process to be had now: the campaign has other troubles then */
}

size_t live_defects(const struct live *v)
{
    return v ? v->buckets.n : 0;
}

int64_t live_cpu_us(const struct live *v)
{
    return v ? lab_cpu_us(v->lab) : 0;
}

void live_free(struct live *v)
{
    if (!v)
        return;
    loop_timer_clear(v->loop, &v->again);
    look_cancel(v->look);
    lab_free(v->lab);
    strv_free(&v->buckets);
    buf_free(&v->data);
    free(v->queue);
    free(v->cpu);
    free(v->found);
    free(v);
}
