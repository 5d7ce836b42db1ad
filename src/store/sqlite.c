/* sqlite: statements, rows, transactions and errors over one connection.  Knows no table. */
#include "base/die.h"
#include "store/db.h"

#include <errno.h>
#include <string.h>

/* SQLite tells a full disk apart, but not a quota or a file-size limit: those are failed writes. */
static const char *no_space(sqlite3 *db)
{
    if (sqlite3_errcode(db) == SQLITE_FULL)
        return "the disk is full";
    if (sqlite3_extended_errcode(db) == SQLITE_IOERR_WRITE)
        return "the disk takes no more data (over quota, past a file-size limit, or failing)";
    return NULL;
}

static int env_error(struct err *e, int code)
{
    if (e)
        e->code = code;
    return code;
}

int db_error(struct store *s, const char *doing, struct err *e)
{
    const char *why = sqlite3_errmsg(s->db);
    int code = sqlite3_errcode(s->db);
    const char *full = no_space(s->db);
    if (full) {
        err_env(e,
                "%s: cannot %s in %s (%s); everything acknowledged so far is safe: free space, "
                "then carol fuzz --resume %s",
                full, doing, s->path, why, s->dir);
        return env_error(e, -ENOSPC);
    }
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
        err_env(e,
                "%s is damaged (%s), so the campaign's record cannot be trusted; keep a copy, then "
                "try: sqlite3 %s .recover",
                s->path, why, s->path);
        return env_error(e, -EUCLEAN);
    }
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        err_env(e, "another program keeps %s locked for writing (%s): close it, then repeat",
                s->path, why);
        return env_error(e, -EBUSY);
    }
    if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM) {
        err_env(e, "cannot %s in %s (%s): check that you own it and may write its directory", doing,
                s->path, why);
        return env_error(e, -EACCES);
    }
    return err_set(e, code == SQLITE_CONSTRAINT ? -EINVAL : -EIO, "cannot %s in %s: %s", doing,
                   s->path, why);
}

static const char *verb_of(sqlite3_stmt *stmt)
{
    return stmt && sqlite3_stmt_readonly(stmt) ? "read" : "write";
}

int db_query(struct store *s, struct query *q, const char *sql, struct err *e)
{
    BUG_ON(s->walking); /* a callback came back into the store */
    *q = (struct query){.s = s, .cached = -1};
    int i = 0;
    while (i < s->cached && s->cache[i].sql != sql)
        i++;
    if (i < s->cached && !s->cache[i].used) {
        q->stmt = s->cache[i].stmt;
        q->cached = i;
        s->cache[i].used = true;
        return 0;
    }
    bool keep = i == s->cached && i < DB_STATEMENTS;
    unsigned flags = keep ? SQLITE_PREPARE_PERSISTENT : 0;
    if (sqlite3_prepare_v3(s->db, sql, -1, flags, &q->stmt, NULL) != SQLITE_OK)
        return db_error(s, "prepare a statement", e);
    if (keep) {
        s->cache[i].sql = sql;
        s->cache[i].stmt = q->stmt;
        s->cache[i].used = true;
        s->cached++;
        q->cached = i;
    }
    return 0;
}

/* A failing bind is a wrong index or no memory: both are ours. */
static void bound(int rc)
{
    if (rc == SQLITE_NOMEM)
        die_oom();
    BUG_ON(rc != SQLITE_OK);
}

void db_bind_int(struct query *q, int64_t v)
{
    bound(sqlite3_bind_int64(q->stmt, ++q->bound, v));
}

void db_bind_id(struct query *q, int64_t id)
{
    if (id)
        db_bind_int(q, id);
    else
        db_bind_null(q);
}

void db_bind_real(struct query *q, double v)
{
    bound(sqlite3_bind_double(q->stmt, ++q->bound, v));
}

void db_bind_text(struct query *q, const char *s)
{
    bound(sqlite3_bind_text(q->stmt, ++q->bound, s, -1, SQLITE_STATIC));
}

void db_bind_blob(struct query *q, const void *data, size_t n)
{
    bound(sqlite3_bind_blob64(q->stmt, ++q->bound, n ? data : "", n, SQLITE_STATIC));
}

void db_bind_null(struct query *q)
{
    bound(sqlite3_bind_null(q->stmt, ++q->bound));
}

int db_step(struct query *q, struct err *e)
{
    BUG_ON(q->s->walking);
    q->column = 0;
    switch (sqlite3_step(q->stmt)) {
    case SQLITE_ROW: return 1;
    case SQLITE_DONE: return 0;
    default: return db_error(q->s, verb_of(q->stmt), e);
    }
}

void db_done(struct query *q)
{
    if (q->cached < 0)
        sqlite3_finalize(q->stmt);
    else {
        sqlite3_reset(q->stmt);
        sqlite3_clear_bindings(q->stmt);
        q->s->cache[q->cached].used = false;
    }
    q->stmt = NULL;
}

int db_run(struct query *q, struct err *e)
{
    int rc;
    while ((rc = db_step(q, e)) > 0)
        ;
    db_done(q);
    return rc;
}

int64_t db_int(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->column++);
}

double db_real(struct query *q)
{
    return sqlite3_column_double(q->stmt, q->column++);
}

const char *db_text(struct query *q)
{
    return (const char *)sqlite3_column_text(q->stmt, q->column++);
}

const void *db_blob(struct query *q, size_t *n)
{
    int i = q->column++;
    const void *p = sqlite3_column_blob(q->stmt, i);
    *n = (size_t)sqlite3_column_bytes(q->stmt, i);
    if (!p && sqlite3_column_type(q->stmt, i) != SQLITE_NULL)
        p = "";
    return p;
}

int db_exec(struct store *s, const char *sql, struct err *e)
{
    if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return db_error(s, "write", e);
    return 0;
}

/* --- transactions --------------------------------------------------------------------------- */

int db_begin(struct store *s, struct err *e)
{
    BUG_ON(s->in_transaction);
    int rc = db_exec(s, s->mode == STORE_READ ? "BEGIN" : "BEGIN IMMEDIATE", e);
    s->in_transaction = rc == 0;
    return rc;
}

int db_commit(struct store *s, struct err *e)
{
    BUG_ON(!s->in_transaction);
    s->in_transaction = false;
    /* SQLite ends a transaction itself on some errors, a full disk among them. */
    if (sqlite3_get_autocommit(s->db))
        return err_set(e, -EIO,
                       "an earlier error undid this transaction on %s: nothing of it was "
                       "written",
                       s->path);
    int rc = db_exec(s, "COMMIT", e);
    if (rc < 0 && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

void db_rollback(struct store *s)
{
    s->in_transaction = false;
    if (!sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int db_enter(struct store *s, struct err *e)
{
    if (s->failed)
        return err_set(e, -EIO, "an earlier step failed on %s: it takes no more", s->path);
    return s->lazy && s->in_transaction ? 0 : db_begin(s, e);
}

int db_leave(struct store *s, int rc, struct err *e)
{
    if (rc < 0)
        db_rollback(s);
    else if (!s->lazy || ++s->steps % DB_GROUP == 0)
        rc = db_commit(s, e);
    s->failed = s->lazy && rc < 0;
    return rc;
}
