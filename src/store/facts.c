/* facts: facts by key, events, learned calls, the campaign clock, slot accounts, totals. */
#include "base/die.h"
#include "store/db.h"

int fact_put(struct store *s, const struct store_fact *facts, size_t n, struct err *e)
{
    struct query q;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = db_query(s, &q, "INSERT OR REPLACE INTO settings(key, value) VALUES(?, ?)", e);
        if (rc < 0)
            break;
        db_bind_text(&q, facts[i].key);
        db_bind_text(&q, facts[i].value);
        rc = db_run(&q, e);
    }
    return rc;
}

int store_put(struct store *s, const struct store_fact *facts, size_t n, struct err *e)
{
    int rc = db_enter(s, e);
    return rc < 0 ? rc : db_leave(s, fact_put(s, facts, n, e), e);
}

int store_get(struct store *s, const char *key, char **value, struct err *e)
{
    struct query q;
    *value = NULL;
    int rc = db_query(s, &q, "SELECT value FROM settings WHERE key = ?", e);
    if (rc < 0)
        return rc;
    db_bind_text(&q, key);
    rc = db_step(&q, e);
    if (rc > 0)
        *value = xstrdup(db_text(&q));
    db_done(&q);
    return rc < 0 ? rc : 0;
}

int event_add(struct store *s, int64_t now_ns, const char *kind, const char *text, struct err *e)
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
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    rc = event_add(s, now_ns, kind, text, e);
    if (rc == 0)
        rc = clock_put(s, now_ns, e);
    return db_leave(s, rc, e);
}

/* --- learned calls --------------------------------------------------------------------------- */

int call_add(struct store *s, uint32_t round, const struct store_call *c, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT INTO calls(round, caller, callee) VALUES(?, ?, ?)"
                      " ON CONFLICT(caller, callee) DO NOTHING",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, round);
    db_bind_int(&q, c->caller);
    db_bind_int(&q, c->callee);
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
        uint32_t callee = (uint32_t)db_int(&q);
        s->walking = true;
        rc = fn(arg, round, caller, callee);
        s->walking = false;
        if (rc < 0)
            break;
    }
    db_done(&q);
    return rc;
}

/* --- clock and slots -------------------------------------------------------------------------- */

int clock_put(struct store *s, int64_t elapsed_ns, struct err *e)
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

int store_clock(struct store *s, int64_t elapsed_ns, struct err *e)
{
    int rc = db_enter(s, e);
    return rc < 0 ? rc : db_leave(s, clock_put(s, elapsed_ns, e), e);
}

int slot_put(struct store *s, int slot, const struct store_slot *v, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT OR REPLACE INTO slots(slot, start_ns, fuzz_ns, eval_ns, idle_ns,"
                      " wall_ns) VALUES(?, ?, ?, ?, ?, ?)",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, slot);
    db_bind_int(&q, v->start_ns);
    db_bind_int(&q, v->fuzz_ns);
    db_bind_int(&q, v->eval_ns);
    db_bind_int(&q, v->idle_ns);
    db_bind_int(&q, v->wall_ns);
    return db_run(&q, e);
}

int store_slots(struct store *s, struct store_slot *out, int max, int *n, struct err *e)
{
    struct query q;
    *n = 0;
    int rc = db_query(s, &q,
                      "SELECT slot, start_ns, fuzz_ns, eval_ns, idle_ns, wall_ns FROM slots"
                      " WHERE slot BETWEEN 0 AND ? ORDER BY slot",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, max - 1);
    while ((rc = db_step(&q, e)) > 0) {
        int64_t slot = db_int(&q);
        while (*n <= slot)
            out[(*n)++] = (struct store_slot){0};
        struct store_slot *v = &out[slot];
        v->start_ns = db_int(&q);
        v->fuzz_ns = db_int(&q);
        v->eval_ns = db_int(&q);
        v->idle_ns = db_int(&q);
        v->wall_ns = db_int(&q);
    }
    db_done(&q);
    return rc;
}

int store_rest(struct store *s, int64_t now_ns, const struct store_slot *slots, int n_slots,
               const struct store_fact *facts, size_t n_facts, const char *reason, struct err *e)
{
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    rc = clock_put(s, now_ns, e);
    for (int i = 0; rc == 0 && i < n_slots; i++)
        rc = slot_put(s, i, &slots[i], e);
    if (rc == 0)
        rc = fact_put(s, facts, n_facts, e);
    if (rc == 0)
        rc = event_add(s, now_ns, "end", reason, e);
    return db_leave(s, rc, e);
}

/* Seeds are never deleted, so the highest number is the count: a status scans no 100,000 rows. */
int store_totals(struct store *s, struct store_totals *t, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "SELECT (SELECT elapsed_ns FROM clock), (SELECT max(id) FROM turns),"
                      " (SELECT max(id) FROM seeds), (SELECT count(*) FROM crashes WHERE hang = 0),"
                      " (SELECT count(*) FROM crashes WHERE hang = 1),"
                      " (SELECT count(DISTINCT defect) FROM triage WHERE defect <> '' AND build ="
                      "  (SELECT value FROM settings WHERE key = 'triage.build'))",
                      e);
    *t = (struct store_totals){0};
    if (rc < 0)
        return rc;
    rc = db_step(&q, e);
    if (rc > 0) {
        t->elapsed_ns = db_int(&q);
        t->decisions = db_int(&q);
        t->decisions = t->decisions > 0 ? t->decisions : 0; /* late turns alone are negative */
        t->seeds = (uint64_t)db_int(&q);
        t->crashes = (uint64_t)db_int(&q);
        t->hangs = (uint64_t)db_int(&q);
        t->defects = (uint64_t)db_int(&q);
    }
    db_done(&q);
    return rc < 0 ? rc : 0;
}
