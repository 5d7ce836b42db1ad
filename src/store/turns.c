/* turns: the life of every turn, the decision that began it, and the learner's state after it. */
#include "base/die.h"
#include "store/db.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The columns, once: order of the INSERT, of the UPDATE and of the SELECT. */
#define TURN_COLUMNS                                                                               \
    "state, round, at_decision, arm, slot, instance, start_ns, parked_ns, end_ns, quota_cycles, "  \
    "execs, cycles,"                                                                               \
    " offered, taken, active_ns, park_ns, cpu_ns, cpu_parked_ns, eval_ns, inputs, new_edges,"      \
    " crashes, hangs, raw, reward, rarity, sec, died, why"
#define TURN_MARKS "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"

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
    db_bind_int(q, t->active_ns);
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
    t->active_ns = db_int(q);
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

int store_turn_begin(struct store *s, const struct store_turn *t, const void *decision,
                     size_t decision_size, struct err *e)
{
    bool entered;
    int rc = db_enter(s, &entered, e);
    if (rc < 0)
        return rc;
    rc = insert_turn(s, t, TURN_RUNNING, e);
    if (rc == 0)
        rc = insert_decision(s, t->id, decision, decision_size, e);
    return db_leave(s, entered, rc, e);
}

static int next_late(struct store *s, int64_t *id, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT min(min(id), 0) - 1 FROM turns", e);
    if (rc < 0)
        return rc;
    rc = db_step(&q, e);
    *id = rc > 0 ? db_int(&q) : 0;
    db_done(&q);
    return rc < 0 ? rc : 0;
}

int store_late_begin(struct store *s, struct store_turn *t, struct err *e)
{
    int rc = next_late(s, &t->id, e);
    if (rc < 0)
        return rc;
    t->state = TURN_LATE;
    return insert_turn(s, t, TURN_LATE, e);
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

int store_turn_parked(struct store *s, const struct store_turn *t, const char *cursor,
                      struct err *e)
{
    bool entered;
    int rc = db_enter(s, &entered, e);
    if (rc < 0)
        return rc;
    bool stays = t->state == TURN_VOID || t->state == TURN_LATE;
    rc = update_turn(s, t, stays ? t->state : TURN_PARKED, false, e);
    if (rc == 0 && cursor)
        rc = set_cursor(s, t->instance, cursor, e);
    return db_leave(s, entered, rc, e);
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

int store_turn_commit(struct store *s, const struct store_turn *t, const void *sched,
                      size_t sched_size, struct err *e)
{
    BUG_ON(t->state != TURN_COMMITTED && t->state != TURN_VOID && t->state != TURN_LATE);
    bool entered;
    int rc = db_enter(s, &entered, e);
    if (rc < 0)
        return rc;
    rc = update_turn(s, t, t->state, true, e);
    if (rc == 0 && sched)
        rc = put_state(s, t->id, sched, sched_size, e);
    return db_leave(s, entered, rc, e);
}

#define TURNS_FROM                                                                                 \
    "SELECT t.id, " TURN_COLUMNS ", d.data FROM turns t LEFT JOIN decisions d ON d.turn = t.id"

int store_turns(struct store *s, enum turn_order order, store_turn_fn *fn, void *arg, struct err *e)
{
    static const char *const sql[] = {
        [TURNS_BY_ID] = TURNS_FROM " WHERE t.id > 0 ORDER BY t.id",
        [TURNS_BY_ROUND] = TURNS_FROM " WHERE t.round > 0 ORDER BY t.round",
        [TURNS_LATE_OPEN] = TURNS_FROM " WHERE t.id < 0 AND t.round = 0 ORDER BY t.id DESC",
    };
    struct query q;
    int rc = db_query(s, &q, sql[order], e);
    if (rc < 0)
        return rc;
    while ((rc = db_step(&q, e)) > 0) {
        struct store_turn t;
        turn_row(&q, &t);
        size_t n;
        const void *decision = db_blob(&q, &n);
        if ((rc = fn(arg, &t, decision, n, e)) < 0)
            break;
    }
    db_done(&q);
    return rc;
}

void *store_sched_state(struct store *s, size_t *n)
{
    struct query q;
    *n = 0;
    if (db_query(s, &q, "SELECT state FROM learner WHERE id = 1", NULL) < 0)
        return NULL;
    void *copy = NULL;
    if (db_step(&q, NULL) > 0) {
        const void *p = db_blob(&q, n);
        copy = xmalloc(*n + 1);
        memcpy(copy, p, *n);
    }
    db_done(&q);
    return copy;
}
