/* store_kit: makes records and rows for the tests of the store.  Checks nothing but that it can. */
#include "store_kit.h"

#include <sqlite3.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* --- around the store ----------------------------------------------------------------------- */

static sqlite3 *open_record(const char *dir)
{
    char *path = fs_join(dir, "carol.db");
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 10000);
    free(path);
    return db;
}

static sqlite3_stmt *ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return q;
}

int64_t kit_query(const char *dir, const char *sql)
{
    sqlite3 *db = open_record(dir);
    sqlite3_stmt *q = ask(db, sql);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return v;
}

void kit_rows(const char *dir, const char *sql, struct buf *out)
{
    sqlite3 *db = open_record(dir);
    sqlite3_stmt *q = ask(db, sql);
    while (sqlite3_step(q) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            int n = sqlite3_column_bytes(q, i);
            if (sqlite3_column_type(q, i) == SQLITE_BLOB)
                buf_add(out, sqlite3_column_blob(q, i), (size_t)n);
            else
                buf_str(out, n ? (const char *)sqlite3_column_text(q, i) : "");
            buf_str(out, "|");
        }
        buf_str(out, "\n");
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
}

int kit_exec(const char *dir, const char *sql)
{
    sqlite3 *db = open_record(dir);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int n = sqlite3_changes(db);
    sqlite3_close(db);
    return n;
}

void kit_hold(const char *dir, int fd, unsigned us)
{
    sqlite3 *db = open_record(dir);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
        write(fd, "x", 1) != 1)
        _exit(1);
    usleep(us);
    sqlite3_close(db);
}

static void add_rows(struct buf *b, sqlite3 *db, const char *table)
{
    char *sql = str_fmt("SELECT * FROM %s", table);
    sqlite3_stmt *q = ask(db, sql);
    while (sqlite3_step(q) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(q); i++) {
            int type = sqlite3_column_type(q, i), n = sqlite3_column_bytes(q, i);
            buf_printf(b, "%s %d %d:", table, type, n);
            if (n)
                buf_add(b, sqlite3_column_blob(q, i), (size_t)n);
        }
    sqlite3_finalize(q);
    free(sql);
}

struct digest kit_digest(const char *dir)
{
    struct buf b = BUF_INIT(1 << 24);
    struct digest d;
    sqlite3 *db = open_record(dir);
    sqlite3_stmt *q = ask(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    while (sqlite3_step(q) == SQLITE_ROW)
        add_rows(&b, db, (const char *)sqlite3_column_text(q, 0));
    sqlite3_finalize(q);
    sqlite3_close(db);
    hash_bytes(b.p, b.len, &d);
    buf_free(&b);
    return d;
}

void kit_expect_bug(struct fixture *f, enum store_mode mode, void (*fn)(struct store *s))
{
    int status;
    store_close(f->s);
    pid_t p = fork();
    if (p == 0) {
        struct store *s;
        int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (store_open(&s, f->dir, mode, &oops) < 0 || dup2(quiet, STDERR_FILENO) < 0)
            _exit(1);
        fn(s);
        _exit(2);
    }
    assert_int_equal(waitpid(p, &status, 0), p);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops));
}

/* --- rows ----------------------------------------------------------------------------------- */

void reopen(struct fixture *f)
{
    store_close(f->s);
    f->s = NULL;
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops));
}

struct sought {
    const char *text;
    int64_t id;
};

static int seek(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct sought *w = arg;
    if (seed->size == strlen(w->text) && memcmp(seed->data, w->text, seed->size) == 0)
        w->id = seed->id;
    return 0;
}

int64_t add(struct store *s, const char *text)
{
    struct store_seed seed = {.data = text, .size = strlen(text), .name = text};
    struct sought w = {.text = text};
    OK(store_add_seeds(s, &seed, 1, &oops));
    OK(store_turn_seeds(s, 0, seek, &w, &oops));
    assert_int_not_equal(w.id, 0);
    return w.id;
}

void measure(struct store *s, int64_t seed, bool share)
{
    struct store_result r = {
        .seed = seed, .status = 1, .cpu_us = 10, .edges = "edges", .edges_size = 5, .share = share};
    OK(store_seeds_commit(s, &(struct store_commit){.results = &r, .n = 1}, &oops));
}

int begin(struct store *s, struct store_turn *t, const struct store_claim *c, struct inputs *in,
          struct err *e)
{
    int rc = store_order_take(s, e);
    if (rc == 0)
        rc = store_turn_begin(s, t, c, in, e);
    store_order_leave(s);
    return rc;
}

int commit(struct store *s, const struct store_turn *t, const struct store_commit *c, struct err *e)
{
    int rc = store_order_take(s, e);
    if (rc == 0)
        rc = store_turn_commit(s, t, c, e);
    store_order_leave(s);
    return rc;
}

struct store_turn begun(struct store *s, int64_t id, int64_t instance)
{
    struct inputs none = {0};
    struct store_turn t = {.id = id,
                           .state = TURN_RUNNING,
                           .arm = 1,
                           .slot = 2,
                           .instance = instance,
                           .start_ns = id * 100};
    struct store_claim c = {
        .decision = "decision", .decision_size = 8, .fuzzer = "aflpp", .number = (int)id};
    OK(begin(s, &t, &c, &none, &oops));
    assert_int_equal(none.n, 0);
    return t;
}

struct store_find find(const char *text)
{
    return (struct store_find){.kind = STORE_FIND_SEED,
                               .data = text,
                               .size = strlen(text),
                               .entry = -1,
                               .parent_entry = -1,
                               .found_ns = 7,
                               .name = text};
}

int join(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct buf *b = arg;
    buf_add(b, seed->data, seed->size);
    buf_str(b, ",");
    return 0;
}

static void expect_text(struct buf *b, const char *want)
{
    assert_string_equal(b->p ? b->p : "", want);
    buf_free(b);
}

void expect_seeds(struct store *s, int64_t turn, const char *want)
{
    struct buf b = BUF_INIT(1 << 16);
    OK(store_turn_seeds(s, turn, join, &b, &oops));
    expect_text(&b, want);
}

void expect_inputs(struct inputs *in, const char *want)
{
    struct buf b = BUF_INIT(1 << 16);
    for (size_t i = 0; i < in->n; i++)
        buf_printf(&b, "%.*s,", (int)in->v[i].size, (const char *)in->v[i].data);
    inputs_free(in);
    expect_text(&b, want);
}

static int crash_seen(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    buf_printf(arg, "%s %.*s arm %d sig %d turn %d parent %d %s %d;", c->hang ? "hang" : "crash",
               (int)c->size, (const char *)c->data, c->arm, c->signal, (int)c->turn, (int)c->parent,
               c->name, c->by_eval);
    return 0;
}

void expect_crashes(struct store *s, int64_t after, const char *want)
{
    struct buf b = BUF_INIT(1 << 16);
    OK(store_crashes(s, after, crash_seen, &b, &oops));
    expect_text(&b, want);
}
