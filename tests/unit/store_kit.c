/* store_kit: makes records and rows for the tests of the store.  Checks nothing but that it can. */
#include "store_kit.h"

#include <sqlite3.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct err oops;

/* In memory if it can be, so that there is no disk to wait for. */
int kit_setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/dev/shm/carol-store-XXXXXX");
    if (!mkdtemp(f->dir)) {
        snprintf(f->dir, sizeof f->dir, "/tmp/carol-store-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
    }
    OK(store_open(&f->s, f->dir, STORE_CREATE, &oops));
    *state = f;
    return 0;
}

int kit_setup_on_disk(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/carol-faults-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    *state = f;
    return 0;
}

int kit_teardown(void **state)
{
    struct fixture *f = *state;
    if (f->s)
        store_close(f->s);
    chmod(f->dir, 0755);
    int rc = fs_remove_tree(f->dir, NULL);
    free(f);
    return rc;
}

void reopen(struct fixture *f)
{
    store_close(f->s);
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops));
}

int64_t add(struct store *s, const char *text, int64_t instance, int64_t turn, bool *fresh)
{
    struct store_seed seed = {.data = text,
                              .size = strlen(text),
                              .instance = instance,
                              .turn = turn,
                              .name = text,
                              .found_ns = 7};
    int64_t id = 0;
    bool f;
    OK(store_add_seed(s, &seed, &id, fresh ? fresh : &f, &oops));
    return id;
}

void done(struct store *s, int64_t id, bool share)
{
    OK(store_seed_done(s, id, 1, 0, 10, "edges", 5, 1, share, &oops));
}

void begin_turn(struct store *s, int64_t id, int64_t instance)
{
    struct store_turn t = {
        .id = id, .arm = 1, .slot = 2, .instance = instance, .start_ns = id * 100};
    OK(store_turn_begin(s, &t, "decision", 8, &oops));
}

int join(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct buf *b = arg;
    buf_add(b, seed->data, seed->size);
    buf_str(b, ",");
    return 0;
}

void expect_seeds(struct store *s, int64_t turn, const char *want)
{
    struct buf b = BUF_INIT(1 << 16);
    buf_str(&b, "");
    OK(store_turn_seeds(s, turn, join, &b, &oops));
    assert_string_equal(b.p ? b.p : "", want);
    buf_free(&b);
}

int64_t kit_query(const char *dir, const char *sql)
{
    char *path = fs_join(dir, "carol.db");
    sqlite3 *db;
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    free(path);
    return v;
}
