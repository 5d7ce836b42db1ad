/* bench: suites and what is wrong with them, the order of campaigns and its resumption, results as files, edges
 * over time. */
#include "base/buf.h"
#include "base/fs.h"
#include "bench/bugfile.h"
#include "bench/growth.h"
#include "bench/ini.h"
#include "bench/magma.h"
#include "bench/order.h"
#include "bench/result.h"
#include "bench/suite.h"
#include "temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *write_text(const char *name, const char *text)
{
    char *path = fs_join(temp_dir, name);
    assert_int_equal(fs_write_quick(path, text, strlen(text), NULL), 0);
    return path;
}

/* --- ini ----------------------------------------------------------------------------------------- */

static void test_ini(void **state)
{
    (void)state;
    struct ini ini;
    struct err e = {0};
    assert_int_equal(ini_parse(&ini, "x",
                               "; a comment\n\n[one]\n a = 1 \nb=two words\t\n# more\n[two x]\r\n"
                               "a =\r\n",
                               &e),
                     0);
    const struct ini_section *one = ini_section(&ini, "one"), *two = ini_section(&ini, "two x");
    assert_int_equal(ini.n, 2);
    assert_string_equal(ini_get(one, "a"), "1");
    assert_string_equal(ini_get(one, "b"), "two words");
    assert_string_equal(ini_get(two, "a"), "");
    assert_null(ini_get(one, "c"));
    assert_null(ini_section(&ini, "three"));
    assert_int_equal(ini_only(&ini, one, (const char *const[]){"a", "b", NULL}, &e), 0);
    assert_true(ini_only(&ini, one, (const char *const[]){"a", NULL}, &e) < 0);
    assert_non_null(strstr(e.msg, "x:5"));
    ini_free(&ini);
}

static void test_ini_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {{"a = 1\n", "x:1: a key must stand below"},
               {"[one]\nnothing\n", "x:2: expected"},
               {"[one\n", "x:1: a section"},
               {"[one] more\n", "x:1: a section"},
               {"[one]\na=1\na=2\n", "x:3: a second 'a'"},
               {"[one]\n = 2\n", "x:2: there is no key"},
               {"[one]\n[one]\n", "x:2: there are two sections [one]"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ini ini;
        struct err e = {0};
        assert_true(ini_parse(&ini, "x", bad[i].text, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
        if (!strstr(e.msg, bad[i].says))
            fail_msg("%s: says \"%s\"", bad[i].text, e.msg);
    }
}

/* --- suites -------------------------------------------------------------------------------------- */

static const char good[] =
    "[suite]\ntargets = t\ncontenders = c single:aflpp bare\ntrials = 3\ncpu = 7\n"
    "[target t]\nbuild = b\nseeds = s\nbugs = bugs.csv\n"
    "[contender c]\nscheduler = contextual\nsched-opt = ridge=2 explore=3\n"
    "[contender single:aflpp]\nscheduler = single:aflpp\n"
    "[contender bare]\nrival = aflpp\n";

static void make_target(void)
{
    static const char *const dirs[] = {"b", "s"};
    for (size_t i = 0; i < 2; i++) {
        char *path = fs_join(temp_dir, dirs[i]);
        assert_int_equal(fs_mkdirs(path, NULL), 0);
        free(path);
    }
    free(write_text("bugs.csv",
                    "id,number,grade,obstacle,what\nA1,1,easy,x,y\nA2,9,hard,\"x, y\",z\n"));
}

/* The text with one line replaced. */
static char *with(const char *text, const char *line, const char *by)
{
    const char *at = strstr(text, line);
    assert_non_null(at);
    return str_fmt("%.*s%s%s", (int)(at - text), text, by, at + strlen(line));
}

static int load(struct suite *s, const char *text, struct err *e)
{
    char *path = write_text("suite.ini", text), *out = fs_join(temp_dir, "out");
    int rc = suite_load(s, path, out, false, e);
    free(path);
    free(out);
    return rc;
}

static void test_suite(void **state)
{
    (void)state;
    struct suite s;
    struct err e = {0};
    bool on[FAMILY_END];
    make_target();
    char *text = with(good, "sched-opt = ridge=2 explore=3\n", "share-new-only = yes\n");
    if (load(&s, text, &e) < 0)
        fail_msg("%s", e.msg);
    free(text);
    assert_int_equal(s.n_targets, 1);
    assert_int_equal(s.targets[0].n_bugs, 2);
    assert_string_equal(s.targets[0].bugs[1].id, "A2");
    assert_int_equal(s.targets[0].bugs[1].number, 9);
    assert_int_equal(s.targets[0].oracle, ORACLE_CAROL);
    assert_int_equal(s.n_contenders, 3);
    assert_int_equal(s.contenders[0].role, ROLE_OURS);
    assert_int_equal(s.contenders[1].role, ROLE_SINGLE);
    assert_int_equal(s.contenders[2].role, ROLE_RIVAL);
    assert_string_equal(s.contenders[2].rival->name, "aflpp");
    assert_int_equal(s.trials, 3);
    assert_int_equal(s.cpu_ns, INT64_C(7000000000));
    assert_int_equal(s.cores, 1);
    char *what = suite_definition(&s, &s.contenders[0]);
    assert_string_equal(
        what, "carol fuzz --scheduler contextual --share-new-only; 7 CPU s on 1 core, turns "
              "of 2 s, 1000 ms and 2048 MB per input, seed 1");
    free(what);
    suite_families(&s, on);
    assert_true(on[FAMILY_NEUTRAL] && on[FAMILY_AFL] && on[FAMILY_LAF] && on[FAMILY_HFUZZ] &&
                on[FAMILY_CMPLOG]);
    assert_false(on[FAMILY_LIBFUZZER] || on[FAMILY_ASAN]);
    suite_free(&s);
}

/* Magma's targets: bugs by name. */
static void test_suite_magma(void **state)
{
    (void)state;
    struct suite s;
    struct err e = {0};
    make_target();
    free(write_text("bugs.csv", "id\nXML017\nXML009\n"));
    char *text = with(good, "bugs = bugs.csv", "bugs = bugs.csv\noracle = magma");
    if (load(&s, text, &e) < 0)
        fail_msg("%s", e.msg);
    free(text);
    assert_int_equal(s.targets[0].oracle, ORACLE_MAGMA);
    assert_int_equal(s.targets[0].n_bugs, 2);
    assert_string_equal(s.targets[0].bugs[1].id, "XML009");
    assert_int_equal(s.targets[0].bugs[1].number, 2);
    suite_free(&s);
}

static void test_suite_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *line, *by, *says;
    } bad[] = {
        {"targets = t", "targets = u", "there is no target 'u'"},
        {"targets = t", "targets = t t", "the target t twice"},
        {"targets = t", "", "needs a section [suite]"},
        {"build = b", "build = nowhere", "there is no build"},
        {"seeds = s", "seeds = nowhere", "there is no"},
        {"bugs = bugs.csv", "bugs = nowhere.csv", "list of bugs"},
        {"bugs = bugs.csv", "", "needs build, seeds and bugs"},
        {"bugs = bugs.csv", "bugs = bugs.csv\noracle = delphi", "carol or magma, not 'delphi'"},
        {"contenders = c", "contenders = d", "[contender d]"},
        {"scheduler = contextual", "scheduler = clever", "clever"},
        {"scheduler = contextual", "", "needs a scheduler or a rival"},
        {"sched-opt = ridge=2 explore=3", "sched-opt = nonsense=2", "nonsense"},
        {"sched-opt = ridge=2 explore=3", "fuzzers = aflpp,none", "none"},
        {"sched-opt = ridge=2 explore=3", "jobs = 7", "no 'jobs'"},
        {"sched-opt = ridge=2 explore=3", "colour = red", "no 'colour'"},
        {"sched-opt = ridge=2 explore=3", "role = king", "a role is"},
        {"rival = aflpp", "rival = magic", "no rival 'magic'; there are aflpp"},
        {"rival = aflpp", "rival = aflpp\nfuzzers = aflpp", "no key 'fuzzers'"},
        {"trials = 3", "trials = 0", "trials"},
        {"trials = 3", "trails = 3", "no key 'trails'"},
        {"cpu = 7", "cpu = soon", "cpu"},
    };
    make_target();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct suite s;
        struct err e = {0};
        char *text = with(good, bad[i].line, bad[i].by);
        if (load(&s, text, &e) == 0)
            fail_msg("\"%s\" was taken", bad[i].by);
        if (e.exit != ERR_EXIT_USAGE || !strstr(e.msg, bad[i].says))
            fail_msg("\"%s\": exit %d, says \"%s\"", bad[i].by, e.exit, e.msg);
        free(text);
    }
}

static void test_only_some(void **state)
{
    (void)state;
    static const struct {
        const char *targets, *contenders, *says;
    } bad[] = {{"u", NULL, "has no target 'u': it has t"},
               {NULL, "c,d", "has no contender 'd': it has c, single:aflpp, bare"},
               {",", NULL, "which targets?"},
               {NULL, "", "which contenders?"}};
    struct suite s;
    struct err e = {0};
    make_target();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(load(&s, good, &e), 0);
        assert_true(suite_only(&s, bad[i].targets, bad[i].contenders, &e) < 0);
        assert_int_equal(e.exit, ERR_EXIT_USAGE);
        if (!strstr(e.msg, bad[i].says))
            fail_msg("says \"%s\"", e.msg);
        suite_free(&s);
    }
    assert_int_equal(load(&s, good, &e), 0);
    assert_int_equal(suite_only(&s, "t", "bare,c", &e), 0);
    assert_int_equal(s.n_targets, 1);
    assert_int_equal(s.n_contenders, 2);
    assert_string_equal(s.contenders[0].name, "c");
    assert_string_equal(s.contenders[1].name, "bare");
    suite_free(&s);
}

/* What is in the tree: every name in it is one. */
static void test_own_suites(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t targets;
    } own[] = {{"suite.ini", 10},  {"ablations.ini", 8}, {"rewards.ini", 8}, {"singles.ini", 9},
               {"rosters.ini", 8}, {"random.ini", 8},    {"holdout.ini", 4}, {"reduced.ini", 1}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        struct suite s;
        struct err e = {0};
        char *path = str_fmt("%s/bench/suite/%s", CAROL_SOURCE, own[i].name);
        if (suite_load(&s, path, temp_dir, own[i].targets >= 8, &e) < 0)
            fail_msg("%s", e.msg);
        assert_int_equal(s.n_targets, own[i].targets);
        suite_free(&s);
        free(path);
    }
}

/* --- the order of campaigns ---------------------------------------------------------------------- */

static void load_good(struct suite *s)
{
    struct err e = {0};
    make_target();
    char *text = with(good, "sched-opt = ridge=2 explore=3\n", "");
    if (load(s, text, &e) < 0)
        fail_msg("%s", e.msg);
    free(text);
}

static void store_result(const struct suite *s, const struct planned *c, const char *definition)
{
    struct result r = {.target = s->targets[c->target].name,
                       .contender = s->contenders[c->contender].name,
                       .definition = (char *)(uintptr_t)definition,
                       .role = s->contenders[c->contender].role,
                       .trial = c->trial,
                       .cores = 1,
                       .budget_s = 7,
                       .command = (char[]){""},
                       .version = (char[]){""},
                       .began = (char[]){""},
                       .host = (char[]){""}};
    struct carol_oracle none = {0};
    char *path = fs_join(c->dir, "result.json");
    result_bugs(&r, s->targets[0].bugs, s->targets[0].n_bugs, &none);
    assert_int_equal(fs_mkdirs(c->dir, NULL), 0);
    assert_int_equal(result_write(&r, path, NULL), 0);
    free(r.bugs);
    free(path);
}

static void test_order(void **state)
{
    (void)state;
    struct suite s;
    struct order p, q;
    struct err e = {0};
    load_good(&s);
    assert_int_equal(order_make(&p, &s, &e), 0);
    assert_int_equal(p.n, 9);
    assert_int_equal(p.done, 0);
    for (size_t i = 0; i < p.n; i++) {
        assert_int_equal(p.v[i].trial, 1 + (int)i / 3); /* trial by trial */
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(p.v[i].dir, p.v[k].dir);
        assert_null(strchr(strrchr(p.v[i].dir, '/'), ':'));
    }
    s.seed = 2;
    size_t moved = 0;
    for (; s.seed < 12; s.seed++) {
        assert_int_equal(order_make(&q, &s, &e), 0);
        for (size_t i = 0; i < p.n; i++)
            moved += strcmp(p.v[i].dir, q.v[i].dir) != 0;
        order_free(&q);
    }
    assert_true(moved > 10); /* of 90; an order that does not depend on the seed has none */
    order_free(&p);
    suite_free(&s);
}

static void test_resume(void **state)
{
    (void)state;
    struct suite s;
    struct order p, q;
    struct err e = {0};
    load_good(&s);
    assert_int_equal(order_make(&p, &s, &e), 0);
    char *same = suite_definition(&s, &s.contenders[p.v[1].contender]);
    store_result(&s, &p.v[1], same);
    assert_int_equal(fs_mkdirs(p.v[0].dir, NULL), 0); /* begun, not done */
    assert_int_equal(order_make(&q, &s, &e), 0);
    assert_int_equal(q.done, 1);
    assert_true(q.v[1].done);
    assert_ptr_equal(order_next(&q), &q.v[0]);
    q.v[0].taken = true;
    assert_ptr_equal(order_next(&q), &q.v[2]);
    order_free(&q);
    assert_int_equal(order_make(&q, &s, &e),
                     0); /* two machines: each campaign is run by one of them */
    assert_int_equal(order_part(&q, 1, 2), 4 - 1);
    assert_ptr_equal(order_next(&q), &q.v[0]);
    q.v[0].taken = true;
    assert_ptr_equal(order_next(&q), &q.v[2]);
    assert_int_equal(order_part(&q, 2, 2), 5);
    q.v[0].taken = false;
    assert_ptr_equal(order_next(&q), &q.v[3]); /* 1 is done */
    assert_true(order_wants(&q, 0));
    assert_int_equal(order_part(&q, 1, 1), 0);
    assert_int_equal(order_leave_out(&q, 0), q.n - 1); /* the only target; what is done stays */
    assert_null(order_next(&q));
    assert_false(order_wants(&q, 0));
    assert_int_equal(order_leave_out(&q, 0), 0);
    order_free(&q);
    s.trials = 5; /* more of the same is fine */
    assert_int_equal(order_make(&q, &s, &e), 0);
    assert_int_equal(q.done, 1);
    assert_int_equal(q.n, 15);
    order_free(&q);
    s.cpu_ns *= 2; /* another campaign is not */
    assert_true(order_make(&q, &s, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    assert_non_null(strstr(e.msg, "another campaign"));
    free(same);
    order_free(&p);
    suite_free(&s);
}

/* --- results ------------------------------------------------------------------------------------- */

static void same_first(const struct first *a, const struct first *b)
{
    assert_int_equal(a->seen, b->seen);
    assert_int_equal(a->exec, b->exec);
    assert_true(a->cpu_s == b->cpu_s && a->wall_s == b->wall_s);
}

static void test_result(void **state)
{
    (void)state;
    struct bug bugs[] = {{"A1", "easy", 1}, {"A2", "hard", 9}, {"A3", "hard", 127}};
    struct carol_oracle o = {.execs = 1000};
    o.bug[1] =
        (struct carol_bug_record){9, 4, {3, 2000000000, 1000000000}, {77, 5000000000, 2500000000}};
    o.bug[9] = (struct carol_bug_record){2, 0, {900, 9000000000, 4000000000}, {0}};
    struct result r = {.target = (char[]){"t"},
                       .contender = (char[]){"single:x"},
                       .definition = (char[]){"d \"q\""},
                       .role = ROLE_SINGLE,
                       .trial = 2,
                       .cores = 1,
                       .attempts = 2,
                       .first_ratio = 0.25,
                       .budget_s = 10,
                       .cpu_s = 10.05,
                       .top_share = {0.5, -1, 1, -1},
                       .command = (char[]){"c"},
                       .version = (char[]){"v"},
                       .began = (char[]){"b"},
                       .host = (char[]){"h"}},
                  back;
    r.edges[RESULT_MOMENTS] = 42;
    strv_split(&r.fuzzers, "x,y", ',');
    result_bugs(&r, bugs, 3, &o);
    assert_int_equal(result_triggered(&r), 1);
    assert_int_equal(result_reached(&r), 2);
    assert_true(result_area(&r) == 0.75);
    char *path = fs_join(temp_dir, "result.json");
    struct err e = {0};
    assert_int_equal(result_write(&r, path, &e), 0);
    assert_int_equal(result_read(&back, path, &e), 0);
    assert_string_equal(back.contender, r.contender);
    assert_string_equal(back.definition, r.definition);
    assert_int_equal(back.role, ROLE_SINGLE);
    assert_true(back.fuzzers.n == 2 && strv_has(&back.fuzzers, "x") &&
                strv_has(&back.fuzzers, "y"));
    assert_int_equal(back.attempts, 2);
    assert_int_equal(back.execs, 1000);
    assert_int_equal(back.edges[RESULT_MOMENTS], 42);
    assert_true(back.top_share[0] == 0.5 && back.top_share[1] < 0);
    assert_int_equal(back.n_bugs, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(back.bugs[i].id, r.bugs[i].id);
        same_first(&back.bugs[i].reached, &r.bugs[i].reached);
        same_first(&back.bugs[i].triggered, &r.bugs[i].triggered);
    }
    result_free(&back);
    free(path);
    path = write_text("result.json", "{\"schema\": 1, \"target\": \"t\"");
    assert_true(result_read(&back, path, &e) < 0);
    free(path);
    path = write_text("result.json", "{\"schema\": 1, \"target\": \"t\"}");
    assert_true(result_read(&back, path, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_USAGE);
    free(path);
    strv_free(&r.fuzzers);
    free(r.bugs);
}

/* --- Magma --------------------------------------------------------------------------------------- */

/* What Magma's canary library does to its file: the slot of that name, or the first empty one, counts; once a condition
 * held, the process counts nothing more. */
static void canary(char file[2048], const char *name, bool condition, bool *faulty)
{
    char *slot = file + 8;
    uint64_t count[2];
    while (*slot && strncmp(slot, name, 16) != 0)
        slot += 32;
    memcpy(slot, name, strnlen(name, 16));
    memcpy(count, slot + 16, sizeof count);
    count[0] += !*faulty;
    count[1] += condition && !*faulty;
    memcpy(slot + 16, count, sizeof count);
    *faulty = *faulty || condition;
}

static void same_times(const struct carol_first *f, uint64_t wall_ns, uint64_t cpu_ns)
{
    assert_int_equal(f->exec, 0);
    assert_int_equal(f->wall_ns, wall_ns);
    assert_int_equal(f->cpu_ns, cpu_ns);
}

static void test_magma(void **state)
{
    (void)state;
    static _Alignas(8) char file[2048];
    const struct bug bugs[] = {{"XML017", "", 1}, {"A_NAME_OF_FIFTE", "", 2}, {"XML009", "", 3}};
    struct carol_oracle o = {.start_ns = 1000, .cpu_ns = 50};
    struct result r = {.budget_s = 1};
    bool faulty = false;
    memset(file, 0, sizeof file);
    assert_false(magma_used(file));
    assert_null(magma_note(file, bugs, 3, 2000, &o));
    canary(file, "XML017", false, &faulty);
    assert_true(magma_used(file));
    assert_null(magma_note(file, bugs, 3, 3000, &o));
    canary(file, "XML017", true, &faulty);
    canary(file, "XML009", true, &faulty); /* the process is corrupt: nothing is counted */
    o.cpu_ns = 60;
    assert_null(magma_note(file, bugs, 3, 4000, &o));
    faulty = false; /* another process */
    canary(file, "XML017", true, &faulty);
    faulty = false;
    canary(file, "A_NAME_OF_FIFTE", false, &faulty);
    o.cpu_ns = 70;
    assert_null(magma_note(file, bugs, 3, 5000, &o));
    assert_int_equal(o.bug[1].reached, 3);
    assert_int_equal(o.bug[1].triggered, 2);
    same_times(&o.bug[1].first_reached, 2000, 50);
    same_times(&o.bug[1].first_triggered, 3000, 60);
    same_times(&o.bug[2].first_reached, 4000, 70);
    same_times(&o.bug[2].first_triggered, 0, 0);
    result_bugs(&r, bugs, 3, &o);
    assert_int_equal(result_triggered(&r), 1);
    assert_int_equal(result_reached(&r), 2);
    free(r.bugs);
    canary(file, "SIXTEEN_LETTERS_", true, &faulty);
    assert_memory_equal(magma_note(file, bugs, 3, 6000, &o), "SIXTEEN_LETTERS_", 16);
}

static void test_magma_is_full(void **state)
{
    (void)state;
    static _Alignas(8) char file[2048];
    struct bug bugs[40] = {{""}};
    struct carol_oracle o = {0};
    for (int i = 0; i < 31; i++) {
        bool faulty = false;
        snprintf(bugs[i].id, sizeof bugs[i].id, "BUG%03d", i);
        bugs[i].number = (unsigned)i + 1;
        canary(file, bugs[i].id, true, &faulty);
    }
    memset(file + 8 + 31 * 32, 'x', 31 * 32); /* the monitor's copy */
    assert_null(magma_note(file, bugs, 31, 9, &o));
    for (int i = 1; i <= 31; i++)
        assert_int_equal(o.bug[i].triggered, 1);
}

/* The file on disk, as targets find it. */
static void test_bugfile(void **state)
{
    (void)state;
    static const struct {
        enum oracle_kind kind;
        const char *variable;
        size_t size;
    } files[] = {{ORACLE_CAROL, "CAROL_ORACLE", 8272}, {ORACLE_MAGMA, "MAGMA_STORAGE", 2048}};
    const struct bug bugs[] = {{"XML017", "", 1}};
    for (size_t i = 0; i < 2; i++) {
        char *path = fs_join(temp_dir, "oracle");
        struct bugfile *f;
        struct buf b = BUF_INIT(1 << 20);
        struct carol_oracle o;
        assert_string_equal(bugfile_variable(files[i].kind), files[i].variable);
        assert_int_equal(bugfile_create(&f, path, files[i].kind, bugs, 1, NULL), 0);
        assert_int_equal(fs_read(path, &b, NULL), 0);
        assert_int_equal(b.len, files[i].size);
        bugfile_tick(f, 7);
        assert_false(bugfile_used(f));
        bugfile_read(f, &o);
        assert_int_equal(o.cpu_ns, 7);
        bugfile_close(f);
        buf_free(&b);
        free(path);
    }
}

static void test_growth(void **state)
{
    (void)state;
    struct growth g;
    growth_init(&g, 10);
    growth_add(&g, 50, (uint32_t[]){1, 2, 3}, 3);
    growth_add(&g, 20, (uint32_t[]){3, 9, 10}, 3); /* 10 is none of them */
    growth_add(&g, 20, NULL, 0);
    assert_int_equal(growth_at(&g, 19), 0);
    assert_int_equal(growth_at(&g, 20), 2);
    assert_int_equal(growth_at(&g, 50), 4);
    assert_int_equal(growth_at(&g, INT64_MAX), 4);
    assert_int_equal(g.inputs, 3);
    growth_free(&g);
}

int main(void)
{
#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, temp_dir_make, temp_dir_remove)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ini),   cmocka_unit_test(test_ini_refuses),
        IN_DIR(test_suite),           IN_DIR(test_suite_magma),
        IN_DIR(test_suite_refuses),   IN_DIR(test_only_some),
        IN_DIR(test_own_suites),      IN_DIR(test_order),
        IN_DIR(test_resume),          IN_DIR(test_result),
        cmocka_unit_test(test_magma), cmocka_unit_test(test_magma_is_full),
        IN_DIR(test_bugfile),         cmocka_unit_test(test_growth),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
