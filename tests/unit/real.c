/* real: what a real campaign takes from the build that it is given, and from its own record at a resume.  Nothing is
 * started: programs and libraries are empty files. */
#include "campaign/real.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "fuzzer/arm.h"
#include "journal/write.h"
#include "runtime/cov/protocol.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "temp_dir.h"

static void put(const char *name, const void *data, size_t n)
{
    char *path = fs_join(temp_dir, name), *slash = strrchr(path, '/');
    *slash = 0;
    assert_int_equal(fs_mkdirs(path, NULL), 0);
    *slash = '/';
    assert_int_equal(fs_write_quick(path, data, n, NULL), 0);
    free(path);
}

/* One edge of one function, as docs/FILES.md describes it. */
static void put_table(void)
{
    struct buf b = BUF_INIT(4096), rest = BUF_INIT(4096);
    char build_id[64] = "abc", edge[40] = {0}, function[12] = {0};
    buf_add(&rest, edge, sizeof edge);
    buf_add(&rest, function, sizeof function);
    buf_add(&rest, "f", 2);
    buf_add(&b, "CAROLTAB", 8);
    buf_add(&b, (uint32_t[]){1, 120}, 8);
    buf_add(&b, build_id, sizeof build_id);
    buf_add(&b, (uint32_t[]){1, 1, 1, 0, 2, 0}, 24);
    buf_add(&b, (uint64_t[]){0, cov_fnv(COV_FNV_START, rest.p, rest.len)}, 16);
    buf_add(&b, rest.p, rest.len);
    put("build/neutral/t.edges", b.p, b.len);
    buf_free(&b);
    buf_free(&rest);
}

/* A program that reads a file, built for AFL alone, with words and seeds of its own. */
static void put_build_with(bool table, bool dict)
{
    char *dir = fs_join(temp_dir, "build");
    struct manifest m = {.dir = dir,
                         .target = (char[]){"t"},
                         .kind = TARGET_FILE,
                         .args = (char[]){"-q\n@@"},
                         .dict = dict ? str_fmt("%s/afl/t.dict", dir) : NULL,
                         .words = str_fmt("%s/neutral/words.txt", dir),
                         .seeds = str_fmt("%s/afl/t_seed_corpus.zip", dir),
                         .table = table ? str_fmt("%s/neutral/t.edges", dir) : NULL,
                         .edges = 1,
                         .functions = 1};
    for (enum family f = FAMILY_AFL; f < FAMILY_END; f++)
        if (f == FAMILY_AFL || f == FAMILY_NEUTRAL)
            m.family[f] = (struct manifest_family){.ok = true,
                                                   .binary = str_fmt("%s/bin", dir),
                                                   .build_id = (char[]){"abc"},
                                                   .compiler = (char[]){"cc"},
                                                   .flags = (char[]){"-O2"}};
    put("build/bin", "", 0);
    put("build/afl/t.dict", "\"word\"\n", 7);
    put("build/neutral/words.txt", "\"noted\"\n", 8);
    put("build/afl/t_seed_corpus.zip", "", 0);
    put_table();
    assert_int_equal(manifest_save_all(&m, 1, NULL, NULL), 0);
    free(m.family[FAMILY_AFL].binary);
    free(m.family[FAMILY_NEUTRAL].binary);
    free(m.dict);
    free(m.words);
    free(m.seeds);
    free(m.table);
    free(dir);
}

static void put_build(bool table)
{
    put_build_with(table, true);
}

static int make(void **state)
{
    if (temp_dir_make(state) < 0)
        return -1;
    for (size_t i = 0; arm_table[i]; i++) {
        const struct arm *a = arm_table[i];
        char name[128];
        snprintf(name, sizeof name, "runtime/%s", a->library);
        put(name, "", 0);
        if (a->engine) {
            snprintf(name, sizeof name, "engines/%s", a->engine->program);
            put(name, "carol_next_import", 17); /* by which our afl-fuzz is known */
        }
        if (a->part) {
            snprintf(name, sizeof name, "engines/%s", a->part);
            put(name, "", 0);
        }
    }
    put("carol", "", 0);
    char *self = fs_join(temp_dir, "carol"), *engines = fs_join(temp_dir, "engines");
    setenv("CAROL_SELF", self, 1);
    setenv("CAROL_ENGINES", engines, 1);
    free(self);
    free(engines);
    put_build(true);
    return 0;
}

static struct settings options(void)
{
    struct settings o = {0};
    struct err e = {0};
    assert_int_equal(settings_defaults(&o, &e), 0);
    o.build = fs_join(temp_dir, "build");
    o.out = fs_join(temp_dir, "out");
    return o;
}

static void never(void *arg, const char *why)
{
    (void)arg;
    fail_msg("a test that did not begin ended: %s", why);
}

/* Who cannot run on this build is left out: honggfuzz and lafintel have none. */
static void what_is_left_open_comes_from_the_build(void **state)
{
    (void)state;
    struct settings o = options();
    struct real r;
    struct err e = {0};
    if (real_open(&r, &o, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(r.table.n_edges, 1);
    assert_non_null(r.loop);
    assert_int_equal(o.fuzzers.n, 1); /* of the roster default */
    assert_string_equal(o.fuzzers.v[0], "aflpp");
    assert_int_equal(o.args.n, 2);
    assert_string_equal(o.args.v[1], "@@");
    assert_string_equal(o.target, "t");
    assert_non_null(strstr(o.dict, "t.dict"));
    assert_int_equal(o.seeds.n, 1);
    struct campaign_env env = real_env(&r);
    assert_ptr_equal(env.loop, r.loop);
    assert_ptr_equal(env.table, &r.table);
    assert_int_equal(r.args.n, 2);
    assert_int_equal(r.timeout_ms, 1000);
    assert_true(r.mem_bytes == (uint64_t)2 << 30);
    struct instance_opts no = {.fuzzer = "nosuch", .dir = "/tmp/carol-none", .target = &r.target};
    assert_true(env.selftest(env.arg, &no, NULL, 0, never, NULL, &e) < 0);
    assert_null(r.tests);
    real_close(&r);
    settings_free(&o);
}

static void the_paper_has_its_own_roster(void **state)
{
    (void)state;
    struct settings o = options();
    struct real r;
    struct err e = {0};
    o.paper = true;
    if (real_open(&r, &o, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(o.fuzzers.n, 4); /* those of the six on the one family that was built */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(fuzzer_family(o.fuzzers.v[i]), FAMILY_AFL);
    real_close(&r);
    settings_free(&o);
}

/* The dictionary of a campaign on a build without one; the caller frees it. */
static char *dictionary_of(bool paper, const char *words)
{
    struct settings o = options();
    struct real r;
    struct err e = {0};
    o.paper = paper;
    assert_int_equal(paper ? settings_paper(&o, &e) : 0, 0);
    for (size_t i = 0; i < settings_count; i++)
        if (words && settings_table[i].flag && strcmp(settings_table[i].flag, "words") == 0)
            assert_int_equal(settings_set(&o, &settings_table[i], words, &e), 0);
    if (real_open(&r, &o, &e) < 0)
        fail_msg("%s", e.msg);
    char *dict = o.dict ? xstrdup(o.dict) : NULL;
    real_close(&r);
    settings_free(&o);
    return dict;
}

static void without_a_dictionary_it_is_what_the_build_noted(void **state)
{
    (void)state;
    put_build_with(true, false);
    char *usual = dictionary_of(false, NULL), *none = dictionary_of(false, "none");
    char *paper = dictionary_of(true, NULL), *again = dictionary_of(true, "target");
    put_build(true);
    assert_non_null(strstr(usual, "build/neutral/words.txt"));
    assert_null(none);
    assert_null(paper);
    assert_non_null(strstr(again, "build/neutral/words.txt"));
    free(usual);
    free(again);
}

static void what_is_given_stays(void **state)
{
    (void)state;
    struct settings o = options();
    struct real r;
    struct err e = {0};
    strv_add(&o.fuzzers, "mopt");
    strv_add(&o.fuzzers, "honggfuzz");
    strv_add(&o.seeds, "mine");
    strv_add(&o.args, "@@");
    put("mine.dict", "\"mine\"\n", 7);
    o.dict = fs_join(temp_dir, "mine.dict");
    if (real_open(&r, &o, &e) < 0)
        fail_msg("%s", e.msg);
    assert_int_equal(o.fuzzers.n, 1);
    assert_string_equal(o.fuzzers.v[0], "mopt");
    assert_int_equal(o.args.n, 1);
    assert_int_equal(o.seeds.n, 1);
    assert_string_equal(o.seeds.v[0], "mine");
    assert_non_null(strstr(o.dict, "mine.dict"));
    real_close(&r);
    settings_free(&o);
}

static void refused(struct settings o, const char *why)
{
    struct real r;
    struct err e = {0};
    assert_true(real_open(&r, &o, &e) < 0);
    if (!strstr(e.msg, why))
        fail_msg("'%s' is not in '%s'", why, e.msg);
    real_close(&r);
    settings_free(&o);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct settings o = options();
    strv_add(&o.fuzzers, "honggfuzz");
    refused(o, "none of the fuzzers can run");
    o = options();
    strv_add(&o.fuzzers, "nobody");
    refused(o, "nobody");
    o = options();
    put("bad.dict", "no word\n", 8);
    o.dict = fs_join(temp_dir, "bad.dict");
    refused(o, "bad.dict");
    put("build/afl/t.dict", "no word\n", 8); /* that of the build gives way */
    struct real r;
    o = options();
    assert_int_equal(real_open(&r, &o, NULL), 0);
    assert_non_null(strstr(o.dict, "neutral/words.txt"));
    real_close(&r);
    settings_free(&o);
    put_build(false);
    refused(options(), "no neutral build");
}

/* The options of the record hold, but a new budget does, too. */
static void a_resume_reads_its_record(void **state)
{
    (void)state;
    struct settings o = options(), again = {.resume = true, .out = fs_join(temp_dir, "out")};
    struct real r;
    struct store *s;
    struct err e = {0};
    struct table none = {.n_edges = 1, .build_id = "abc"};
    strv_add(&o.fuzzers, "darwin");
    o.budget_ns = 100, o.turn_ns = NS_PER_S, o.timeout_ms = 77;
    assert_int_equal(fs_mkdirs(o.out, NULL), 0);
    assert_int_equal(store_open(&s, o.out, STORE_CREATE, &e), 0);
    assert_int_equal(journal_start(s, &o, &none, false, &e), 0);
    store_close(s);
    if (real_open(&r, &again, &e) < 0)
        fail_msg("%s", e.msg);
    assert_string_equal(again.fuzzers.v[0], "darwin");
    assert_int_equal(again.timeout_ms, 77);
    assert_int_equal(again.budget_ns, 100);
    real_close(&r);
    settings_free(&again);
    again = (struct settings){
        .resume = true, .out = fs_join(temp_dir, "out"), .budget_given = true, .budget_ns = 500};
    assert_int_equal(real_open(&r, &again, &e), 0);
    assert_int_equal(again.budget_ns, 500);
    real_close(&r);
    settings_free(&again);
    settings_free(&o);
}

static void a_simulated_one_does_not_go_on(void **state)
{
    (void)state;
    struct settings o = options();
    struct store *s;
    struct table none = {.n_edges = 1, .build_id = "abc"};
    assert_int_equal(fs_mkdirs(o.out, NULL), 0);
    assert_int_equal(store_open(&s, o.out, STORE_CREATE, NULL), 0);
    assert_int_equal(journal_start(s, &o, &none, true, NULL), 0);
    store_close(s);
    settings_free(&o);
    refused((struct settings){.resume = true, .out = fs_join(temp_dir, "out")}, "simulated");
}

int main(void)
{
    log_set_level(LOG_NONE);
#define T(name) cmocka_unit_test_setup_teardown(name, make, temp_dir_remove)
    const struct CMUnitTest tests[] = {
        T(what_is_left_open_comes_from_the_build),
        T(the_paper_has_its_own_roster),
        T(without_a_dictionary_it_is_what_the_build_noted),
        T(what_is_given_stays),
        T(what_cannot_be_is_refused),
        T(a_resume_reads_its_record),
        T(a_simulated_one_does_not_go_on),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
