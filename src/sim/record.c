/* record: writes what a simulated campaign does into the store.  Decides nothing. */
#include "sim/record.h"

#include "base/die.h"
#include "journal/write.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct record {
    struct store *s;
    const struct run_settings *st;
    int64_t *seed_of; /* per edge: the first stored input that covered it; 0: none */
    struct store_slot *slots;
};

static int put_settings(struct record *j, struct err *e)
{
    const struct run_settings *st = j->st;
    struct settings o = {.build = xstrdup(st->build),
                         .target = xstrdup(st->target),
                         .scheduler = xstrdup(st->scheduler),
                         .params = st->params ? xstrdup(st->params) : NULL,
                         .jobs = st->workers,
                         .budget_ns = st->budget_ns,
                         .turn_ns = st->turn_ns,
                         .seed = st->seed,
                         .timeout_ms = 1000,
                         .reward = REWARD_COVERAGE_INTERVAL};
    for (size_t i = 0; i < st->fuzzers->n; i++)
        strv_add(&o.fuzzers, st->fuzzers->v[i]);
    int rc = settings_resolve(&o, st->graph->table, e);
    if (rc == 0)
        rc = journal_start(j->s, &o, st->graph->table, true, e);
    if (rc == 0)
        rc = store_event(j->s, 0, "start", "simulated: no fuzzer and no target ran", e);
    settings_free(&o);
    return rc;
}

int record_open(struct record **out, const struct run_settings *st, struct err *e)
{
    struct record *j = xcalloc(1, sizeof *j);
    *out = j;
    j->st = st;
    j->seed_of = xcalloc(st->graph->table->n_edges + 1, sizeof *j->seed_of);
    j->slots = xcalloc((size_t)st->workers, sizeof *j->slots);
    int rc = store_open(&j->s, st->out, STORE_CREATE_LAZY, e);
    if (rc == 0)
        rc = store_order_take(j->s, e); /* to the end: nobody else is there */
    return rc == 0 ? put_settings(j, e) : rc;
}

/* --- inputs ------------------------------------------------------------------------------------- */

/* Bytes and name of an input.  The bytes say what it is; the numbers make them another content than any
 * other's. */
struct text {
    char bytes[128], name[32];
    size_t size;
};

static void text_of(struct text *x, const struct record *j, int64_t turn, size_t i,
                    const struct play_input *in)
{
    int n = snprintf(x->bytes, sizeof x->bytes, "simulated input %zu of turn %lld, seed %llu", i,
                     (long long)turn, (unsigned long long)j->st->seed);
    x->size = (size_t)n;
    if (in->opened == GRAPH_NONE)
        n = snprintf(x->bytes + n, sizeof x->bytes - (size_t)n, "\n");
    else
        n = snprintf(x->bytes + n, sizeof x->bytes - (size_t)n, ", opens edge %u\n", in->opened);
    x->size += (size_t)n;
    if (in->bug >= 0)
        snprintf(x->name, sizeof x->name, "simulated-bug-%d", in->bug);
    else
        snprintf(x->name, sizeof x->name, "sim%06zu", i);
}

static struct text *texts_of(const struct record *j, int64_t turn, const struct play_turn *t)
{
    struct text *all = xcalloc(t->n_inputs, sizeof *all);
    for (size_t i = 0; i < t->n_inputs; i++)
        text_of(&all[i], j, turn, i, &t->inputs[i]);
    return all;
}

/* What a neutral build would have said of them. */
static struct eval_result *results_of(const struct play_turn *t)
{
    struct eval_result *all = xcalloc(t->n_inputs, sizeof *all);
    for (size_t i = 0; i < t->n_inputs; i++) {
        bool crash = t->inputs[i].bug >= 0;
        all[i] = (struct eval_result){.status = crash ? RUN_CRASH : RUN_OK,
                                      .signal = crash ? SIGSEGV : 0,
                                      .cpu_us = 1000,
                                      .edges = t->sets[i]};
    }
    return all;
}

/* Later inputs are built on the first that covered an edge and runs through. */
static void note_seeds(struct record *j, const struct play_turn *t, const int64_t *ids)
{
    for (size_t i = 0; i < t->n_inputs; i++)
        for (uint32_t k = 0; t->inputs[i].bug < 0 && k < t->sets[i].n; k++)
            if (!j->seed_of[t->sets[i].ids[k]])
                j->seed_of[t->sets[i].ids[k]] = ids[i];
}

static int take_id(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    int64_t **next = arg;
    *(*next)++ = seed->id;
    return 0;
}

int record_seeds(struct record *j, const struct play_turn *t, const struct eval_call *calls,
                 size_t n_calls, struct fold *f, struct err *e)
{
    struct text *texts = texts_of(j, 0, t);
    struct store_seed *seeds = xcalloc(t->n_inputs, sizeof *seeds);
    struct eval_result *results = results_of(t);
    int64_t *ids = xcalloc(t->n_inputs, sizeof *ids), *next = ids;
    struct measured m = {
        .seeds = ids, .results = results, .n = t->n_inputs, .calls = calls, .n_calls = n_calls};
    for (size_t i = 0; i < t->n_inputs; i++)
        seeds[i] = (struct store_seed){
            .data = texts[i].bytes, .size = texts[i].size, .name = texts[i].name};
    int rc = store_add_seeds(j->s, seeds, t->n_inputs, e);
    if (rc == 0)
        rc = store_turn_results(j->s, 0, take_id, &next, e);
    if (rc == 0)
        rc = journal_seeds(j->s, f, NULL, &m, e);
    if (rc == 0)
        note_seeds(j, t, ids);
    free(texts);
    free(seeds);
    free(results);
    free(ids);
    return rc;
}

/* --- turns -------------------------------------------------------------------------------------- */

int record_begin(struct record *j, struct store_turn *row, const struct decision *d,
                 struct play_instance *in, struct err *e)
{
    struct inputs imports = {0};
    struct journal_begin b = {.fuzzer = j->st->fuzzers->v[in->arm],
                              .number = in->number,
                              .max_inputs = SIZE_MAX,
                              .max_bytes = SIZE_MAX};
    row->instance = in->row;
    int rc = journal_begin(j->s, row, d, &b, &imports, e);
    in->row = row->instance;
    inputs_free(&imports);
    return rc == 0 ? store_turn_delivered(j->s, row, e) : rc;
}

static int park(struct record *j, struct store_turn *row, const struct play_turn *t, int64_t *ids,
                struct err *e)
{
    struct text *texts = texts_of(j, row->id, t);
    struct store_find *finds = xcalloc(t->n_inputs, sizeof *finds);
    for (size_t i = 0; i < t->n_inputs; i++) {
        const struct play_input *in = &t->inputs[i];
        finds[i] =
            (struct store_find){.kind = in->bug >= 0 ? STORE_FIND_CRASH : STORE_FIND_SEED,
                                .data = texts[i].bytes,
                                .size = texts[i].size,
                                .entry = -1,
                                .parent_entry = -1,
                                .parent = in->built_on == GRAPH_NONE ? 0 : j->seed_of[in->built_on],
                                .found_ns = row->start_ns + (int64_t)(in->at_s * 1e9),
                                .signal = in->bug >= 0 ? SIGSEGV : 0,
                                .name = texts[i].name,
                                .measure = true};
    }
    int rc = store_turn_park(j->s, row, finds, t->n_inputs, NULL, e);
    for (size_t i = 0; i < t->n_inputs; i++)
        ids[i] = finds[i].seed;
    free(texts);
    free(finds);
    return rc;
}

int record_done(struct record *j, struct store_turn *row, const struct decision *d,
                const struct play_turn *t, const struct eval_call *calls, size_t n_calls,
                struct fold *f, struct err *e)
{
    int64_t *ids = xcalloc(t->n_inputs, sizeof *ids);
    struct eval_result *results = results_of(t);
    struct measured m = {
        .seeds = ids, .results = results, .n = t->n_inputs, .calls = calls, .n_calls = n_calls};
    row->state = TURN_PARKED;
    int rc = park(j, row, t, ids, e);
    row->state = TURN_COMMITTED;
    if (rc == 0)
        rc = journal_commit(j->s, f, row, d, &m, &j->slots[row->slot], &(struct sharing){0}, e);
    if (rc == 0)
        note_seeds(j, t, ids);
    free(ids);
    free(results);
    return rc;
}

int record_close(struct record *j, int64_t now_ns, int rc, struct err *e)
{
    if (rc == 0)
        rc = journal_rest(j->s, now_ns, j->slots, j->st->workers, "budget used", true, e);
    if (rc == 0)
        rc = store_flush(j->s, e);
    if (rc == 0)
        store_close(j->s);
    else if (j->s)
        store_discard(j->s);
    free(j->seed_of);
    free(j->slots);
    free(j);
    return rc;
}
