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
