/* commands: how each fuzzer is called, and what is done to its directory before it is called again.  Nothing is
 * started: the programs and libraries are empty files. */
#include "../../runtime/ctl/lf.h"
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

static char home[64];
static struct loop *loop;
static struct manifest m;
static char target[] = "/target";
static char line[4096];  /* of the last command, a space between words */
static char given[4096]; /* the environment it asks for, likewise */

static void put(const char *name, const char *text)
{
    char path[512], *slash;
    snprintf(path, sizeof path, "%s/%s", home, name);
    slash = strrchr(path, '/');
    *slash = 0;
    assert_int_equal(fs_mkdirs(path, NULL), 0);
    *slash = '/';
    assert_int_equal(fs_write_quick(path, text, strlen(text), NULL), 0);
}

static bool there(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", home, name);
    return access(path, F_OK) == 0;
}

static const char *content(const char *name)
{
    static char text[256];
    char path[512];
    struct buf b = BUF_INIT(sizeof text - 1);
    snprintf(path, sizeof path, "%s/%s", home, name);
    assert_int_equal(fs_read(path, &b, NULL), 0);
    snprintf(text, sizeof text, "%.*s", (int)b.len, b.p ? b.p : "");
    buf_free(&b);
    return text;
}

static int make(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/carol-unit-commands.XXXXXX");
    if (!mkdtemp(home))
        return -1;
    for (size_t i = 0; arm_table[i]; i++) {
        char name[128];
        if (arm_table[i]->library) {
            snprintf(name, sizeof name, "runtime/%s", arm_table[i]->library);
            put(name, "");
        }
        if (arm_table[i]->engine) {
            snprintf(name, sizeof name, "engines/%s", arm_table[i]->engine->program);
            put(name, "carol_next_import"); /* by which our afl-fuzz is known */
        }
        if (arm_table[i]->part) {
            snprintf(name, sizeof name, "engines/%s", arm_table[i]->part);
            put(name, "");
        }
    }
    put("carol", "");
    put("words.dict", "\"word\"\n");
    char *self = fs_join(home, "carol"), *engines = fs_join(home, "engines");
    setenv("CAROL_SELF", self, 1);
    setenv("CAROL_ENGINES", engines, 1);
    free(self);
    free(engines);
    loop = loop_new_virtual(0);
    m = (struct manifest){.kind = TARGET_LIBFUZZER, .dir = home};
    for (int i = 0; i < FAMILY_END; i++)
        m.family[i] = (struct manifest_family){.ok = true, .binary = target};
    return 0;
}

static int drop(void **state)
{
    (void)state;
    loop_free(loop);
    return fs_remove_tree(home, NULL);
}

static struct live *open_arm(struct instance_opts o)
{
    struct instance *in;
    char *dir = fs_join(home, "i");
    o.dir = dir;
    o.target = &m;
    o.timeout_ms = o.timeout_ms ? o.timeout_ms : 1500;
    assert_int_equal(fuzzer_check(&o, NULL), 0);
    assert_int_equal(fuzzer_open(&in, loop, &o, NULL), 0);
    free(dir);
    return (struct live *)in;
}

/* Words from the one with number `from` on, a space behind each. */
static void join(const struct strv *words, size_t from, char *to, size_t size)
{
    to[0] = 0;
    for (size_t i = from; i < words->n; i++)
        snprintf(to + strlen(to), size - strlen(to), "%s ", words->v[i]);
}

static void command(struct live *lv, bool again)
{
    struct strv argv = {0}, env = {0};
    struct err e = {0};
    if (lv->arm->command(lv, again, &argv, &env, &e) < 0)
        fail_msg("%s", e.msg);
    join(&argv, 1, line, sizeof line);
    join(&env, 0, given, sizeof given);
    strv_free(&argv);
    strv_free(&env);
}

static void says(const char *what)
{
    if (!strstr(line, what))
        fail_msg("'%s' is not in '%s'", what, line);
}

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
    m.family[FAMILY_LIBFUZZER].binary = target;
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

/* Seeds become files; none at all, one of a byte. */
static void the_start_corpus(void **state)
{
    (void)state;
    static char bytes[(1 << 20) + 1];
    const struct input seeds[] = {{7, "seven", 5}, {8, "", 0}, {9, "nine", 4}},
                       large = {10, bytes, sizeof bytes};
    for (const char *const *f = (const char *const[]){"aflpp", "honggfuzz", "libfuzzer", NULL}; *f;
         f++) {
        struct live *lv = open_arm((struct instance_opts){.fuzzer = *f});
        assert_int_equal(lv->arm->prepare(lv, seeds, 3, NULL), 0);
        assert_string_equal(content("i/in/s000000000007"), "seven");
        assert_string_equal(content("i/in/s000000000009"), "nine");
        char *dir = fs_join(home, "i"), *in = fs_join(home, "i/in");
        struct strv names = {0};
        assert_int_equal(fs_list(in, &names, NULL), 0);
        assert_int_equal(names.n, 2);
        strv_free(&names);
        lv->in.ops->free(&lv->in);
        assert_int_equal(fs_remove_tree(dir, NULL), 0);
        lv = open_arm((struct instance_opts){.fuzzer = *f});
        assert_int_equal(lv->arm->prepare(lv, &large, 1, NULL), 0); /* no fuzzer takes more */
        char *cut = fs_join(home, "i/in/s000000000010");
        struct stat st;
        assert_true(stat(cut, &st) == 0 && st.st_size == 1 << 20);
        free(cut);
        lv->in.ops->free(&lv->in);
        assert_int_equal(fs_remove_tree(dir, NULL), 0);
        lv = open_arm((struct instance_opts){.fuzzer = *f});
        assert_int_equal(lv->arm->prepare(lv, seeds + 1, 1, NULL), 0);
        assert_int_equal(fs_list(in, &names, NULL), 0);
        assert_int_equal(names.n, 1);
        char *only = fs_join(in, names.v[0]);
        assert_true(stat(only, &st) == 0 && st.st_size == 1);
        free(only);
        strv_free(&names);
        lv->in.ops->free(&lv->in);
        assert_int_equal(fs_remove_tree(dir, NULL), 0);
        free(in);
        free(dir);
    }
}

/* A batch becomes one file, which the library in afl-fuzz takes; it is there once. */
static void inputs_are_handed_over(void **state)
{
    (void)state;
    const struct input two[] = {{7, "seven", 5}, {9, "nine", 4}}, other = {8, "eight", 5};
    const size_t record = sizeof(struct ctl_record);
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "aflpp"});
    assert_int_equal(lv->in.ops->deliver(&lv->in, 3, two, 2, NULL), 0);
    assert_int_equal(lv->in.ops->deliver(&lv->in, 3, &other, 1, NULL), 0);
    assert_int_equal(ctl_get64(&lv->page->gen), 3);
    assert_int_equal(lv->offered, 2);
    char *path = fs_join(home, "i/inbox/3"), *known = fs_join(home, "i/known");
    struct stat st;
    assert_true(stat(known, &st) == 0 && (st.st_mode & 0711) == 0600 && st.st_size == 2 * 8);
    free(known);
    struct buf b = BUF_INIT(4096);
    struct ctl_record r;
    assert_int_equal(fs_read(path, &b, NULL), 0);
    assert_int_equal(b.len, 2 * record + 9);
    memcpy(&r, b.p, record);
    assert_true(r.id == 7 && r.size == 5 && memcmp(b.p + record, "seven", 5) == 0);
    memcpy(&r, b.p + record + 5, record);
    assert_true(r.id == 9 && r.size == 4 && memcmp(b.p + 2 * record + 5, "nine", 4) == 0);
    buf_free(&b);
    free(path);
    lv->in.ops->free(&lv->in);
}

/* Half of what a path may have: afl-fuzz needs the rest. */
static void a_path_may_be_so_long(void **state)
{
    (void)state;
    char path[PATH_MAX];
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[PATH_MAX / 2] = 0;
    assert_int_equal(fuzzer_check_path(path, NULL), 0);
    path[PATH_MAX / 2] = 'x';
    path[PATH_MAX / 2 + 1] = 0;
    assert_true(fuzzer_check_path(path, NULL) < 0);
    assert_true(fuzzer_check_path("/a\nb", NULL) < 0);
    assert_int_equal(fuzzer_check_path("/a b", NULL), 0);
}

static struct live *killed(void)
{
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "aflpp"});
    ctl_set64(&lv->page->execs, 100);
    put("i/out/default/fuzzer_stats", "");
    return lv;
}

/* afl-fuzz counts its queue: no number may be missing, and no file be empty. */
static void a_queue_is_mended(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/queue/id:000000,time:0", "a");
    put("i/out/default/queue/id:000001,time:1", "");
    put("i/out/default/queue/id:000004,time:4", "d");
    put("i/out/default/queue/id:000005,time:5", "");
    put("i/out/default/queue/id:000006,time:6", "");
    command(lv, true);
    says("-i - -o out ");
    assert_string_equal(content("i/out/default/queue/id:000001,time:1"), "0");
    assert_true(there("i/out/default/queue/id:000002,time:0,execs:0,orig:hole"));
    assert_true(there("i/out/default/queue/id:000003,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/queue/id:000000,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/queue/id:000001,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/queue/id:000004,time:0,execs:0,orig:hole"));
    assert_string_equal(content("i/out/default/queue/id:000004,time:4"), "d");
    assert_false(there("i/out/default/queue/id:000005,time:5"));
    assert_false(there("i/out/default/queue/id:000006,time:6"));
    lv->in.ops->free(&lv->in);
}

/* A queue of twelve that is whole stays as it is. */
static void a_whole_queue_is_left_alone(void **state)
{
    (void)state;
    struct live *lv = killed();
    struct strv names = {0};
    char name[64], *queue = fs_join(home, "i/out/default/queue");
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "i/out/default/queue/id:%06d,time:%d", i, i);
        put(name, "x");
    }
    put("i/out/default/queue/other", "");
    command(lv, true);
    assert_int_equal(fs_list(queue, &names, NULL), 0);
    assert_int_equal(names.n, 12 + 1);
    assert_string_equal(content("i/out/default/queue/id:000011,time:11"), "x");
    strv_free(&names);
    free(queue);
    lv->in.ops->free(&lv->in);
}

/* Killed while it removed _resume: queue is complete but for what was not linked yet. */
static void what_it_was_removing_goes_back(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/queue/id:000001,time:1", "a");
    put("i/out/default/_resume/id:000000,time:0", "first");
    put("i/out/default/_resume/id:000001,time:1", "other");
    put("i/out/default/_resume/id:000002,time:2", "b");
    command(lv, true);
    assert_false(there("i/out/default/_resume"));
    assert_string_equal(content("i/out/default/queue/id:000000,time:0"), "first");
    assert_string_equal(content("i/out/default/queue/id:000001,time:1"), "a");
    assert_string_equal(content("i/out/default/queue/id:000002,time:2"), "b");
    lv->in.ops->free(&lv->in);
}

/* Killed before that: _resume is what it will read. */
static void what_it_reads_is_mended(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/_resume/.state/deterministic_done/x", "");
    put("i/out/default/_resume/id:000001,time:1", "b");
    put("i/out/default/crashes/id:000000,sig:06", "c");
    put("i/out/default/crashes.0/id:000000,sig:06", "older");
    command(lv, true);
    assert_true(there("i/out/default/_resume/id:000000,time:0,execs:0,orig:hole"));
    assert_false(there("i/out/default/crashes"));
    assert_string_equal(content("i/out/default/crashes.1/id:000000,sig:06"), "c");
    lv->in.ops->free(&lv->in);
}

/* It saved an import and was killed before it wrote that down. */
static void the_import_in_flight_is_written_down(void **state)
{
    (void)state;
    struct live *lv = killed();
    put("i/out/default/queue/id:000000,time:0,orig:s1", "a");
    put("i/out/default/queue/id:000001,time:1", "b");
    ctl_set64(&lv->page->inflight, 42);
    command(lv, true); /* the first */
    char *path = fs_join(home, "i/export");
    struct stat st;
    assert_string_equal(content("i/export"), "\n41 id:000001,time:1\n");
    assert_true(stat(path, &st) == 0 && (st.st_mode & 0711) == 0600);
    free(path);
    put("i/export", "12 id:0000");
    ctl_set64(&lv->page->inflight, 43);
    command(lv, true);
    assert_string_equal(content("i/export"), "12 id:0000\n42 id:000001,time:1\n");
    assert_int_equal(ctl_get64(&lv->page->inflight), 0);
    ctl_set64(&lv->page->inflight, 44);
    command(lv, true); /* that one is listed */
    assert_string_equal(content("i/export"), "12 id:0000\n42 id:000001,time:1\n");
    put("i/out/default/queue/id:000002,time:0,orig:s2", "c");
    ctl_set64(&lv->page->inflight, 45);
    command(lv, true); /* one of the start */
    assert_string_equal(content("i/export"), "12 id:0000\n42 id:000001,time:1\n");
    assert_int_equal(ctl_get64(&lv->page->inflight), 0);
    lv->in.ops->free(&lv->in);
}

static void without_a_queue_it_starts_anew(void **state)
{
    (void)state;
    struct live *lv = open_arm((struct instance_opts){.fuzzer = "aflpp"});
    command(lv, true);
    says("-i in -o out ");
    struct strv names = {0};
    char *in = fs_join(home, "i/in");
    assert_int_equal(fs_list(in, &names, NULL), 0);
    assert_int_equal(names.n, 1);
    char *only = fs_join(in, names.v[0]);
    struct stat st;
    assert_int_equal(stat(only, &st), 0);
    assert_int_equal(st.st_size, 1);
    free(only);
    strv_free(&names);
    free(in);
    lv->in.ops->free(&lv->in);
}

int main(void)
{
    log_set_level(LOG_NONE);
#define T(name) cmocka_unit_test_setup_teardown(name, make, drop)
    const struct CMUnitTest tests[] = {
        T(targets_of_every_kind),
        T(limits_and_words),
        T(mopt_starts_with_its_first_entry),
        T(the_environment_of_afl_fuzz),
        T(further_instances_vary),
        T(the_environment_is_ours_but_for),
        T(honggfuzz_goes_on),
        T(libfuzzer_is_the_target),
        T(what_libfuzzer_cannot_run),
        T(a_missing_file_is_named),
        T(one_for_all_modes),
        T(a_diagnosis),
        T(what_cannot_be_opened),
        T(the_start_corpus),
        T(inputs_are_handed_over),
        T(a_path_may_be_so_long),
        T(a_queue_is_mended),
        T(a_whole_queue_is_left_alone),
        T(what_it_was_removing_goes_back),
        T(what_it_reads_is_mended),
        T(the_import_in_flight_is_written_down),
        T(without_a_queue_it_starts_anew),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
