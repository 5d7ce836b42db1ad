/* measure: the inputs of a selection run on a neutral build, in portions.  Chooses nothing. */
#include "corpus/selection.h"

#include "base/die.h"
#include "base/log.h"
#include "eval/executor.h"
#include "proc/loop.h"

#include <stdlib.h>

#define PORTION 200
#define PORTION_BYTES ((size_t)32 << 20)

struct measuring {
    struct selection *s;
    struct loop *loop;
    struct evaluator *ev;
    size_t first, next; /* of the portion at hand; the one after it */
    struct inputs bytes;
    size_t total; /* of them */
    struct eval_input inputs[PORTION];
    struct eval_job job;
    struct err error;
};

static int next_portion(struct measuring *m, struct err *e);

static void take_result(struct chosen *c, const struct eval_result *r)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    edges_encode(&r->edges, &b);
    free(c->edges);
    c->edges_size = b.len;
    c->edges = buf_take(&b);
    c->cpu_us = r->cpu_us;
    c->status = (int)r->status;
}

static void on_job(void *arg, struct eval_job *job)
{
    struct measuring *m = arg;
    int rc = job->failed;
    if (rc < 0)
        m->error = job->error;
    for (size_t i = 0; rc == 0 && i < job->n; i++)
        take_result(&m->s->v[m->first + i], &job->results[i]);
    eval_results_free(job);
    if (rc == 0)
        rc = next_portion(m, &m->error);
    if (rc != 0)
        loop_stop(m->loop);
}

static int take_bytes(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct measuring *m = arg;
    inputs_add(&m->bytes, seed->id, seed->data, seed->size);
    m->total += seed->size;
    return 0;
}

/* 1: there are no more. */
static int next_portion(struct measuring *m, struct err *e)
{
    size_t n = 0;
    int rc = 0;
    inputs_free(&m->bytes);
    m->total = 0;
    m->first = m->next;
    for (; rc == 0 && m->next < m->s->n && n < PORTION && m->total < PORTION_BYTES; m->next++, n++)
        rc = selection_read(m->s, &m->s->v[m->next], take_bytes, m, e);
    if (rc < 0 || n == 0)
        return rc < 0 ? rc : 1;
    for (size_t i = 0; i < n; i++)
        m->inputs[i] = (struct eval_input){m->bytes.v[i].data, m->bytes.v[i].size};
    m->job = (struct eval_job){.inputs = m->inputs, .n = n, .done = on_job, .arg = m, .cpu = -1};
    return m->ev->ops->submit(m->ev, &m->job, e);
}

/* Those that do not run through on this build are as unfit as those that did not on the campaign's. */
static void drop_unfit(struct selection *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (run_is_through((enum run_status)s->v[i].status)) {
            s->v[kept++] = s->v[i];
            continue;
        }
        s->unfit++;
        free(s->v[i].name);
        free(s->v[i].edges);
    }
    s->n = kept;
}

static int run(struct measuring *m, const struct manifest *target, struct err *e)
{
    const struct settings *o = &m->s->campaigns[0].j.o;
    struct executor_opts x = {.target = target,
                              .args = o->args.n ? (const char *const *)o->args.v : NULL,
                              .mem_bytes = o->mem_bytes,
                              .timeout_ms = o->timeout_ms,
                              .cpu = -1};
    int rc = loop_new(&m->loop, e);
    if (rc == 0)
        rc = executor_new(&m->ev, m->loop, &x, e);
    if (rc == 0)
        rc = next_portion(m, e);
    if (rc == 0) {
        loop_run(m->loop);
        *e = m->error;
        rc = m->error.code;
    }
    if (m->ev)
        m->ev->ops->free(m->ev);
    inputs_free(&m->bytes);
    loop_free(m->loop);
    return rc < 0 ? rc : 0;
}

int selection_measure(struct selection *s, const char *build, const char *target, bool any,
                      struct err *e)
{
    struct manifest m;
    struct measuring *w = xcalloc(1, sizeof *w);
    w->s = s;
    int rc = manifest_load(build, target, &m, e);
    if (rc == 0 && !m.family[FAMILY_NEUTRAL].ok) {
        char *command = manifest_add_command(&m, FAMILY_NEUTRAL);
        rc = err_usage(e, "%s has no neutral build to measure on; add it with: %s", build, command);
        free(command);
    }
    if (rc == 0)
        rc = run(w, &m, e);
    if (rc == 0 && !any)
        drop_unfit(s);
    if (rc == 0) {
        s->comparable = true;
        s->n_edges = m.edges;
        rc = selection_count(s, e);
        s->covered_by_all = s->covered;
    }
    manifest_free(&m);
    free(w);
    return rc;
}
