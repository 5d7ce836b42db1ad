/* crashes: inputs that crash or hang the target, kept apart from the shared seeds. */
#include "store/db.h"

#include <errno.h>
#include <string.h>

static int known(struct store *s, bool hang, const struct digest *hash, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT 1 FROM crashes WHERE hang = ? AND hash = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, hang);
    db_bind_blob(&q, hash->b, sizeof hash->b);
    rc = db_step(&q, e);
    db_done(&q);
    return rc;
}

int crash_add(struct store *s, const struct store_crash *c, bool *fresh, struct err *e)
{
    struct digest hash;
    hash_bytes(c->data, c->size, &hash);
    *fresh = false;
    int rc = known(s, c->hang, &hash, e);
    if (rc)
        return rc < 0 ? rc : 0;
    struct query q;
    rc = db_query(s, &q,
                  "INSERT INTO crashes(hang, hash, size, instance, turn, parent, arm, signal, name,"
                  " found_ns, by_eval, data) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, c->hang);
    db_bind_blob(&q, hash.b, sizeof hash.b);
    db_bind_int(&q, (int64_t)c->size);
    db_bind_id(&q, c->instance);
    db_bind_id(&q, c->turn);
    db_bind_id(&q, c->parent);
    db_bind_int(&q, c->arm);
    db_bind_int(&q, c->signal);
    db_bind_text(&q, c->name ? c->name : "");
    db_bind_int(&q, c->found_ns);
    db_bind_int(&q, c->by_eval);
    rc = blob_bind(&q, &hash, c->data, c->size, e);
    if (rc == 0)
        rc = db_run(&q, e);
    else
        db_done(&q);
    *fresh = rc == 0;
    return rc;
}

/* Its bytes are there already, in its row or in its file. */
int crash_of_seed(struct store *s, int64_t seed, bool hang, int arm, int signal, bool *fresh,
                  struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT INTO crashes(hang, hash, size, instance, turn, parent, arm, signal,"
                      " name, found_ns, by_eval, data) SELECT ?1, hash, size, instance, turn,"
                      " parent, ?2, ?3, name, found_ns, 1, data FROM seeds WHERE id = ?4"
                      " ON CONFLICT(hang, hash) DO NOTHING",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, hang);
    db_bind_int(&q, arm);
    db_bind_int(&q, signal);
    db_bind_int(&q, seed);
    rc = db_run(&q, e);
    *fresh = rc == 0 && sqlite3_changes(s->db) == 1;
    return rc;
}

int store_crash_known(struct store *s, int64_t seed, bool *is, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "SELECT 1 FROM seeds s JOIN crashes c ON c.hang = 0 AND c.hash = s.hash"
                      " WHERE s.id = ?",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, seed);
    rc = db_step(&q, e);
    *is = rc > 0;
    db_done(&q);
    return rc < 0 ? rc : 0;
}

int store_crash_edges(struct store *s, int64_t id, struct buf *out, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "SELECT s.edges FROM crashes c JOIN seeds s ON s.hash = c.hash"
                      " WHERE c.id = ? AND s.state = 2",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, id);
    rc = db_step(&q, e);
    if (rc > 0) {
        size_t n;
        const void *edges = db_blob(&q, &n);
        buf_add(out, edges ? edges : "", n);
    }
    db_done(&q);
    return rc;
}

int crash_facts(struct query *q, struct store_crash *c, struct err *e)
{
    size_t n;
    *c = (struct store_crash){.id = db_int(q), .hang = db_int(q) != 0};
    const void *hash = db_blob(q, &n);
    if (!hash || n != sizeof c->hash.b)
        return err_set(e, -EUCLEAN, "%s is damaged: crash %lld has no hash", q->s->path,
                       (long long)c->id);
    memcpy(c->hash.b, hash, n);
    c->size = (size_t)db_int(q);
    c->instance = db_int(q);
    c->turn = db_int(q);
    c->parent = db_int(q);
    c->arm = (int)db_int(q);
    c->signal = (int)db_int(q);
    c->name = db_text(q);
    c->found_ns = db_int(q);
    c->by_eval = db_int(q) != 0;
    c->slot = (int)db_int(q);
    return 0;
}

static int crash_row(struct query *q, store_crash_fn *fn, void *arg, struct err *e)
{
    struct store_crash c;
    int rc = crash_facts(q, &c, e);
    if (rc < 0)
        return rc;
    struct blob b;
    rc = blob_column(q, &c.hash, c.size, &b, e);
    c.data = b.data;
    if (rc == 0) {
        q->s->walking = true;
        rc = fn(arg, &c, e);
        q->s->walking = false;
    }
    buf_free(&b.file);
    return rc;
}

int crash_walk(struct query *q, store_crash_fn *fn, void *arg, struct err *e)
{
    struct store_crash c;
    int rc;
    while ((rc = db_step(q, e)) > 0) {
        if ((rc = crash_facts(q, &c, e)) < 0)
            break;
        q->s->walking = true;
        rc = fn(arg, &c, e);
        q->s->walking = false;
        if (rc < 0)
            break;
    }
    db_done(q);
    return rc;
}

int store_crash_list(struct store *s, int64_t after, store_crash_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc =
        db_query(s, &q, "SELECT " CRASH_FACTS " FROM crashes c WHERE c.id > ? ORDER BY c.id", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, after);
    return crash_walk(&q, fn, arg, e);
}

int store_crashes(struct store *s, int64_t after, store_crash_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(
        s, &q, "SELECT " CRASH_FACTS ", c.data FROM crashes c WHERE c.id > ? ORDER BY c.id", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, after);
    while ((rc = db_step(&q, e)) > 0)
        if ((rc = crash_row(&q, fn, arg, e)) < 0)
            break;
    db_done(&q);
    return rc;
}

int store_crash_get(struct store *s, int64_t id, store_crash_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT " CRASH_FACTS ", c.data FROM crashes c WHERE c.id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, id);
    rc = db_step(&q, e);
    if (rc > 0)
        rc = crash_row(&q, fn, arg, e);
    else if (rc == 0)
        rc = err_set(e, -ENOENT, "no crash %lld in %s", (long long)id, s->path);
    db_done(&q);
    return rc;
}

static int keep_bytes(void *arg, const struct store_crash *c, struct err *e)
{
    struct buf *out = arg;
    (void)e;
    buf_free(out);
    *out = (struct buf)BUF_INIT(c->size + 1);
    buf_add(out, c->data, c->size);
    return 0;
}

int store_crash_bytes(struct store *s, int64_t id, struct buf *out, struct err *e)
{
    return store_crash_get(s, id, keep_bytes, out, e);
}
