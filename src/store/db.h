/* db: inside of the store: the connection, cached statements, rows.  Only src/store includes it.
 *
 *     struct query q;
 *     if ((rc = db_query(s, &q, "SELECT a, b FROM t WHERE c = ?", e)) < 0)
 *         return rc;
 *     db_bind_int(&q, c);                    // binds go left to right
 *     while ((rc = db_step(&q, e)) > 0)
 *         use(db_int(&q), db_text(&q));      // so do columns
 *     db_done(&q);
 *
 * The text of a query must be a literal: its address is the key of the statement cache.  A query asked
 * again before db_done gets a statement of its own. */
#ifndef CAROL_STORE_DB_H
#define CAROL_STORE_DB_H

#include "store/store.h"

#include <sqlite3.h>

#define DB_STATEMENTS 64
#define DB_GROUP 1024                   /* steps of a lazy record that become durable together */
#define DB_INLINE_MAX ((size_t)1 << 20) /* larger inputs are files in OUT/blobs */

struct store {
    sqlite3 *db;
    char *dir, *path;
    enum store_mode mode;
    int lock; /* fd holding OUT/lock; -1: none */
    bool in_transaction;
    bool lazy;      /* steps become durable in groups of DB_GROUP */
    unsigned steps; /* since the last group */
    bool failed;    /* a lazy one: a step failed, and with it those that were not durable */
    bool walking;   /* a callback runs: it must not come back here */
    bool ordered;   /* the order is held */
    struct {
        const char *sql;
        sqlite3_stmt *stmt;
        bool used; /* between db_query and db_done */
    } cache[DB_STATEMENTS];
    int cached;
};

struct query {
    struct store *s;
    sqlite3_stmt *stmt;
    int bound, column;
    int cached; /* its place in the cache; -1: it is not from there */
};

CAROL_MUST_CHECK int db_query(struct store *s, struct query *q, const char *sql, struct err *e);
void db_bind_int(struct query *q, int64_t v);
void db_bind_id(struct query *q, int64_t id); /* 0 is NULL */
void db_bind_real(struct query *q, double v);
void db_bind_text(struct query *q, const char *s); /* NULL is NULL; must live until the step */
void db_bind_blob(struct query *q, const void *data, size_t n); /* likewise */
void db_bind_null(struct query *q);
CAROL_MUST_CHECK int db_step(struct query *q, struct err *e); /* 1: a row, 0: no more */
void db_done(struct query *q);
CAROL_MUST_CHECK int db_run(struct query *q, struct err *e); /* all steps, then done */

int64_t db_int(struct query *q); /* NULL is 0 */
double db_real(struct query *q);
const char *db_text(struct query *q);            /* NULL is NULL; valid until the next step */
const void *db_blob(struct query *q, size_t *n); /* never NULL unless the column is; likewise */

/* Statements without results, such as PRAGMA and DDL. */
CAROL_MUST_CHECK int db_exec(struct store *s, const char *sql, struct err *e);
/* The error of the latest failed call on the connection, in words. */
int db_error(struct store *s, const char *doing, struct err *e);

/* A step of the record: everything between the two is one transaction.
 *
 *     int rc = db_enter(s, e);
 *     if (rc < 0)
 *         return rc;
 *     rc = ...;
 *     return db_leave(s, rc, e);     // commits if rc is 0, undoes the step if it is negative
 */
CAROL_MUST_CHECK int db_enter(struct store *s, struct err *e);
int db_leave(struct store *s, int rc, struct err *e);
CAROL_MUST_CHECK int db_begin(struct store *s, struct err *e);
CAROL_MUST_CHECK int db_commit(struct store *s, struct err *e);
void db_rollback(struct store *s);

/* open.c: a connection to s->path.  query: as in an SQLite URI. */
CAROL_MUST_CHECK int db_connect(struct store *s, const char *query, int flags, struct err *e);
char *db_uri(const char *path, const char *query); /* caller frees */

/* schema.c */
CAROL_MUST_CHECK int schema_create(struct store *s, struct err *e);
CAROL_MUST_CHECK int schema_open(struct store *s, struct err *e);

/* lock.c */
CAROL_MUST_CHECK int lock_take(const char *dir, int *fd, struct err *e);

/* blobs.c: bytes of inputs, in the row or in OUT/blobs */
CAROL_MUST_CHECK int blob_bind(struct query *q, const struct digest *hash, const void *data,
                               size_t n, struct err *e);
struct blob {
    const void *data;
    struct buf file; /* holds the bytes when they are not in the row */
};
CAROL_MUST_CHECK int blob_column(struct query *q, const struct digest *hash, size_t size,
                                 struct blob *b, struct err *e);

/* seeds.c */
#define SEED_FACTS                                                                                 \
    "s.id, s.hash, s.size, s.instance, s.turn, s.parent, s.name, s.found_ns, s.state, s.status, "  \
    "s.signal, s.cpu_us, s.edges, s.round, s.share"
#define SEED_COLUMNS SEED_FACTS ", s.data"
/* One row of SEED_COLUMNS given to fn. */
CAROL_MUST_CHECK int seed_row(struct query *q, store_seed_fn *fn, void *arg, struct err *e);
CAROL_MUST_CHECK int seed_add(struct store *s, const struct store_seed *seed, int64_t *id,
                              bool *fresh, struct err *e);
CAROL_MUST_CHECK int seed_results(struct store *s, uint32_t round, int arm,
                                  struct store_result *results, size_t n, struct err *e);

/* instances.c */
CAROL_MUST_CHECK int instance_add(struct store *s, const char *fuzzer, int number, int64_t *id,
                                  struct err *e);
CAROL_MUST_CHECK int entry_put(struct store *s, int64_t instance, int64_t entry, int64_t seed,
                               struct err *e);
CAROL_MUST_CHECK int entry_seed(struct store *s, int64_t instance, int64_t entry, int64_t *seed,
                                struct err *e); /* 0: not known */

/* imports.c */
CAROL_MUST_CHECK int imports_claim(struct store *s, int64_t instance, int64_t turn,
                                   const struct store_claim *c, struct inputs *out, struct err *e);

/* crashes.c */
CAROL_MUST_CHECK int crash_add(struct store *s, const struct store_crash *c, bool *fresh,
                               struct err *e);
CAROL_MUST_CHECK int crash_of_seed(struct store *s, int64_t seed, bool hang, int arm, int signal,
                                   bool *fresh, struct err *e);

/* The columns of a crash without its bytes, and such a row. */
#define CRASH_FACTS                                                                                \
    "c.id, c.hang, c.hash, c.size, c.instance, c.turn, c.parent, c.arm, c.signal, c.name, "        \
    "c.found_ns, c.by_eval, coalesce((SELECT t.slot FROM turns t WHERE t.id = c.turn), -1)"
CAROL_MUST_CHECK int crash_facts(struct query *q, struct store_crash *c, struct err *e);
/* Tells fn of every row of CRASH_FACTS, without bytes; ends q. */
CAROL_MUST_CHECK int crash_walk(struct query *q, store_crash_fn *fn, void *arg, struct err *e);

/* facts.c */
CAROL_MUST_CHECK int fact_put(struct store *s, const struct store_fact *facts, size_t n,
                              struct err *e);
CAROL_MUST_CHECK int event_add(struct store *s, int64_t now_ns, const char *kind, const char *text,
                               struct err *e);
CAROL_MUST_CHECK int call_add(struct store *s, uint32_t round, const struct store_call *c,
                              struct err *e);
CAROL_MUST_CHECK int clock_put(struct store *s, int64_t elapsed_ns, struct err *e);
CAROL_MUST_CHECK int slot_put(struct store *s, int slot, const struct store_slot *v, struct err *e);

#endif
