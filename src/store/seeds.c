/* seeds: inputs by content, what was measured of them, and walks over them. */
#include "base/die.h"
#include "store/db.h"

#include <errno.h>
#include <string.h>

static int known(struct store *s, const struct digest *hash, int64_t *id, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT id FROM seeds WHERE hash = ?", e);
    if (rc < 0)
        return rc;
    db_bind_blob(&q, hash->b, sizeof hash->b);
    rc = db_step(&q, e);
    if (rc > 0)
        *id = db_int(&q);
    db_done(&q);
    return rc;
}

int seed_add(struct store *s, const struct store_seed *seed, int64_t *id, bool *fresh,
             struct err *e)
{
    struct digest hash;
    struct query q;
    hash_bytes(seed->data, seed->size, &hash);
    *fresh = false;
    int rc = known(s, &hash, id, e);
    if (rc)
        return rc < 0 ? rc : 0;
    rc = db_query(s, &q,
                  "INSERT INTO seeds(hash, size, instance, turn, parent, name, found_ns, state,"
                  " data) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  e);
    if (rc < 0)
        return rc;
    db_bind_blob(&q, hash.b, sizeof hash.b);
    db_bind_int(&q, (int64_t)seed->size);
    db_bind_id(&q, seed->instance);
    db_bind_id(&q, seed->turn);
    db_bind_id(&q, seed->parent);
    db_bind_text(&q, seed->name ? seed->name : "");
    db_bind_int(&q, seed->found_ns);
    db_bind_int(&q, SEED_PENDING);
    rc = blob_bind(&q, &hash, seed->data, seed->size, e);
    if (rc == 0)
        rc = db_run(&q, e);
    else
        db_done(&q);
    *id = sqlite3_last_insert_rowid(s->db);
    *fresh = rc == 0;
    return rc;
}

int store_seed_find(struct store *s, const struct digest *hash, int64_t *id, struct err *e)
{
    *id = 0;
    int rc = known(s, hash, id, e);
    return rc < 0 ? rc : 0;
}

int store_add_seeds(struct store *s, const struct store_seed *seeds, size_t n, struct err *e)
{
    int64_t id;
    bool fresh;
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = seed_add(s, &seeds[i], &id, &fresh, e);
    return db_leave(s, rc, e);
}

/* --- results -------------------------------------------------------------------------------- */

/* An UPDATE of one seed must change exactly one row. */
static int run_on_seed(struct query *q, int64_t id, struct err *e)
{
    struct store *s = q->s;
    int rc = db_run(q, e);
    if (rc == 0 && sqlite3_changes(s->db) != 1)
        rc = err_set(e, -ENOENT, "no seed %lld in %s", (long long)id, s->path);
    return rc;
}

/* A seed measured again after a crash keeps its share number: instances may have it already. */
static int put_result(struct store *s, uint32_t round, const struct store_result *r, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "UPDATE seeds SET state = ?, status = ?, signal = ?, cpu_us = ?, edges = ?,"
                      " round = ?, share = CASE WHEN share IS NOT NULL OR NOT ? THEN share ELSE"
                      " coalesce((SELECT max(share) FROM seeds WHERE share IS NOT NULL), 0) + 1 END"
                      " WHERE id = ?",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, SEED_DONE);
    db_bind_int(&q, r->status);
    db_bind_int(&q, r->signal);
    db_bind_int(&q, r->cpu_us);
    db_bind_blob(&q, r->edges, r->edges_size);
    db_bind_int(&q, round);
    db_bind_int(&q, r->share);
    db_bind_int(&q, r->seed);
    return run_on_seed(&q, r->seed, e);
}

static int quarantine(struct store *s, uint32_t round, int64_t id, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "UPDATE seeds SET state = ?, round = ? WHERE id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, SEED_QUARANTINED);
    db_bind_int(&q, round);
    db_bind_int(&q, id);
    return run_on_seed(&q, id, e);
}

int seed_results(struct store *s, uint32_t round, int arm, struct store_result *results, size_t n,
                 struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct store_result *r = &results[i];
        rc = r->quarantine ? quarantine(s, round, r->seed, e) : put_result(s, round, r, e);
        if (rc == 0 && r->crash)
            rc = crash_of_seed(s, r->seed, r->hang, arm, r->signal, &r->fresh, e);
    }
    return rc;
}

/* --- walks ---------------------------------------------------------------------------------- */

/* SEED_FACTS, all but the bytes. */
static int seed_facts(struct query *q, struct store_seed *r, struct err *e)
{
    *r = (struct store_seed){.id = db_int(q)};
    size_t n;
    const void *hash = db_blob(q, &n);
    if (!hash || n != sizeof r->hash.b)
        return err_set(e, -EUCLEAN, "%s is damaged: seed %lld has no hash", q->s->path,
                       (long long)r->id);
    memcpy(r->hash.b, hash, n);
    r->size = (size_t)db_int(q);
    r->instance = db_int(q);
    r->turn = db_int(q);
    r->parent = db_int(q);
    r->name = db_text(q);
    r->found_ns = db_int(q);
    r->state = (enum seed_state)db_int(q);
    r->status = (int)db_int(q);
    r->signal = (int)db_int(q);
    r->cpu_us = (uint32_t)db_int(q);
    r->edges = db_blob(q, &r->edges_size);
    r->round = (uint32_t)db_int(q);
    r->share = db_int(q);
    return 0;
}

static int tell(struct store *s, store_seed_fn *fn, void *arg, const struct store_seed *r,
                struct err *e)
{
    s->walking = true;
    int rc = fn(arg, r, e);
    s->walking = false;
    return rc;
}

int seed_row(struct query *q, store_seed_fn *fn, void *arg, struct err *e)
{
    struct store_seed r;
    struct blob b;
    int rc = seed_facts(q, &r, e);
    if (rc < 0)
        return rc;
    rc = blob_column(q, &r.hash, r.size, &b, e);
    r.data = b.data;
    if (rc == 0)
        rc = tell(q->s, fn, arg, &r, e);
    buf_free(&b.file);
    return rc;
}

int store_turn_seeds(struct store *s, int64_t turn, store_seed_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc =
        db_query(s, &q, "SELECT " SEED_COLUMNS " FROM seeds s WHERE s.turn IS ? ORDER BY s.id", e);
    if (rc < 0)
        return rc;
    db_bind_id(&q, turn);
    while ((rc = db_step(&q, e)) > 0)
        if ((rc = seed_row(&q, fn, arg, e)) < 0)
            break;
    db_done(&q);
    return rc;
}

/* Every row of SEED_FACTS given to fn; ends the query. */
static int tell_all(struct query *q, store_seed_fn *fn, void *arg, struct err *e)
{
    int rc;
    while ((rc = db_step(q, e)) > 0) {
        struct store_seed r;
        if ((rc = seed_facts(q, &r, e)) < 0 || (rc = tell(q->s, fn, arg, &r, e)) < 0)
            break;
    }
    db_done(q);
    return rc;
}

int store_turn_results(struct store *s, int64_t turn, store_seed_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc =
        db_query(s, &q, "SELECT " SEED_FACTS " FROM seeds s WHERE s.turn IS ? ORDER BY s.id", e);
    if (rc < 0)
        return rc;
    db_bind_id(&q, turn);
    return tell_all(&q, fn, arg, e);
}

int store_results(struct store *s, store_seed_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT " SEED_FACTS " FROM seeds s ORDER BY s.id", e);
    return rc < 0 ? rc : tell_all(&q, fn, arg, e);
}

static int missing(struct store *s, int64_t id, struct err *e)
{
    return err_set(e, -ENOENT, "no seed %lld in %s", (long long)id, s->path);
}

int store_seed_results(struct store *s, int64_t id, store_seed_fn *fn, void *arg, struct err *e)
{
    struct query q;
    struct store_seed r;
    int rc = db_query(s, &q, "SELECT " SEED_FACTS " FROM seeds s WHERE s.id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, id);
    rc = db_step(&q, e);
    if (rc > 0 && (rc = seed_facts(&q, &r, e)) == 0)
        rc = tell(s, fn, arg, &r, e);
    else if (rc == 0)
        rc = missing(s, id, e);
    db_done(&q);
    return rc;
}

int store_seed_get(struct store *s, int64_t id, store_seed_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT " SEED_COLUMNS " FROM seeds s WHERE s.id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, id);
    rc = db_step(&q, e);
    if (rc > 0)
        rc = seed_row(&q, fn, arg, e);
    else if (rc == 0)
        rc = missing(s, id, e);
    db_done(&q);
    return rc;
}
