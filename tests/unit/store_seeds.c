/* store_seeds: inputs go into the store and come back, once and in order; who is given which, and where they come
 * from.  Turns are in store_turns.c, opening and reading in store_open.c, faults in store_faults.c. */
#include "store_kit.h"

#include <unistd.h>

static void a_seed_is_stored_once(void **state)
{
    struct fixture *f = *state;
    int64_t a = add(f->s, "aaa");
    struct store_seed twice[] = {{.data = "", .size = 0}, {.data = "aaa", .size = 3}};
    OK(store_add_seeds(f->s, twice, 2, &oops));
    assert_int_equal(add(f->s, "aaa"), a);
    assert_int_not_equal(add(f->s, ""), a);
    reopen(f);
    assert_int_equal(add(f->s, "aaa"), a);
    expect_seeds(f->s, 0, "aaa,,");
    struct store_turn t = begun(f->s, 1, 0);
    struct store_find finds[] = {find("new"), find("aaa"), find("new")};
    OK(store_turn_park(f->s, &t, finds, 3, NULL, &oops));
    assert_true(finds[0].fresh);
    assert_false(finds[1].fresh);
    assert_false(finds[2].fresh);
    assert_int_equal(finds[1].seed, a);
    assert_int_equal(finds[2].seed, finds[0].seed);
    assert_int_equal(t.inputs, 1);
    expect_seeds(f->s, 1, "new,");
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

static int check_pending(void *arg, const struct store_seed *r, struct err *e)
{
    (void)e;
    assert_int_equal(r->state, SEED_PENDING);
    assert_int_equal(r->share, 0);
    assert_null(r->edges);
    *(int64_t *)arg = r->id;
    return 0;
}

static void every_field_of_a_seed_comes_back(void **state)
{
    struct fixture *f = *state;
    int64_t parent = add(f->s, "p"), pending = 0;
    struct store_turn t = begun(f->s, 5, 0);
    struct store_find x = find("xyz");
    x.parent = parent;
    x.name = "id:000001,src:000000";
    x.found_ns = INT64_C(5000000000);
    OK(store_turn_park(f->s, &t, &x, 1, NULL, &oops));
    OK(store_seed_get(f->s, x.seed, check_pending, &pending, &oops));
    assert_int_equal(pending, x.seed);
    struct store_result r = {.seed = x.seed,
                             .status = 2,
                             .signal = 11,
                             .cpu_us = 4000000000u,
                             .edges = "\0\1\2\3",
                             .edges_size = 4,
                             .share = true};
    t.state = TURN_COMMITTED, t.round = 9;
    OK(commit(f->s, &t, &(struct store_commit){.results = &r, .n = 1}, &oops));
    reopen(f);
    OK(store_seed_get(f->s, x.seed, check_seed, &parent, &oops));
    assert_int_equal(parent, -1);
    struct err e = {0};
    assert_int_equal(store_seed_get(f->s, 999, check_seed, &parent, &e), -ENOENT);
}

static int stop_at_second(void *arg, const struct store_seed *r, struct err *e)
{
    (void)r;
    return ++*(int *)arg == 2 ? err_set(e, -EDOM, "enough") : 1;
}

static void a_callback_ends_its_walk(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    struct err e = {0};
    add(f->s, "a");
    add(f->s, "b");
    add(f->s, "c");
    assert_int_equal(store_turn_seeds(f->s, 0, stop_at_second, &calls, &e), -EDOM);
    assert_int_equal(calls, 2);
    calls = 0;
    assert_int_equal(store_turn_results(f->s, 0, stop_at_second, &calls, &e), -EDOM);
    assert_int_equal(calls, 2);
    expect_seeds(f->s, 0, "a,b,c,"); /* the next walk begins at the beginning */
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

static int same_crash(void *arg, const struct store_crash *r, struct err *e)
{
    return same_bytes(arg, &(struct store_seed){.data = r->data, .size = r->size}, e);
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
    measure(f->s, add(f->s, "aaa"), true);
    measure(f->s, add(f->s, "bb"), true);
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
        OK(store_add_seeds(f->s, &seed, 1, &oops));
        OK(store_seed_get(f->s, 2 - over, same_bytes, &c, &oops));
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

    struct store_result r = {.seed = 1, .crash = true}; /* its crash has the same file */
    OK(store_seeds_commit(f->s, &(struct store_commit){.results = &r, .n = 1}, &oops));
    c.size = ((size_t)1 << 20) + 1;
    OK(store_crash_get(f->s, 1, same_crash, &c, &oops));
    assert_int_equal(c.seen, 3);

    char *path = fs_join(blobs, hex);
    assert_int_equal(unlink(path), 0);
    struct err e = {0};
    assert_true(store_turn_seeds(f->s, 0, same_bytes, &c, &e) < 0);
    assert_non_null(strstr(e.msg, hex));
    OK(fs_write_atomic(path, bytes, 10, &oops));
    assert_true(store_seed_get(f->s, 1, same_bytes, &c, &e) < 0); /* bytes are missing */
    assert_int_equal(c.seen, 3);
    strv_free(&names);
    free(path);
    free(blobs);
    free(bytes);
}

/* --- sharing and imports -------------------------------------------------------------------- */

/* Begins a turn that may import so much; what it was given. */
static struct store_turn import(struct store *s, int64_t id, int64_t instance, size_t max,
                                size_t bytes, const char *want)
{
    struct inputs in = {0};
    struct store_turn t = {.id = id, .instance = instance};
    struct store_claim c = {.decision = "",
                            .fuzzer = "honggfuzz",
                            .number = (int)id,
                            .max_inputs = max,
                            .max_bytes = bytes};
    OK(begin(s, &t, &c, &in, &oops));
    expect_inputs(&in, want);
    return t;
}

static void expect_shared(struct store *s, size_t n, const char *want)
{
    struct inputs in = {0};
    OK(store_first_shared(s, n, &in, &oops));
    expect_inputs(&in, want);
}

static void sharing_follows_the_order_of_measurement(void **state)
{
    struct fixture *f = *state;
    int64_t i1 = begun(f->s, 1, 0).instance;
    struct store_turn t = begun(f->s, 2, i1), u = begun(f->s, 3, 0);
    struct store_find of_1[] = {find("a"), find("c"), find("d")}, of_3 = find("b");
    OK(store_turn_park(f->s, &t, of_1, 3, NULL, &oops));
    OK(store_turn_park(f->s, &u, &of_3, 1, NULL, &oops));
    import(f->s, 4, u.instance, 100, 100, "");
    expect_shared(f->s, 100, "");
    measure(f->s, of_1[2].seed, true);  /* d: share 1 */
    measure(f->s, of_1[0].seed, false); /* a, a crash: never shared */
    measure(f->s, of_3.seed, true);     /* b: 2 */
    measure(f->s, of_1[1].seed, true);  /* c: 3 */
    expect_shared(f->s, 100, "d,b,c,");
    expect_shared(f->s, 2, "d,b,");
    import(f->s, 5, u.instance, 100, 100, "d,c,"); /* not what it found */
    import(f->s, 6, i1, 100, 100, "b,");
    import(f->s, 7, i1, 100, 100, "");
    measure(f->s, of_1[2].seed, true); /* measured again after a kill: the number stays */
    measure(f->s, of_1[1].seed, false);
    expect_shared(f->s, 100, "d,b,c,");
    import(f->s, 8, u.instance, 100, 100, "");
}

static void a_claim_has_limits(void **state)
{
    struct fixture *f = *state;
    for (const char *text = "aaaaa\0bbb\0cc\0d\0e\0"; *text; text += strlen(text) + 1)
        measure(f->s, add(f->s, text), true);
    expect_shared(f->s, 9, "aaaaa,bbb,cc,d,e,"); /* initial ones are nobody's own */
    int64_t i = import(f->s, 1, 0, 1, 100, "aaaaa,").instance;
    import(f->s, 2, i, 100, 2, "bbb,");  /* the one that goes beyond comes along, */
    import(f->s, 3, i, 100, 2, "cc,d,"); /* one that just fits does not end it */
    import(f->s, 4, i, 0, 100, "");
    import(f->s, 5, i, 100, 100, "e,");
    import(f->s, 6, 0, 100, 100, "aaaaa,bbb,cc,d,e,");
}

static void expect_undelivered(struct store *s, int64_t instance, int64_t *turn, int64_t next,
                               const char *want)
{
    struct inputs in = {0};
    OK(store_undelivered(s, instance, turn, &in, &oops));
    assert_int_equal(*turn, next);
    expect_inputs(&in, want);
}

static void an_import_is_claimed_once_and_delivered_once(void **state)
{
    struct fixture *f = *state;
    int64_t turn = 0, a = add(f->s, "a"), b = add(f->s, "b"), c = add(f->s, "c");
    measure(f->s, b, true);
    measure(f->s, a, true);
    struct store_turn t1 = import(f->s, 1, 0, 100, 100, "b,a,");
    struct store_turn t2 = import(f->s, 2, 0, 1, 100, "b,");
    reopen(f);
    measure(f->s, c, true);
    struct store_turn t3 = import(f->s, 3, t1.instance, 100, 100, "c,");
    expect_undelivered(f->s, t1.instance, &turn, 1, "b,a,"); /* one turn's at a time, */
    expect_undelivered(f->s, t1.instance, &turn, 3, "c,");   /* the oldest first, */
    expect_undelivered(f->s, t1.instance, &turn, 0, "");     /* and then none */
    OK(store_turn_delivered(f->s, &t1, &oops));
    expect_undelivered(f->s, t1.instance, &turn, 3, "c,");
    turn = 0;
    expect_undelivered(f->s, t2.instance, &turn, 2, "b,"); /* the other's are its own */
    OK(store_turn_delivered(f->s, &t3, &oops));
    turn = 0;
    expect_undelivered(f->s, t1.instance, &turn, 0, "");
    import(f->s, 4, t2.instance, 100, 100, "a,c,");
    import(f->s, 5, t2.instance, 100, 100, "");
    reopen(f);
    expect_undelivered(f->s, t2.instance, &turn, 2, "b,");
    expect_undelivered(f->s, t2.instance, &turn, 4, "a,c,");
    OK(store_turn_delivered(f->s, &(struct store_turn){.id = 4, .instance = t2.instance}, &oops));
    turn = 0;
    expect_undelivered(f->s, t2.instance, &turn, 0, ""); /* all up to that turn */
}

static int stop_at_once(void *arg, int64_t instance, int64_t seed)
{
    (void)instance;
    (void)seed;
    ++*(int *)arg;
    return -EDOM;
}

/* An open walk would see the record as it was, and could not write after somebody else. */
static void a_walk_over_imports_that_is_ended_is_over(void **state)
{
    struct fixture *f = *state;
    int calls = 0;
    measure(f->s, add(f->s, "a"), true);
    measure(f->s, add(f->s, "b"), true);
    import(f->s, 1, 0, 9, SIZE_MAX, "a,b,");
    assert_int_equal(store_imports(f->s, stop_at_once, &calls, &oops), -EDOM);
    assert_int_equal(calls, 1);
    assert_int_equal(kit_exec(f->dir, "UPDATE seeds SET name = 'z' WHERE id = 1"), 1);
    add(f->s, "c");
    expect_seeds(f->s, 0, "a,b,c,");
}

static void instances_come_back(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    struct inputs in = {0};
    struct store_turn t1 = begun(f->s, 1, 0), t2 = begun(f->s, 2, 0), t3 = {.id = 3};
    OK(store_turn_delivered(f->s, &t2, &oops));
    OK(store_turn_park(f->s, &t2, NULL, 0, "cursor 1", &oops));
    struct store_turn t4 = begun(f->s, 4, t2.instance);
    OK(store_turn_park(f->s, &t4, NULL, 0, NULL, &oops)); /* leaves it */
    struct store_claim c = {.decision = "", .fuzzer = "aflpp", .number = 2};
    assert_true(begin(f->s, &t3, &c, &in, &e) < 0); /* there is one of that number */
    assert_int_equal(t3.instance, 0);
    t3.instance = 77;
    assert_true(begin(f->s, &t3, &c, &in, &e) < 0); /* none of that id */
    struct store_instance *rows;
    size_t n;
    reopen(f);
    OK(store_instances(f->s, &rows, &n, &oops));
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].id, t1.instance);
    assert_string_equal(rows[0].fuzzer, "aflpp");
    assert_int_equal(rows[1].number, 2);
    assert_null(rows[0].cursor);
    assert_string_equal(rows[1].cursor, "cursor 1");
    assert_false(rows[0].started);
    assert_true(rows[1].started);
    store_instances_free(rows, n);
}

/* --- lineage -------------------------------------------------------------------------------- */

static int parent_of(void *arg, const struct store_seed *r, struct err *e)
{
    (void)e;
    *(int64_t *)arg = r->parent;
    return 0;
}

static void expect_parent(struct store *s, int64_t seed, int64_t want)
{
    int64_t parent = -1;
    OK(store_seed_get(s, seed, parent_of, &parent, &oops));
    assert_int_equal(parent, want);
}

/* A find that its fuzzer made from its entry `from`, and keeps as entry `as`. */
static struct store_find made(const char *text, int64_t from, int64_t as)
{
    struct store_find x = find(text);
    x.parent_entry = from;
    x.entry = as;
    return x;
}

static void entries_lead_to_parents(void **state)
{
    struct fixture *f = *state;
    int64_t a = add(f->s, "a"), b = add(f->s, "b");
    struct store_turn t = begun(f->s, 1, 0);
    struct store_find finds[] = {
        {.kind = STORE_FIND_ENTRY, .entry = 0, .seed = a},
        made("of a", 0, 5),
        made("of of a", 5, 6),
        made("of none", 77, 7),
        made("a", 5, 8), /* found before: now its entry 8, too */
        made("of a again", 8, -1),
        {.kind = STORE_FIND_ENTRY, .entry = 9, .seed = 555}, /* no such seed: left out */
        made("of 555", 9, 10),
        {.kind = STORE_FIND_ENTRY, .entry = -1, .seed = b},
        made("told", 0, 11),
    };
    finds[9].parent = b; /* known better than by its entry */
    OK(store_turn_park(f->s, &t, finds, 10, NULL, &oops));
    assert_int_equal(t.inputs, 6);
    expect_parent(f->s, finds[1].seed, a);
    expect_parent(f->s, finds[2].seed, finds[1].seed);
    expect_parent(f->s, finds[3].seed, 0);
    expect_parent(f->s, a, 0);
    expect_parent(f->s, finds[5].seed, a);
    expect_parent(f->s, finds[7].seed, 0);
    expect_parent(f->s, finds[9].seed, b);

    reopen(f);
    struct store_turn u = begun(f->s, 2, t.instance), v = begun(f->s, 3, 0);
    struct store_find later[] = {{.kind = STORE_FIND_ENTRY, .entry = 0, .seed = b},
                                 made("of b", 0, -1),
                                 made("of old", 6, -1)};
    struct store_find other = made("of nobody", 0, -1);
    OK(store_turn_park(f->s, &u, later, 3, NULL, &oops));
    OK(store_turn_park(f->s, &v, &other, 1, NULL, &oops));
    expect_parent(f->s, later[1].seed, b); /* entry 0 is another one now */
    expect_parent(f->s, later[2].seed, finds[2].seed);
    expect_parent(f->s, other.seed, 0); /* entries are of one instance */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_seed_is_stored_once),
        TEST(every_field_of_a_seed_comes_back),
        TEST(a_callback_ends_its_walk),
        TEST(results_come_without_the_bytes),
        TEST(large_inputs_are_files),
        TEST(sharing_follows_the_order_of_measurement),
        TEST(a_claim_has_limits),
        TEST(an_import_is_claimed_once_and_delivered_once),
        TEST(a_walk_over_imports_that_is_ended_is_over),
        TEST(instances_come_back),
        TEST(entries_lead_to_parents),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
