/* settings: one table drives the command line, the defaults and the record: every setting comes back as it was
 * given, is in the help, and is checked. */
#include "store_kit.h"

#include "cli/options.h"
#include "journal/settings.h"
#include "proc/loop.h"

#include <stdio.h>

/* A value that is not the default, as typed. */
static const char *sample(const struct setting *st)
{
    switch (st->kind) {
    case SET_TEXT: return "some text";
    case SET_PATH:
    case SET_PATHS: return "/a/path with\nline \\ break";
    case SET_ROSTER: return "mopt,aflpp";
    case SET_WORDS: return "";
    case SET_PARAMS: return "key=value";
    case SET_TIME: return "77s";
    case SET_MEMORY: return "77M";
    case SET_INT:
    case SET_U32: return "77";
    case SET_U64: return "18446744073709551615";
    case SET_REWARD: return "rarity_density";
    case SET_CHOICE: return st->names[1];
    case SET_PLACE: return "[::1]:77";
    case SET_FLAG:
    case SET_RESUME:
    case SET_NONE: break;
    }
    return NULL;
}

static void every_recorded_setting_comes_back(void **state)
{
    struct fixture *f = *state;
    struct settings a = {0}, b = {0};
    struct facts put = {0}, got = {0};
    for (size_t i = 0; i < settings_count; i++)
        if (settings_table[i].key)
            OK(settings_set(&a, &settings_table[i], sample(&settings_table[i]), &oops));
    OK(settings_set(&a, &settings_table[0], "/another", &oops)); /* the last one counts */
    settings_facts(&a, &put);
    OK(store_put(f->s, put.v, put.n, &oops));
    reopen(f);
    OK(settings_read(&b, f->s, &oops));
    settings_facts(&b, &got);
    assert_int_equal(put.n, got.n);
    for (size_t i = 0; i < put.n; i++) {
        assert_string_equal(put.v[i].key, got.v[i].key);
        assert_string_equal(put.v[i].value, got.v[i].value);
    }
    assert_string_equal(b.build, "/another");
    assert_int_equal(b.budget_ns, 77 * NS_PER_S);
    assert_int_equal(b.jobs, 77);
    assert_int_equal(b.mem_bytes, 77 << 20);
    assert_true(b.seed == UINT64_MAX);
    assert_true(b.share_new_only);
    assert_int_equal(b.reward, REWARD_RARITY_DENSITY);
    assert_int_equal(b.share, SHARE_WORTH);
    assert_string_equal(b.seeds.v[0], "/a/path with\nline \\ break");
    assert_int_equal(b.fuzzers.n, 2);
    assert_int_equal(b.args.n, 1);
    assert_string_equal(b.args.v[0], "");
    facts_free(&put);
    facts_free(&got);
    settings_free(&a);
    settings_free(&b);
}

static void a_record_without_a_setting_is_refused(void **state)
{
    struct fixture *f = *state;
    struct settings s = {0};
    struct err e = {0};
    assert_true(settings_read(&s, f->s, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "'build'"));
    settings_free(&s);
}

static void every_option_is_in_the_help(void **state)
{
    (void)state;
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    options_help(&b);
    for (size_t i = 0; i < settings_count; i++) {
        char want[64];
        if (!settings_table[i].flag)
            continue;
        snprintf(want, sizeof want, "--%s%s%s", settings_table[i].flag,
                 settings_table[i].arg ? " " : "",
                 settings_table[i].arg ? settings_table[i].arg : "");
        assert_non_null(strstr(b.p, want));
    }
    for (const char *line = b.p, *nl; (nl = strchr(line, '\n')); line = nl + 1)
        assert_true(nl - line <= 100);
    buf_free(&b);
}

/* argv as getopt wants it: it may change the order, not the words. */
static int parse(struct settings *s, const char *words, struct err *e)
{
    struct strv argv = {0};
    bool help = false;
    strv_split(&argv, words, ' ');
    int rc = options_parse(s, (int)argv.n, argv.v, &help, e);
    strv_free(&argv);
    return rc;
}

static void the_command_line_is_checked(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "fuzz -j 0",
        "fuzz -j 257",
        "fuzz --turn 0.05s",
        "fuzz --turn 2d",
        "fuzz -m 1M",
        "fuzz -T 0",
        "fuzz --reward nonsense",
        "fuzz -f nobody",
        "fuzz -d soon",
        "fuzz --resume /x -j 2",
        "fuzz --resume /x -- @@",
        "fuzz word",
        "fuzz --seed -1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct settings s = {0};
        struct err e = {0};
        if (parse(&s, wrong[i], &e) == 0 || e.exit != ERR_EXIT_USAGE)
            fail_msg("carol %s was taken", wrong[i]);
        settings_free(&s);
    }
    struct settings s = {0};
    OK(parse(&s, "fuzz --resume /x -d 5m --stop-on-crash -q", &oops));
    assert_true(s.resume && s.budget_given && s.stop_on_crash && s.quiet);
    assert_string_equal(s.out, "/x");
    assert_int_equal(s.budget_ns, 300 * NS_PER_S);
    settings_free(&s);
    OK(parse(&s, "fuzz --sched-opt a=1 --sched-opt b=2 -- -x @@", &oops));
    assert_string_equal(s.params, "a=1,b=2");
    assert_string_equal(s.scheduler, "rate"); /* defaults */
    assert_int_equal(s.share, SHARE_WORTH);
    assert_int_equal(s.exec_ms, 0);
    assert_int_equal(s.timeout_ms, 1000);
    assert_true(s.mem_bytes == (uint64_t)2 << 30);
    assert_int_equal(s.args.n, 2);
    assert_false(s.budget_given);
    assert_null(s.web);
    settings_free(&s);
}

/* The place of the live page may be left out, or follow as a word of its own. */
static void the_live_page_needs_no_place(void **state)
{
    (void)state;
    static const char *const said[][2] = {
        {"fuzz --web", ""},
        {"fuzz --web -j 2", ""},
        {"fuzz --web 127.0.0.1:0 -j 2", "127.0.0.1:0"},
        {"fuzz --web=[::1]:7 -j 2", "[::1]:7"},
        {"fuzz --resume /x --web 9000", "9000"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct settings s = {0};
        OK(parse(&s, said[i][0], &oops));
        assert_string_equal(s.web, said[i][1]);
        assert_true(s.resume || s.jobs == 2 || i == 0);
        settings_free(&s);
    }
}

/* --paper is for what is not given, wherever it stands. */
static void the_paper_is_one_word_away(void **state)
{
    (void)state;
    static const char *const lines[] = {"fuzz -o x --paper", "fuzz -o x --paper -s equal",
                                        "fuzz -o x -s equal --paper"};
    for (size_t i = 0; i < 3; i++) {
        struct settings s = {0};
        assert_int_equal(parse(&s, lines[i], NULL), 0);
        assert_string_equal(s.scheduler, i ? "equal" : "contextual");
        assert_int_equal(s.share, SHARE_ALL);
        assert_int_equal(s.instances, INSTANCES_OWN);
        assert_int_equal(settings_exec_ms(&s, 0), s.timeout_ms);
        settings_free(&s);
    }
}

/* METHOD R10 */
static void the_length_of_a_turn_follows_the_budget(void **state)
{
    (void)state;
    assert_int_equal(settings_turn(86400 * NS_PER_S, 6), 120 * NS_PER_S); /* the paper */
    assert_int_equal(settings_turn(600 * NS_PER_S, 2), 2 * NS_PER_S);
    assert_int_equal(settings_turn(3600 * NS_PER_S, 6), 5 * NS_PER_S);
    assert_int_equal(settings_turn(0, 2), 40 * NS_PER_S); /* no end: a day */
    assert_int_equal(settings_turn(7 * 86400 * NS_PER_S, 64), 120 * NS_PER_S);
}

/* METHOD R22a */
static void slow_runs_are_given_up_by_the_seeds(void **state)
{
    (void)state;
    struct settings s = {.timeout_ms = 1000};
    assert_int_equal(settings_exec_ms(&s, 0), 5);
    assert_int_equal(settings_exec_ms(&s, 4000), 20);
    assert_int_equal(settings_exec_ms(&s, 1000), 5);
    assert_int_equal(settings_exec_ms(&s, 4001), 25);
    assert_int_equal(settings_exec_ms(&s, 100000), 500);
    assert_int_equal(settings_exec_ms(&s, 900000), 1000);
    assert_int_equal(settings_exec_ms(&s, UINT32_MAX), 1000);
    s.exec_ms = 77;
    assert_int_equal(settings_exec_ms(&s, 900000), 77);
    s.timeout_ms = 50;
    assert_int_equal(settings_exec_ms(&s, 0), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_recorded_setting_comes_back),
        TEST(a_record_without_a_setting_is_refused),
        cmocka_unit_test(every_option_is_in_the_help),
        cmocka_unit_test(the_command_line_is_checked),
        cmocka_unit_test(the_live_page_needs_no_place),
        cmocka_unit_test(the_paper_is_one_word_away),
        cmocka_unit_test(the_length_of_a_turn_follows_the_budget),
        cmocka_unit_test(slow_runs_are_given_up_by_the_seeds),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
