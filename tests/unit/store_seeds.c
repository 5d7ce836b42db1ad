/* store_seeds: inputs go into the store and come back, once and in order; who is given which.  Turns are in
 * store_turns.c, opening and reading in store_open.c, faults in store_faults.c. */
#include "store_kit.h"

#include <unistd.h>

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
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
