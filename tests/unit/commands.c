/* commands: how each fuzzer is called, and what `carol doctor` says of it.  Nothing is started. */
#include "../../runtime/ctl/lf.h"
#include "arm_kit.h"
#include "base/fs.h"
#include "base/log.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/live_private.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* How it calls a target of each kind. */
static void called(const char *fuzzer, enum target_kind kind, const char *const *args,
                   const char *built_with, const char *what)
{
    m.kind = kind;
    m.args = built_with ? strdup(built_with) : NULL;
    struct live *lv = open_arm((struct instance_opts){.fuzzer = fuzzer, .args = args});
    command(lv, false);
    says(what);
    lv->in.ops->free(&lv->in);
    free(m.args);
    m.args = NULL;
}

static void targets_of_every_kind(void **state)
{
    (void)state;
    const char *const args[] = {"-a", "x@@y@@", "z", NULL}, *const none[] = {"-a", NULL};
    called("honggfuzz", TARGET_LIBFUZZER, NULL, NULL, "-P -- /target ");
    called("honggfuzz", TARGET_STDIN, NULL, NULL, "-s -- /target ");
    called("honggfuzz", TARGET_FILE, NULL, NULL, "ws/stats -t 2 -F 32768 -- /target ___FILE___ ");
    called("honggfuzz", TARGET_FILE, args, NULL, " -- /target -a x___FILE___y___FILE___ z ");
    called("honggfuzz", TARGET_STDIN, none, NULL, "-s -- /target -a ");
    called("honggfuzz", TARGET_FILE, NULL, "-b\n@@", " -- /target -b ___FILE___ ");
    called("aflpp", TARGET_LIBFUZZER, NULL, NULL, "-- /target ");
    called("aflpp", TARGET_FILE, NULL, NULL, "-- /target @@ ");
    called("aflpp", TARGET_FILE, args, NULL, "-- /target -a x@@y@@ z ");
    called("aflpp", TARGET_FILE, NULL, "-b\n@@", "-- /target -b @@ ");
}

static void limits_and_words(void **state)
{
    (void)state;
    char *dict = fs_join(home, "words.dict");
    for (size_t i = 0; arm_table[i]; i++) {
        if (!arm_table[i]->engine)
            continue; /* libfuzzer_is_the_target */
        bool hfuzz = strcmp(arm_table[i]->name, "honggfuzz") == 0;
        struct live *lv = open_arm((struct instance_opts){.fuzzer = arm_table[i]->name,
                                                          .dict = dict,
                                                          .timeout_ms = 2001,
                                                          .mem_bytes = (uint64_t)512 << 20});
        command(lv, false);
        says(hfuzz ? "-n 1 -i in -o out " : "-i in -o out -t 2001 -m 512 ");
        if (strcmp(arm_table[i]->name, "mopt") == 0)
            says("-z -x dict -L 0 -- ");
        says(hfuzz ? "-t 3 " : "-x dict ");
        says(hfuzz ? "--rlimit_as 512 -w dict " : "-- /target ");
        if (!hfuzz)
            assert_non_null(strstr(given, "AFL_HANG_TMOUT=2001 "));
        assert_string_equal(content("i/dict"), "\"word\"\n");
        assert_true(there("i/ctl.so"));
        lv->in.ops->free(&lv->in);
        lv = open_arm(
            (struct instance_opts){.fuzzer = arm_table[i]->name, .mem_bytes = 1, .exec_ms = 40});
        command(lv, false);
        assert_null(strstr(line, " dict "));
        if (!hfuzz) {
            says("-t 40 -m 5 ");
            assert_non_null(strstr(given, "AFL_HANG_TMOUT=1500 "));
        }
        lv->in.ops->free(&lv->in);
    }
    free(dict);
}

/* It has no hook that is called when start-up is over. */
static void mopt_starts_with_its_first_entry(void **state)
{
    (void)state;
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "mopt"});
    ctl_set32(&lv->page->started, 0);
    lv->arm->line(lv, "[*] Spinning up the fork server");
    assert_int_equal(ctl_get32(&lv->page->started), 0);
    lv->arm->line(lv, "[*] Fuzzing test case #0 (1 total)");
    assert_int_equal(ctl_get32(&lv->page->started), 1);
    lv->in.ops->free(&lv->in);
}

/* What afl-fuzz is told by its environment. */
static void the_environment_of_afl_fuzz(void **state)
{
    (void)state;
    static const char *const common[] = {"AFL_NO_UI=1 ",
                                         "AFL_NO_AFFINITY=1 ",
                                         "AFL_SKIP_CPUFREQ=1 ",
                                         "AFL_NO_FASTRESUME=1 ",
                                         "AFL_NO_SYNC=1 ",
                                         "LD_PRELOAD=./ctl.so AFL_CUSTOM_MUTATOR_LIBRARY=./ctl.so ",
                                         "AFL_HANG_TMOUT=1500 ",
                                         "CAROL_LANE=1 ",
                                         "CAROL_HANG_PART=50 ",
                                         "CAROL_CTL_SEED=77 ",
                                         "ASAN_OPTIONS=x=1:abort_on_error=1:symbolize=0 "};
    setenv("ASAN_OPTIONS", "x=1", 1);
    unsetenv("MSAN_OPTIONS");
    for (uint64_t map = 0; map < 200000; map = map * 2 + 50000) {
        m.family[FAMILY_AFL].map_size = map;
        for (const char *const *f = (const char *const[]){"aflpp", "mopt", NULL}; *f; f++) {
            struct live *lv = open_arm((struct instance_opts){.fuzzer = *f, .seed = 77});
            command(lv, false);
            for (size_t i = 0; i < sizeof common / sizeof *common; i++)
                if (!strstr(given, common[i]))
                    fail_msg("'%s' is not in '%s'", common[i], given);
            char size[64] = "AFL_MAP_SIZE="; /* afl-fuzz needs a map of 64 KB at least */
            if (map)
                snprintf(size, sizeof size, "AFL_MAP_SIZE=%u ",
                         map < 65536 ? 65536 : (unsigned)map);
            assert_int_equal(strstr(given, size) != NULL, map > 0);
            bool pure = strcmp(*f, "mopt") == 0;
            assert_int_equal(strstr(given, "AFL_FRAMESHIFT_DISABLE=1 ") != NULL, pure);
            assert_int_equal(strstr(given, "CAROL_CTL_BATCHES=1 ") != NULL, pure);
            assert_null(strstr(given, "AFL_CUSTOM_MUTATOR_ONLY=1 "));
            assert_null(strstr(given, "MSAN_OPTIONS"));
            lv->in.ops->free(&lv->in);
        }
    }
    unsetenv("ASAN_OPTIONS");
}

/* The first instance as afl-fuzz is shipped, the others with a power schedule each, if that is asked for. */
static void further_instances_vary(void **state)
{
    (void)state;
    static const char *const want[] = {NULL,       " -p fast ", " -p coe ",     " -p rare ",
                                       " -p lin ", " -p quad ", " -p exploit ", " -p fast "};
    for (int i = 0; i < 2 * (int)(sizeof want / sizeof *want); i++) {
        int number = i / 2;
        bool varied = i % 2;
        struct live *lv = open_arm(
            (struct instance_opts){.fuzzer = "lafintel", .number = number, .varied = varied});
        command(lv, false);
        if (varied && want[number])
            says(want[number]);
        else
            assert_null(strstr(line, " -p "));
        lv->in.ops->free(&lv->in);
    }
}

/* Ours, without what would steer it, and what it asks for instead of ours. */
static void the_environment_is_ours_but_for(void **state)
{
    (void)state;
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "aflpp"});
    struct strv extra = {0}, out = {0};
    char *program = fs_join(home, "engines/afl/afl-fuzz");
    strv_add(&extra, "CAROL_UNIT_BOTH=its");
    setenv("CAROL_UNIT_OURS", "kept", 1);
    setenv("CAROL_UNIT_BOTH", "ours", 1);
    setenv("CAROL_UNIT_BOTHER", "kept", 1);
    setenv("AFL_DEBUG", "1", 1);
    setenv("HFUZZ_X", "1", 1);
    live_environment(lv, program, &extra, &out);
    assert_true(strv_has(&out, "CAROL_UNIT_OURS=kept") && strv_has(&out, "CAROL_UNIT_BOTHER=kept"));
    assert_true(strv_has(&out, "CAROL_UNIT_BOTH=its") && !strv_has(&out, "CAROL_UNIT_BOTH=ours"));
    assert_false(strv_has(&out, "AFL_DEBUG=1") || strv_has(&out, "HFUZZ_X=1"));
    assert_true(strv_has(&out, CTL_EXE_ENV "=afl-fuzz"));
    char *tmp = str_fmt("TMPDIR=%s/tmp", lv->o.dir), *ctl = str_fmt(CTL_ENV "=%s/ctl", lv->o.dir);
    assert_true(strv_has(&out, tmp) && strv_has(&out, ctl));
    for (const char *const *name =
             (const char *const[]){"CAROL_UNIT_OURS", "CAROL_UNIT_BOTH", "CAROL_UNIT_BOTHER",
                                   "AFL_DEBUG", "HFUZZ_X", NULL};
         *name; name++)
        unsetenv(*name);
    free(tmp);
    free(ctl);
    free(program);
    strv_free(&extra);
    strv_free(&out);
    lv->in.ops->free(&lv->in);
}

/* honggfuzz goes on from what it has, and lets inputs grow to four times the largest seed. */
static void honggfuzz_goes_on(void **state)
{
    (void)state;
    static char big[20000], huge[300000];
    const struct input seeds[] = {{1, "small", 5}, {2, big, sizeof big}, {3, "small too", 9}},
                       more = {4, huge, sizeof huge};
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "honggfuzz"});
    assert_int_equal(lv->arm->prepare(lv, seeds, 3, NULL), 0);
    command(lv, true);
    says("-i in -o out "); /* it has nothing yet */
    says("-F 80000 ");
    put("i/out/one", "found");
    command(lv, false);
    says("-i in -o out ");
    command(lv, true);
    says("-i out -o out ");
    assert_int_equal(lv->arm->prepare(lv, &more, 1, NULL), 0);
    command(lv, true);
    says("-F 1048576 ");
    lv->in.ops->free(&lv->in);
}

/* libFuzzer is the target, and starts with its seeds unless it has a corpus. */
static void libfuzzer_is_the_target(void **state)
{
    (void)state;
    const struct input seeds[] = {{1, "small", 5}, {2, "", 0}};
    char *dict = fs_join(home, "words.dict"), *new = fs_join(home, "i/new ");
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "libfuzzer",
                                                      .dict = dict,
                                                      .timeout_ms = 2001,
                                                      .seed = 6,
                                                      .mem_bytes = (uint64_t)512 << 20});
    assert_int_equal(lv->arm->prepare(lv, seeds, 2, NULL), 0);
    command(lv, false);
    says("-entropic=1 -use_value_profile=1 ");
    says("-timeout=3 -max_len=32768 -seed=7 -dict=dict ");
    says(new);
    assert_non_null(strstr(given, "LD_PRELOAD=./ctl.so CAROL_CTL_TIMEOUT_MS=2001 "));
    assert_non_null(strstr(given, "CAROL_CTL_BYTES=536870912 "));
    assert_string_equal(content("i/old/s000000000001"), "small");
    assert_false(there("i/old/s000000000002"));
    assert_string_equal(content("i/dict"), "\"word\"\n");
    put("i/old/s000000000001", "");
    command(lv, true); /* its own directory is left alone */
    assert_string_equal(content("i/old/s000000000001"), "");
    assert_string_equal(content("i/" LF_NOTHING), "\n");
    says("/i/" LF_NOTHING " ");
    ctl_set64(&lv->page->execs, 1000);
    command(lv, true); /* another life, other random numbers */
    says("-seed=1007 ");
    lv->in.ops->free(&lv->in);
    free(dict);
    free(new);
}

/* A copy of this program with another name for a function of it is a target that has such a function. */
void LLVMFuzzerCustomMutato_(void);
void LLVMFuzzerCustomCrossOve_(void);
__attribute__((used)) void LLVMFuzzerCustomMutato_(void)
{
}
__attribute__((used)) void LLVMFuzzerCustomCrossOve_(void)
{
}

static void its_own_is_named(struct instance_opts *o, const char *self, const char *name)
{
    struct buf b = BUF_INIT((size_t)64 << 20);
    struct err e = {0};
    size_t stem = strlen(name) - 1;
    char *path = fs_join(home, "mutates");
    assert_int_equal(fs_read(self, &b, NULL), 0);
    for (char *at = (char *)b.p, *end = at + b.len;
         (at = memmem(at, (size_t)(end - at), name, stem)); at += stem)
        if (at[stem] == '_')
            at[stem] = name[stem];
    assert_int_equal(fs_write_quick(path, b.p, b.len, NULL), 0);
    m.family[FAMILY_LIBFUZZER].binary = path;
    assert_true(fuzzer_check(o, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "the target has its own"));
    assert_non_null(strstr(e.msg, name));
    buf_free(&b);
    free(path);
}

/* Programs with main(), builds of an older carol, and targets that mutate by themselves. */
static void what_libfuzzer_cannot_run(void **state)
{
    (void)state;
    struct err e = {0};
    struct instance_opts o = {.fuzzer = "libfuzzer", .target = &m};
    static char self[PATH_MAX];
    assert_int_equal(fuzzer_check(&o, &e), 0);
    m.kind = TARGET_FILE;
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "main()"));
    m.kind = TARGET_LIBFUZZER;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0); /* a program without libFuzzer */
    m.family[FAMILY_LIBFUZZER].binary = self;
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_non_null(strstr(e.msg, "--families libfuzzer"));
    its_own_is_named(&o, self, "LLVMFuzzerCustomMutator");
    its_own_is_named(&o, self, "LLVMFuzzerCustomCrossOver");
    m.family[FAMILY_LIBFUZZER].binary = m.family[FAMILY_AFL].binary;
}

static void a_missing_file_is_named(void **state)
{
    (void)state;
    struct instance_opts o = {.fuzzer = "aflpp", .target = &m};
    struct err e = {0};
    for (size_t i = 0; arm_table[i]; i++)
        if (arm_table[i]->part) {
            struct instance_opts its = {.fuzzer = arm_table[i]->name, .target = &m};
            char *part = str_fmt("%s/engines/%s", home, arm_table[i]->part);
            assert_int_equal(fuzzer_check(&its, NULL), 0);
            assert_int_equal(unlink(part), 0);
            assert_true(fuzzer_check(&its, &e) < 0);
            assert_non_null(strstr(e.msg, part));
            free(part);
        }
    const char *const with_engine[] = {"aflpp", "honggfuzz"};
    for (size_t i = 0; i < 2; i++) {
        struct instance_opts its = {.fuzzer = with_engine[i], .target = &m};
        char *program = str_fmt("%s/engines/%s", home, arm_find(its.fuzzer)->engine->program);
        assert_int_equal(unlink(program), 0);
        assert_true(fuzzer_check(&its, &e) < 0);
        assert_non_null(strstr(e.msg, program));
        assert_int_equal(fs_write_quick(program, "", 0, NULL), 0);
        free(program);
    }
    char *lib = fs_join(home, "runtime/ctl/libcarolctl.so");
    assert_int_equal(unlink(lib), 0);
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_non_null(strstr(e.msg, lib));
    m.family[FAMILY_AFL].ok = false;
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_non_null(strstr(e.msg, "--families afl"));
    free(lib);
}

/* The one that several fuzzers are modes of. */
static void one_for_all_modes(void **state)
{
    (void)state;
    struct err e = {0};
    char *dict = fs_join(home, "words.dict"), *dir = fs_join(home, "modes");
    struct instance *in;
    struct instance_opts o = {.fuzzer = "afl", .dir = dir, .target = &m, .dict = dict};
    put("runtime/ctl/libcarolmodes.so", "");
    put("engines/afl/afl-fuzz", "... as its authors ship it ...");
    for (size_t i = 0; arm_table[i]; i++) {
        const char *name = arm_table[i]->name;
        bool hosted = fuzzer_host(name) != NULL;
        assert_int_equal(hosted, strstr(" aflpp darwin mopt radamsa havoc ", name) != NULL);
        assert_int_equal(fuzzer_check_host(name, &e) < 0, hosted);
        assert_true(!hosted || strcmp(fuzzer_host(name), "afl") == 0);
    }
    assert_int_equal(e.exit, ERR_EXIT_ENV);
    assert_non_null(strstr(e.msg, "takes no imports"));
    o.fuzzer = "aflpp"; /* alone, too */
    assert_true(fuzzer_check(&o, &e) < 0);
    assert_non_null(strstr(e.msg, "takes no imports"));
    put("engines/afl/afl-fuzz", "#!/bin/sh\nexec another \"$@\"\n"); /* its self-test will tell */
    assert_int_equal(fuzzer_check(&o, &e), 0);
    o.fuzzer = "afl";
    put("engines/afl/afl-fuzz", "... carol_next_import ...");
    assert_true(fuzzer_check_host("aflpp", &e) < 0);
    assert_non_null(strstr(e.msg, "--instances own"));
    put("engines/afl/afl-fuzz", "... carol_mode carol_next_import ...");
    assert_int_equal(fuzzer_check_host("mopt", NULL), 0);
    assert_int_equal(fuzzer_open(&in, loop, &o, &e), 0);
    command((struct live *)in, false);
    says("-x dict -L 0 -- /target ");
    assert_null(strstr(line, "-z "));
    assert_null(strstr(given, "AFL_CUSTOM_MUTATOR_ONLY"));
    assert_null(strstr(given, "AFL_FRAMESHIFT_DISABLE"));
    assert_non_null(strstr(given, "CAROL_CTL_DICT=./dict "));
    assert_non_null(strstr(given, "radamsa/libradamsa.so "));
    in->ops->free(in);
    assert_true(fuzzer_open(&in, loop, &(struct instance_opts){.fuzzer = "paper", .dir = dir}, &e) <
                0);
    put("engines/afl/afl-fuzz", "carol_next_import");
    free(dict);
    free(dir);
}

/* What `carol doctor` says of each fuzzer that is a program. */
static void a_diagnosis(void **state)
{
    (void)state;
    for (size_t i = 0; arm_table[i]; i++) {
        const struct arm *a = arm_table[i];
        assert_non_null(fuzzer_names()[i]);
        assert_string_equal(fuzzer_names()[i], a->name);
        if (!a->engine)
            continue;
        char *program = str_fmt("engines/%s", a->engine->program),
             *text = str_fmt("#!/bin/sh\necho '%s7.5 and so on'\n", a->engine->mark),
             *path = fs_join(home, program), *part = NULL;
        struct tool_state s;
        put(program, text);
        assert_int_equal(chmod(path, 0755), 0);
        fuzzer_diagnose(a->name, &s);
        if (a->also != FAMILY_NONE) { /* its compiler is not here */
            assert_false(s.ok);
            assert_non_null(strstr(s.why, "family cmplog needs"));
            tool_state_free(&s);
            free(program);
            free(text);
            free(path);
            continue;
        }
        if (!s.ok)
            fail_msg("%s: %s", a->name, s.why);
        assert_string_equal(s.version, "7.5");
        tool_state_free(&s);
        if (a->part) {
            part = str_fmt("%s/engines/%s", home, a->part);
            assert_int_equal(unlink(part), 0);
            fuzzer_diagnose(a->name, &s);
            assert_true(!s.ok && strstr(s.why, a->part));
            tool_state_free(&s);
            assert_int_equal(fs_write_quick(part, "", 0, NULL), 0);
        }
        char *lib = str_fmt("%s/runtime/%s", home, a->library);
        assert_int_equal(unlink(lib), 0);
        fuzzer_diagnose(a->name, &s);
        assert_true(!s.ok && strstr(s.why, a->library));
        tool_state_free(&s);
        assert_int_equal(unlink(path), 0);
        fuzzer_diagnose(a->name, &s); /* of two that are missing the first */
        assert_true(!s.ok && strstr(s.why, a->engine->program));
        tool_state_free(&s);
        assert_int_equal(fs_write_quick(lib, "", 0, NULL), 0);
        free(program);
        free(text);
        free(path);
        free(part);
        free(lib);
    }
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    struct instance *in = NULL;
    struct err e = {0};
    char *dir = fs_join(home, "i"), *page = fs_join(home, "i/ctl"), *file = fs_join(home, "carol");
    struct instance_opts o = {.fuzzer = "nobody", .dir = dir, .target = &m};
    assert_true(fuzzer_open(&in, loop, &o, &e) < 0);
    assert_non_null(strstr(e.msg, "'nobody'"));
    o.fuzzer = "aflpp";
    assert_int_equal(fs_mkdirs(page, NULL), 0);
    assert_true(fuzzer_open(&in, loop, &o, &e) < 0);
    assert_non_null(strstr(e.msg, page));
    o.dir = file;
    assert_true(fuzzer_open(&in, loop, &o, &e) < 0);
    o.dir = "/a\nb";
    assert_true(fuzzer_open(&in, loop, &o, &e) < 0);
    assert_null(in);
    free(dir);
    free(page);
    free(file);
}

int main(void)
{
    log_set_level(LOG_NONE);
    const struct CMUnitTest tests[] = {
        ARM_TEST(targets_of_every_kind),
        ARM_TEST(limits_and_words),
        ARM_TEST(mopt_starts_with_its_first_entry),
        ARM_TEST(the_environment_of_afl_fuzz),
        ARM_TEST(further_instances_vary),
        ARM_TEST(the_environment_is_ours_but_for),
        ARM_TEST(honggfuzz_goes_on),
        ARM_TEST(libfuzzer_is_the_target),
        ARM_TEST(what_libfuzzer_cannot_run),
        ARM_TEST(a_missing_file_is_named),
        ARM_TEST(one_for_all_modes),
        ARM_TEST(a_diagnosis),
        ARM_TEST(what_cannot_be_opened),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
