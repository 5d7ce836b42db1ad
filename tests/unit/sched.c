/* sched: names, the simple schedulers, saved state, and the journal's form of a decision. */
#include "sched/sched.h"

#include "base/rng.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

static const char *const roster[] = {"aflpp",    "darwin",  "honggfuzz", "mopt",
                                     "lafintel", "radamsa", NULL};

static struct sched *make(const char *name, int arms, uint64_t seed)
{
    struct sched_settings st = {.n_arms = arms, .arms = roster, .workers = 2, .seed = seed};
    struct sched *s;
    struct err e = {0};
    if (sched_new(&s, name, &st, &e) < 0)
        fail_msg("%s: %s", name, e.msg);
    return s;
}

static int pick(struct sched *s, uint32_t dropped)
{
    static uint64_t t;
    struct decision d;
    decision_ask(&d, s->n_arms, ++t, 1, 5, dropped);
    d.arm[0].signals[SIGNAL_UNC] = 0.5;
    sched_pick(s, &d);
    assert_int_equal(d.t, t);
    assert_int_equal(d.worker, 1);
    assert_int_equal(d.now_ns, 5);
    assert_int_equal(d.n_arms, s->n_arms);
    assert_int_equal(d.dropped, dropped);
    assert_true(d.arm[0].signals[SIGNAL_UNC] == 0.5);
    sched_learn(s, &d, &(struct sched_outcome){.reward = 1});
    return d.choice;
}

static void equal_goes_round(void **state)
{
    (void)state;
    struct sched *s = make("equal", 4, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(pick(s, 0), i % 4);
    assert_int_equal(pick(s, 1 << 2), 3); /* was 2's turn */
    assert_int_equal(pick(s, 1 << 2), 0);
    assert_int_equal(pick(s, 0), 1);
    assert_int_equal(pick(s, 15), -1);
    assert_int_equal(pick(s, 0), 2);
    sched_free(s);
}

static void single_is_one(void **state)
{
    (void)state;
    struct sched *s = make("single:honggfuzz", 6, 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(pick(s, 1 << 3), 2);
    assert_int_equal(pick(s, 1 << 2), -1);
    sched_free(s);
}

static void expect_refusal(const char *name, int arms, const char *params, const char *says)
{
    struct sched_settings st = {.n_arms = arms, .arms = roster, .params = params};
    struct sched *s;
    struct err e = {0};
    assert_true(sched_new(&s, name, &st, &e) < 0);
    assert_null(s);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    if (!strstr(e.msg, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, e.msg, says);
}

static void wrong_names_are_explained(void **state)
{
    (void)state;
    expect_refusal("fair", 6, NULL, "no such scheduler; there are: equal, random, single:NAME");
    expect_refusal("", 6, NULL, "no such scheduler");
    expect_refusal("equalx", 6, NULL, "no such scheduler");
    expect_refusal("single", 6, NULL, "no such scheduler");
    const char *const later[] = {"contextual", "phase", "bandfuzz", "autofz", "legion"};
    for (int i = 0; i < 5; i++)
        expect_refusal(later[i], 6, NULL, "not in this version; there are: equal");
    expect_refusal("single:afl", 3, NULL, "there are: aflpp, darwin, honggfuzz");
    expect_refusal("single:", 3, NULL, "no such fuzzer");
    expect_refusal("single:mopt", 3, NULL, "no such fuzzer"); /* not in this roster of three */
    expect_refusal("equal", 6, "a=1", "takes no options");
    expect_refusal("random", 0, NULL, "1 to 64");
    expect_refusal("random", 65, NULL, "1 to 64");
}

/* Saved anywhere and loaded into a new one, it goes on as if nothing had happened. */
static void saved_state_goes_on(void **state)
{
    (void)state;
    const char *const names[] = {"equal", "random", "single:mopt"};
    struct rng rng;
    rng_seed(&rng, 17);
    for (int k = 0; k < 3; k++)
        for (int cut = 0; cut < 30; cut++) {
            struct sched *a = make(names[k], 5, 99), *b = make(names[k], 5, 1234);
            for (int i = 0; i < cut; i++)
                pick(a, (uint32_t)rng_below(&rng, 16));
            struct buf saved = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16);
            sched_save(a, &saved);
            assert_int_equal(sched_load(b, saved.p, saved.len, NULL), 0);
            for (int i = 0; i < 20; i++) {
                uint32_t dropped = (uint32_t)rng_below(&rng, 32);
                assert_int_equal(pick(a, dropped), pick(b, dropped));
            }
            buf_clear(&saved);
            sched_save(a, &saved);
            sched_save(b, &again);
            assert_int_equal(saved.len, again.len);
            assert_memory_equal(saved.p, again.p, saved.len);
            buf_free(&saved);
            buf_free(&again);
            sched_free(a);
            sched_free(b);
        }
}

/* The same settings and the same views: the same records, bit for bit. */
static void a_second_run_repeats_the_first(void **state)
{
    (void)state;
    static struct decision first[200], second;
    const char *const names[] = {"equal", "random", "single:aflpp"};
    for (int k = 0; k < 3; k++)
        for (int run = 0; run < 2; run++) {
            struct sched *s = make(names[k], 6, 77);
            struct rng rng;
            rng_seed(&rng, 2);
            for (uint64_t t = 1; t <= 200; t++) {
                struct decision *d = run ? &second : &first[t - 1];
                decision_ask(d, 6, t, 0, (int64_t)t * 1000, 1ull << rng_below(&rng, 6));
                d->arm[t % 6].signals[t % SIGNAL_COUNT] = rng_normal(&rng);
                sched_pick(s, d);
                if (run)
                    assert_memory_equal(&second, &first[t - 1], sizeof second);
            }
            sched_free(s);
        }
}

static void foreign_state_is_refused(void **state)
{
    (void)state;
    const char *const names[] = {"equal", "random", "single:mopt"};
    for (int k = 0; k < 3; k++) {
        struct sched *a = make(names[k], 5, 1), *other = make(names[(k + 1) % 3], 5, 1);
        struct sched *fewer = make(names[k], 4, 1);
        struct buf saved = BUF_INIT(1 << 16);
        sched_save(a, &saved);
        assert_int_equal(sched_load(other, saved.p, saved.len, NULL), -EBADMSG);
        assert_int_equal(sched_load(fewer, saved.p, saved.len, NULL), -EBADMSG);
        for (size_t n = 0; n < saved.len; n++)
            assert_int_equal(sched_load(a, saved.p, n, NULL), -EBADMSG);
        buf_add(&saved, "x", 1);
        assert_int_equal(sched_load(a, saved.p, saved.len, NULL), -EBADMSG);
        buf_free(&saved);
        sched_free(a);
        sched_free(other);
        sched_free(fewer);
    }
    struct sched *one = make("single:mopt", 5, 1), *two = make("single:aflpp", 5, 1);
    struct buf saved = BUF_INIT(1 << 16);
    sched_save(one, &saved);
    assert_int_equal(sched_load(two, saved.p, saved.len, NULL), -EBADMSG);
    buf_free(&saved);
    sched_free(one);
    sched_free(two);
}

/* --- vectors ------------------------------------------------------------------------------- */

static void unhex(const char *hex, struct buf *out)
{
    for (; hex[0] && hex[1]; hex += 2) {
        char two[3] = {hex[0], hex[1]}, byte = (char)strtol(two, NULL, 16);
        buf_add(out, &byte, 1);
    }
}

static void check_decision(struct vectors *v)
{
    uint64_t t = (uint64_t)vectors_int(v);
    int worker = (int)vectors_int(v), choice = (int)vectors_int(v);
    int64_t now = vectors_int(v);
    int arms = (int)vectors_int(v);
    uint32_t dropped = (uint32_t)vectors_int(v);
    double signal = vectors_real(v), phi = vectors_real(v), draw = vectors_real(v);
    struct buf raw = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16);
    unhex(vectors_word(v), &raw);
    struct decision d;
    struct err e = {0};
    if (decision_decode(raw.p, raw.len, &d, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(d.t, t);
    assert_int_equal(d.worker, worker);
    assert_int_equal(d.choice, choice);
    assert_int_equal(d.now_ns, now);
    assert_int_equal(d.n_arms, arms);
    assert_int_equal(d.dropped, dropped);
    assert_true(d.arm[arms - 1].signals[14] == signal);
    assert_true(d.arm[arms - 1].phi[16] == phi);
    assert_true(d.arm[arms - 1].draw == draw);
    decision_encode(&d, &again);
    assert_int_equal(again.len, raw.len);
    assert_memory_equal(again.p, raw.p, raw.len);
    for (size_t n = 0; n < raw.len; n++)
        assert_int_equal(decision_decode(raw.p, n, &d, NULL), -EBADMSG);
    buf_add(&raw, "", 1);
    assert_int_equal(decision_decode(raw.p, raw.len, &d, NULL), -EBADMSG);
    buf_free(&raw);
    buf_free(&again);
}

static void the_oracle_agrees(void **state)
{
    (void)state;
    struct vectors v;
    struct sched *s = NULL;
    int picks = 0, decisions = 0;
    vectors_open(&v, "sched.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "random") == 0) {
            uint64_t seed = (uint64_t)vectors_int(&v);
            sched_free(s);
            s = make("random", (int)vectors_int(&v), seed);
        } else if (strcmp(word, "pick") == 0) {
            uint32_t dropped = (uint32_t)vectors_int(&v);
            assert_int_equal(pick(s, dropped), vectors_int(&v));
            picks++;
        } else if (strcmp(word, "decision") == 0) {
            check_decision(&v);
            decisions++;
        } else {
            fail_msg("sched.txt: what is %s?", word);
        }
    }
    assert_int_equal(picks, 160);
    assert_int_equal(decisions, 4);
    sched_free(s);
    vectors_close(&v);
}

/* NaN, infinities and negative zero survive; damaged bytes never decode out of range. */
static void decisions_are_exact_and_safe(void **state)
{
    (void)state;
    struct decision d = {.t = 1, .n_arms = 3, .choice = -1, .dropped = 7}, back;
    d.arm[1].signals[2] = -0.0;
    d.arm[2].mean = INFINITY;
    d.arm[0].noise = NAN;
    d.arm[2].phi[16] = 5e-324;
    struct buf b = BUF_INIT(1 << 16);
    decision_encode(&d, &b);
    assert_int_equal(decision_decode(b.p, b.len, &back, NULL), 0);
    assert_memory_equal(&back, &d, sizeof d);
    struct rng rng;
    rng_seed(&rng, 8);
    for (int i = 0; i < 20000; i++) {
        size_t at = (size_t)rng_below(&rng, i % 2 ? 53 : b.len);
        char was = b.p[at];
        b.p[at] = (char)rng_u64(&rng);
        if (decision_decode(b.p, b.len, &back, NULL) == 0)
            assert_true(back.n_arms >= 1 && back.n_arms <= SCHED_MAX_ARMS && back.choice >= -1 &&
                        back.choice < back.n_arms && back.dropped < 1u << back.n_arms);
        b.p[at] = was;
    }
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_goes_round),
        cmocka_unit_test(single_is_one),
        cmocka_unit_test(wrong_names_are_explained),
        cmocka_unit_test(saved_state_goes_on),
        cmocka_unit_test(a_second_run_repeats_the_first),
        cmocka_unit_test(foreign_state_is_refused),
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(decisions_are_exact_and_safe),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
