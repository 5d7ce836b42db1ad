/* exchange: who is given what: everything in order under `--share all`, what is worth it under `worth`. */
#include "fakes.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "store_kit.h"

#include <sqlite3.h>

/* --- the record as text ------------------------------------------------------------------------ */

static void add_value(struct buf *b, sqlite3_stmt *q, int i)
{
    int n = sqlite3_column_bytes(q, i);
    if (sqlite3_column_type(q, i) == SQLITE_BLOB)
        buf_add(b, sqlite3_column_blob(q, i), (size_t)n);
    else
        buf_str(b, n ? (const char *)sqlite3_column_text(q, i) : "");
    buf_str(b, "|");
}

/* What a query says of the campaign, rows and all, in 16 hex digits. */
static void print_of(const char *sql, char out[17])
{
    char *path = str_fmt("%s/out/carol.db", fakes_dir);
    struct buf b = BUF_INIT((size_t)1 << 26);
    struct digest h;
    sqlite3 *db;
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(q); i++)
            add_value(&b, q, i);
        buf_str(&b, "\n");
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    hash_bytes(b.p, b.len, &h);
    for (int i = 0; i < 8; i++)
        snprintf(out + 2 * i, 3, "%02x", h.b[i]);
    buf_free(&b);
    free(path);
}

/* Campaigns that share everything, the paper's way, are what they were before there was a choice. */
static void all_is_as_it_was(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *print;
    } golden[] = {
        {"SELECT id, state, round, at_decision, arm, slot, instance, start_ns, end_ns, offered, taken,"
         " inputs, new_edges, crashes, raw, reward FROM turns ORDER BY id",
         "9cadc4306c3d50e9"},
        {"SELECT turn, data FROM decisions ORDER BY turn", "b5fac5c258b602ef"},
        {"SELECT id, instance, seed, turn, delivered FROM imports ORDER BY id", "c2ba33ab63c46e65"},
        {"SELECT id, hash, size, instance, turn, parent, name, state, status, round, share, edges"
         " FROM seeds ORDER BY id",
         "3fbbf5d4a55ea039"},
    };
    struct fakes f;
    struct tally a;
    fakes_init(&f, 4);
    fakes_run(&f, fakes_options(fakes_dir, "contextual", 4, 3, 4 * 3600), &a);
    assert_true(f.imports > 100);
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        char print[17];
        print_of(golden[i].sql, print);
        assert_string_equal(print, golden[i].print);
    }
    fakes_free(&f);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_is_as_it_was, fakes_fresh_dir, fakes_remove_dir),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
