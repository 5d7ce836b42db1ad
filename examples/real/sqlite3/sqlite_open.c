/* sqlite_open: takes its input for a database file, checks it, reads every table and view and changes it.  In memory; steps
 * and memory are limited. */
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAX_TICKS = 40, TICK = 1000, MAX_MEMORY = 32 << 20, MAX_SIZE = 1 << 17, MAX_TABLES = 16 };

static int tick(void *left)
{
    return --*(int *)left <= 0;
}

/* Runs to the end, looking at every value. */
static void run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = NULL;
    if (!sql || sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        return;
    while (sqlite3_step(s) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(s); i++)
            sqlite3_column_bytes(s, i);
    sqlite3_finalize(s);
}

static void run_on(sqlite3 *db, const char *format, const char *table)
{
    char *sql = sqlite3_mprintf(format, table, table);
    run(db, sql);
    sqlite3_free(sql);
}

static void use_tables(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')", -1,
                           &s, NULL) != SQLITE_OK)
        return;
    for (int i = 0; i < MAX_TABLES && sqlite3_step(s) == SQLITE_ROW; i++) {
        const char *name = (const char *)sqlite3_column_text(s, 0);
        run_on(db, "SELECT * FROM \"%w\" ORDER BY 1 DESC", name);
        run_on(db, "DELETE FROM \"%w\" WHERE rowid %% 2", name);
        run_on(db, "INSERT INTO \"%w\" SELECT * FROM \"%w\"", name);
    }
    sqlite3_finalize(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sqlite3 *db = NULL;
    int left = MAX_TICKS;
    if (size < 1 || size > MAX_SIZE)
        return 0;
    sqlite3_hard_heap_limit64(MAX_MEMORY);
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL); /* the same random() every time */
    unsigned char *copy = sqlite3_malloc64(size);
    if (copy && sqlite3_open(":memory:", &db) == SQLITE_OK) {
        memcpy(copy, data, size);
        sqlite3_progress_handler(db, TICK, tick, &left);
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_SIZE);
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1,
                          NULL); /* what it protects from is documented */
        if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size, (sqlite3_int64)size,
                                SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
            SQLITE_OK) {
            run(db, "PRAGMA integrity_check");
            use_tables(db);
            run(db, "VACUUM");
        }
    } else {
        sqlite3_free(copy);
    }
    sqlite3_close(db);
    return 0;
}
