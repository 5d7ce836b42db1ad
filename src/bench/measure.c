/* measure: reads kept files in portions and hands them to one executor. */
#include "bench/measure.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "eval/executor.h"

#include <stdlib.h>

#define PORTION 200
#define PORTION_BYTES ((size_t)32 << 20)
#define INPUT_MAX ((size_t)64 << 20)

struct measure {
    struct measure_opts o;
    struct evaluator *ev;
    size_t next;
    struct eval_job job;
    struct eval_input inputs[PORTION];
    int64_t at[PORTION];
    struct buf bytes;
    struct timer end; /* done is called from here, never from inside measure_start or an executor */
    int rc;
    struct err error;
};

static void on_end(void *arg)
{
    struct measure *m = arg;
    m->o.done(m->o.arg, m->rc, &m->error);
}

static void finish(struct measure *m, int rc)
{
    m->rc = rc;
    loop_timer(m->o.loop, &m->end, loop_now(m->o.loop));
}

static int next_portion(struct measure *m, struct err *e);

static void on_job(void *arg, struct eval_job *job)
{
    struct measure *m = arg;
    int rc = job->failed;
    if (rc < 0)
        m->error = job->error;
    for (size_t i = 0; rc == 0 && i < job->n; i++)
        growth_add(m->o.growth, m->at[i], job->results[i].edges.ids, job->results[i].edges.n);
    eval_results_free(job);
    if (rc == 0)
        rc = next_portion(m, &m->error);
    if (rc != 0)
        finish(m, rc < 0 ? rc : 0);
}

/* 1: there are no more. */
static int next_portion(struct measure *m, struct err *e)
{
    size_t n = 0, at = 0;
    buf_clear(&m->bytes);
    for (; m->next < m->o.n && n < PORTION && (n == 0 || m->bytes.len < PORTION_BYTES); m->next++) {
        size_t before = m->bytes.len;
        m->bytes.max = before + INPUT_MAX;
        int rc = fs_read(m->o.files[m->next].path, &m->bytes, e);
        if (rc < 0)
            return rc;
        m->inputs[n].size = m->bytes.len - before;
        m->at[n++] = m->o.files[m->next].at_ns;
    }
    if (n == 0)
        return 1;
    for (size_t i = 0; i < n; i++) {
        m->inputs[i].data = m->bytes.p ? m->bytes.p + at : "";
        at += m->inputs[i].size;
    }
    m->job =
        (struct eval_job){.inputs = m->inputs, .n = n, .done = on_job, .arg = m, .cpu = m->o.cpu};
    return m->ev->ops->submit(m->ev, &m->job, e);
}

int measure_start(struct measure **out, const struct measure_opts *o, struct err *e)
{
    struct measure *m = xcalloc(1, sizeof *m);
    *m = (struct measure){.o = *o, .bytes = BUF_INIT(INPUT_MAX), .end = {.fn = on_end, .arg = m}};
    growth_init(o->growth, o->target->edges);
    int rc = executor_new(&m->ev, o->loop,
                          &(struct executor_opts){.target = o->target,
                                                  .timeout_ms = o->timeout_ms,
                                                  .mem_bytes = o->mem_bytes,
                                                  .cpu = o->cpu},
                          e);
    if (rc == 0)
        rc = next_portion(m, e);
    if (rc == 1)
        finish(m, 0);
    if (rc < 0) {
        measure_free(m);
        growth_free(o->growth);
        m = NULL;
    }
    *out = m;
    return rc < 0 ? rc : 0;
}

void measure_free(struct measure *m)
{
    if (!m)
        return;
    loop_timer_clear(m->o.loop, &m->end);
    if (m->ev)
        m->ev->ops->free(m->ev);
    eval_results_free(&m->job);
    buf_free(&m->bytes);
    free(m);
}
