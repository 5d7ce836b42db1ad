/* instances: the fuzzers' instances, what each was given, and the numbers they give to inputs. */
#include "base/die.h"
#include "store/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int store_add_instance(struct store *s, const char *fuzzer, int number, int64_t *id, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "INSERT INTO instances(fuzzer, number) VALUES(?, ?)", e);
    if (rc < 0)
        return rc;
    db_bind_text(&q, fuzzer);
    db_bind_int(&q, number);
    rc = db_run(&q, e);
    *id = sqlite3_last_insert_rowid(s->db);
    return rc;
}

static void instance_row(struct query *q, struct store_instance *r)
{
    *r = (struct store_instance){.id = db_int(q)};
    snprintf(r->fuzzer, sizeof r->fuzzer, "%s", db_text(q));
    r->number = (int)db_int(q);
    const char *cursor = db_text(q);
    r->cursor = cursor ? xstrdup(cursor) : NULL;
    r->shared = db_int(q);
    r->started = db_int(q) != 0;
}

int store_instances(struct store *s, struct store_instance **rows, size_t *n, struct err *e)
{
    struct query q;
    *rows = NULL;
    *n = 0;
    int rc = db_query(s, &q,
                      "SELECT id, fuzzer, number, cursor, shared, started FROM instances"
                      " ORDER BY id",
                      e);
    if (rc < 0)
        return rc;
    while ((rc = db_step(&q, e)) > 0) {
        *rows = xrealloc(*rows, (*n + 1) * sizeof **rows);
        instance_row(&q, &(*rows)[(*n)++]);
    }
    db_done(&q);
    if (rc < 0) {
        store_instances_free(*rows, *n);
        *rows = NULL;
        *n = 0;
    }
    return rc;
}

void store_instances_free(struct store_instance *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(rows[i].cursor);
    free(rows);
}

int store_instance_started(struct store *s, int64_t instance, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "UPDATE instances SET started = 1 WHERE id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    return db_run(&q, e);
}

/* --- lineage -------------------------------------------------------------------------------- */

int store_entry_put(struct store *s, int64_t instance, int64_t entry, int64_t seed, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT INTO entries(instance, entry, seed)"
                      " SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM seeds WHERE id = ?3)"
                      " ON CONFLICT(instance, entry) DO UPDATE SET seed = excluded.seed",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    db_bind_int(&q, entry);
    db_bind_int(&q, seed);
    return db_run(&q, e);
}

int64_t store_entry_seed(struct store *s, int64_t instance, int64_t entry)
{
    struct query q;
    if (db_query(s, &q, "SELECT seed FROM entries WHERE instance = ? AND entry = ?", NULL) < 0)
        return 0;
    db_bind_int(&q, instance);
    db_bind_int(&q, entry);
    int64_t seed = db_step(&q, NULL) > 0 ? db_int(&q) : 0;
    db_done(&q);
    return seed;
}

/* --- imports -------------------------------------------------------------------------------- */

int store_import(struct store *s, int64_t instance, int64_t seed, int64_t turn, struct err *e)
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

int store_imported_upto(struct store *s, int64_t instance, int64_t share, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "UPDATE instances SET shared = max(shared, ?) WHERE id = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, share);
    db_bind_int(&q, instance);
    return db_run(&q, e);
}

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

int store_undelivered(struct store *s, int64_t instance, int64_t *turn, store_seed_fn *fn,
                      void *arg, struct err *e)
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
    return seed_rows(&q, fn, arg, e);
}

int store_delivered(struct store *s, int64_t instance, int64_t turn, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "UPDATE imports SET delivered = 1"
                      " WHERE instance = ? AND delivered = 0 AND ifnull(turn, 0) <= ifnull(?, 0)",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    db_bind_id(&q, turn);
    return db_run(&q, e);
}
