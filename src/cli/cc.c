/* cc: the carol binary called as carol-cc or carol-c++: becomes the compiler of one family.  Decides
 * nothing itself; the rules are in target/wrapper.c. */
#include "cli/cli.h"
#include "target/family.h"
#include "target/wrapper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Variables that would change the code a compiler makes, and that only Carol may set. */
static void clean_environment(void)
{
    static const char *const prefixes[] = {"AFL_", "LAF_", "HFUZZ_", "CCACHE_"};
    extern char **environ;
    struct strv names = {0};
    for (char **v = environ; *v; v++)
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (str_starts(*v, prefixes[i]))
                strv_addf(&names, "%.*s", (int)strcspn(*v, "="), *v);
    for (size_t i = 0; i < names.n; i++)
        unsetenv(names.v[i]);
    strv_free(&names);
    setenv("CCACHE_DISABLE", "1", 1);
}

static const char *ccache_program(void)
{
    return getenv("CAROL_CCACHE_DIR") && getenv("CAROL_CCACHE_KEY") ? getenv("CAROL_CCACHE") : NULL;
}

/* Only what the build says of ccache counts (target/plan.c). */
static void set_ccache(void)
{
    char *check = str_fmt("string:%s", getenv("CAROL_CCACHE_KEY"));
    setenv("CCACHE_CONFIGPATH", "/dev/null", 1);
    setenv("CCACHE_DIR", getenv("CAROL_CCACHE_DIR"), 1);
    setenv("CCACHE_COMPILERCHECK", check, 1);
    setenv("CCACHE_COMPILERTYPE", "clang", 1);
    unsetenv("CCACHE_DISABLE");
    free(check);
}

/* Compilers allocate millions of small pieces: these settings of the C library save them several percent of their
 * time, and change nothing in what they write. */
static void tune_malloc(void)
{
    setenv("GLIBC_TUNABLES",
           "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:glibc.malloc.mxfast=0:"
           "glibc.malloc.tcache_count=2000",
           0);
}

int cli_cc(char **words, bool cxx)
{
    struct err e = {0};
    const char *name = getenv("CAROL_FAMILY");
    enum family f = name ? family_of(name) : FAMILY_NONE;
    if (f == FAMILY_NONE) {
        err_usage(&e,
                  "%s compiles for one family, named by CAROL_FAMILY (afl, laf, hfuzz, neutral, "
                  "asan, plain, cmplog, libfuzzer, source); 'carol build' sets it",
                  cxx ? "carol-c++" : "carol-cc");
        return cli_fail(&e);
    }
    struct family_kit k;
    struct strv out = {0};
    struct wrapper_job job = {.from = getenv("CAROL_SRC_COPY"),
                              .to = getenv("CAROL_SRC_NAME"),
                              .check_entry = getenv("CAROL_CHECK_ENTRY") != NULL,
                              .ccache = ccache_program()};
    if (family_kit_init(&k, f, &e) < 0 ||
        wrapper_rewrite(&k, (const char *const *)words, cxx, &job, &out, &e) < 0)
        return cli_fail(&e);
    clean_environment();
    tune_malloc();
    for (size_t i = 0; i < k.env.n; i++)
        putenv(k.env.v[i]); /* the kit is never freed: this process becomes the compiler */
    if (getenv("CAROL_WORDS"))
        setenv("AFL_LLVM_DICT2FILE", getenv("CAROL_WORDS"), 1);
    if (job.ccache && strcmp(out.v[0], job.ccache) == 0)
        set_ccache();
    execv(out.v[0], out.v);
    err_env(&e, "cannot run %s: %s", out.v[0], strerror(errno));
    return cli_fail(&e);
}
