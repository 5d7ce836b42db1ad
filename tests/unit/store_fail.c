/* store_fail: the linker puts these in place of what the store calls (--wrap). */
#include "store_fail.h"

#include <sqlite3.h>
#include <string.h>

int __real_sqlite3_step(sqlite3_stmt *q);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
                        void *arg, char **msg);
int __real_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int n, unsigned flags,
                              sqlite3_stmt **out, const char **tail);
int __wrap_sqlite3_step(sqlite3_stmt *q);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
                        void *arg, char **msg);
int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int n, unsigned flags,
                              sqlite3_stmt **out, const char **tail);

static int left; /* calls until one fails; 0: none will */
static enum fail_how kind;
static bool failed;

void fail_at(int n, enum fail_how how)
{
    left = n;
    kind = how;
    failed = false;
}

bool fail_off(void)
{
    left = 0;
    return failed;
}

static bool now(void)
{
    bool fails = left && --left == 0;
    failed |= fails;
    return fails;
}

static int give_up(void *arg)
{
    (void)arg;
    return 1;
}

int __wrap_sqlite3_step(sqlite3_stmt *q)
{
    if (!now())
        return __real_sqlite3_step(q);
    if (kind == FAIL_REFUSED)
        return SQLITE_IOERR;
    sqlite3 *db = sqlite3_db_handle(q);
    sqlite3_progress_handler(db, 1, give_up, NULL);
    int rc = __real_sqlite3_step(q);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    return rc;
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
                        void *arg, char **msg)
{
    if (strcmp(sql, "ROLLBACK") != 0 && now())
        return SQLITE_IOERR;
    return __real_sqlite3_exec(db, sql, fn, arg, msg);
}

int __wrap_sqlite3_prepare_v3(sqlite3 *db, const char *sql, int n, unsigned flags,
                              sqlite3_stmt **out, const char **tail)
{
    return now() ? SQLITE_NOMEM : __real_sqlite3_prepare_v3(db, sql, n, flags, out, tail);
}
