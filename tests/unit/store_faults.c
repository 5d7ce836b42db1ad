/* store_faults: what was acknowledged survives kill -9, a full disk, a locked database; damage is
 * reported, not believed.  That every call into the database may fail is in store_steps.c. */
#include "base/rng.h"
#include "store_kit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
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

/* An initial seed that begins with these bytes. */
static int add_bytes(struct store *s, uint64_t n, size_t size)
{
    char *bytes = xcalloc(1, size);
    memcpy(bytes, &n, sizeof n);
    struct store_seed seed = {.data = bytes, .size = size, .name = "x"};
    int rc = store_add_seeds(s, &seed, 1, &oops);
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

/* The newest turn, which may be in any state; all 0 when there is none. */
static struct store_turn newest_turn(struct store *s)
{
    struct store_totals all;
    struct store_turns *w;
    struct store_turn t = {0};
    NEED(store_totals(s, &all, &oops));
    NEED(store_turns_open(&w, s, TURNS_BY_ID, all.decisions - 1, &oops));
    NEED(store_turns_next(w, &t, NULL, &oops));
    store_turns_close(w);
    return t;
}

static void begin_next(struct store *s, struct store_turn *t)
{
    struct inputs in = {0};
    int64_t id = t->id + 1;
    *t = (struct store_turn){.id = id, .state = TURN_RUNNING, .instance = id < 3 ? 0 : 2 - id % 2};
    struct store_claim c = {.decision = "d",
                            .decision_size = 1,
                            .fuzzer = "aflpp",
                            .number = (int)id,
                            .max_inputs = 10,
                            .max_bytes = SIZE_MAX};
    NEED(begin(s, t, &c, &in, &oops));
    NEED(store_turn_delivered(s, t, &oops));
    inputs_free(&in);
}

/* It has found one seed of its number. */
static void park_one(struct store *s, struct store_turn *t)
{
    char *bytes = xcalloc(1, SEED_SIZE);
    memcpy(bytes, &t->id, sizeof t->id);
    struct store_find x = find("");
    x.data = bytes;
    x.size = SEED_SIZE;
    NEED(store_turn_park(s, t, &x, 1, "cursor", &oops));
    free(bytes);
}

static int keep_id(void *arg, const struct store_seed *r, struct err *e)
{
    (void)e;
    *(int64_t *)arg = r->id;
    return 0;
}

static int64_t commit_one(struct store *s, struct store_turn *t)
{
    struct store_result r = {.status = 1, .share = true};
    NEED(store_turn_results(s, t->id, keep_id, &r.seed, &oops));
    t->state = TURN_COMMITTED, t->round = (uint32_t)t->id;
    struct store_commit c = {
        .results = &r, .n = 1, .sched = &t->round, .sched_size = sizeof t->round};
    NEED(commit(s, t, &c, &oops));
    return r.seed;
}

/* One turn of two instances after another, from where the one before was killed. */
static void write_turns(const char *dir, enum store_mode mode, int pipe)
{
    struct store *s;
    NEED(store_open(&s, dir, mode, &oops));
    struct store_turn t = newest_turn(s);
    for (;;) {
        if (t.id == 0 || t.round)
            begin_next(s, &t);
        if (t.state == TURN_RUNNING)
            park_one(s, &t);
        struct ack a = {commit_one(s, &t), t.id};
        if (write(pipe, &a, sizeof a) != (ssize_t)sizeof a)
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
    struct store_turn t = newest_turn(r);
    assert_true(t.id - (t.round == 0) >= last.turn);
    struct buf learned = BUF_INIT(64);
    OK(store_sched_state(r, &learned, &oops));
    assert_int_equal(learned.len, sizeof t.round);
    t.round = t.round ? t.round : (uint32_t)t.id - 1;
    assert_memory_equal(learned.p, &t.round,
                        sizeof t.round); /* the learner and its turn, together */
    buf_free(&learned);
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
    assert_int_equal(kit_query(f->dir, "SELECT count(share) - max(share) FROM seeds"), 0);
    assert_int_equal(kit_query(f->dir, "SELECT count(*) FROM instances"), 2);
    assert_int_equal(kit_query(f->dir, /* each is given all of the other's, up to where it stands */
                               "SELECT count(*) FROM seeds s JOIN instances i ON i.id <> s.instance"
                               " WHERE s.share <= i.shared AND NOT EXISTS (SELECT 1 FROM imports m"
                               " WHERE m.instance = i.id AND m.seed = s.id)"),
                     0);
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
        OK(store_open(&s, dir, STORE_CREATE, &oops));
        OK(add_bytes(s, 1, 10));
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
        _exit(t.decisions >= 1 ? 0 : 2);
    }
    assert_int_equal(waitpid(p, &status, 0), p);
    assert_int_equal(status, 0);
}

/* --- full disk ----------------------------------------------------------------------------- */

/* Writes until it fails; then what was acknowledged is there, and after `more` it goes on. */
static void fill_up(const char *dir, size_t size, void (*more)(const char *dir))
{
    struct store *s;
    uint64_t last = 0;
    int rc = 0;
    NEED(store_open(&s, dir, STORE_CREATE, &oops));
    while (last < 100000 && (rc = add_bytes(s, last + 1, size)) == 0)
        last++;
    if (rc != -ENOSPC || oops.exit != ERR_EXIT_ENV || !strstr(oops.msg, "free space") ||
        !strstr(oops.msg, "carol fuzz --resume ") || !strstr(oops.msg, dir)) {
        fprintf(stderr, "# %d %s\n", rc, oops.msg);
        _exit(3);
    }
    struct store_totals t;
    NEED(store_totals(s, &t, &oops));
    if (last < 1 || t.seeds != last)
        _exit(4);
    more(dir);
    NEED(add_bytes(s, 999999, size));
    store_close(s);
    NEED(store_open(&s, dir, STORE_RESUME, &oops));
    NEED(store_totals(s, &t, &oops));
    store_close(s);
    _exit(t.seeds == last + 1 ? 0 : 5);
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

/* The file of a large input, with and without somebody who wants to know why. */
static void a_large_input_needs_its_file(void **state)
{
    struct fixture *f = *state;
    struct rlimit was;
    char *bytes = xcalloc(1, 1300000);
    struct store_seed seed = {.data = bytes, .size = 1300000, .name = "x"};
    struct err e = {0};
    OK(store_open(&f->s, f->dir, STORE_CREATE, &oops));
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1200000, was.rlim_max}), 0);
    int told = store_add_seeds(f->s, &seed, 1, &e), quiet = store_add_seeds(f->s, &seed, 1, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(told, -ENOSPC);
    assert_int_equal(e.code, -ENOSPC);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_int_equal(quiet, -ENOSPC);
    OK(store_add_seeds(f->s, &seed, 1, &oops));
    free(bytes);
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
                struct store_totals all;
                NEED(store_open(&s, dir, STORE_CREATE, &oops));
                NEED(add_bytes(s, 1, 8));
                if (add_bytes(s, 2, 1300000) != -ENOSPC || !strstr(oops.msg, "--resume"))
                    _exit(8);
                lift_limit(dir);
                NEED(add_bytes(s, 2, 1300000));
                NEED(store_totals(s, &all, &oops));
                _exit(all.seeds == 2 ? 0 : 9);
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
    OK(store_open(&s, f->dir, STORE_CREATE, &oops));
    int pipe[2];
    assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
    pid_t p = fork();
    if (p == 0) {
        kit_hold(f->dir, pipe[1], 100000);
        _exit(0);
    }
    char c;
    assert_int_equal(read(pipe[0], &c, 1), 1);
    OK(add_bytes(s, 1, 100));
    expect_clean_exit(p);
    close(pipe[0]);
    close(pipe[1]);
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
    for (uint64_t n = 0; n < 100; n++)
        OK(add_bytes(s, n, 3000));
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

/* Rows that a careless hand or a bad disk changed, in a database that is sound. */
static void a_row_that_contradicts_itself_is_reported(void **state)
{
    struct fixture *f = *state;
    make_campaign(f->dir);
    assert_int_equal(kit_exec(f->dir, "UPDATE seeds SET size = 3001 WHERE id = 50"), 1);
    assert_int_equal(read_all(f->dir, STORE_READ), -EUCLEAN);
    assert_int_equal(kit_exec(f->dir, "UPDATE seeds SET size = 3000, hash = x'00' WHERE id = 50"),
                     1);
    assert_int_equal(read_all(f->dir, STORE_READ), -EUCLEAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_ON_DISK(acknowledged_rows_survive_kill),
        TEST_ON_DISK(a_killed_creation_can_be_repeated),
        TEST_ON_DISK(a_killed_campaign_can_be_read_without_writing),
        TEST_ON_DISK(a_large_input_needs_its_file),
        TEST_ON_DISK(a_file_limit_is_a_full_disk),
        TEST_ON_DISK(a_full_filesystem_is_a_full_disk),
        TEST_ON_DISK(a_foreign_writer_only_delays_us),
        TEST_ON_DISK(the_lock_outlives_no_one),
        TEST_ON_DISK(damage_is_reported),
        TEST_ON_DISK(a_row_that_contradicts_itself_is_reported),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
