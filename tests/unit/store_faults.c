/* store_faults: what was acknowledged survives kill -9, a full disk, a locked database; damage is
 * reported, not believed. */
#include "base/rng.h"
#include "store_kit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* In children: cmocka's asserts belong to the parent. */
#define NEED(call)                                                                                 \
    do {                                                                                           \
        if ((call) < 0) {                                                                          \
            fprintf(stderr, "# %s: %s\n", #call, oops.msg);                                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static int add_bytes(struct store *s, uint64_t n, size_t size, int64_t turn, int64_t *id)
{
    char *bytes = xcalloc(1, size);
    memcpy(bytes, &n, sizeof n);
    struct store_seed seed = {.data = bytes, .size = size, .turn = turn, .name = "x"};
    bool fresh;
    int rc = store_add_seed(s, &seed, id, &fresh, &oops);
    free(bytes);
    return rc;
}

/* --- kill -9 ------------------------------------------------------------------------------- */

/* Large enough that the log is copied back into the database now and then, under the kill too. */
#define SEED_SIZE 200000

/* What the writer says it has: written to a pipe only after the commit returned. */
struct ack {
    int64_t seed, turn;
};

/* One turn after another: begin with its import claimed, a seed, an evaluation, a commit. */
static void write_turns(const char *dir, enum store_mode mode, int pipe)
{
    struct store *s;
    int64_t instance = 1, seed = 0;
    size_t n;
    NEED(store_open(&s, dir, mode, &oops));
    if (mode == STORE_CREATE)
        NEED(store_add_instance(s, "aflpp", 0, &instance, &oops));
    struct store_totals t;
    NEED(store_totals(s, &t, &oops));
    for (uint32_t round = (uint32_t)t.turns + 1;; round++) {
        struct store_turn turn = {.id = round, .instance = instance};
        struct err was;
        NEED(store_begin(s, &oops));
        if (store_turn_begin(s, &turn, "d", 1, &was) == 0) {
            if (seed)
                NEED(store_import(s, instance, seed, round, &oops));
            NEED(store_commit(s, &oops));
        } else {
            store_rollback(s); /* began before the kill */
        }
        NEED(store_begin(s, &oops));
        NEED(add_bytes(s, round, SEED_SIZE, round, &seed));
        NEED(store_seed_done(s, seed, 1, 0, 1, "", 0, round, true, &oops));
        turn.state = TURN_COMMITTED, turn.round = round;
        NEED(store_turn_commit(s, &turn, &round, sizeof round, &oops));
        NEED(store_commit(s, &oops));
        struct ack a = {seed, round};
        n = sizeof a;
        if (write(pipe, &a, n) != (ssize_t)n)
            _exit(1);
    }
}

/* The seed `turn` wrote has these bytes, this turn and a share number. */
static int check_acknowledged(void *arg, const struct store_seed *r, struct err *e)
{
    (void)e;
    const struct ack *a = arg;
    uint64_t n;
    assert_int_equal(r->size, SEED_SIZE);
    memcpy(&n, r->data, sizeof n);
    assert_int_equal(n, a->turn);
    assert_int_equal(r->turn, a->turn);
    assert_int_equal(r->share, a->turn);
    return 0;
}

static int64_t check_survivors(const char *dir, struct ack a, int pipe)
{
    struct store *r;
    struct ack last;
    OK(store_open(&r, dir, STORE_READ, &oops));
    do {
        OK(store_seed_get(r, a.seed, check_acknowledged, &a, &oops));
        last = a;
    } while (read(pipe, &a, sizeof a) == sizeof a);
    struct store_totals t;
    OK(store_totals(r, &t, &oops));
    assert_true(t.turns >= (uint64_t)last.turn);
    size_t n;
    void *state = store_sched_state(r, &n);
    uint32_t learned = 0;
    if (state) {
        assert_int_equal(n, sizeof learned);
        memcpy(&learned, state, n);
    }
    assert_int_equal(learned, t.turns); /* the learner and its turn, together */
    free(state);
    store_close(r);
    return last.turn;
}

static void acknowledged_rows_survive_kill(void **state)
{
    struct fixture *f = *state;
    struct rng rng;
    rng_seed(&rng, 5);
    int64_t turns = 0;
    for (int i = 0; i < 8; i++) {
        int pipe[2], status;
        assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
        pid_t p = fork();
        if (p == 0)
            write_turns(f->dir, i ? STORE_RESUME : STORE_CREATE, pipe[1]);
        close(pipe[1]);
        struct ack a; /* killed only once it writes, so that every round counts */
        assert_int_equal(read(pipe[0], &a, sizeof a), sizeof a);
        usleep((useconds_t)rng_below(&rng, 40000));
        assert_int_equal(kill(p, SIGKILL), 0);
        assert_int_equal(waitpid(p, &status, 0), p);
        assert_true(WIFSIGNALED(status));
        int64_t last = check_survivors(f->dir, a, pipe[0]);
        assert_true(last > turns);
        turns = last;
        close(pipe[0]);
    }
    assert_true(turns >= 8);
    assert_int_equal(kit_query(f->dir, "SELECT count(*) FROM pragma_integrity_check"
                                       " WHERE integrity_check <> 'ok'"),
                     0);
    assert_int_equal(kit_query(f->dir, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(kit_query(f->dir, "SELECT count(*) - count(DISTINCT seed) FROM imports"), 0);
    assert_int_equal(kit_query(f->dir, "SELECT count(*) - max(share) FROM seeds"), 0);
}

/* Killed while it makes the database: one can be made there. */
static void a_killed_creation_can_be_repeated(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 12; i++) {
        char *dir = str_fmt("%s/%d", f->dir, i);
        pid_t p = fork();
        if (p == 0) {
            struct store *s;
            NEED(store_open(&s, dir, STORE_CREATE, &oops));
            _exit(0);
        }
        usleep((useconds_t)(i * i) * 250);
        kill(p, SIGKILL);
        assert_int_equal(waitpid(p, NULL, 0), p);
        struct store *s;
        int64_t id;
        OK(store_open(&s, dir, STORE_CREATE, &oops));
        OK(add_bytes(s, 1, 10, 0, &id));
        store_close(s);
        free(dir);
    }
}

/* The files a killed writer leaves, read by someone who may not write there. */
static void a_killed_campaign_can_be_read_without_writing(void **state)
{
    struct fixture *f = *state;
    int pipe[2], status;
    assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
    pid_t p = fork();
    if (p == 0)
        write_turns(f->dir, STORE_CREATE, pipe[1]);
    struct ack a;
    assert_int_equal(read(pipe[0], &a, sizeof a), sizeof a);
    kill(p, SIGKILL);
    assert_int_equal(waitpid(p, &status, 0), p);
    close(pipe[0]);
    close(pipe[1]);
    assert_int_equal(chmod(f->dir, 0555), 0);
    if ((p = fork()) == 0) {
        struct store *r;
        struct store_totals t;
        if (getuid() == 0 && setuid(65534) < 0)
            _exit(9);
        NEED(store_open(&r, f->dir, STORE_READ, &oops));
        NEED(store_totals(r, &t, &oops));
        _exit(t.turns >= 1 ? 0 : 2);
    }
    assert_int_equal(waitpid(p, &status, 0), p);
    assert_int_equal(status, 0);
}

/* --- full disk ----------------------------------------------------------------------------- */

/* Writes until it fails; then what was acknowledged is there, and after `more` it goes on. */
static void fill_up(const char *dir, size_t size, void (*more)(const char *dir))
{
    struct store *s;
    int64_t id, last = 0;
    int rc = 0;
    NEED(store_open(&s, dir, STORE_CREATE, &oops));
    for (uint64_t n = 1; n < 100000; n++) {
        NEED(store_begin(s, &oops));
        rc = add_bytes(s, n, size, 0, &id);
        if (rc == 0)
            rc = store_commit(s, &oops);
        else
            store_rollback(s);
        if (rc < 0)
            break;
        last = id;
    }
    if (rc != -ENOSPC || oops.exit != ERR_EXIT_ENV || !strstr(oops.msg, "free space") ||
        !strstr(oops.msg, "carol fuzz --resume ") || !strstr(oops.msg, dir)) {
        fprintf(stderr, "# %d %s\n", rc, oops.msg);
        _exit(3);
    }
    struct store_totals t;
    NEED(store_totals(s, &t, &oops));
    if (last < 1 || t.seeds != (uint64_t)last)
        _exit(4);
    more(dir);
    NEED(add_bytes(s, 999999, size, 0, &id));
    store_close(s);
    NEED(store_open(&s, dir, STORE_RESUME, &oops));
    NEED(store_totals(s, &t, &oops));
    store_close(s);
    _exit(t.seeds == (uint64_t)last + 1 ? 0 : 5);
}

static void expect_clean_exit(pid_t p)
{
    int status;
    assert_int_equal(waitpid(p, &status, 0), p);
    assert_int_equal(status, 0);
}

static void lift_limit(const char *dir)
{
    (void)dir;
    if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) < 0)
        _exit(6);
}

static void a_file_limit_is_a_full_disk(void **state)
{
    struct fixture *f = *state;
    for (int large = 0; large < 2; large++) {
        char *dir = str_fmt("%s/%d", f->dir, large);
        pid_t p = fork();
        if (p == 0) {
            signal(SIGXFSZ, SIG_IGN);
            rlim_t limit = large ? 1200000 : 400000;
            if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, RLIM_INFINITY}) < 0)
                _exit(7);
            if (large) { /* a small one first: something to lose */
                struct store *s;
                int64_t id;
                NEED(store_open(&s, dir, STORE_CREATE, &oops));
                NEED(add_bytes(s, 1, 8, 0, &id));
                if (add_bytes(s, 2, 1300000, 0, &id) != -ENOSPC || !strstr(oops.msg, "--resume"))
                    _exit(8);
                lift_limit(dir);
                NEED(add_bytes(s, 2, 1300000, 0, &id));
                _exit(id == 2 ? 0 : 9);
            }
            fill_up(dir, 3000, lift_limit);
        }
        expect_clean_exit(p);
        free(dir);
    }
}

static void grow(const char *dir)
{
    if (mount("none", dir, NULL, MS_REMOUNT, "size=8m") < 0)
        _exit(6);
}

static void a_full_filesystem_is_a_full_disk(void **state)
{
    struct fixture *f = *state;
    pid_t p = fork();
    if (p == 0) {
        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", f->dir, "tmpfs", 0, "size=1m") < 0)
            _exit(77);
        fill_up(f->dir, 3000, grow);
    }
    int status;
    assert_int_equal(waitpid(p, &status, 0), p);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("# may not mount a small filesystem here\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* --- locked by others ---------------------------------------------------------------------- */

static void a_foreign_writer_only_delays_us(void **state)
{
    struct fixture *f = *state;
    struct store *s;
    int64_t id;
    OK(store_open(&s, f->dir, STORE_CREATE, &oops));
    int pipe[2];
    assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
    char *path = fs_join(f->dir, "carol.db");
    pid_t p = fork();
    if (p == 0) {
        sqlite3 *db;
        if (sqlite3_open(path, &db) != SQLITE_OK ||
            sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
            write(pipe[1], "x", 1) != 1)
            _exit(1);
        usleep(100000);
        _exit(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : 1);
    }
    char c;
    assert_int_equal(read(pipe[0], &c, 1), 1);
    OK(add_bytes(s, 1, 100, 0, &id));
    expect_clean_exit(p);
    close(pipe[0]);
    close(pipe[1]);
    free(path);
    store_close(s);
}

/* The lock goes with its holder, also while a child of the holder is still dying. */
static void the_lock_outlives_no_one(void **state)
{
    struct fixture *f = *state;
    int pipe[2], status;
    assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
    pid_t p = fork();
    if (p == 0) {
        struct store *s;
        NEED(store_open(&s, f->dir, STORE_CREATE, &oops));
        if (fork() == 0) { /* inherits the lock */
            usleep(150000);
            _exit(0);
        }
        if (write(pipe[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    char c;
    assert_int_equal(read(pipe[0], &c, 1), 1);
    struct store *s;
    assert_int_equal(store_open(&s, f->dir, STORE_RESUME, &oops), -EBUSY);
    kill(p, SIGKILL);
    assert_int_equal(waitpid(p, &status, 0), p);
    OK(store_open(&s, f->dir, STORE_RESUME, &oops));
    store_close(s);
    close(pipe[0]);
    close(pipe[1]);
}

/* --- damage -------------------------------------------------------------------------------- */

static int count_seed(void *arg, const struct store_seed *r, struct err *e)
{
    (void)r;
    (void)e;
    ++*(int *)arg;
    return 0;
}

/* Opens and reads everything; the first error. */
static int read_all(const char *dir, enum store_mode mode)
{
    struct store *s;
    int n = 0, rc = store_open(&s, dir, mode, &oops);
    if (rc < 0)
        return rc;
    rc = store_turn_seeds(s, 0, count_seed, &n, &oops);
    store_close(s);
    return rc;
}

static void make_campaign(const char *dir)
{
    struct store *s;
    OK(store_open(&s, dir, STORE_CREATE, &oops));
    OK(store_begin(s, &oops));
    int64_t id;
    for (uint64_t n = 0; n < 100; n++)
        OK(add_bytes(s, n, 3000, 0, &id));
    OK(store_commit(s, &oops));
    store_close(s);
}

static void damage_is_reported(void **state)
{
    struct fixture *f = *state;
    make_campaign(f->dir);
    char *path = fs_join(f->dir, "carol.db");
    struct buf good = BUF_INIT(1 << 24);
    OK(fs_read(path, &good, &oops));
    assert_int_equal(read_all(f->dir, STORE_READ), 0);

    assert_int_equal(truncate(path, (off_t)good.len / 2), 0);
    for (int mode = STORE_RESUME; mode <= STORE_READ; mode++) {
        assert_int_equal(read_all(f->dir, (enum store_mode)mode), -EUCLEAN);
        assert_non_null(strstr(oops.msg, "damaged"));
        assert_non_null(strstr(oops.msg, ".recover"));
    }
    OK(fs_write_atomic(path, "this is no database, it is text of some length, long enough", 58,
                       &oops));
    assert_int_equal(read_all(f->dir, STORE_RESUME), -EUCLEAN);

    char *bad = xmalloc(good.len);
    memcpy(bad, good.p, good.len);
    memset(bad + good.len / 2, 0xff, good.len / 4);
    OK(fs_write_atomic(path, bad, good.len, &oops));
    assert_int_equal(read_all(f->dir, STORE_READ), -EUCLEAN);

    OK(fs_write_atomic(path, "", 0, &oops));
    assert_int_equal(read_all(f->dir, STORE_RESUME), -EINVAL);
    assert_non_null(strstr(oops.msg, "never began"));
    assert_int_equal(read_all(f->dir, STORE_READ), -EINVAL);

    OK(fs_write_atomic(path, good.p, good.len, &oops));
    assert_int_equal(read_all(f->dir, STORE_RESUME), 0);
    free(bad);
    buf_free(&good);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_ON_DISK(acknowledged_rows_survive_kill),
        TEST_ON_DISK(a_killed_creation_can_be_repeated),
        TEST_ON_DISK(a_killed_campaign_can_be_read_without_writing),
        TEST_ON_DISK(a_file_limit_is_a_full_disk),
        TEST_ON_DISK(a_full_filesystem_is_a_full_disk),
        TEST_ON_DISK(a_foreign_writer_only_delays_us),
        TEST_ON_DISK(the_lock_outlives_no_one),
        TEST_ON_DISK(damage_is_reported),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
