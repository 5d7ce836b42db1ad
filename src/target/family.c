/* family: names, compilers, flags and archives of the families, one row each.  Runs no build. */
#include "target/family.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/where.h"
#include "target/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_words(struct strv *l, const char *words)
{
    strv_split(l, words, ' ');
}

/* A file that must be there; remembered, because a change of it must rebuild. */
static int need(struct family_kit *k, char *path, const char *fix, struct err *e)
{
    int rc = 0;
    if (!fs_exists(path))
        rc = err_env(e, "family %s needs %s, which is not there: %s", family_name(k->family), path,
                     fix);
    strv_take(&k->files, path);
    return rc;
}

static int need_engine(struct family_kit *k, const char *name, struct err *e)
{
    return need(k, where_engine(name),
                "run 'make engines' in Carol's source tree, or name a directory that has the "
                "engines with CAROL_ENGINES",
                e);
}

static int need_runtime(struct family_kit *k, const char *name, struct err *e)
{
    return need(k, where_runtime(name), "build Carol with 'make', or install it whole", e);
}

/* The word after `mark` in what the program prints for `flag`. */
static char *ask_version(const char *program, const char *flag, const char *mark)
{
    struct buf out = BUF_INIT(1 << 16);
    const char *argv[] = {program, flag, NULL};
    char *word = NULL;
    int rc = run_capture(argv, NULL, 60, &out, NULL);
    char *at = rc != -ETIME && out.p ? strstr(out.p, mark) : NULL; /* usage texts exit with 1 */
    if (at) {
        at += strlen(mark);
        word = str_fmt("%.*s", (int)strcspn(at, " \n\t(\033"), at);
    }
    buf_free(&out);
    return word ? word : xstrdup("of unknown version");
}

/* All families ask the same two programs: each is run once. */
static const char *version_word(const char *program, const char *flag, const char *mark)
{
    static struct {
        char *program, *word;
    } known[4];
    static size_t n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(known[i].program, program) == 0)
            return known[i].word;
    size_t i = n < 4 ? n++ : 3;
    free(known[i].program);
    free(known[i].word);
    known[i].program = xstrdup(program);
    known[i].word = ask_version(program, flag, mark);
    return known[i].word;
}

/* clang-19 and its clang++-19; the neutral family can also do with 16 (same tables). */
static int find_clang(struct family_kit *k, struct err *e)
{
    const char *own = getenv("CAROL_CLANG");
    k->clang = own && *own ? run_find(own) : run_find("clang-19");
    if (!k->clang && !own && k->family == FAMILY_NEUTRAL)
        k->clang = run_find("clang-16");
    if (!k->clang)
        return err_env(e,
                       "%s is not installed, and every family is compiled with it: "
                       "sudo apt-get install clang-19 lld-19 (or 'make setup')",
                       own && *own ? own : "clang-19");
    char *slash = strrchr(k->clang, '/'), *base = slash ? slash + 1 : k->clang;
    k->cc = xstrdup(k->clang);
    k->cxx = str_fmt("%.*sclang++%s", (int)(base - k->clang), k->clang,
                     str_starts(base, "clang") ? base + 5 : "");
    return 0;
}

static const char all_flags[] = "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1 "
                                "-Wno-unused-command-line-argument";

static int init_plain(struct family_kit *k, struct err *e)
{
    int rc = need_runtime(k, "libcaroldrv.a", e);
    k->engine = where_runtime("libcaroldrv.a");
    add_words(&k->compile, "-gline-tables-only");
    if (k->family == FAMILY_ASAN) {
        /* Checks are calls, which take a quarter less time to compile; only triage runs them.  lld links faster than ld. */
        add_words(&k->compile, "-fsanitize=address -fno-omit-frame-pointer "
                               "-fno-optimize-sibling-calls "
                               "-mllvm -asan-instrumentation-with-call-threshold=0");
        add_words(&k->link, "-fsanitize=address -fuse-ld=lld");
        strv_add(&k->env, "ASAN_OPTIONS=detect_leaks=0");
    }
    strv_add(&k->with_engine, k->engine);
    return rc;
}

static int init_afl(struct family_kit *k, struct err *e)
{
    static const char *const used[] = {"afl/afl-cc",
                                       "afl/afl-clang-fast",
                                       "afl/afl-clang-fast++",
                                       "afl/libAFLDriver.a",
                                       "afl/afl-compiler-rt.o",
                                       "afl/SanitizerCoveragePCGUARD.so",
                                       "afl/split-switches-pass.so",
                                       "afl/split-compares-pass.so"};
    static const char *const cmplog[] = {"afl/cmplog-instructions-pass.so",
                                         "afl/cmplog-routines-pass.so",
                                         "afl/cmplog-switches-pass.so"};
    int rc = 0;
    for (size_t i = 0; i < sizeof used / sizeof *used && rc == 0; i++)
        rc = need_engine(k, used[i], e);
    for (size_t i = 0; i < 3 && rc == 0 && k->family == FAMILY_CMPLOG; i++)
        rc = need_engine(k, cmplog[i], e);
    free(k->cc);
    free(k->cxx);
    k->cc = where_engine("afl/afl-clang-fast");
    k->cxx = where_engine("afl/afl-clang-fast++");
    k->engine = where_engine("afl/libAFLDriver.a");
    strv_take(&k->env, where_engine("afl"));
    char *path = k->env.v[0];
    k->env.v[0] = str_fmt("AFL_PATH=%s", path);
    free(path);
    strv_add(&k->env, "AFL_QUIET=1");
    /* What afl-clang-fast adds by itself, but without its -g: nobody reads these builds' debug info. */
    strv_add(&k->env, "AFL_DONT_OPTIMIZE=1");
    strv_add(&k->first, "-O3");
    add_words(&k->compile, "-funroll-loops -g0");
    if (k->family == FAMILY_LAF) { /* not TRANSFORM_COMPARES: it miscompiles string comparisons */
        strv_add(&k->env, "AFL_LLVM_LAF_SPLIT_SWITCHES=1");
        strv_add(&k->env, "AFL_LLVM_LAF_SPLIT_COMPARES=1");
    }
    if (k->family == FAMILY_CMPLOG)
        strv_add(&k->env, "AFL_LLVM_CMPLOG=1");
    strv_add(&k->with_engine, k->engine);
    return rc;
}

/* LLVMFuzzerMutate, for harnesses with a mutator of their own, where the engine has none. */
static int add_mutate(struct family_kit *k, struct err *e)
{
    strv_take(&k->with_engine, where_runtime("libcaroldrv.a"));
    return need_runtime(k, "libcaroldrv.a", e);
}

static int add_hfuzz_tail(struct strv *to, const char *archive, const char *wraps, struct err *e)
{
    struct buf b = BUF_INIT(1 << 16);
    struct strv words = {0};
    char *path = where_engine(wraps);
    int rc = fs_read(path, &b, e);
    if (rc == 0)
        strv_split(&words, b.p, '\n');
    for (size_t i = 0; i < words.n; i++)
        strv_addf(to, "-Wl,--wrap=%s", words.v[i]);
    strv_free(&words);
    buf_free(&b);
    free(path);
    add_words(to, "-Wl,-u,LIBHFUZZ_module_instrument -Wl,-u,LIBHFUZZ_module_memorycmp");
    strv_take(to, where_engine(archive));
    strv_take(to, where_engine("honggfuzz/libhfcommon.a"));
    add_words(to, "-pthread -ldl -lrt");
    return rc;
}

/* Links without the engine get an archive whose stand-ins for other libraries' functions are
 * hidden: with them a configure script believes that the C library has strlcpy and the like. */
static int init_hfuzz(struct family_kit *k, struct err *e)
{
    static const char *const used[] = {"honggfuzz/libhfuzz.a", "honggfuzz/libhfcommon.a",
                                       "honggfuzz/libhfuzz-probe.a", "honggfuzz/wrap-full.txt",
                                       "honggfuzz/wrap-probe.txt"};
    int rc = 0;
    for (size_t i = 0; i < sizeof used / sizeof *used && rc == 0; i++)
        rc = need_engine(k, used[i], e);
    k->engine = where_engine("honggfuzz/libhfuzz.a");
    add_words(&k->compile,
              "-fno-builtin -fno-omit-frame-pointer -D__NO_STRING_INLINES "
              "-mllvm -inline-threshold=1000 -g0 "
              "-fsanitize-coverage=trace-pc-guard,trace-cmp,trace-div,indirect-calls,trace-gep,"
              "stack-depth -fno-sanitize-link-runtime");
    add_words(&k->link, "-fno-sanitize-link-runtime");
    if (rc == 0)
        rc = add_hfuzz_tail(&k->with_engine, "honggfuzz/libhfuzz.a", "honggfuzz/wrap-full.txt", e);
    if (rc == 0)
        rc = add_hfuzz_tail(&k->without_engine, "honggfuzz/libhfuzz-probe.a",
                            "honggfuzz/wrap-probe.txt", e);
    return rc < 0 ? rc : add_mutate(k, e);
}

/* The pass that notes the words of a target (target/words.h), of our own engines only: it fits clang-19 and no other, and
 * Debian's, which may stand in for ours, fits another.  It reads only: this family, without inlining, unrolling and
 * builtins, is the one where comparisons are still whole. */
static void add_words_pass(struct family_kit *k)
{
    char *pass = where_engine("afl/afl-llvm-dict2file.so"), *made = where_engine("engines.json");
    k->words = fs_exists(pass) && fs_exists(made) &&
               str_starts(version_word(k->clang, "--version", "clang version "), "19.");
    if (k->words) {
        strv_addf(&k->compile, "-fpass-plugin=%s", pass);
        strv_take(&k->files, pass);
    } else {
        free(pass);
    }
    free(made);
}

static int init_neutral(struct family_kit *k, struct err *e)
{
    int rc = need_runtime(k, "libcarolcov.a", e);
    k->engine = where_runtime("libcarolcov.a");
    add_words(&k->compile,
              "-O2 -fno-unroll-loops -fno-inline -fno-builtin -U_FORTIFY_SOURCE -g0 "
              "-fsanitize-coverage=inline-bool-flag,pc-table,control-flow,no-prune,indirect-calls "
              "-fno-sanitize-link-runtime");
    add_words_pass(k);
    add_words(&k->link, "-fno-sanitize-link-runtime -fuse-ld=lld -Wl,--gc-sections "
                        "-Wl,-z,pack-relative-relocs "
                        "-Wl,--export-dynamic-symbol=__sanitizer_cov_*");
    strv_add(&k->with_engine, k->engine);
    strv_add(&k->without_engine, k->engine);
    return rc < 0 ? rc : add_mutate(k, e);
}

/* clang's own engine: asked for and linked by a flag, not by an archive.  The arm's control library calls its mutator. */
static int init_libfuzzer(struct family_kit *k, struct err *e)
{
    (void)e;
    k->engine = xstrdup("-fsanitize=fuzzer");
    add_words(&k->compile, "-gline-tables-only -fsanitize=fuzzer-no-link");
    add_words(&k->link, "-fsanitize=fuzzer-no-link -Wl,--export-dynamic-symbol=LLVMFuzzerMutate");
    strv_add(&k->with_engine, k->engine);
    return 0;
}

/* clang's source coverage.  Relocated counters can live in a file that the running program has mapped, so what a
 * crash, an _exit or a kill cut off is counted too (LLVM_PROFILE_FILE with %c). */
static int init_source(struct family_kit *k, struct err *e)
{
    int rc = init_plain(k, e);
    add_words(&k->compile, "-fprofile-instr-generate -fcoverage-mapping "
                           "-mllvm -runtime-counter-relocation");
    add_words(&k->link, "-fprofile-instr-generate");
    strv_add(&k->env, "LLVM_PROFILE_FILE=/dev/null"); /* what a build runs leaves no profile */
    return rc;
}

/* Scripts branch on the engine; a family without a fuzzer of its own looks like libFuzzer to them. */
static const struct row {
    const char *name, *engine, *sanitizer;
    const char *use; /* family_use */
    int (*init)(struct family_kit *k, struct err *e);
    bool extra;  /* not among "all" */
    bool fuzzed; /* family_is_fuzzed, though it has a use beside */
    bool second; /* not family_is_fuzzed: its fuzzer needs another, too */
} rows[FAMILY_END] = {
    [FAMILY_NONE] = {"none", "none", "none", "nobody", init_plain},
    [FAMILY_AFL] = {"afl", "afl", "none", NULL, init_afl},
    [FAMILY_LAF] = {"laf", "afl", "none", NULL, init_afl},
    [FAMILY_HFUZZ] = {"hfuzz", "honggfuzz", "none", NULL, init_hfuzz},
    [FAMILY_NEUTRAL] = {"neutral", "libfuzzer", "none", "the coverage that every find is judged by",
                        init_neutral},
    [FAMILY_ASAN] = {"asan", "libfuzzer", "address", "reports of defects", init_plain},
    [FAMILY_PLAIN] = {"plain", "libfuzzer", "none", "confirmation of defects", init_plain},
    [FAMILY_CMPLOG] = {"cmplog", "afl", "none", NULL, init_afl, .second = true},
    [FAMILY_LIBFUZZER] = {"libfuzzer", "libfuzzer", "none",
                          "also libFuzzer in 'carol bench'; only when named", init_libfuzzer, true,
                          true},
    [FAMILY_SOURCE] = {"source", "libfuzzer", "none",
                       "the lines of source in 'carol coverage'; only when named", init_source,
                       true},
};

const enum family family_by_cost[FAMILY_END - 1] = {
    FAMILY_LAF,     FAMILY_HFUZZ,  FAMILY_CMPLOG, FAMILY_LIBFUZZER, FAMILY_AFL,
    FAMILY_NEUTRAL, FAMILY_SOURCE, FAMILY_ASAN,   FAMILY_PLAIN,
};

static const struct row *row_of(enum family f)
{
    return &rows[f > FAMILY_NONE && f < FAMILY_END ? f : FAMILY_NONE];
}

const char *family_name(enum family f)
{
    return row_of(f)->name;
}

const char *family_sanitizer(enum family f)
{
    return row_of(f)->sanitizer;
}

const char *family_engine(enum family f)
{
    return row_of(f)->engine;
}

bool family_is_afl(enum family f)
{
    return strcmp(family_engine(f), "afl") == 0;
}

const char *family_use(enum family f)
{
    return row_of(f)->use;
}

bool family_is_fuzzed(enum family f)
{
    return f > FAMILY_NONE && f < FAMILY_END && !rows[f].second && (rows[f].fuzzed || !rows[f].use);
}

enum family family_of(const char *name)
{
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        if (strcmp(name, rows[f].name) == 0)
            return (enum family)f;
    return FAMILY_NONE;
}

int family_parse_list(const char *list, bool on[FAMILY_END], struct err *e)
{
    struct buf all = BUF_INIT(1024);
    struct strv words = {0};
    int rc = 0;
    bool every = strcmp(list, "all") == 0;
    for (int f = 0; f < FAMILY_END; f++)
        on[f] = every && f != FAMILY_NONE && !rows[f].extra;
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        buf_printf(&all, "%s%s", all.len ? ", " : "", rows[f].name);
    if (!every)
        strv_split(&words, list, ',');
    for (size_t i = 0; i < words.n && rc == 0; i++) {
        enum family f = family_of(words.v[i]);
        on[f] = true;
        if (f == FAMILY_NONE)
            rc = err_usage(e, "there is no family '%s'; the families are %s", words.v[i], all.p);
    }
    if (rc == 0 && !words.n && !every)
        rc = err_usage(e, "--families is empty; give some of %s", all.p);
    strv_free(&words);
    buf_free(&all);
    return rc;
}

int family_kit_init(struct family_kit *k, enum family f, struct err *e)
{
    *k = (struct family_kit){.family = f};
    int rc = find_clang(k, e);
    add_words(&k->compile, all_flags);
    if (rc == 0)
        rc = row_of(f)->init(k, e);
    if (rc < 0)
        family_kit_free(k);
    return rc;
}

void family_kit_free(struct family_kit *k)
{
    free(k->clang);
    free(k->cc);
    free(k->cxx);
    free(k->engine);
    struct strv *lists[] = {&k->first,          &k->compile, &k->link, &k->with_engine,
                            &k->without_engine, &k->env,     &k->files};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        strv_free(lists[i]);
    *k = (struct family_kit){0};
}

char *family_compiler(const struct family_kit *k)
{
    const char *version = version_word(k->clang, "--version", "clang version ");
    const char *base = strrchr(k->clang, '/');
    char *clang = str_fmt("%s %s", base ? base + 1 : k->clang, version), *all = clang;
    if (family_is_afl(k->family)) {
        char *fuzz = where_engine("afl/afl-fuzz");
        all = str_fmt("afl-clang-fast %s (%s)", version_word(fuzz, "-V", "++"), clang);
        free(fuzz);
        free(clang);
    }
    return all;
}
