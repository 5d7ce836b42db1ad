/* facts: settings, events, learned calls, the campaign clock, slot accounts, totals. */
#include "base/die.h"
#include "store/db.h"

int store_set(struct store *s, const char *key, const char *value, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "INSERT OR REPLACE INTO settings(key, value) VALUES(?, ?)", e);
    if (rc < 0)
        return rc;
    db_bind_text(&q, key);
    db_bind_text(&q, value);
    return db_run(&q, e);
}

char *store_get(struct store *s, const char *key)
{
    struct query q;
    if (db_query(s, &q, "SELECT value FROM settings WHERE key = ?", NULL) < 0)
        return NULL;
    db_bind_text(&q, key);
    char *copy = db_step(&q, NULL) > 0 ? xstrdup(db_text(&q)) : NULL;
    db_done(&q);
    return copy;
}

static int insert_event(struct store *s, int64_t now_ns, const char *kind, const char *text,
                        struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "INSERT INTO events(at_ns, kind, text) VALUES(?, ?, ?)", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, now_ns);
    db_bind_text(&q, kind);
    db_bind_text(&q, text);
    return db_run(&q, e);
}

/* The clock goes along: after a kill it must not be behind what is told here. */
int store_event(struct store *s, int64_t now_ns, const char *kind, const char *text, struct err *e)
{
    bool entered;
    int rc = db_enter(s, &entered, e);
    if (rc < 0)
        return rc;
    rc = insert_event(s, now_ns, kind, text, e);
    if (rc == 0)
        rc = store_clock(s, now_ns, e);
    return db_leave(s, entered, rc, e);
}

int store_call(struct store *s, uint32_t round, uint32_t caller, uint32_t callee, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT INTO calls(round, caller, callee) VALUES(?, ?, ?)"
                      " ON CONFLICT(caller, callee) DO NOTHING",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, round);
    db_bind_int(&q, caller);
    db_bind_int(&q, callee);
    return db_run(&q, e);
}

int store_calls(struct store *s, store_call_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT round, caller, callee FROM calls ORDER BY id", e);
    if (rc < 0)
        return rc;
    while ((rc = db_step(&q, e)) > 0) {
        uint32_t round = (uint32_t)db_int(&q), caller = (uint32_t)db_int(&q);
        if ((rc = fn(arg, round, caller, (uint32_t)db_int(&q))) < 0)
            break;
    }
    db_done(&q);
    return rc;
}

int store_clock(struct store *s, int64_t elapsed_ns, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT INTO clock(id, elapsed_ns) VALUES(1, ?) ON CONFLICT(id) DO UPDATE"
                      " SET elapsed_ns = max(elapsed_ns, excluded.elapsed_ns)",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, elapsed_ns);
    return db_run(&q, e);
}

int store_slot_put(struct store *s, int slot, const struct store_slot *v, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT OR REPLACE INTO slots(slot, fuzz_ns, eval_ns, idle_ns, wall_ns)"
                      " VALUES(?, ?, ?, ?, ?)",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, slot);
    db_bind_int(&q, v->fuzz_ns);
    db_bind_int(&q, v->eval_ns);
    db_bind_int(&q, v->idle_ns);
    db_bind_int(&q, v->wall_ns);
    return db_run(&q, e);
}

int store_slots(struct store *s, struct store_slot *out, int max)
{
    struct query q;
    if (db_query(s, &q, "SELECT slot, fuzz_ns, eval_ns, idle_ns, wall_ns FROM slots ORDER BY slot",
                 NULL) < 0)
        return 0;
    int n = 0;
    while (db_step(&q, NULL) > 0) {
        int64_t slot = db_int(&q);
        if (slot < n || slot >= max)
            break;
        while (n <= slot)
            out[n++] = (struct store_slot){0};
        struct store_slot *v = &out[slot];
        v->fuzz_ns = db_int(&q);
        v->eval_ns = db_int(&q);
        v->idle_ns = db_int(&q);
        v->wall_ns = db_int(&q);
    }
    db_done(&q);
    return n;
}

/* Seeds are never deleted, so the highest number is the count: a status scans no 100,000 rows. */
int store_totals(struct store *s, struct store_totals *t, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "SELECT (SELECT elapsed_ns FROM clock), (SELECT max(id) FROM seeds),"
                      " (SELECT max(share) FROM seeds WHERE share IS NOT NULL),"
                      " (SELECT count(*) FROM crashes WHERE hang = 0),"
                      " (SELECT count(*) FROM crashes WHERE hang = 1),"
                      " count(*) FILTER (WHERE state = 3), sum(execs), sum(new_edges) FROM turns",
                      e);
    if (rc < 0)
        return rc;
    *t = (struct store_totals){0};
    rc = db_step(&q, e);
    if (rc > 0) {
        t->elapsed_ns = db_int(&q);
        t->seeds = (uint64_t)db_int(&q);
        t->shared = (uint64_t)db_int(&q);
        t->crashes = (uint64_t)db_int(&q);
        t->hangs = (uint64_t)db_int(&q);
        t->turns = (uint64_t)db_int(&q);
        t->execs = (uint64_t)db_int(&q);
        t->edges_events = (uint64_t)db_int(&q);
    }
    db_done(&q);
    return rc < 0 ? rc : 0;
}
