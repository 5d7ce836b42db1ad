/* instances: the fuzzers' instances, and the numbers they give to inputs. */
#include "base/die.h"
#include "store/db.h"

#include <stdio.h>
#include <stdlib.h>

int instance_add(struct store *s, const char *fuzzer, int number, int64_t *id, struct err *e)
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
    r->started = db_int(q) != 0;
    r->last_arm = (int)db_int(q);
}

int store_instances(struct store *s, struct store_instance **rows, size_t *n, struct err *e)
{
    struct query q;
    *rows = NULL;
    *n = 0;
    int rc = db_query(s, &q,
                      "SELECT id, fuzzer, number, cursor, started, ifnull((SELECT arm FROM turns"
                      " WHERE instance = instances.id AND turns.id > 0 ORDER BY turns.id DESC"
                      " LIMIT 1), -1) FROM instances ORDER BY id",
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

/* A seed number that the store does not have (it was read from a file name) is not put. */
int entry_put(struct store *s, int64_t instance, int64_t entry, int64_t seed, struct err *e)
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

int entry_seed(struct store *s, int64_t instance, int64_t entry, int64_t *seed, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT seed FROM entries WHERE instance = ? AND entry = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, instance);
    db_bind_int(&q, entry);
    rc = db_step(&q, e);
    *seed = rc > 0 ? db_int(&q) : 0;
    db_done(&q);
    return rc < 0 ? rc : 0;
}
