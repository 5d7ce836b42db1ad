/* turns: the steps in the life of a turn, and turns read back in order. */
#include "base/die.h"
#include "store/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The columns, once: order of the INSERT, of the UPDATE and of the SELECT. */
#define TURN_COLUMNS                                                                               \
    "state, round, at_decision, arm, slot, instance, start_ns, parked_ns, end_ns, quota_cycles,"   \
    " execs, cycles, offered, taken, startup_ns, active_ns, cycle_ns, park_ns, cpu_ns,"            \
    " cpu_parked_ns, eval_ns, inputs, new_edges, crashes, hangs, raw, reward, rarity, sec, died,"  \
    " why"
#define TURN_MARKS "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

static void bind_turn(struct query *q, const struct store_turn *t, enum turn_state state)
{
    db_bind_int(q, state);
    db_bind_int(q, t->round);
    db_bind_int(q, t->at_decision);
    db_bind_int(q, t->arm);
    db_bind_int(q, t->slot);
    db_bind_id(q, t->instance);
    db_bind_int(q, t->start_ns);
    db_bind_int(q, t->parked_ns);
    db_bind_int(q, t->end_ns);
    db_bind_int(q, (int64_t)t->quota_cycles);
    db_bind_int(q, (int64_t)t->execs);
    db_bind_int(q, (int64_t)t->cycles);
    db_bind_int(q, (int64_t)t->offered);
    db_bind_int(q, (int64_t)t->taken);
    db_bind_int(q, t->startup_ns);
    db_bind_int(q, t->active_ns);
    db_bind_int(q, t->cycle_ns);
    db_bind_int(q, t->park_ns);
    db_bind_int(q, t->cpu_ns);
    db_bind_int(q, t->cpu_parked_ns);
    db_bind_int(q, t->eval_ns);
    db_bind_int(q, t->inputs);
    db_bind_int(q, t->new_edges);
    db_bind_int(q, t->crashes);
    db_bind_int(q, t->hangs);
    db_bind_real(q, t->raw);
    db_bind_real(q, t->reward);
    db_bind_real(q, t->rarity);
    db_bind_real(q, t->sec);
    db_bind_int(q, t->died);
    db_bind_text(q, t->why);
}

static void turn_row(struct query *q, struct store_turn *t)
{
    *t = (struct store_turn){.id = db_int(q)};
    t->state = (enum turn_state)db_int(q);
    t->round = (uint32_t)db_int(q);
    t->at_decision = db_int(q);
    t->arm = (int)db_int(q);
    t->slot = (int)db_int(q);
    t->instance = db_int(q);
    t->start_ns = db_int(q);
    t->parked_ns = db_int(q);
    t->end_ns = db_int(q);
    t->quota_cycles = (uint64_t)db_int(q);
    t->execs = (uint64_t)db_int(q);
    t->cycles = (uint64_t)db_int(q);
    t->offered = (uint64_t)db_int(q);
    t->taken = (uint64_t)db_int(q);
    t->startup_ns = db_int(q);
    t->active_ns = db_int(q);
    t->cycle_ns = db_int(q);
    t->park_ns = db_int(q);
    t->cpu_ns = db_int(q);
    t->cpu_parked_ns = db_int(q);
    t->eval_ns = db_int(q);
    t->inputs = (uint32_t)db_int(q);
    t->new_edges = (uint32_t)db_int(q);
    t->crashes = (uint32_t)db_int(q);
    t->hangs = (uint32_t)db_int(q);
    t->raw = db_real(q);
    t->reward = db_real(q);
    t->rarity = db_real(q);
    t->sec = db_real(q);
    t->died = db_int(q) != 0;
    snprintf(t->why, sizeof t->why, "%s", db_text(q));
}

static int insert_turn(struct store *s, const struct store_turn *t, enum turn_state state,
                       struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "INSERT INTO turns(id, " TURN_COLUMNS ") VALUES(?," TURN_MARKS ")", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, t->id);
    bind_turn(&q, t, state);
    return db_run(&q, e);
}

static int insert_decision(struct store *s, int64_t turn, const void *data, size_t n, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "INSERT INTO decisions(turn, data) VALUES(?, ?)", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, turn);
    db_bind_blob(&q, data, n);
    return db_run(&q, e);
}

int store_turn_begin(struct store *s, struct store_turn *t, const struct store_claim *c,
                     struct inputs *imports, struct err *e)
{
    BUG_ON(!s->ordered);
    int64_t was = t->instance;
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    if (!t->instance)
        rc = instance_add(s, c->fuzzer, c->number, &t->instance, e);
    if (rc == 0)
        rc = insert_turn(s, t, TURN_RUNNING, e);
    if (rc == 0)
        rc = insert_decision(s, t->id, c->decision, c->decision_size, e);
    if (rc == 0)
        rc = imports_claim(s, t->instance, t->id, c, imports, e);
    if (rc == 0)
        rc = clock_put(s, t->start_ns, e);
    rc = db_leave(s, rc, e);
    if (rc < 0) {
        t->instance = was;
        inputs_free(imports);
    }
    return rc;
}

static int next_late(struct store *s, int64_t *id, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT min(coalesce(min(id), 0), 0) - 1 FROM turns", e);
    if (rc < 0)
        return rc;
    rc = db_step(&q, e);
    *id = rc > 0 ? db_int(&q) : 0;
    db_done(&q);
    return rc < 0 ? rc : 0;
}

/* A turn is parked once, from running (a late one never runs), and completed once, from whatever it was. */
static int update_turn(struct store *s, const struct store_turn *t, enum turn_state state,
                       bool completes, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "UPDATE turns SET (" TURN_COLUMNS ") = (" TURN_MARKS ")"
                      " WHERE id = ? AND round = 0 AND (state = ? OR ?)",
                      e);
    if (rc < 0)
        return rc;
    bind_turn(&q, t, state);
    db_bind_int(&q, t->id);
    db_bind_int(&q, state == TURN_LATE ? TURN_LATE : TURN_RUNNING);
    db_bind_int(&q, completes);
    rc = db_run(&q, e);
    if (rc == 0 && sqlite3_changes(s->db) != 1)
        rc = err_set(e, -EINVAL, "turn %lld is not there or is past that state already",
                     (long long)t->id);
    return rc;
}

static int set_cursor(struct store *s, int64_t instance, const char *cursor, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "UPDATE instances SET cursor = ? WHERE id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_text(&q, cursor);
    db_bind_int(&q, instance);
    return db_run(&q, e);
}

static int keep_crash(struct store *s, const struct store_turn *t, struct store_find *f,
                      int64_t parent, struct err *e)
{
    struct store_crash k = {.hang = f->kind == STORE_FIND_HANG,
                            .data = f->data,
                            .size = f->size,
                            .instance = t->instance,
                            .turn = t->id,
                            .parent = parent,
                            .arm = t->arm,
                            .signal = f->signal,
                            .name = f->name,
                            .found_ns = f->found_ns};
    return crash_add(s, &k, &f->fresh_crash, e);
}

static int keep_seed(struct store *s, const struct store_turn *t, struct store_find *f,
                     int64_t parent, struct err *e)
{
    struct store_seed seed = {.data = f->data,
                              .size = f->size,
                              .instance = t->instance,
                              .turn = t->id,
                              .parent = parent,
                              .name = f->name,
                              .found_ns = f->found_ns};
    int rc = seed_add(s, &seed, &f->seed, &f->fresh, e);
    if (rc == 0 && f->kind == STORE_FIND_SEED && f->entry >= 0)
        rc = entry_put(s, t->instance, f->entry, f->seed, e);
    return rc;
}

static int keep_find(struct store *s, struct store_turn *t, struct store_find *f, struct err *e)
{
    if (f->kind == STORE_FIND_ENTRY)
        return f->entry < 0 ? 0 : entry_put(s, t->instance, f->entry, f->seed, e);
    int64_t parent = f->parent;
    int rc =
        parent || f->parent_entry < 0 ? 0 : entry_seed(s, t->instance, f->parent_entry, &parent, e);
    if (rc == 0 && f->kind != STORE_FIND_SEED)
        rc = keep_crash(s, t, f, parent, e);
    if (rc == 0 && (f->measure || f->kind == STORE_FIND_SEED))
        rc = keep_seed(s, t, f, parent, e);
    t->inputs += f->fresh;
    t->crashes += f->kind == STORE_FIND_CRASH;
    t->hangs += f->kind == STORE_FIND_HANG;
    return rc;
}

static int make_late(struct store *s, struct store_turn *t, struct err *e)
{
    int rc = next_late(s, &t->id, e);
    return rc < 0 ? rc : insert_turn(s, t, TURN_LATE, e);
}

int store_turn_park(struct store *s, struct store_turn *t, struct store_find *finds, size_t n,
                    const char *cursor, struct err *e)
{
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    if (t->state == TURN_LATE)
        rc = make_late(s, t, e);
    t->inputs = t->crashes = t->hangs = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = keep_find(s, t, &finds[i], e);
    bool stays = t->state == TURN_VOID || t->state == TURN_LATE;
    if (rc == 0)
        rc = update_turn(s, t, stays ? t->state : TURN_PARKED, false, e);
    if (rc == 0 && cursor)
        rc = set_cursor(s, t->instance, cursor, e);
    if (rc == 0)
        rc = clock_put(s, t->parked_ns, e);
    return db_leave(s, rc, e);
}

static int set_inputs(struct store *s, const struct store_turn *t, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "UPDATE turns SET inputs = ? WHERE id = ? AND round = 0", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, t->inputs);
    db_bind_int(&q, t->id);
    return db_run(&q, e);
}

int store_turn_add(struct store *s, struct store_turn *t, struct store_find *finds, size_t n,
                   struct err *e)
{
    uint32_t was = t->inputs;
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = keep_find(s, t, &finds[i], e);
    if (rc == 0)
        rc = set_inputs(s, t, e);
    rc = db_leave(s, rc, e);
    if (rc < 0)
        t->inputs = was;
    return rc;
}

static int put_state(struct store *s, int64_t turn, const void *state, size_t n, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "INSERT OR REPLACE INTO learner(id, turn, state) VALUES(1, ?, ?)", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, turn);
    db_bind_blob(&q, state, n);
    return db_run(&q, e);
}

/* What a commit of a turn and that of round 0 have in common. */
static int put_commit(struct store *s, uint32_t round, int arm, const struct store_commit *c,
                      struct err *e)
{
    int rc = seed_results(s, round, arm, c->results, c->n, e);
    for (size_t i = 0; rc == 0 && i < c->n_calls; i++)
        rc = call_add(s, round, &c->calls[i], e);
    return rc == 0 ? fact_put(s, c->facts, c->n_facts, e) : rc;
}

int store_turn_commit(struct store *s, const struct store_turn *t, const struct store_commit *c,
                      struct err *e)
{
    BUG_ON(!s->ordered);
    BUG_ON(t->state != TURN_COMMITTED && t->state != TURN_VOID && t->state != TURN_LATE);
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    rc = put_commit(s, t->round, t->arm, c, e);
    if (rc == 0)
        rc = update_turn(s, t, t->state, true, e);
    if (rc == 0 && c->sched)
        rc = put_state(s, t->id, c->sched, c->sched_size, e);
    if (rc == 0 && c->account)
        rc = slot_put(s, t->slot, c->account, e);
    if (rc == 0)
        rc = clock_put(s, t->end_ns, e);
    return db_leave(s, rc, e);
}

int store_seeds_commit(struct store *s, const struct store_commit *c, struct err *e)
{
    int rc = db_enter(s, e);
    return rc < 0 ? rc : db_leave(s, put_commit(s, 0, -1, c, e), e);
}

/* --- reading -------------------------------------------------------------------------------- */

struct store_turns {
    struct query q;
};

#define TURNS_FROM                                                                                 \
    "SELECT t.id, " TURN_COLUMNS ", d.data FROM turns t LEFT JOIN decisions d ON d.turn = t.id"

int store_turns_open(struct store_turns **out, struct store *s, enum turn_order order,
                     int64_t after, struct err *e)
{
    static const char *const sql[] = {
        [TURNS_BY_ID] = TURNS_FROM " WHERE t.id > 0 AND t.id > ? ORDER BY t.id",
        [TURNS_BY_ROUND] = TURNS_FROM " WHERE t.round > 0 AND t.round > ? ORDER BY t.round",
        [TURNS_LATE_OPEN] =
            TURNS_FROM " WHERE t.id < 0 AND t.id < ? AND t.round = 0 ORDER BY t.id DESC",
    };
    struct store_turns *w = xcalloc(1, sizeof *w);
    int rc = db_query(s, &w->q, sql[order], e);
    if (rc < 0) {
        free(w);
        *out = NULL;
        return rc;
    }
    db_bind_int(&w->q, after);
    *out = w;
    return 0;
}

int store_turns_next(struct store_turns *w, struct store_turn *t, struct store_blob *decision,
                     struct err *e)
{
    int rc = db_step(&w->q, e);
    if (rc <= 0)
        return rc;
    turn_row(&w->q, t);
    struct store_blob d;
    d.data = db_blob(&w->q, &d.size);
    if (decision)
        *decision = d;
    return 1;
}

void store_turns_close(struct store_turns *w)
{
    if (!w)
        return;
    db_done(&w->q);
    free(w);
}

int store_sched_state(struct store *s, struct buf *out, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT state FROM learner WHERE id = 1", e);
    if (rc < 0)
        return rc;
    rc = db_step(&q, e);
    if (rc > 0) {
        size_t n;
        const void *p = db_blob(&q, &n);
        buf_add(out, p, n);
    }
    db_done(&q);
    return rc < 0 ? rc : 0;
}
