/* store_open: who may open a record and how: modes, readers, versions, other users.  What survives kill -9, a
 * full disk and damage is in store_faults.c. */
#include "store_kit.h"

#include "journal/settings.h"

#include <fcntl.h>
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
    OK(store_put(f->s, &(struct store_fact){"seed", "7"}, 1, &oops));
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

/* What SQLite cannot open is an error that names it. */
static void a_directory_is_no_record(void **state)
{
    struct fixture *f = *state;
    struct store *other = NULL;
    struct err e = {0};
    char *dir = fs_join(f->dir, "odd"), *db = fs_join(dir, "carol.db");
    OK(fs_mkdirs(db, &oops));
    for (int mode = STORE_CREATE; mode <= STORE_READ; mode++) {
        assert_true(store_open(&other, dir, (enum store_mode)mode, &e) < 0);
        assert_null(other);
        assert_non_null(strstr(e.msg, "carol.db"));
    }
    free(db);
    free(dir);
}

static void writes(struct store *s)
{
    OK(store_put(s, &(struct store_fact){"k", "v"}, 1, &oops));
}

static void a_reader_sees_one_moment_and_cannot_write(void **state)
{
    struct fixture *f = *state;
    struct store *r;
    add(f->s, "a");
    OK(store_open(&r, f->dir, STORE_READ, &oops));
    add(f->s, "b"); /* a reader in the middle never fails a write */
    expect_seeds(r, 0, "a,");
    measure(f->s, add(f->s, "c"), true);
    expect_seeds(r, 0, "a,");
    struct inputs in = {0};
    OK(store_first_shared(r, 9, &in, &oops));
    expect_inputs(&in, "");
    store_close(r);
    OK(store_open(&r, f->dir, STORE_READ, &oops));
    expect_seeds(r, 0, "a,b,c,");
    store_close(r);
    kit_expect_bug(f, STORE_READ, writes);
    assert_int_equal(kit_query(f->dir, "SELECT count(*) FROM settings"), 0);
}

/* Turns and decisions, and not a byte of an input: readable for whoever asks for no more than that. */
static void a_journal_is_the_record_without_inputs(void **state)
{
    struct fixture *f = *state;
    char *to = fs_join(f->dir, "kept"), *file = fs_join(to, STORE_JOURNAL_FILE);
    struct err e = {0};
    struct store *r;
    struct store_turns *turns;
    struct store_turn t;
    struct store_blob decision;
    struct buf bytes = BUF_INIT(BUF_TEXT_MAX);
    OK(fs_mkdirs(to, &oops));
    OK(store_put(f->s, &(struct store_fact){"seed", "7"}, 1, &oops));
    measure(f->s, add(f->s, "bytes of an input"), true);
    begun(f->s, 1, 0);
    OK(store_copy_journal(f->dir, to, &oops));
    OK(store_copy_journal(f->dir, to, &oops)); /* once more: in its place */
    assert_int_equal(store_open(&r, to, STORE_READ, &e), -ENOENT);
    assert_non_null(strstr(e.msg, "carol analyze"));
    OK(store_open(&r, to, STORE_READ_JOURNAL, &oops));
    OK(store_turns_open(&turns, r, TURNS_BY_ID, 0, &oops));
    assert_int_equal(store_turns_next(turns, &t, &decision, &oops), 1);
    assert_int_equal(t.id, 1);
    assert_int_equal(t.start_ns, 100);
    assert_true(decision.size > 0);
    store_turns_close(turns);
    expect_seeds(r, 0, "");
    store_close(r);
    OK(fs_read(file, &bytes, &oops));
    assert_null(memmem(bytes.p, bytes.len, "bytes of an input", strlen("bytes of an input")));
    assert_int_equal(store_copy_journal("/tmp/carol-none", to, &e), -ENOENT);
    OK(store_open(&r, to, STORE_READ_JOURNAL, &oops)); /* a copy that fails leaves the one before */
    store_close(r);
    OK(store_open(&r, f->dir, STORE_READ_JOURNAL, &oops)); /* a whole record is read as one */
    expect_seeds(r, 0, "bytes of an input,");
    store_close(r);
    buf_free(&bytes);
    free(file);
    free(to);
}

static void the_lock_tells_who_writes(void **state)
{
    struct fixture *f = *state;
    struct store *r;
    OK(store_open(&r, f->dir, STORE_READ, &oops));
    assert_true(store_is_locked(f->dir));
    store_close(f->s);
    f->s = NULL;
    assert_false(store_is_locked(f->dir)); /* readers take none */
    assert_int_equal(dup2(STDOUT_FILENO, STDIN_FILENO), STDIN_FILENO);
    store_close(r);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* and give back none */
    assert_false(store_is_locked("/tmp/carol-none"));
}

/* A campaign that came to nothing leaves nothing, but not what was there before it. */
static void a_discarded_record_is_gone(void **state)
{
    struct fixture *f = *state;
    char *dir = fs_join(f->dir, "new"), *mine = fs_join(dir, "mine");
    struct store *s;
    OK(store_open(&s, dir, STORE_CREATE, &oops));
    add(s, "a");
    store_discard(s);
    assert_false(fs_exists(dir));
    OK(fs_mkdirs(dir, &oops));
    OK(fs_write_atomic(mine, "x", 1, &oops));
    OK(store_open(&s, dir, STORE_CREATE_LAZY, &oops));
    add(s, "a");
    store_discard(s);
    struct strv names = {0};
    OK(fs_list(dir, &names, &oops));
    assert_int_equal(names.n, 1);
    assert_string_equal(names.v[0], "mine");
    strv_free(&names);
    free(mine);
    free(dir);
}

static void expect_refused(struct fixture *f, const char *why)
{
    struct err e = {0};
    char *path = fs_join(f->dir, "carol.db");
    struct buf was = BUF_INIT(1 << 24), is = BUF_INIT(1 << 24);
    OK(fs_read(path, &was, &oops));
    for (int mode = STORE_RESUME; mode <= STORE_READ; mode++) {
        assert_true(store_open(&f->s, f->dir, (enum store_mode)mode, &e) < 0);
        assert_null(f->s);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
        if (!strstr(e.msg, why))
            fail_msg("%s: does not say '%s'", e.msg, why);
    }
    OK(fs_read(path, &is, &oops));
    assert_int_equal(is.len, was.len);
    assert_memory_equal(is.p, was.p, is.len);
    buf_free(&was);
    buf_free(&is);
    free(path);
}

/* tests/system/older.py has a real one of the version before. */
static void records_of_other_versions_are_refused(void **state)
{
    struct fixture *f = *state;
    writes(f->s);
    store_close(f->s);
    f->s = NULL;
    kit_exec(f->dir, "PRAGMA user_version = 5");
    expect_refused(f, "newer carol (record version 5, this one knows 4)");
    kit_exec(f->dir, "PRAGMA user_version = 2");
    expect_refused(f, "older carol (record version 2,");
    expect_refused(f, "go on with that carol, or start a new campaign");
    kit_exec(f->dir, "PRAGMA user_version = 1");
    expect_refused(f, "older carol (record version 1,");
    kit_exec(f->dir, "PRAGMA user_version = 0");
    expect_refused(f, "older carol (record version 0,");
    kit_exec(f->dir, "PRAGMA user_version = 4; PRAGMA application_id = 5");
    expect_refused(f, "not a campaign");
    struct err e = {0};
    assert_int_equal(store_open(&f->s, f->dir, STORE_CREATE, &e), -EEXIST);
    kit_exec(f->dir, "PRAGMA application_id = 1128354383");
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops));
}

/* Each step of making it is a transaction of its own, and what came of it no campaign yet. */
static void one_killed_while_it_was_made_is_not_in_the_way(void **state)
{
    struct fixture *f = *state;
    static const char *const reached[] = {
        "DROP TABLE triage; DROP TABLE minimised;"
        "ALTER TABLE turns DROP COLUMN startup_ns; ALTER TABLE turns DROP COLUMN cycle_ns;"
        "ALTER TABLE slots DROP COLUMN start_ns; PRAGMA user_version = 1",
        "DROP TABLE triage; DROP TABLE minimised;"
        "ALTER TABLE turns DROP COLUMN startup_ns; ALTER TABLE turns DROP COLUMN cycle_ns;"
        "ALTER TABLE slots DROP COLUMN start_ns; PRAGMA user_version = 2",
        "DROP TABLE triage; DROP TABLE minimised; PRAGMA user_version = 3",
        "PRAGMA user_version = 4",
    };
    for (size_t i = 0; i < 4; i++) {
        store_close(f->s);
        f->s = NULL;
        kit_exec(f->dir, reached[i]);
        OK(store_open(&f->s, f->dir, STORE_CREATE, &oops));
        assert_int_equal(kit_query(f->dir, "PRAGMA user_version"), 4);
    }
    begun(f->s, 1, 0); /* all columns are there */
    writes(f->s);
    store_close(f->s);
    f->s = NULL;
    kit_exec(f->dir, "PRAGMA user_version = 2");
    struct err e = {0};
    assert_int_equal(store_open(&f->s, f->dir, STORE_CREATE, &e), -EEXIST);
    assert_int_equal(kit_query(f->dir, "PRAGMA user_version"), 2); /* left as it is */
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
    add(f->s, "a");
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
    struct settings o = {0}, back = {0};
    struct facts facts = {0};
    OK(settings_defaults(&o, &oops));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        strv_add(&o.args, words[i]);
    settings_facts(&o, &facts);
    OK(store_put(f->s, facts.v, facts.n, &oops));
    OK(settings_read(&back, f->s, &oops));
    assert_int_equal(back.args.n, o.args.n);
    for (size_t i = 0; i < o.args.n; i++)
        assert_string_equal(back.args.v[i], words[i]);
    assert_int_equal(back.seeds.n, 0);
    facts_free(&facts);
    settings_free(&o);
    settings_free(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(modes_refuse_what_they_should),
        TEST(a_directory_is_no_record),
        TEST(a_reader_sees_one_moment_and_cannot_write),
        TEST(a_journal_is_the_record_without_inputs),
        TEST(the_lock_tells_who_writes),
        TEST(a_discarded_record_is_gone),
        TEST(records_of_other_versions_are_refused),
        TEST(one_killed_while_it_was_made_is_not_in_the_way),
        TEST(words_come_back_as_they_were),
        TEST(a_directory_that_cannot_be_written_can_be_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
