/* store_open: who may open a record and how: modes, readers, versions, other users.  What survives kill -9, a
 * full disk and damage is in store_faults.c. */
#include "store_kit.h"

#include "campaign/settings.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void modes_refuse_what_they_should(void **state)
{
    struct fixture *f = *state;
    struct store *other;
    struct err e = {0};
    char pid[32];
    snprintf(pid, sizeof pid, "process %d)", (int)getpid());
    assert_int_equal(store_open(&other, f->dir, STORE_RESUME, &e), -EBUSY);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, pid));
    store_close(f->s);
    OK(store_open(&f->s, f->dir, STORE_CREATE, &oops)); /* killed before it began: not in the way */
    OK(store_set(f->s, "seed", "7", &oops));
    store_close(f->s);
    f->s = NULL;
    assert_int_equal(store_open(&other, f->dir, STORE_CREATE, &e), -EEXIST);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "--resume"));
    assert_int_equal(store_open(&other, "/tmp/carol-none", STORE_RESUME, &e), -ENOENT);
    assert_int_equal(store_open(&other, "/tmp/carol-none", STORE_READ, &e), -ENOENT);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_false(fs_exists("/tmp/carol-none"));
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops)); /* the refused ones left no lock behind */
}

static void a_reader_sees_commits_and_cannot_write(void **state)
{
    struct fixture *f = *state;
    struct store *r;
    add(f->s, "a", 0, 0, NULL);
    OK(store_open(&r, f->dir, STORE_READ, &oops));
    expect_seeds(r, 0, "a,");
    OK(store_begin(r, &oops)); /* one view of everything */
    expect_seeds(r, 0, "a,");
    OK(store_begin(f->s, &oops));
    add(f->s, "b", 0, 0, NULL);
    OK(store_commit(f->s, &oops)); /* a reader in the middle never fails a write */
    expect_seeds(r, 0, "a,");
    OK(store_commit(r, &oops));
    expect_seeds(r, 0, "a,b,");
    struct err e = {0};
    assert_true(store_set(r, "k", "v", &e) < 0);
    store_close(r);
}

static void sql(const char *dir, const char *text)
{
    char *path = fs_join(dir, "carol.db");
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(path);
}

static void an_older_record_is_migrated_a_newer_refused(void **state)
{
    struct fixture *f = *state;
    struct store *r;
    struct err e = {0};
    store_close(f->s);
    f->s = NULL;
    sql(f->dir, "PRAGMA user_version = 3");
    assert_true(store_open(&f->s, f->dir, STORE_RESUME, &e) < 0);
    assert_non_null(strstr(e.msg, "newer carol"));
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_true(store_open(&r, f->dir, STORE_READ, &e) < 0);
    sql(f->dir, "PRAGMA user_version = 1; PRAGMA application_id = 5");
    assert_true(store_open(&f->s, f->dir, STORE_RESUME, &e) < 0);
    assert_non_null(strstr(e.msg, "not a campaign"));

    sql(f->dir, "PRAGMA application_id = 1128354383"); /* version 1, which is read as it is */
    OK(store_open(&r, f->dir, STORE_READ, &oops));
    store_close(r);
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops));
    store_close(f->s);
    assert_int_equal(kit_query(f->dir, "PRAGMA user_version"), 2);

    char *db = fs_join(f->dir, "carol.db");
    assert_int_equal(unlink(db), 0);
    free(db);
    sql(f->dir, "PRAGMA application_id = 1128354383; PRAGMA user_version = 0;"
                "CREATE TABLE old(x); INSERT INTO old VALUES(42)");
    assert_true(store_open(&r, f->dir, STORE_READ, &e) < 0);
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops));
    add(f->s, "a", 0, 0, NULL);
    reopen(f);
    expect_seeds(f->s, 0, "a,");
}

/* Each step of making it is a transaction of its own, and what came of it no campaign yet. */
static void one_killed_while_it_was_made_is_not_in_the_way(void **state)
{
    struct fixture *f = *state;
    store_close(f->s);
    f->s = NULL;
    for (int version = 1; version <= 2; version++) {
        sql(f->dir, version == 1 ? "PRAGMA user_version = 1" : "PRAGMA user_version = 2");
        OK(store_open(&f->s, f->dir, STORE_CREATE, &oops));
        store_close(f->s);
        f->s = NULL;
        assert_int_equal(kit_query(f->dir, "PRAGMA user_version"), 2);
    }
    sql(f->dir, "PRAGMA user_version = 1; INSERT INTO settings VALUES('seed', '7')");
    struct err e = {0};
    assert_int_equal(store_open(&f->s, f->dir, STORE_CREATE, &e), -EEXIST);
    assert_int_equal(kit_query(f->dir, "PRAGMA user_version"), 1); /* only a resume migrates */
}

/* A campaign in a directory that the reader may not write: live, then ended. */
static void read_as_nobody(const char *dir)
{
    pid_t p = fork();
    if (p == 0) {
        struct store *r;
        struct err e = {0};
        struct store_totals t = {0};
        if ((getuid() == 0 && setuid(65534) < 0) || access(dir, W_OK) == 0)
            _exit(9);
        int rc = store_open(&r, dir, STORE_READ, &e);
        if (rc < 0 || store_totals(r, &t, &e) < 0)
            fprintf(stderr, "# %s\n", e.msg);
        _exit(t.seeds == 1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(p, &status, 0), p);
    assert_int_equal(status, 0);
}

static void a_directory_that_cannot_be_written_can_be_read(void **state)
{
    struct fixture *f = *state;
    add(f->s, "a", 0, 0, NULL);
    assert_int_equal(chmod(f->dir, 0555), 0);
    read_as_nobody(f->dir);
    assert_int_equal(chmod(f->dir, 0755), 0);
    store_close(f->s);
    f->s = NULL;
    assert_int_equal(chmod(f->dir, 0555), 0);
    read_as_nobody(f->dir);
    assert_int_equal(chmod(f->dir, 0755), 0);
}

/* A resumed campaign runs its target with the very same words. */
static void words_come_back_as_they_were(void **state)
{
    struct fixture *f = *state;
    static const char *const words[] = {"-v", "", "two\nlines", "c:\\new\\-", "\\", "@@", ""};
    struct campaign_opts o = {.jobs = 1}, back = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        strv_add(&o.args, words[i]);
    OK(settings_write(&o, f->s, &oops));
    OK(settings_read(&back, f->s, &oops));
    assert_int_equal(back.args.n, o.args.n);
    for (size_t i = 0; i < o.args.n; i++)
        assert_string_equal(back.args.v[i], words[i]);
    assert_int_equal(back.seeds.n, 0);
    campaign_opts_free(&o);
    campaign_opts_free(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(modes_refuse_what_they_should),
        TEST(a_reader_sees_commits_and_cannot_write),
        TEST(an_older_record_is_migrated_a_newer_refused),
        TEST(one_killed_while_it_was_made_is_not_in_the_way),
        TEST(words_come_back_as_they_were),
        TEST(a_directory_that_cannot_be_written_can_be_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
