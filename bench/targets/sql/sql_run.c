/* sql_run: runs its input as SQL on an empty database in memory.  Steps, memory and sizes are limited, and
 * files are out of reach. */
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TICKS = 20, TICK = 1000, MAX_MEMORY = 16 << 20, MAX_TEXT = 50000 };

static int tick(void *left)
{
    return --*(int *)left <= 0;
}

static int take_row(void *ctx, int n, char **values, char **names)
{
    (void)ctx;
    (void)n;
    (void)values;
    (void)names;
    return 0;
}

/* Nothing outside memory: no file is attached.  VACUUM attaches a database without a name. */
static int allow(void *ctx, int what, const char *a, const char *b, const char *c, const char *d)
{
    (void)ctx;
    (void)b;
    (void)c;
    (void)d;
    return what == SQLITE_ATTACH && (!a || *a) ? SQLITE_DENY : SQLITE_OK;
}

static void limit(sqlite3 *db, int *left)
{
    *left = MAX_TICKS;
    sqlite3_progress_handler(db, TICK, tick, left);
    sqlite3_set_authorizer(db, allow, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_TEXT);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, MAX_TEXT);
    sqlite3_limit(db, SQLITE_LIMIT_VDBE_OP, 25000);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 250);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    sqlite3_initialize();
    sqlite3_hard_heap_limit64(MAX_MEMORY);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sqlite3 *db = NULL;
    int left;
    if (size < 1 || size > MAX_TEXT)
        return 0;
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, NULL); /* the same random() every time */
    char *text = malloc(size + 1);
    if (text && sqlite3_open(":memory:", &db) == SQLITE_OK) {
        memcpy(text, data, size);
        text[size] = '\0';
        limit(db, &left);
        sqlite3_exec(db, text, take_row, NULL, NULL);
    }
    sqlite3_close(db);
    free(text);
    return 0;
}
