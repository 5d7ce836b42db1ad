/* record: writes what a simulated campaign does into the store.  Decides nothing. */
#include "sim/record.h"

#include "base/buf.h"
#include "base/die.h"
#include "campaign/settings.h"
#include "eval/eval.h"
#include "proc/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_TURNS 512 /* a transaction */

struct record {
    struct store *s;
    const struct run_settings *st;
    int64_t *seed_of; /* per edge: the first stored input that covered it; 0: none */
    struct store_slot *slots;
    uint64_t completed;
    int64_t turn; /* of the imports at hand */
    int64_t instance;
    uint64_t imported;
    bool open; /* a transaction is */
};

static int put_settings(struct record *j, struct err *e)
{
    const struct run_settings *st = j->st;
    struct campaign_opts o = {.build = xstrdup(st->build),
                              .target = xstrdup(st->target),
                              .scheduler = xstrdup(st->scheduler),
                              .params = st->params ? xstrdup(st->params) : NULL,
                              .jobs = st->workers,
                              .budget_ns = st->budget_ns,
                              .turn_ns = st->turn_ns,
                              .seed = st->seed,
                              .timeout_ms = 1000,
                              .reward = REWARD_COVERAGE_INTERVAL};
    char total[32];
    snprintf(total, sizeof total, "%u", st->graph->table->n_edges);
    for (size_t i = 0; i < st->fuzzers->n; i++)
        strv_add(&o.fuzzers, st->fuzzers->v[i]);
    int rc = settings_resolve(&o, st->graph->table, e);
    if (rc == 0)
        rc = settings_write(&o, j->s, e);
    if (rc == 0)
        rc = settings_set_budget(j->s, 1, st->budget_ns, e);
    if (rc == 0)
        rc = store_set(j->s, "edges_total", total, e);
    if (rc == 0)
        rc = store_set(j->s, "build_id", st->graph->table->build_id, e);
    if (rc == 0)
        rc = store_set(j->s, "simulated", "1", e);
    if (rc == 0)
        rc = store_event(j->s, 0, "start", "simulated: no fuzzer and no target ran", e);
    campaign_opts_free(&o);
    return rc;
}

int record_open(struct record **out, const struct run_settings *st, struct err *e)
{
    struct record *j = xcalloc(1, sizeof *j);
    *out = j;
    j->st = st;
    j->seed_of = xcalloc(st->graph->table->n_edges + 1, sizeof *j->seed_of);
    j->slots = xcalloc((size_t)st->workers, sizeof *j->slots);
    int rc = store_open(&j->s, st->out, STORE_CREATE, e);
    if (rc == 0)
        rc = store_begin(j->s, e);
    j->open = rc == 0;
    return rc == 0 ? put_settings(j, e) : rc;
}

/* --- inputs ------------------------------------------------------------------------------------- */

/* The bytes say what it is; the number makes them another content than any other's. */
static int bytes_of(char *text, size_t size, const struct record *j, const struct store_turn *row,
                    size_t i, const struct play_input *in)
{
    if (in->opened == GRAPH_NONE)
        return snprintf(text, size, "simulated input %zu of turn %lld, seed %llu\n", i,
                        (long long)(row ? row->id : 0), (unsigned long long)j->st->seed);
    return snprintf(text, size, "simulated input %zu of turn %lld, seed %llu, opens edge %u\n", i,
                    (long long)row->id, (unsigned long long)j->st->seed, in->opened);
}

static int put_crash(struct record *j, const struct store_seed *seed, int arm, int bug,
                     struct err *e)
{
    char name[32];
    bool fresh;
    struct store_crash c = {.hash = seed->hash,
                            .data = seed->data,
                            .size = seed->size,
                            .instance = seed->instance,
                            .turn = seed->turn,
                            .parent = seed->parent,
                            .arm = arm,
                            .signal = SIGSEGV,
                            .name = name,
                            .found_ns = seed->found_ns};
    snprintf(name, sizeof name, "simulated-bug-%d", bug);
    return store_add_crash(j->s, &c, &fresh, e);
}

static int put_edges(struct record *j, int64_t id, const struct edges *set, uint32_t round,
                     bool crash, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    edges_encode(set, &b);
    int rc = store_seed_done(j->s, id, crash ? RUN_CRASH : RUN_OK, crash ? SIGSEGV : 0, 1000, b.p,
                             b.len, round, !crash, e);
    for (uint32_t i = 0; !crash && i < set->n; i++)
        if (!j->seed_of[set->ids[i]])
            j->seed_of[set->ids[i]] = id;
    buf_free(&b);
    return rc;
}

/* Input i of a turn (row NULL: an initial seed), measured. */
static int put_input(struct record *j, const struct store_turn *row, const struct play_turn *t,
                     size_t i, struct err *e)
{
    const struct play_input *in = &t->inputs[i];
    char text[128], name[32];
    struct store_seed seed = {.data = text, .name = name};
    int64_t id;
    bool fresh;
    seed.size = (size_t)bytes_of(text, sizeof text, j, row, i, in);
    snprintf(name, sizeof name, "sim%06zu", i);
    hash_bytes(text, seed.size, &seed.hash);
    if (row) {
        seed.instance = row->instance;
        seed.turn = row->id;
        seed.parent = in->built_on == GRAPH_NONE ? 0 : j->seed_of[in->built_on];
        seed.found_ns = row->start_ns + (int64_t)(in->at_s * 1e9);
    }
    int rc = store_add_seed(j->s, &seed, &id, &fresh, e);
    if (rc == 0)
        rc = put_edges(j, id, &t->sets[i], row ? row->round : 0, in->bug >= 0, e);
    if (rc == 0 && in->bug >= 0)
        rc = put_crash(j, &seed, row->arm, in->bug, e);
    return rc;
}

int record_seeds(struct record *j, const struct play_turn *t, const struct fold *f, struct err *e)
{
    char covered[32];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->n_inputs; i++)
        rc = put_input(j, NULL, t, i, e);
    snprintf(covered, sizeof covered, "%u", f->tally.seed_edges);
    if (rc == 0)
        rc = store_set(j->s, "seed_edges", covered, e);
    return rc == 0 ? store_set(j->s, "seeds_done", "1", e) : rc;
}

/* --- turns -------------------------------------------------------------------------------------- */

static int put_import(void *arg, const struct store_seed *seed, struct err *e)
{
    struct record *j = arg;
    j->imported++;
    return store_import(j->s, j->instance, seed->id, j->turn, e);
}

/* Claimed and delivered at once; the store's own walk says what is new to it. */
static int put_imports(struct record *j, const struct store_turn *row, int64_t *shared,
                       struct err *e)
{
    j->instance = row->instance;
    j->turn = row->id;
    j->imported = 0;
    int rc =
        store_shared_after(j->s, *shared, row->instance, SIZE_MAX / 2, put_import, j, shared, e);
    if (rc >= 0)
        rc = store_imported_upto(j->s, row->instance, *shared, e);
    if (rc >= 0)
        rc = store_delivered(j->s, row->instance, row->id, e);
    return rc < 0 ? rc : 0;
}

int record_begin(struct record *j, struct store_turn *row, const struct decision *d,
                 struct play_instance *in, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    const char *name = j->st->fuzzers->v[in->arm];
    int rc = 0;
    if (!in->row) {
        rc = store_add_instance(j->s, name, in->number, &in->row, e);
        if (rc == 0)
            rc = store_instance_started(j->s, in->row, e);
    }
    row->instance = in->row;
    decision_encode(d, &b);
    if (rc == 0)
        rc = store_turn_begin(j->s, row, b.p, b.len, e);
    buf_free(&b);
    return rc == 0 ? put_imports(j, row, &in->share, e) : rc;
}

int record_call(struct record *j, uint32_t round, uint32_t caller, uint32_t callee, struct err *e)
{
    return store_call(j->s, round, caller, callee, e);
}

static int put_slot(struct record *j, const struct store_turn *row, struct err *e)
{
    struct store_slot *s = &j->slots[row->slot];
    s->fuzz_ns += row->active_ns;
    s->eval_ns += row->eval_ns;
    s->wall_ns = row->end_ns;
    s->idle_ns = s->wall_ns - s->fuzz_ns - s->eval_ns;
    return store_slot_put(j->s, row->slot, s, e);
}

/* Every so often what was written becomes durable. */
static int flush(struct record *j, struct err *e)
{
    int rc = store_commit(j->s, e);
    j->open = false;
    if (rc == 0)
        rc = store_begin(j->s, e);
    j->open = rc == 0;
    return rc;
}

int record_done(struct record *j, const struct store_turn *row, const struct play_turn *t,
                const struct fold *f, struct err *e)
{
    struct buf state = BUF_INIT(BUF_TEXT_MAX);
    struct store_turn parked = *row;
    parked.state = TURN_PARKED;
    parked.round = 0;
    int rc = store_turn_parked(j->s, &parked, NULL, e);
    for (size_t i = 0; rc == 0 && i < t->n_inputs; i++)
        rc = put_input(j, row, t, i, e);
    sched_save(f->sched, &state);
    if (rc == 0)
        rc = store_turn_commit(j->s, row, state.p, state.len, e);
    if (rc == 0)
        rc = put_slot(j, row, e);
    if (rc == 0)
        rc = store_clock(j->s, row->end_ns, e);
    if (rc == 0 && ++j->completed % FLUSH_TURNS == 0)
        rc = flush(j, e);
    buf_free(&state);
    return rc;
}

static int put_end(struct record *j, const struct fold *f, int64_t now_ns, struct err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)f->ledger.no_predecessor);
    int rc = store_set(j->s, "no_predecessor", text, e);
    if (rc == 0)
        rc = store_event(j->s, now_ns, "end", "budget used", e);
    if (rc == 0)
        rc = store_set(j->s, "state", "ended", e);
    if (rc == 0)
        rc = store_clock(j->s, now_ns, e);
    return rc == 0 ? store_commit(j->s, e) : rc;
}

int record_close(struct record *j, const struct fold *f, int64_t now_ns, int rc, struct err *e)
{
    if (rc == 0) {
        rc = put_end(j, f, now_ns, e);
        j->open = rc != 0;
    }
    if (j->open)
        store_rollback(j->s);
    if (rc == 0)
        store_close(j->s);
    else if (j->s)
        store_discard(j->s);
    free(j->seed_of);
    free(j->slots);
    free(j);
    return rc;
}
