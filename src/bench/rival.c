/* rival: the table of rivals, and how each is started.  Runs none of them. */
#include "bench/rival.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/where.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAP_MIN 65536 /* below, afl-fuzz takes every seed for a crash */

static void pair(struct strv *argv, const char *option, char *value)
{
    strv_add(argv, option);
    strv_take(argv, value);
}

/* The target and its own words; mark stands for the input's name. */
static void add_target(const struct rival_start *s, enum family f, const char *mark,
                       struct strv *argv)
{
    struct strv words = {0};
    strv_add(argv, "--");
    strv_add(argv, s->target->family[f].binary);
    if (s->target->args)
        strv_split(&words, s->target->args, '\n');
    else if (s->target->kind == TARGET_FILE)
        strv_add(&words, "@@");
    for (size_t i = 0; i < words.n; i++)
        strv_add(argv, strcmp(words.v[i], "@@") == 0 ? mark : words.v[i]);
    strv_free(&words);
}

static void afl_environment(const struct rival_start *s, struct strv *env)
{
    static const char *const fixed[] = {"AFL_NO_UI=1",
                                        "AFL_NO_AFFINITY=1", /* we pin it */
                                        "AFL_SKIP_CPUFREQ=1",
                                        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1",
                                        "AFL_NO_CRASH_README=1",
                                        "AFL_FORKSRV_INIT_TMOUT=30000",
                                        NULL};
    for (size_t i = 0; fixed[i]; i++)
        strv_add(env, fixed[i]);
    uint64_t map = s->target->family[FAMILY_AFL].map_size,
             more = s->target->family[FAMILY_CMPLOG].map_size;
    map = more > map ? more : map;
    strv_addf(env, "AFL_MAP_SIZE=%llu", (unsigned long long)(map > MAP_MIN ? map : MAP_MIN));
}

/* Alone, or one -M and the others -S.  The time limit is its own, by the seeds, as Carol's is (METHOD R22a). */
static void afl_common(const struct rival_start *s, int i, bool cmplog, struct strv *argv,
                       struct strv *env)
{
    strv_take(argv, where_engine("afl/afl-fuzz"));
    pair(argv, "-i", xstrdup(s->seeds));
    pair(argv, "-o", xstrdup("out"));
    pair(argv, "-m", str_fmt("%llu", (unsigned long long)s->memory_mb));
    if (s->dict)
        pair(argv, "-x", xstrdup(s->dict));
    if (s->cores > 1)
        pair(argv, i == 0 ? "-M" : "-S", str_fmt("f%d", i));
    if (cmplog)
        pair(argv, "-c", xstrdup(s->target->family[FAMILY_CMPLOG].binary));
    add_target(s, FAMILY_AFL, "@@", argv);
    afl_environment(s, env);
}

static void afl_command(const struct rival_start *s, int i, struct strv *argv, struct strv *env)
{
    afl_common(s, i, false, argv, env);
}

static void cmplog_command(const struct rival_start *s, int i, struct strv *argv, struct strv *env)
{
    afl_common(s, i, true, argv, env);
}

/* It knows whole seconds only. */
static unsigned seconds_up(uint32_t ms)
{
    return (ms + 999) / 1000;
}

static void honggfuzz_command(const struct rival_start *s, int i, struct strv *argv,
                              struct strv *env)
{
    (void)i;
    (void)env;
    strv_take(argv, where_engine("honggfuzz/honggfuzz"));
    strv_add(argv, "-v");
    pair(argv, "-n", str_fmt("%d", s->cores));
    pair(argv, "-i", xstrdup(s->seeds));
    pair(argv, "-o", xstrdup("out"));
    pair(argv, "-W", xstrdup("tmp"));
    pair(argv, "-t", str_fmt("%u", seconds_up(s->timeout_ms)));
    pair(argv, "--rlimit_as", str_fmt("%llu", (unsigned long long)s->memory_mb));
    if (s->dict)
        pair(argv, "-w", xstrdup(s->dict));
    if (s->target->kind == TARGET_LIBFUZZER)
        strv_add(argv, "-P");
    else if (s->target->kind == TARGET_STDIN)
        strv_add(argv, "-s");
    add_target(s, FAMILY_HFUZZ, "___FILE___", argv);
}

static void libfuzzer_command(const struct rival_start *s, int i, struct strv *argv,
                              struct strv *env)
{
    (void)i;
    (void)env;
    strv_add(argv, s->target->family[FAMILY_LIBFUZZER].binary);
    strv_addf(argv, "-fork=%d", s->cores);
    strv_add(argv, "-ignore_crashes=1");
    strv_add(argv, "-ignore_timeouts=1");
    strv_add(argv, "-ignore_ooms=1");
    strv_addf(argv, "-timeout=%u", seconds_up(s->timeout_ms));
    strv_addf(argv, "-rss_limit_mb=%llu", (unsigned long long)s->memory_mb);
    strv_addf(argv, "-seed=%llu", (unsigned long long)(s->seed & 0x7fffffff));
    strv_add(argv, "-artifact_prefix=tmp/");
    if (s->dict)
        strv_addf(argv, "-dict=%s", s->dict);
    strv_add(argv, "out");
    strv_add(argv, s->seeds);
}

const struct rival rivals[] = {
    {.name = "aflpp",
     .summary = "afl-fuzz as shipped; on several cores -M and -S",
     .family = FAMILY_AFL,
     .engine = "afl/afl-fuzz",
     .per_core = true,
     .command = afl_command,
     .kept = "out",
     .inner = "queue"},
    {.name = "aflpp-cmplog",
     .summary = "the same with -c and a CmpLog build",
     .family = FAMILY_AFL,
     .more = FAMILY_CMPLOG,
     .engine = "afl/afl-fuzz",
     .per_core = true,
     .command = cmplog_command,
     .kept = "out",
     .inner = "queue"},
    {.name = "honggfuzz",
     .summary = "honggfuzz, a thread per core",
     .family = FAMILY_HFUZZ,
     .engine = "honggfuzz/honggfuzz",
     .own_proc = true,
     .command = honggfuzz_command,
     .kept = "out"},
    {.name = "libfuzzer",
     .summary = "libFuzzer, -fork=CORES",
     .family = FAMILY_LIBFUZZER,
     .deaf = true,
     .command = libfuzzer_command,
     .kept = "out"},
    {.name = NULL},
};

const struct rival *rival_find(const char *name)
{
    for (const struct rival *r = rivals; r->name; r++)
        if (strcmp(name, r->name) == 0)
            return r;
    return NULL;
}

char *rival_list(void)
{
    struct buf b = BUF_INIT(4096);
    for (const struct rival *r = rivals; r->name; r++)
        buf_printf(&b, "%s%s", b.len ? ", " : "", r->name);
    return buf_take(&b);
}

/* "id:000012,src:000003,time:1234,execs:99,...": milliseconds; -1: there is none. */
static int64_t time_in_name(const char *path)
{
    const char *base = strrchr(path, '/'), *at = strstr(base ? base : path, ",time:");
    return at ? (int64_t)strtoll(at + strlen(",time:"), NULL, 10) : -1;
}

static void add_files(const char *dir, int64_t began_ns, struct kept **list, size_t *n, size_t *cap)
{
    struct strv names = {0};
    if (!fs_is_dir(dir) || fs_list(dir, &names, NULL) < 0)
        names.n = 0;
    for (size_t i = 0; i < names.n; i++) {
        struct stat st;
        char *path = fs_join(dir, names.v[i]);
        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || names.v[i][0] == '.') {
            free(path);
            continue;
        }
        int64_t ms = time_in_name(path),
                at = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec - began_ns;
        XGROW(*list, *n, *cap);
        (*list)[(*n)++] = (struct kept){path, ms >= 0 ? ms * 1000000 : at < 0 ? 0 : at};
    }
    strv_free(&names);
}

int rival_kept(const struct rival *r, const char *dir, int64_t began_ns, struct kept **list,
               size_t *n, struct err *e)
{
    struct strv names = {0};
    size_t cap = 0;
    char *top = fs_join(dir, r->kept);
    *list = NULL;
    *n = 0;
    int rc = fs_list(top, &names, e);
    if (rc == 0 && !r->inner)
        add_files(top, began_ns, list, n, &cap);
    for (size_t i = 0; rc == 0 && r->inner && i < names.n; i++) {
        char *inner = str_fmt("%s/%s/%s", top, names.v[i], r->inner);
        add_files(inner, began_ns, list, n, &cap);
        free(inner);
    }
    strv_free(&names);
    free(top);
    return rc;
}

void kept_free(struct kept *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].path);
    free(list);
}
