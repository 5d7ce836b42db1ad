/* imports: which seeds an instance is given, claimed with its turn and delivered once. */
#include "store/db.h"

#include <errno.h>

static int add_input(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    inputs_add(arg, seed->id, seed->data, seed->size);
    return 0;
}

static int position(struct store *s, int64_t instance, int64_t *share, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT shared FROM instances WHERE id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    rc = db_step(&q, e);
    if (rc > 0)
        *share = db_int(&q);
    else if (rc == 0)
        rc = err_set(e, -ENOENT, "no instance %lld in %s", (long long)instance, s->path);
    db_done(&q);
    return rc < 0 ? rc : 0;
}

/* Shared seeds after *share, not the instance's own; *share moves to the last one looked at. */
static int shared_after(struct store *s, int64_t *share, int64_t instance, size_t max_inputs,
                        size_t max_bytes, struct inputs *out, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "SELECT s.share, s.instance, " SEED_COLUMNS " FROM seeds s"
                      " WHERE s.share > ? AND s.share IS NOT NULL ORDER BY s.share",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, *share);
    while (out->n < max_inputs && out->bytes <= max_bytes && (rc = db_step(&q, e)) > 0) {
        int64_t number = db_int(&q), finder = db_int(&q);
        bool own = finder && finder == instance;
        if (!own && (rc = seed_row(&q, add_input, out, e)) < 0)
            break;
        *share = number;
    }
    db_done(&q);
    return rc < 0 ? rc : 0;
}

int store_first_shared(struct store *s, size_t n, struct inputs *out, struct err *e)
{
    int64_t share = 0;
    return shared_after(s, &share, 0, n, SIZE_MAX, out, e);
}

static int claim(struct store *s, int64_t instance, int64_t turn, int64_t seed, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT INTO imports(instance, seed, turn) VALUES(?, ?, ?)"
                      " ON CONFLICT(instance, seed) DO NOTHING",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    db_bind_int(&q, seed);
    db_bind_id(&q, turn);
    rc = db_run(&q, e);
    if (rc == 0 && sqlite3_changes(s->db) == 0)
        rc = err_set(e, -EEXIST, "instance %lld was already given seed %lld", (long long)instance,
                     (long long)seed);
    return rc;
}

static int move_position(struct store *s, int64_t instance, int64_t share, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "UPDATE instances SET shared = max(shared, ?) WHERE id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, share);
    db_bind_int(&q, instance);
    return db_run(&q, e);
}

static int claim_chosen(struct store *s, int64_t instance, int64_t turn,
                        const struct store_claim *c, struct inputs *out, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->n_seeds; i++) {
        rc = store_seed_get(s, c->seeds[i], add_input, out, e);
        if (rc == 0)
            rc = claim(s, instance, turn, c->seeds[i], e);
    }
    return rc;
}

int imports_claim(struct store *s, int64_t instance, int64_t turn, const struct store_claim *c,
                  struct inputs *out, struct err *e)
{
    int64_t share = 0;
    if (c->chosen)
        return claim_chosen(s, instance, turn, c, out, e);
    int rc = position(s, instance, &share, e);
    if (rc == 0)
        rc = shared_after(s, &share, instance, c->max_inputs, c->max_bytes, out, e);
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        rc = claim(s, instance, turn, out->v[i].id, e);
    return rc == 0 ? move_position(s, instance, share, e) : rc;
}

int store_imports(struct store *s, store_import_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT instance, seed FROM imports", e);
    if (rc < 0)
        return rc;
    while ((rc = db_step(&q, e)) > 0) {
        int64_t instance = db_int(&q), seed = db_int(&q);
        s->walking = true;
        rc = fn(arg, instance, seed);
        s->walking = false;
        if (rc < 0)
            break;
    }
    db_done(&q);
    return rc;
}

/* --- delivery ------------------------------------------------------------------------------- */

static int next_undelivered(struct store *s, int64_t instance, int64_t *turn, struct err *e)
{
    struct query q;
    int rc = db_query(
        s, &q, "SELECT min(turn) FROM imports WHERE instance = ? AND delivered = 0 AND turn > ?",
        e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    db_bind_int(&q, *turn);
    rc = db_step(&q, e);
    *turn = rc > 0 ? db_int(&q) : 0;
    db_done(&q);
    return rc < 0 ? rc : 0;
}

int store_undelivered(struct store *s, int64_t instance, int64_t *turn, struct inputs *out,
                      struct err *e)
{
    struct query q;
    int rc = next_undelivered(s, instance, turn, e);
    if (rc < 0 || !*turn)
        return rc;
    rc = db_query(s, &q,
                  "SELECT " SEED_COLUMNS " FROM imports i JOIN seeds s ON s.id = i.seed"
                  " WHERE i.instance = ? AND i.delivered = 0 AND i.turn = ? ORDER BY i.id",
                  e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    db_bind_int(&q, *turn);
    while ((rc = db_step(&q, e)) > 0)
        if ((rc = seed_row(&q, add_input, out, e)) < 0)
            break;
    db_done(&q);
    return rc;
}

int store_turn_delivered(struct store *s, const struct store_turn *t, struct err *e)
{
    struct query q;
    int rc = db_enter(s, e);
    if (rc < 0)
        return rc;
    rc = db_query(s, &q,
                  "UPDATE imports SET delivered = 1 WHERE instance = ? AND delivered = 0"
                  " AND turn <= ?",
                  e);
    if (rc == 0) {
        db_bind_int(&q, t->instance);
        db_bind_int(&q, t->id);
        rc = db_run(&q, e);
    }
    if (rc == 0)
        rc = db_query(s, &q, "UPDATE instances SET started = 1 WHERE id = ?", e);
    if (rc == 0) {
        db_bind_int(&q, t->instance);
        rc = db_run(&q, e);
    }
    return db_leave(s, rc, e);
}
