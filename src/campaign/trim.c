/* trim: what only a heavy input covers is made light enough to be shared (METHOD R19h).
 *
 * When a turn is measured, some inputs will not be shared although they cover what neither the campaign nor a shared
 * input covers.  They are cut down on the neutral build as long as they keep those edges.  What comes out is a find of
 * the turn like any other, made from the input it was cut out of, which stays as it is.  All are asked about at
 * once, one question each per job, until they are as small as they get or the time is used. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/str.h"
#include "journal/write.h"
#include "triage/shrink.h"

#include <stdlib.h>
#include <string.h>

#define TRIM_MAX 16       /* inputs per turn, */
#define TRIM_BYTES 65536  /* so large at most */
#define QUESTIONS_MAX 512 /* to each; */
#define TIME_PART 50      /* in this life trimming takes one part of the slots' time in so many, */
#define TURN_PART 10      /* after one turn one of that turn, */
#define COST_PART 64      /* and one question to all of them one in so many of that */

/* One input that is cut down. */
struct cut {
    size_t of; /* its place in the turn */
    struct edges keep;
    struct shrink *shrink;
    bool asked, smaller, hung;
    struct eval_result last; /* of the smallest so far, once there is one */
};

struct trim {
    struct turn *t;
    struct cut cut[TRIM_MAX];
    size_t n;
    struct eval_input inputs[TRIM_MAX];
    struct eval_job job;
    int64_t from_ns,
        until_ns; /* of the loop: the campaign's clock stands before the first decision */
    uint32_t limit_ms;
    int questions;
};

void trim_free(struct trim *r)
{
    if (!r)
        return;
    eval_results_free(&r->job);
    for (size_t i = 0; i < r->n; i++) {
        edges_free(&r->cut[i].keep);
        edges_free(&r->cut[i].last.edges);
        shrink_free(r->cut[i].shrink);
    }
    free(r);
}

/* Both are in ascending order. */
static bool covers(const struct edges *all, const struct edges *some)
{
    uint32_t k = 0;
    for (uint32_t i = 0; k < some->n && i < all->n; i++)
        k += all->ids[i] == some->ids[k];
    return k == some->n;
}

/* --- which ------------------------------------------------------------------------------------------ */

static struct measured measured_of(const struct turn *t)
{
    return (struct measured){
        .seeds = t->ids, .inputs = t->inputs, .results = t->job.results, .n = t->n};
}

/* As many as one question to all of them is cheap enough. */
static void choose(struct trim *r, struct edges *keep, int64_t budget_ns)
{
    struct turn *t = r->t;
    int64_t left_us = budget_ns / COST_PART / 1000;
    r->limit_ms = 1; /* or four times what the dearest of them takes */
    for (size_t i = 0; i < t->n; i++) {
        int64_t cost_us = t->job.results[i].cpu_us;
        bool wanted =
            keep[i].n && r->n < TRIM_MAX && cost_us <= left_us && t->inputs[i].size <= TRIM_BYTES;
        if (!wanted) {
            edges_free(&keep[i]);
            continue;
        }
        left_us -= cost_us;
        r->limit_ms = cost_us / 250 > r->limit_ms ? (uint32_t)(cost_us / 250) : r->limit_ms;
        struct shrink *shrink = shrink_new(t->inputs[i].data, t->inputs[i].size);
        shrink_cut_only(shrink);
        r->cut[r->n++] = (struct cut){.of = i, .keep = keep[i], .shrink = shrink};
    }
}

/* Outside of PHASE_RUN nothing is counted. */
static int64_t budget_of(const struct turn *t)
{
    const struct campaign *c = t->m->c;
    int64_t turn_ns = (t->d.turn_ns ? t->d.turn_ns : c->f.turn_ns) / TURN_PART;
    int64_t left = (campaign_now(c) - c->before_ns) * c->n_slots / TIME_PART - c->trim_ns;
    return c->phase != PHASE_RUN || left > turn_ns ? turn_ns : left;
}

static struct trim *trim_new(struct turn *t, int64_t budget_ns)
{
    struct campaign *c = t->m->c;
    struct measured m = measured_of(t);
    struct edges *keep = xcalloc(t->n, sizeof *keep);
    struct trim *r = xcalloc(1, sizeof *r);
    r->t = t;
    r->from_ns = loop_now(c->loop);
    r->until_ns = r->from_ns + budget_ns;
    journal_missed(&c->f, &m, c->exchange, keep);
    choose(r, keep, budget_ns);
    free(keep);
    return r;
}

/* --- questions and answers -------------------------------------------------------------------------- */

static void on_answers(void *arg, struct eval_job *job);

/* 1: asked; 0: none of them can be made smaller, or the time is used. */
static int ask(struct trim *r, struct err *e)
{
    struct slot *s = r->t->m->slot;
    size_t n = 0;
    if (loop_now(s->c->loop) >= r->until_ns || r->questions++ == QUESTIONS_MAX)
        return 0;
    for (size_t i = 0; i < r->n; i++) {
        struct cut *k = &r->cut[i];
        struct eval_input *in = &r->inputs[n];
        k->asked = !k->hung && shrink_next(k->shrink, &in->data, &in->size);
        n += k->asked;
    }
    if (!n)
        return 0;
    r->job = (struct eval_job){.inputs = r->inputs,
                               .n = n,
                               .done = on_answers,
                               .arg = r,
                               .cpu = s->cpu,
                               .limit_ms = r->limit_ms};
    int rc = s->ev->ops->submit(s->ev, &r->job, e);
    return rc < 0 ? rc : 1;
}

static void take_answer(struct cut *k, struct eval_result *a)
{
    bool still = run_is_through(a->status) && covers(&a->edges, &k->keep);
    k->hung = a->status == RUN_TIMEOUT; /* it may hang again */
    shrink_tell(k->shrink, still);
    if (!still)
        return;
    edges_free(&k->last.edges);
    k->last = *a;
    a->edges = (struct edges){0};
    k->smaller = true;
}

/* What was learned of indirect calls belongs to the turn. */
static void take_calls(struct turn *t, const struct eval_job *from)
{
    struct eval_job *to = &t->job;
    if (!from->n_calls)
        return;
    to->calls = xrealloc(to->calls, (to->n_calls + from->n_calls) * sizeof *to->calls);
    memcpy(to->calls + to->n_calls, from->calls, from->n_calls * sizeof *to->calls);
    to->n_calls += from->n_calls;
}

/* --- what comes out --------------------------------------------------------------------------------- */

static void measured_already(struct turn *t, const struct store_find *f, struct cut *k)
{
    turn_measure_later(t, f->seed, f->data, f->size);
    t->job.results = xrealloc(t->job.results, t->n * sizeof *t->job.results);
    t->job.results[t->n - 1] = k->last;
    t->job.inputs = t->inputs;
    t->job.n = t->n;
    k->last.edges = (struct edges){0};
}

static int store_cuts(struct trim *r, struct err *e)
{
    struct turn *t = r->t;
    struct campaign *c = t->m->c;
    struct store_find finds[TRIM_MAX];
    struct cut *from[TRIM_MAX];
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        struct cut *k = &r->cut[i];
        struct store_find f = {.kind = STORE_FIND_SEED,
                               .entry = -1,
                               .parent_entry = -1,
                               .parent = t->ids[k->of],
                               .found_ns = t->row.parked_ns,
                               .name = "trimmed"};
        shrink_best(k->shrink, &f.data, &f.size);
        if (!k->smaller || !exchange_is_light(c->exchange, k->last.cpu_us, f.size))
            continue;
        from[n] = k;
        finds[n++] = f;
    }
    int rc = n ? store_turn_add(c->store, &t->row, finds, n, e) : 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (finds[i].fresh) {
            measured_already(t, &finds[i], from[i]);
            c->gauges.seeds++;
        }
    return rc;
}

static void on_answers(void *arg, struct eval_job *job)
{
    struct trim *r = arg;
    struct turn *t = r->t;
    struct err e = job->error;
    int rc = job->failed;
    for (size_t i = 0, n = 0; rc == 0 && i < r->n; i++)
        if (r->cut[i].asked)
            take_answer(&r->cut[i], &job->results[n++]);
    take_calls(t, job);
    eval_results_free(job);
    if (t->m->c->failed)
        return;
    if (rc == 0)
        rc = ask(r, &e);
    if (rc == 0) {
        if (t->m->c->phase == PHASE_RUN)
            t->m->c->trim_ns += loop_now(t->m->c->loop) - r->from_ns;
        rc = store_cuts(r, &e);
    }
    if (rc < 0)
        campaign_fail(t->m->c, &e);
    else if (rc == 0)
        on_turn_measured(t, &t->job);
}

int turn_trim(struct turn *t, struct err *e)
{
    struct campaign *c = t->m->c;
    if (!c->exchange || t->trim)
        return 0;
    int64_t budget_ns = budget_of(t);
    if (budget_ns <= 0)
        return 0;
    t->trim = trim_new(t, budget_ns);
    return ask(t->trim, e);
}
