/* run: the loop of a simulated campaign: workers ask, turns are drawn, the earliest ends, everything is
 * folded in.  Draws no openings (turn.c) and learns nothing itself (journal/fold.c). */
#include "sim/run.h"

#include "base/det.h"
#include "base/die.h"
#include "base/fs.h"
#include "fuzzer/idle.h"
#include "proc/loop.h"
#include "sim/play.h"
#include "sim/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CYCLE_JITTER 0.15 /* of the length of a cycle, turn by turn (log) */
#define EVAL_NS (50 * NS_PER_MS)
#define EVAL_INPUT_NS (4 * NS_PER_MS)

struct slot {
    struct decision d;
    struct play_turn turn;
    struct store_turn row;
    struct play_instance *in;
};

/* Turns that run, the one that ends first on top. */
struct due {
    int64_t end_ns;
    uint64_t order; /* dispatch order: of two that end at once */
    int slot;
};

struct pool { /* instances of one arm */
    struct idle idle;
    int n;
};

struct run {
    const struct run_settings *st;
    struct run_result *res;
    struct world world;
    struct play play;
    struct fold fold;
    struct record *record;
    struct rng rng;
    struct slot *slots;
    struct due *heap;
    int n_heap;
    struct pool pool[WORLD_MAX_FUZZERS];
    struct play_instance **all;
    size_t n_all, cap_all;
    struct eval_call *calls; /* of the turn at hand */
    size_t n_calls, cap_calls;
    uint64_t shared; /* inputs in the shared store */
    uint64_t bugs;   /* bit per bug triggered */
    double reward_sum;
    int quarter;
};

/* --- the queue of running turns ---------------------------------------------------------------- */

static bool sooner(const struct due *a, const struct due *b)
{
    return a->end_ns < b->end_ns || (a->end_ns == b->end_ns && a->order < b->order);
}

static void heap_push(struct run *r, struct due d)
{
    int i = r->n_heap++;
    for (; i > 0 && sooner(&d, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
        r->heap[i] = r->heap[(i - 1) / 2];
    r->heap[i] = d;
}

static struct due heap_pop(struct run *r)
{
    struct due top = r->heap[0], last = r->heap[--r->n_heap];
    int i = 0;
    for (int child; (child = 2 * i + 1) < r->n_heap; i = child) {
        if (child + 1 < r->n_heap && sooner(&r->heap[child + 1], &r->heap[child]))
            child++;
        if (!sooner(&r->heap[child], &last))
            break;
        r->heap[i] = r->heap[child];
    }
    r->heap[i] = last;
    return top;
}

/* --- cost -------------------------------------------------------------------------------------- */

static int64_t stopwatch(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static uint64_t rss_kb(void)
{
    char line[128];
    unsigned long pages = 0, resident = 0;
    if (fs_read_line("/proc/self/statm", line, sizeof line) &&
        sscanf(line, "%lu %lu", &pages, &resident) == 2)
        return resident * 4;
    return 0;
}

/* Which quarter of the budget it is; what stands at the end of each is noted when the next begins. */
static int quarter_at(struct run *r, int64_t now_ns)
{
    int q = (int)(now_ns * RUN_QUARTERS / r->st->budget_ns);
    q = q < RUN_QUARTERS ? q : RUN_QUARTERS - 1;
    for (; r->quarter < q; r->quarter++) {
        r->res->edges_at[r->quarter] = r->fold.ledger.covered;
        r->res->rss_kb[r->quarter] = rss_kb();
    }
    return r->quarter;
}

/* --- instances --------------------------------------------------------------------------------- */

/* As in a real campaign (METHOD R3). */
static struct play_instance *take_instance(struct run *r, int arm)
{
    struct pool *p = &r->pool[arm];
    struct play_instance *in = idle_pop(&p->idle);
    if (in)
        return in;
    in = xcalloc(1, sizeof *in);
    in->arm = arm;
    in->number = p->n++;
    XGROW(r->all, r->n_all, r->cap_all);
    return r->all[r->n_all++] = in;
}

/* What others shared since its last turn; a new one starts with everything, which is no import. */
static uint64_t import(struct run *r, struct play_instance *in)
{
    uint64_t fresh = in->started ? r->shared - in->shared - in->own : 0;
    in->shared = r->shared;
    in->own = 0;
    in->started = true;
    return fresh;
}

/* --- a turn ------------------------------------------------------------------------------------ */

static void draw_length(struct run *r, struct slot *s, int64_t now)
{
    const struct world_fuzzer *f = &r->world.fuzzer[s->row.arm];
    struct turn_quota q = fold_quota(&r->fold, &s->d, r->st->budget_ns - now);
    double cycle = f->cycle_s * det_exp(CYCLE_JITTER * rng_normal(&r->rng));
    double seconds = (double)q.cap_ns / 1e9;
    if (q.cycles && (double)q.cycles * cycle < seconds)
        seconds = fmax((double)q.cycles * cycle, (double)q.least_ns / 1e9);
    s->row.quota_cycles = q.cycles;
    s->row.cycles = (uint64_t)floor(seconds / cycle + 1e-9);
    s->row.cycle_ns = (int64_t)((double)s->row.cycles * cycle * 1e9);
    s->row.active_ns = (int64_t)(seconds * 1e9);
    s->row.execs = (uint64_t)(seconds * f->speed);
    s->row.cpu_ns = s->row.active_ns;
}

static void decide(struct run *r, struct slot *s, int worker, int64_t now)
{
    int q = quarter_at(r, now);
    int64_t from = stopwatch();
    fold_decide(&r->fold, now, worker, 0, &s->d);
    r->res->decide_ns[q] += (double)(stopwatch() - from);
    r->res->decisions[q]++;
    if (s->d.choice >= 0)
        r->res->picks[q][s->d.choice]++;
    gauge_decision(&r->res->gauge, s->d.choice, s->d.t > (uint64_t)s->d.n_arms);
}

static int dispatch(struct run *r, int worker, int64_t now, struct err *e)
{
    struct slot *s = &r->slots[worker];
    decide(r, s, worker, now);
    if (s->d.choice < 0)
        return err_usage(e, "the scheduler %s found no fuzzer to choose", r->st->scheduler);
    s->in = take_instance(r, s->d.choice);
    s->row = (struct store_turn){.id = (int64_t)s->d.t,
                                 .state = TURN_RUNNING,
                                 .arm = s->d.choice,
                                 .slot = worker,
                                 .start_ns = now};
    s->row.offered = s->row.taken = import(r, s->in);
    draw_length(r, s, now);
    int rc = r->record ? record_begin(r->record, &s->row, &s->d, s->in, e) : 0;
    play_turn(&r->play, s->in, (double)s->row.active_ns / 1e9, &s->turn);
    s->row.inputs = (uint32_t)s->turn.n_inputs;
    s->row.crashes = s->turn.crashes;
    s->row.eval_ns = EVAL_NS + EVAL_INPUT_NS * (int64_t)s->turn.n_inputs;
    s->row.parked_ns = now + s->row.active_ns;
    s->row.end_ns = s->row.parked_ns + s->row.eval_ns;
    heap_push(r, (struct due){s->row.end_ns, s->d.t, worker});
    return rc;
}

/* Calls through pointers are learned when an input first shows them, before the turn is rewarded. */
static void note_calls(struct run *r, const struct play_turn *t)
{
    const uint32_t *guess = r->st->graph->guess;
    r->n_calls = 0;
    for (size_t i = 0; i < t->n_opened; i++) {
        uint32_t callee = t->opened[i].edge, caller = t->opened[i].parent;
        if (guess[callee] == GRAPH_NONE || guess[callee] != caller)
            continue;
        XGROW(r->calls, r->n_calls, r->cap_calls);
        r->calls[r->n_calls++] = (struct eval_call){caller, callee};
    }
}

/* The same without a journal. */
static struct store_call *calls_of(const struct run *r)
{
    struct store_call *calls = xcalloc(r->n_calls, sizeof *calls);
    for (size_t i = 0; i < r->n_calls; i++)
        calls[i] = (struct store_call){r->calls[i].caller, r->calls[i].callee};
    return calls;
}

static int fold_it(struct run *r, struct slot *s, struct err *e)
{
    if (r->record)
        return record_done(r->record, &s->row, &s->d, &s->turn, r->calls, r->n_calls, &r->fold, e);
    struct store_call *calls = calls_of(r);
    struct news news = {s->turn.sets, s->turn.n_inputs, calls, r->n_calls};
    s->row.state = TURN_COMMITTED;
    fold_turn(&r->fold, &s->row, &s->d, &news);
    free(calls);
    return 0;
}

static int complete(struct run *r, struct slot *s, struct err *e)
{
    note_calls(r, &s->turn);
    int q = quarter_at(r, s->row.end_ns);
    int64_t from = stopwatch();
    int rc = fold_it(r, s, e);
    r->res->learn_ns[q] += (double)(stopwatch() - from);
    r->res->lessons[q]++;
    gauge_turn(&r->res->gauge, s->row.arm, (double)s->row.end_ns / (double)r->st->budget_ns,
               s->row.raw, s->row.reward);
    play_settle(&r->play, &s->turn);
    for (size_t i = 0; i < s->turn.n_inputs; i++)
        if (s->turn.inputs[i].bug >= 0)
            r->bugs |= UINT64_C(1) << s->turn.inputs[i].bug;
    uint64_t shared = s->turn.n_inputs - s->turn.crashes;
    r->shared += shared;
    s->in->own += shared;
    r->res->crashes += s->turn.crashes;
    r->reward_sum += s->row.reward;
    idle_push(&r->pool[s->in->arm].idle, s->in);
    return rc;
}

/* --- the campaign ------------------------------------------------------------------------------ */

static int start(struct run *r, struct err *e)
{
    const struct run_settings *st = r->st;
    struct fold_settings fs = {.table = st->graph->table,
                               .fuzzers = st->fuzzers,
                               .scheduler = st->scheduler,
                               .params = st->params,
                               .workers = st->workers,
                               .seed = st->seed,
                               .turn_ns = st->turn_ns,
                               .budget_ns = st->budget_ns,
                               .reward = REWARD_COVERAGE_INTERVAL};
    world_make(&r->world, st->graph,
               &(struct world_settings){.fuzzers = (int)st->fuzzers->n,
                                        .bugs = st->n_bugs,
                                        .hardness_s = st->hardness_s,
                                        .seed = st->world_seed});
    play_init(&r->play, &r->world, st->seed);
    rng_stream(&r->rng, st->seed, "lengths");
    r->slots = xcalloc((size_t)st->workers, sizeof *r->slots);
    r->heap = xcalloc((size_t)st->workers + 1, sizeof *r->heap);
    int rc = fold_init(&r->fold, &fs, e);
    if (rc == 0 && st->out)
        rc = record_open(&r->record, st, e);
    return rc;
}

static int fold_round0(struct run *r, struct err *e)
{
    struct play_turn *t = &r->slots[0].turn;
    int rc = 0;
    play_seeds(&r->play, t);
    note_calls(r, t);
    if (r->record) {
        rc = record_seeds(r->record, t, r->calls, r->n_calls, &r->fold, e);
    } else {
        struct store_call *calls = calls_of(r);
        fold_seeds(&r->fold, &(struct news){t->sets, t->n_inputs, calls, r->n_calls});
        free(calls);
    }
    play_settle(&r->play, t);
    r->shared = t->n_inputs;
    return rc;
}

static int play_out(struct run *r, int64_t *now, struct err *e)
{
    int rc = 0;
    for (int w = 0; rc == 0 && w < r->st->workers; w++)
        rc = dispatch(r, w, 0, e);
    while (rc == 0 && r->n_heap) {
        struct due d = heap_pop(r);
        *now = d.end_ns;
        rc = complete(r, &r->slots[d.slot], e);
        if (rc == 0 && !fold_too_late(&r->fold, *now))
            rc = dispatch(r, d.slot, *now, e);
    }
    return rc;
}

static void finish(struct run *r)
{
    struct run_result *res = r->res;
    res->edges = r->fold.ledger.covered;
    res->seed_edges = r->fold.tally.seed_edges;
    res->turns = r->fold.round;
    res->reward = r->fold.round ? r->reward_sum / r->fold.round : 0;
    for (uint64_t b = r->bugs; b; b &= b - 1)
        res->bugs++;
    for (; r->quarter < RUN_QUARTERS; r->quarter++) {
        res->edges_at[r->quarter] = res->edges;
        res->rss_kb[r->quarter] = rss_kb();
    }
}

static void run_free(struct run *r)
{
    for (int i = 0; r->slots && i < r->st->workers; i++)
        play_turn_free(&r->slots[i].turn);
    for (size_t i = 0; i < r->n_all; i++)
        free(r->all[i]);
    for (int i = 0; i < WORLD_MAX_FUZZERS; i++)
        idle_free(&r->pool[i].idle);
    free(r->all);
    free(r->calls);
    free(r->slots);
    free(r->heap);
    fold_free(&r->fold);
    play_free(&r->play);
    world_free(&r->world);
}

int run_campaign(const struct run_settings *st, struct run_result *out, struct err *e)
{
    struct run *r = xcalloc(1, sizeof *r);
    int64_t now = 0;
    *out = (struct run_result){.gauge = {.last = -1}};
    r->st = st;
    r->res = out;
    int rc = start(r, e);
    if (rc == 0)
        rc = fold_round0(r, e);
    if (rc == 0)
        rc = play_out(r, &now, e);
    if (rc == 0)
        finish(r);
    if (r->record)
        rc = record_close(r->record, now, rc, e);
    run_free(r);
    free(r);
    return rc;
}
