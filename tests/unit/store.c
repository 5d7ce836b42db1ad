/* store: rows go in and come back, once, in order, through restarts, versions and readers.  What
 * survives kill -9, a full disk and damage is in store_faults.c. */
#include "store/store.h"

#include "base/die.h"
#include "base/fs.h"

#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct err oops;
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, oops.msg);                                                   \
    } while (0)

struct fixture {
    char dir[64];
    struct store *s;
};

static int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir,
             "/dev/shm/carol-store-XXXXXX"); /* memory: no disk to wait for */
    if (!mkdtemp(f->dir)) {
        snprintf(f->dir, sizeof f->dir, "/tmp/carol-store-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
    }
    OK(store_open(&f->s, f->dir, STORE_CREATE, &oops));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    store_close(f->s);
    int rc = fs_remove_tree(f->dir, NULL);
    free(f);
    return rc;
}

static void reopen(struct fixture *f)
{
    store_close(f->s);
    OK(store_open(&f->s, f->dir, STORE_RESUME, &oops));
}

static int64_t add(struct store *s, const char *text, int64_t instance, int64_t turn, bool *fresh)
{
    struct store_seed seed = {.data = text,
                              .size = strlen(text),
                              .instance = instance,
                              .turn = turn,
                              .name = text,
                              .found_ns = 7};
    int64_t id = 0;
    bool f;
    OK(store_add_seed(s, &seed, &id, fresh ? fresh : &f, &oops));
    return id;
}

static void done(struct store *s, int64_t id, bool share)
{
    OK(store_seed_done(s, id, 1, 0, 10, "edges", 5, 1, share, &oops));
}

static void begin_turn(struct store *s, int64_t id, int64_t instance)
{
    struct store_turn t = {
        .id = id, .arm = 1, .slot = 2, .instance = instance, .start_ns = id * 100};
    OK(store_turn_begin(s, &t, "decision", 8, &oops));
}

/* Joins the bytes of the seeds it sees: "a,b,c,". */
static int join(void *arg, const struct store_seed *seed, struct err *e)
{
    (void)e;
    struct buf *b = arg;
    buf_add(b, seed->data, seed->size);
    buf_str(b, ",");
    return 0;
}

static void expect_seeds(struct store *s, int64_t turn, const char *want)
{
    struct buf b = BUF_INIT(1 << 16);
    buf_str(&b, "");
    OK(store_turn_seeds(s, turn, join, &b, &oops));
    assert_string_equal(b.p ? b.p : "", want);
    buf_free(&b);
}

static void a_seed_is_stored_once(void **state)
{
    struct fixture *f = *state;
    bool fresh;
    int64_t a = add(f->s, "aaa", 0, 0, &fresh);
    assert_true(fresh);
    assert_int_equal(add(f->s, "aaa", 0, 0, &fresh), a);
    assert_false(fresh);
    assert_int_not_equal(add(f->s, "", 0, 0, &fresh), a);
    assert_true(fresh);
    reopen(f);
    assert_int_equal(add(f->s, "aaa", 0, 0, &fresh), a);
    assert_false(fresh);
    expect_seeds(f->s, 0, "aaa,,");
}

static int check_seed(void *arg, const struct store_seed *r, struct err *e)
{
    (void)e;
    struct digest d;
    hash_bytes("xyz", 3, &d);
    assert_true(digest_equal(&r->hash, &d));
    assert_int_equal(r->size, 3);
    assert_memory_equal(r->data, "xyz", 3);
    assert_int_equal(r->instance, 1);
    assert_int_equal(r->turn, 5);
    assert_int_equal(r->parent, *(int64_t *)arg);
    assert_string_equal(r->name, "id:000001,src:000000");
    assert_int_equal(r->found_ns, INT64_C(5000000000));
    assert_int_equal(r->state, SEED_DONE);
    assert_int_equal(r->status, 2);
    assert_int_equal(r->signal, 11);
    assert_int_equal(r->cpu_us, 4000000000u);
    assert_int_equal(r->edges_size, 4);
    assert_memory_equal(r->edges, "\0\1\2\3", 4);
    assert_int_equal(r->round, 9);
    assert_int_equal(r->share, 1);
    *(int64_t *)arg = -1;
    return 0;
}

static void every_field_of_a_seed_comes_back(void **state)
{
    struct fixture *f = *state;
    int64_t inst, parent = add(f->s, "p", 0, 0, NULL), id;
    OK(store_add_instance(f->s, "aflpp", 0, &inst, &oops));
    begin_turn(f->s, 5, inst);
    struct store_seed seed = {.data = "xyz",
                              .size = 3,
                              .instance = inst,
                              .turn = 5,
                              .parent = parent,
                              .name = "id:000001,src:000000",
                              .found_ns = INT64_C(5000000000)};
    bool fresh;
    OK(store_add_seed(f->s, &seed, &id, &fresh, &oops));
    OK(store_seed_done(f->s, id, 2, 11, 4000000000u, "\0\1\2\3", 4, 9, true, &oops));
    reopen(f);
    OK(store_seed_get(f->s, id, check_seed, &parent, &oops));
    assert_int_equal(parent, -1);
    struct err e = {0};
    assert_int_equal(store_seed_get(f->s, 999, check_seed, &parent, &e), -ENOENT);
}

struct chunk {
    const char *data;
    size_t size;
    int seen;
};

static int same_bytes(void *arg, const struct store_seed *r, struct err *e)
{
    (void)e;
    struct chunk *c = arg;
    assert_int_equal(r->size, c->size);
    assert_memory_equal(r->data, c->data, c->size);
    c->seen++;
    return 0;
}

static int count_results(void *arg, const struct store_seed *r, struct err *e)
{
    (void)e;
    assert_null(r->data);
    assert_int_equal(r->edges_size, 5);
    *(size_t *)arg += r->size;
    return 0;
}

static void results_come_without_the_bytes(void **state)
{
    struct fixture *f = *state;
    size_t size = 0;
    done(f->s, add(f->s, "aaa", 0, 0, NULL), true);
    done(f->s, add(f->s, "bb", 0, 0, NULL), true);
    OK(store_turn_results(f->s, 0, count_results, &size, &oops));
    assert_int_equal(size, 5);
}

static void large_inputs_are_files(void **state)
{
    struct fixture *f = *state;
    struct chunk c = {.size = ((size_t)1 << 20) + 1};
    char *bytes = xcalloc(1, c.size);
    bytes[c.size - 1] = 'x';
    c.data = bytes;
    for (int over = 1; over >= 0; over--) {
        c.size = ((size_t)1 << 20) + (size_t)over;
        struct store_seed seed = {.data = bytes, .size = c.size};
        int64_t id;
        bool fresh;
        OK(store_add_seed(f->s, &seed, &id, &fresh, &oops));
        OK(store_seed_get(f->s, id, same_bytes, &c, &oops));
    }
    assert_int_equal(c.seen, 2);
    char *blobs = fs_join(f->dir, "blobs");
    struct strv names = {0};
    OK(fs_list(blobs, &names, &oops));
    assert_int_equal(names.n, 1);
    struct digest d;
    char hex[65];
    hash_bytes(bytes, ((size_t)1 << 20) + 1, &d);
    digest_hex(&d, hex);
    assert_string_equal(names.v[0], hex);

    char *path = fs_join(blobs, hex);
    assert_int_equal(unlink(path), 0);
    struct err e = {0};
    assert_true(store_turn_seeds(f->s, 0, same_bytes, &c, &e) < 0);
    assert_non_null(strstr(e.msg, hex));
    strv_free(&names);
    free(path);
    free(blobs);
    free(bytes);
}

/* --- sharing and imports -------------------------------------------------------------------- */

static int join_one(void *arg, const struct store_seed *seed, struct err *e)
{
    int rc = join(arg, seed, e);
    return rc < 0 ? rc : 1;
}

static int64_t shared_after(struct store *s, int64_t after, int64_t instance, size_t max,
                            const char *want)
{
    struct buf b = BUF_INIT(1 << 16);
    buf_str(&b, "");
    int64_t last = -1;
    OK(store_shared_after(s, after, instance, max, join, &b, &last, &oops));
    assert_string_equal(b.p ? b.p : "", want);
    buf_free(&b);
    return last;
}

static void sharing_follows_evaluation_order(void **state)
{
    struct fixture *f = *state;
    int64_t i1, i2;
    OK(store_add_instance(f->s, "aflpp", 0, &i1, &oops));
    OK(store_add_instance(f->s, "honggfuzz", 0, &i2, &oops));
    begin_turn(f->s, 1, i1);
    int64_t a = add(f->s, "a", i1, 1, NULL), b = add(f->s, "b", i2, 1, NULL);
    int64_t c = add(f->s, "c", i1, 1, NULL), d = add(f->s, "d", i1, 1, NULL);
    assert_int_equal(shared_after(f->s, 0, i2, 100, ""), 0);
    done(f->s, d, true);  /* share 1 */
    done(f->s, a, false); /* a crash: never shared */
    done(f->s, b, true);  /* 2 */
    done(f->s, c, true);  /* 3 */
    assert_int_equal(shared_after(f->s, 0, i2, 100, "d,c,"), 3);
    assert_int_equal(shared_after(f->s, 0, i1, 100, "b,"), 3);
    assert_int_equal(shared_after(f->s, 0, i2, 1, "d,"), 1);
    assert_int_equal(shared_after(f->s, 1, i2, 1, "c,"), 3);
    assert_int_equal(shared_after(f->s, 3, i2, 1, ""), 3);
    assert_int_equal(shared_after(f->s, 0, 0, 100, "d,b,c,"), 3);
    struct buf one = BUF_INIT(64); /* a callback that has enough is not called again */
    int64_t last = -1;
    OK(store_shared_after(f->s, 1, i1, 100, join_one, &one, &last, &oops));
    assert_string_equal(one.p, "b,");
    assert_int_equal(last, 2);
    buf_free(&one);
    done(f->s, d, true); /* evaluated again after a crash: the number stays */
    assert_int_equal(shared_after(f->s, 0, 0, 100, "d,b,c,"), 3);
    OK(store_seed_quarantine(f->s, a, 4, &oops));
    struct err e = {0};
    assert_int_equal(store_seed_quarantine(f->s, 77, 4, &e), -ENOENT);
}

static void an_import_is_claimed_once_and_delivered_once(void **state)
{
    struct fixture *f = *state;
    int64_t i1, i2;
    OK(store_add_instance(f->s, "aflpp", 0, &i1, &oops));
    OK(store_add_instance(f->s, "aflpp", 1, &i2, &oops));
    int64_t a = add(f->s, "a", 0, 0, NULL), b = add(f->s, "b", 0, 0, NULL);
    int64_t c = add(f->s, "c", 0, 0, NULL);
    begin_turn(f->s, 1, i1);
    begin_turn(f->s, 2, i2);
    OK(store_import(f->s, i1, b, 1, &oops));
    OK(store_import(f->s, i1, a, 1, &oops));
    OK(store_import(f->s, i2, a, 2, &oops));
    struct err e = {0};
    assert_int_equal(store_import(f->s, i1, a, 2, &e), -EEXIST);
    OK(store_imported_upto(f->s, i1, 17, &oops));
    OK(store_imported_upto(f->s, i1, 3, &oops)); /* never back */
    reopen(f);
    assert_int_equal(store_import(f->s, i1, a, 2, &e), -EEXIST);
    struct buf open = BUF_INIT(1024);
    int64_t turn = 0;
    begin_turn(f->s, 3, i1);
    OK(store_import(f->s, i1, c, 3, &oops));
    OK(store_undelivered(f->s, i1, &turn, join, &open, &oops));
    assert_string_equal(open.p, "b,a,"); /* one turn's at a time, the oldest first */
    assert_int_equal(turn, 1);
    OK(store_delivered(f->s, i1, turn, &oops));
    buf_clear(&open);
    OK(store_undelivered(f->s, i1, &turn, join, &open, &oops));
    assert_string_equal(open.p, "c,");
    assert_int_equal(turn, 3);
    OK(store_delivered(f->s, i1, turn, &oops));
    buf_clear(&open);
    turn = 0;
    OK(store_undelivered(f->s, i1, &turn, join, &open, &oops));
    assert_string_equal(open.p, "");
    assert_int_equal(turn, 0);
    OK(store_undelivered(f->s, i2, &turn, join, &open, &oops));
    assert_string_equal(open.p, "a,");
    buf_free(&open);

    struct store_instance *rows;
    size_t n;
    OK(store_instance_started(f->s, i2, &oops));
    OK(store_instances(f->s, &rows, &n, &oops));
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].fuzzer, "aflpp");
    assert_int_equal(rows[1].number, 1);
    assert_int_equal(rows[0].shared, 17);
    assert_null(rows[0].cursor);
    assert_false(rows[0].started);
    assert_true(rows[1].started);
    store_instances_free(rows, n);
    assert_true(store_add_instance(f->s, "aflpp", 1, &i2, &e) < 0);
}

/* Callbacks may use the store, also with the very query that calls them. */
static int nested(void *arg, const struct store_seed *seed, struct err *e)
{
    struct fixture *f = arg;
    struct buf b = BUF_INIT(1024);
    int rc = store_turn_seeds(f->s, 0, join, &b, e);
    assert_string_equal(b.p, "a,b,");
    buf_free(&b);
    if (rc == 0)
        rc = store_seed_done(f->s, seed->id, 1, 0, 0, "", 0, 0, true, e);
    return rc;
}

static void callbacks_may_call_the_store(void **state)
{
    struct fixture *f = *state;
    add(f->s, "a", 0, 0, NULL);
    add(f->s, "b", 0, 0, NULL);
    OK(store_begin(f->s, &oops));
    OK(store_turn_seeds(f->s, 0, nested, f, &oops));
    OK(store_commit(f->s, &oops));
    assert_int_equal(shared_after(f->s, 0, 0, 100, "a,b,"), 2);
}

static void entries_map_to_seeds(void **state)
{
    struct fixture *f = *state;
    int64_t inst, a = add(f->s, "a", 0, 0, NULL), b = add(f->s, "b", 0, 0, NULL);
    OK(store_add_instance(f->s, "mopt", 0, &inst, &oops));
    OK(store_entry_put(f->s, inst, 0, a, &oops));
    OK(store_entry_put(f->s, inst, 0, b, &oops));
    assert_int_equal(store_entry_seed(f->s, inst, 0), b);
    assert_int_equal(store_entry_seed(f->s, inst, 1), 0);
    OK(store_entry_put(f->s, inst, 2, 555, &oops)); /* no such seed: left out */
    assert_int_equal(store_entry_seed(f->s, inst, 2), 0);
}

/* --- turns ---------------------------------------------------------------------------------- */

struct seen {
    struct store_turn turn[8];
    char decision[8][16];
    int n;
};

static int see(void *arg, const struct store_turn *t, const void *d, size_t n, struct err *e)
{
    (void)e;
    struct seen *s = arg;
    s->turn[s->n] = *t;
    memcpy(s->decision[s->n], d, n);
    s->n++;
    return 0;
}

static void a_turn_comes_back_bit_for_bit(void **state)
{
    struct fixture *f = *state;
    int64_t inst;
    OK(store_add_instance(f->s, "darwin", 0, &inst, &oops));
    struct store_turn t = {
        .id = 3, .arm = 4, .slot = 1, .instance = inst, .start_ns = 1, .quota_cycles = 9};
    OK(store_turn_begin(f->s, &t, "\1\0\2", 3, &oops));
    struct store_turn u = t;
    u.state = TURN_PARKED;
    u.parked_ns = 100, u.execs = UINT64_C(1) << 40, u.cycles = 5, u.offered = 6, u.taken = 7;
    u.active_ns = 8, u.park_ns = 9, u.cpu_ns = 10, u.cpu_parked_ns = 11, u.crashes = 12,
    u.hangs = 13, u.inputs = 14;
    OK(store_turn_parked(f->s, &u, "cursor 1", &oops));
    u.state = TURN_COMMITTED;
    u.round = 1, u.at_decision = 4, u.end_ns = 200, u.eval_ns = 15, u.new_edges = 16, u.raw = 1e300;
    u.reward = 0.1, u.rarity = 1.0 / 3, u.sec = 5e-324, u.died = true;
    snprintf(u.why, sizeof u.why, "signal 11");
    OK(store_turn_commit(f->s, &u, "state", 5, &oops));
    reopen(f);
    struct seen seen = {0};
    OK(store_turns(f->s, TURNS_BY_ID, see, &seen, &oops));
    assert_int_equal(seen.n, 1);
    assert_memory_equal(&seen.turn[0], &u, sizeof u);
    assert_memory_equal(seen.decision[0], "\1\0\2", 3);
    size_t n;
    char *sched = store_sched_state(f->s, &n);
    assert_int_equal(n, 5);
    assert_memory_equal(sched, "state", 5);
    free(sched);
    struct store_instance *rows;
    OK(store_instances(f->s, &rows, &n, &oops));
    assert_string_equal(rows[0].cursor, "cursor 1");
    store_instances_free(rows, n);
}

static void turns_only_move_forward(void **state)
{
    struct fixture *f = *state;
    int64_t inst;
    struct err e = {0};
    size_t n;
    assert_null(store_sched_state(f->s, &n));
    OK(store_add_instance(f->s, "darwin", 0, &inst, &oops));
    for (int64_t id = 1; id <= 3; id++)
        begin_turn(f->s, id, inst);
    struct store_turn t = {.id = 2, .instance = inst, .state = TURN_COMMITTED, .round = 1};
    OK(store_turn_commit(f->s, &t, "s2", 2, &oops));
    t = (struct store_turn){.id = 1, .instance = inst, .state = TURN_VOID, .round = 2};
    OK(store_turn_commit(f->s, &t, NULL, 0, &oops));
    assert_true(store_turn_commit(f->s, &t, NULL, 0, &e) < 0);
    assert_true(store_turn_parked(f->s, &t, NULL, &e) < 0);
    t = (struct store_turn){.id = 3, .instance = inst, .state = TURN_COMMITTED, .round = 2};
    assert_true(store_turn_commit(f->s, &t, "s3", 2, &e) < 0); /* round 2 is taken */
    t.id = 4;
    assert_true(store_turn_commit(f->s, &t, "s3", 2, &e) < 0); /* never began */
    assert_true(store_turn_begin(f->s, &(struct store_turn){.id = 2}, "", 0, &e) < 0);
    struct seen by = {0};
    OK(store_turns(f->s, TURNS_BY_ROUND, see, &by, &oops));
    assert_int_equal(by.n, 2);
    assert_int_equal(by.turn[0].id, 2);
    assert_int_equal(by.turn[1].state, TURN_VOID);
    char *sched = store_sched_state(f->s, &n);
    assert_int_equal(n, 2);
    assert_memory_equal(sched, "s2", 2);
    free(sched);
}

static void a_transaction_is_all_or_nothing(void **state)
{
    struct fixture *f = *state;
    OK(store_begin(f->s, &oops));
    add(f->s, "a", 0, 0, NULL);
    store_rollback(f->s);
    expect_seeds(f->s, 0, "");
    int64_t inst;
    OK(store_begin(f->s, &oops));
    OK(store_add_instance(f->s, "x", 0, &inst, &oops));
    begin_turn(f->s, 1, inst); /* works inside a transaction, too */
    add(f->s, "b", inst, 1, NULL);
    OK(store_commit(f->s, &oops));
    reopen(f);
    expect_seeds(f->s, 1, "b,");
}

/* --- the rest ------------------------------------------------------------------------------- */

static int crash_seen(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    struct buf *b = arg;
    buf_printf(b, "%s %.*s arm %d sig %d turn %d %s %d;", c->hang ? "hang" : "crash", (int)c->size,
               (const char *)c->data, c->arm, c->signal, (int)c->turn, c->name, c->by_eval);
    return 0;
}

static void crashes_and_hangs_are_kept_apart(void **state)
{
    struct fixture *f = *state;
    struct store_crash c = {.data = "boom", .size = 4, .arm = 2, .signal = 6, .name = "id:0"};
    bool fresh;
    OK(store_add_crash(f->s, &c, &fresh, &oops));
    assert_true(fresh);
    OK(store_add_crash(f->s, &c, &fresh, &oops));
    assert_false(fresh);
    c.hang = true;
    c.by_eval = true;
    OK(store_add_crash(f->s, &c, &fresh, &oops));
    assert_true(fresh);
    struct buf b = BUF_INIT(1024);
    OK(store_crashes(f->s, crash_seen, &b, &oops));
    assert_string_equal(b.p, "crash boom arm 2 sig 6 turn 0 id:0 0;"
                             "hang boom arm 2 sig 6 turn 0 id:0 1;");
    buf_free(&b);
}

static int call_seen(void *arg, uint32_t round, uint32_t caller, uint32_t callee)
{
    buf_printf(arg, "%u:%u>%u ", round, caller, callee);
    return 0;
}

static void facts_and_totals(void **state)
{
    struct fixture *f = *state;
    assert_null(store_get(f->s, "roster"));
    OK(store_set(f->s, "roster", "aflpp", &oops));
    OK(store_set(f->s, "roster", "aflpp,mopt", &oops));
    OK(store_event(f->s, 5, "start", "hello", &oops));
    OK(store_call(f->s, 1, 10, 20, &oops));
    OK(store_call(f->s, 2, 9, 20, &oops));
    OK(store_call(f->s, 3, 10, 20, &oops));
    OK(store_clock(f->s, 500, &oops));
    OK(store_clock(f->s, 400, &oops)); /* a clock set back changes nothing */
    OK(store_slot_put(f->s, 1, &(struct store_slot){1, 2, 3, 6}, &oops));
    OK(store_slot_put(f->s, 0, &(struct store_slot){4, 5, 6, 15}, &oops));
    done(f->s, add(f->s, "a", 0, 0, NULL), true);
    add(f->s, "b", 0, 0, NULL);
    struct store_turn t = {.id = 1};
    OK(store_turn_begin(f->s, &t, "", 0, &oops));
    t.state = TURN_COMMITTED, t.round = 1, t.execs = 1000, t.new_edges = 3;
    OK(store_turn_commit(f->s, &t, NULL, 0, &oops));
    reopen(f);
    char *roster = store_get(f->s, "roster");
    assert_string_equal(roster, "aflpp,mopt");
    free(roster);
    struct buf b = BUF_INIT(1024);
    OK(store_calls(f->s, call_seen, &b, &oops));
    assert_string_equal(b.p, "1:10>20 2:9>20 ");
    buf_free(&b);
    struct store_slot slots[4];
    assert_int_equal(store_slots(f->s, slots, 4), 2);
    assert_int_equal(slots[0].fuzz_ns, 4);
    assert_int_equal(slots[1].wall_ns, 6);
    struct store_totals all;
    OK(store_totals(f->s, &all, &oops));
    assert_int_equal(all.elapsed_ns, 500);
    assert_int_equal(all.seeds, 2);
    assert_int_equal(all.shared, 1);
    assert_int_equal(all.turns, 1);
    assert_int_equal(all.execs, 1000);
    assert_int_equal(all.edges_events, 3);
    assert_int_equal(all.crashes, 0);
}

/* --- opening -------------------------------------------------------------------------------- */

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
    sql(f->dir, "PRAGMA user_version = 2");
    assert_true(store_open(&f->s, f->dir, STORE_RESUME, &e) < 0);
    assert_non_null(strstr(e.msg, "newer carol"));
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_true(store_open(&r, f->dir, STORE_READ, &e) < 0);
    sql(f->dir, "PRAGMA user_version = 1; PRAGMA application_id = 5");
    assert_true(store_open(&f->s, f->dir, STORE_RESUME, &e) < 0);
    assert_non_null(strstr(e.msg, "not a campaign"));

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_seed_is_stored_once),
        TEST(every_field_of_a_seed_comes_back),
        TEST(results_come_without_the_bytes),
        TEST(large_inputs_are_files),
        TEST(sharing_follows_evaluation_order),
        TEST(an_import_is_claimed_once_and_delivered_once),
        TEST(callbacks_may_call_the_store),
        TEST(entries_map_to_seeds),
        TEST(a_turn_comes_back_bit_for_bit),
        TEST(turns_only_move_forward),
        TEST(a_transaction_is_all_or_nothing),
        TEST(crashes_and_hangs_are_kept_apart),
        TEST(facts_and_totals),
        TEST(modes_refuse_what_they_should),
        TEST(a_reader_sees_commits_and_cannot_write),
        TEST(an_older_record_is_migrated_a_newer_refused),
        TEST(a_directory_that_cannot_be_written_can_be_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
