/* sched: names, the simple schedulers, saved state, and the journal's form of a decision. */
#include "sched/sched.h"

#include "sched/params.h"
#include "sched/schedulers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sched_saved.h"
#include "vectors.h"

static int pick(struct sched *s, uint64_t dropped)
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
    struct sched *s = world_sched("equal", 4, 0, NULL);
    int o[SCHED_MAX_ARMS];
    choose_order(0, 4, o);
    for (int i = 0; i < 10; i++)
        assert_int_equal(pick(s, 0), o[i % 4]);
    assert_int_equal(pick(s, 1 << o[2]), o[3]); /* was another's turn */
    assert_int_equal(pick(s, 1 << o[2]), o[0]);
    assert_int_equal(pick(s, 0), o[1]);
    assert_int_equal(pick(s, 15), -1);
    assert_int_equal(pick(s, 0), o[2]);
    sched_free(s);
}

/* The first turn of a campaign goes to each of the six about as often, and under those that give everybody a first turn
 * the second one too.  Not under rate, whose first turn earns nothing that the others could not (METHOD R91). */
static void nobody_is_always_first(void **state)
{
    (void)state;
    for (int k = 0; sched_table[k]; k++) {
        const char *name = sched_table[k]->name;
        bool in_turn = strcmp(name, "random") != 0 && strcmp(name, "bandfuzz") != 0;
        int first[6] = {0}, second[6] = {0};
        if (strcmp(name, "single:") == 0 || strcmp(name, "rate") == 0)
            continue;
        for (uint64_t seed = 0; seed < 600; seed++) {
            struct sched *s = world_sched(name, 6, seed, NULL);
            int a = pick(s, 0), b = pick(s, 0);
            assert_true(!in_turn || a != b);
            first[a]++;
            second[b]++;
            sched_free(s);
        }
        for (int i = 0; i < 6; i++) /* 100, sd 9.1 */
            if (abs(first[i] - 100) > 45 || (in_turn && abs(second[i] - 100) > 45))
                fail_msg("%s: f%d first in %d, second in %d of 600", name, i, first[i], second[i]);
    }
}

static void single_is_one(void **state)
{
    (void)state;
    struct sched *s = world_sched("single:honggfuzz", 6, 0, NULL);
    for (int i = 0; i < 5; i++)
        assert_int_equal(pick(s, 1 << 3), 2);
    assert_int_equal(pick(s, 1 << 2), -1);
    sched_free(s);
}

static void expect_refusal(const char *name, int arms, const char *params, const char *says)
{
    struct sched_settings st = {.n_arms = arms, .arms = world_roster, .params = params};
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
    expect_refusal("fair", 6, NULL, "no such scheduler; there are: ");
    expect_refusal("", 6, NULL, "no such scheduler");
    expect_refusal("equalx", 6, NULL, "no such scheduler");
    expect_refusal("single", 6, NULL, "no such scheduler");
    expect_refusal("single:afl", 3, NULL, "there are: aflpp, darwin, honggfuzz");
    expect_refusal("single:", 3, NULL, "no such fuzzer");
    expect_refusal("single:mopt", 3, NULL, "no such fuzzer"); /* not in this roster of three */
    expect_refusal("equal", 6, "a=1", "takes no options");
    expect_refusal("random", 0, NULL, "1 to 64");
    expect_refusal("random", 65, NULL, "1 to 64");
}

static void saved_state_is_the_whole_state(void **state)
{
    (void)state;
    for (int k = 0; sched_table[k]; k++)
        for (int cut = 0; cut < 150; cut += cut < 30 ? 1 : 17) {
            const char *name = world_name(sched_table[k]);
            struct sched *both[] = {world_sched(name, 5, 99, NULL), world_sched(name, 5, 99, NULL)};
            expect_saved(both, cut);
        }
}

/* The same settings and the same course of things: the same records, bit for bit.  Nobody chooses what
 * cannot run, and with something to choose somebody is chosen. */
static void a_second_run_repeats_the_first(void **state)
{
    (void)state;
    static struct decision first[200];
    for (int k = 0; sched_table[k]; k++)
        for (int run = 0; run < 2; run++) {
            bool one = strcmp(sched_table[k]->name, "single:") == 0;
            struct sched *s = world_sched(world_name(sched_table[k]), 6, 77, NULL);
            struct world w;
            world_start(&w, 6, 2);
            for (int i = 0; i < 200; i++) {
                world_step(&w, &s, 1);
                const struct decision *d = &w.last;
                if (d->choice < 0)
                    assert_true(d->dropped == 63 || (one && !decision_may(d, 3)));
                else
                    assert_true(d->choice < 6 && decision_may(d, d->choice));
                if (run)
                    assert_memory_equal(d, &first[i], sizeof *d);
                else
                    first[i] = *d;
            }
            sched_free(s);
            world_end(&w);
        }
}

/* The bytes of a new one already tell it from every other: by name, by argument and by arms. */
static void saved_state_names_its_scheduler(void **state)
{
    (void)state;
    struct sched *s[64];
    int n = 0;
    for (int k = 0; sched_table[k]; k++)
        for (int arms = 4; arms <= 5; arms++)
            s[n++] = world_sched(world_name(sched_table[k]), arms, 1, NULL);
    s[n++] = world_sched("single:aflpp", 5, 1, NULL);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            assert_int_equal(saves_alike(s[i], s[k]), i == k);
    while (n)
        sched_free(s[--n]);
}

/* Every number of arms, also one, and none of them able to run. */
static void any_number_of_arms(void **state)
{
    (void)state;
    const int counts[] = {1, 2, 3, 6, 31, 32, 33, 63, 64};
    for (int k = 0; sched_table[k]; k++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            bool one = strcmp(sched_table[k]->name, "single:") == 0;
            struct sched *s =
                world_sched(one ? "single:aflpp" : sched_table[k]->name, counts[c], 5, NULL);
            struct world w;
            world_start(&w, counts[c], 6);
            for (int i = 0; i < 3 * counts[c] + 20; i++)
                world_step(&w, &s, 1);
            struct decision d;
            world_ask(&w, &d, ~0ull >> (64 - counts[c]));
            sched_pick(s, &d);
            assert_int_equal(d.choice, -1);
            sched_free(s);
            world_end(&w);
        }
}

/* --- allocations (tests/unit/meson.build wraps these three) ----------------------------------- */

static long allocations;
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    allocations++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    allocations++;
    return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    allocations++;
    return __real_realloc(p, n);
}

static void a_decision_allocates_nothing(void **state)
{
    (void)state;
    for (int k = 0; sched_table[k]; k++) {
        long before = allocations;
        struct sched *s = world_sched(world_name(sched_table[k]), 6, 8, NULL);
        struct world w;
        assert_true(allocations > before); /* they are counted */
        world_start(&w, 6, 9);
        for (int i = 0; i < 300; i++) {
            struct decision d;
            world_step(&w, &s, 1);
            world_ask(&w, &d, 0);
            before = allocations;
            sched_pick(s, &d);
            assert_int_equal(allocations, before);
        }
        sched_free(s);
        world_end(&w);
    }
}

/* What describe prints makes the same scheduler again; help names every option; the words name the
 * fuzzer that was chosen. */
static void options_and_words(void **state)
{
    (void)state;
    for (int k = 0; sched_table[k]; k++) {
        const struct sched_ops *ops = sched_table[k];
        struct buf told = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16), help = BUF_INIT(1 << 16);
        struct sched *s = world_sched(world_name(ops), 6, 1, NULL);
        sched_describe(s, &told);
        struct sched *t = world_sched(world_name(ops), 6, 1, told.len ? told.p : NULL);
        sched_describe(t, &again);
        assert_int_equal(told.len, again.len);
        assert_memory_equal(told.p ? told.p : "", again.p ? again.p : "", told.len);
        assert_int_equal(sched_help(world_name(ops), &help, NULL), 0);
        for (const struct param *p = ops->params; p && p->key; p++)
            assert_non_null(strstr(help.p, p->key));
        struct world w;
        world_start(&w, 6, 4);
        for (int i = 0; ops->why && i < 600; i++) {
            struct buf words = BUF_INIT(1 << 16);
            world_step(&w, &s, 1);
            ops->why(&w.last, world_roster, &words);
            if (w.last.choice >= 0)
                assert_non_null(strstr(words.p, world_roster[w.last.choice]));
            assert_false(words.len && words.p[words.len - 1] == '\n'); /* the caller's */
            buf_free(&words);
        }
        world_end(&w);
        buf_free(&told);
        buf_free(&again);
        buf_free(&help);
        sched_free(s);
        sched_free(t);
    }
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
    int orders = 0, picks = 0, decisions = 0;
    vectors_open(&v, "sched.txt");
    for (char *word; (word = vectors_word(&v));) {
        if (strcmp(word, "order") == 0) {
            uint64_t seed = (uint64_t)vectors_int(&v);
            int arms = (int)vectors_int(&v), order[SCHED_MAX_ARMS];
            choose_order(seed, arms, order);
            for (int i = 0; i < arms; i++)
                assert_int_equal(order[i], vectors_int(&v));
            orders++;
        } else if (strcmp(word, "random") == 0 || strcmp(word, "equal") == 0) {
            bool equal = *word == 'e';
            uint64_t seed = (uint64_t)vectors_int(&v);
            sched_free(s);
            s = world_sched(equal ? "equal" : "random", (int)vectors_int(&v), seed, NULL);
        } else if (strcmp(word, "pick") == 0) {
            uint64_t dropped = (uint64_t)vectors_int(&v);
            assert_int_equal(pick(s, dropped), vectors_int(&v));
            picks++;
        } else if (strcmp(word, "decision") == 0) {
            check_decision(&v);
            decisions++;
        } else {
            fail_msg("sched.txt: what is %s?", word);
        }
    }
    assert_int_equal(orders, 24);
    assert_int_equal(picks, 320);
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
        cmocka_unit_test(nobody_is_always_first),
        cmocka_unit_test(single_is_one),
        cmocka_unit_test(wrong_names_are_explained),
        cmocka_unit_test(saved_state_is_the_whole_state),
        cmocka_unit_test(a_second_run_repeats_the_first),
        cmocka_unit_test(saved_state_names_its_scheduler),
        cmocka_unit_test(any_number_of_arms),
        cmocka_unit_test(a_decision_allocates_nothing),
        cmocka_unit_test(options_and_words),
        cmocka_unit_test(the_oracle_agrees),
        cmocka_unit_test(decisions_are_exact_and_safe),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
