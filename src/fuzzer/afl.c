/* afl: lays out afl-fuzz's directory, builds its command and its environment, hands imports over.  What
 * it found is read in afl_harvest.c. */
#include "fuzzer/afl.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/where.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/inbox.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FALLBACK "z-fallback"       /* sorts behind the seeds, whose numbers then stay the same */
#define MAP_MIN 65536               /* below, afl-fuzz takes every seed for a crash */
#define INPUT_MAX ((size_t)1 << 20) /* afl-fuzz's MAX_FILE */

const struct engine afl_engine = {"afl/afl-fuzz", "--version", "afl-fuzz++"};

/* Does the program contain this text, by which builds of it can be told apart?  A script that starts another may. */
static bool program_has(const char *text)
{
    char *path = where_engine(afl_engine.program);
    struct buf b = BUF_INIT((size_t)64 << 20);
    bool has = fs_read(path, &b, NULL) == 0 &&
               (memmem(b.p, b.len, text, strlen(text)) || (b.len > 1 && memcmp(b.p, "#!", 2) == 0));
    buf_free(&b);
    free(path);
    return has;
}

int afl_need_change(const char *symbol, const char *lacks, const char *otherwise, struct err *e)
{
    if (program_has(symbol))
        return 0;
    char *path = where_engine(afl_engine.program);
    int rc = err_env(e,
                     "%s %s: that takes the afl-fuzz that `make engines` builds; leave --engines "
                     "out, or %s",
                     path, lacks, otherwise);
    free(path);
    return rc;
}

int afl_check(const struct instance_opts *o, struct err *e)
{
    (void)o;
    return afl_need_change("carol_next_import", "takes no imports between its executions",
                           "leave the fuzzers on afl-fuzz out of -f", e);
}

static int write_seed(const char *dir, const char *name, const void *data, size_t n, struct err *e)
{
    char *path = fs_join(dir, name);
    int rc = fs_write_quick(path, data, n, e);
    free(path);
    return rc;
}

int afl_prepare(struct live *lv, const struct input *seeds, size_t n, struct err *e)
{
    char *in = fs_join(lv->o.dir, "in");
    size_t usable = 0;
    int rc = fs_mkdirs(in, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        char name[32];
        if (seeds[i].size == 0)
            continue; /* afl-fuzz does not read empty files */
        snprintf(name, sizeof name, "s%012lld", (long long)seeds[i].id);
        rc = write_seed(in, name, seeds[i].data,
                        seeds[i].size < INPUT_MAX ? seeds[i].size : INPUT_MAX, e);
        usable++;
    }
    if (rc == 0 && usable == 0)
        rc = write_seed(in, FALLBACK, "0", 1, e);
    if (rc == 0)
        rc = inbox_known_add(lv->o.dir, seeds, n, e);
    free(in);
    return rc;
}

/* Move crashes/ or hangs/ aside under the next free number.  afl-fuzz would do so under a name of one
 * second's resolution and delete them when that name is taken. */
static void move_aside(const char *out, const char *what)
{
    char *from = fs_join(out, what);
    if (rmdir(from) < 0 && errno != ENOENT)
        for (int n = 0; n < 1000000; n++) {
            char *to = str_fmt("%s.%d", from, n);
            bool done = !fs_exists(to) && rename(from, to) == 0;
            free(to);
            if (done)
                break;
        }
    free(from);
}

static bool is_empty(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 || st.st_size == 0;
}

/* One of the queue's numbers is missing, or its file empty: put something in its place. */
static void fill_hole(const char *dir, long long id, const char *name)
{
    char *path =
        name ? fs_join(dir, name) : str_fmt("%s/id:%06lld,time:0,execs:0,orig:hole", dir, id);
    struct err e = {0};
    if (fs_write_quick(path, "0", 1, &e) < 0)
        log_warn("%s", e.msg);
    free(path);
}

/* afl-fuzz, started again, moves queue to _resume, links every entry back into queue, then removes _resume,
 * its .state first, and reads it rather than queue while it is there.  Killed in that removal, it would
 * start with whatever the kill left: put all of it into queue, which was complete by then. */
static void drop_resumed(const char *resume, const char *queue)
{
    char *state = fs_join(resume, ".state/deterministic_done");
    struct strv names = {0};
    struct err e = {0};
    if (fs_is_dir(resume) && !fs_is_dir(state) && fs_list(resume, &names, NULL) == 0) {
        for (size_t i = 0; i < names.n; i++) {
            char *from = fs_join(resume, names.v[i]), *to = fs_join(queue, names.v[i]);
            if (str_starts(names.v[i], "id:") && !fs_exists(to) && rename(from, to) < 0)
                log_warn("%s is lost: %s", from, strerror(errno));
            free(from);
            free(to);
        }
        if (fs_remove_tree(resume, &e) < 0)
            log_warn("%s", e.msg);
    }
    strv_free(&names);
    free(state);
}

/* afl-fuzz numbers new entries by how many there are.  A file it had created but not written when it
 * was killed, or was just rewriting after a trim, would shift all numbers: the last one is removed, a
 * hole before it is filled. */
static void mend_queue(const char *out)
{
    char *resume = fs_join(out, "_resume"), *queue = fs_join(out, "queue");
    drop_resumed(resume, queue);
    const char *dir = fs_is_dir(resume) ? resume : queue; /* the one it will read */
    struct strv names = {0};
    long long next = 0;
    if (fs_list(dir, &names, NULL) < 0)
        names.n = 0;
    size_t n = names.n; /* sorted, and the numbers have leading zeros */
    for (; n > 0; n--) {
        char *path = fs_join(dir, names.v[n - 1]);
        bool last = str_starts(names.v[n - 1], "id:") && is_empty(path) && unlink(path) == 0;
        free(path);
        if (!last)
            break;
    }
    for (size_t i = 0; i < n; i++) {
        if (!str_starts(names.v[i], "id:"))
            continue;
        long long id = strtoll(names.v[i] + 3, NULL, 10);
        for (; next < id; next++)
            fill_hole(dir, next, NULL);
        char *path = fs_join(dir, names.v[i]);
        if (is_empty(path))
            fill_hole(dir, id, names.v[i]);
        free(path);
        next = id + 1;
    }
    strv_free(&names);
    free(resume);
    free(queue);
}

/* True: there is a queue to resume from.  Otherwise its last life ended before it had one, and an input
 * of one byte is added, in case none of the seeds was to afl-fuzz's liking. */
static bool ready_to_resume(struct live *lv)
{
    char *out = fs_join(lv->o.dir, "out/default"), *q = fs_join(out, "queue"),
         *r = fs_join(out, "_resume"), *stats = fs_join(out, "fuzzer_stats");
    bool ok = (fs_is_dir(q) || fs_is_dir(r)) && ctl_get64(&lv->page->execs) > 0 && fs_exists(stats);
    if (ok) {
        afl_settle(lv);
        mend_queue(out);
        move_aside(out, "crashes");
        move_aside(out, "hangs");
    }
    free(out);
    free(q);
    free(r);
    free(stats);
    return ok;
}

/* What takes longer it tries again with AFL_HANG_TMOUT, if it looks new: that may be a hang.  afl-fuzz refuses less
 * than 5 ms.  A program that is started anew for every input has no lane, so its limit is one of the wall clock, and a
 * busy machine must not reach it. */
static uint32_t exec_ms(const struct live *lv)
{
    uint32_t ms = lv->o.exec_ms ? lv->o.exec_ms : lv->o.timeout_ms;
    uint32_t least = lv->o.target->kind == TARGET_LIBFUZZER || lv->o.timeout_ms < 20 ? 5 : 20;
    return ms < least ? least : ms;
}

static void add_environment(struct live *lv, const struct afl_way *w, struct strv *env)
{
    static const char *const fixed[] = {"AFL_NO_UI=1",
                                        "AFL_NO_AFFINITY=1",
                                        "AFL_SKIP_CPUFREQ=1",
                                        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1",
                                        "AFL_NO_CRASH_README=1",
                                        "AFL_NO_FASTRESUME=1",
                                        "AFL_NO_SYNC=1",
                                        "AFL_CRASHING_SEEDS_AS_NEW_CRASH=1",
                                        "AFL_TESTCACHE_SIZE=10",
                                        "AFL_FORKSRV_INIT_TMOUT=30000",
                                        "CAROL_LANE=1",       /* runtime/lane/lane.h */
                                        "CAROL_HANG_PART=50", /* engines/changes.txt */
                                        "LD_PRELOAD=./ctl.so",
                                        "AFL_CUSTOM_MUTATOR_LIBRARY=./ctl.so",
                                        NULL};
    for (size_t i = 0; fixed[i]; i++)
        strv_add(env, fixed[i]);
    const struct manifest_family *family = lv->o.target->family;
    uint64_t map = family[lv->arm->family].map_size, more = family[lv->arm->also].map_size;
    map = more > map ? more : map;
    if (map) /* saves 24 MB per instance against afl-fuzz's default */
        strv_addf(env, "AFL_MAP_SIZE=%llu", (unsigned long long)(map > MAP_MIN ? map : MAP_MIN));
    strv_addf(env, "AFL_HANG_TMOUT=%u", lv->o.timeout_ms);
    if (w->batches)
        strv_add(env, "CAROL_CTL_BATCHES=1");
    strv_addf(env, "CAROL_CTL_SEED=%llu", (unsigned long long)lv->o.seed);
    if (w->only_library)
        strv_add(env, "AFL_CUSTOM_MUTATOR_ONLY=1");
    if (w->plain)
        strv_add(env, "AFL_FRAMESHIFT_DISABLE=1");
    /* afl-fuzz refuses to start with sanitizer options that lack these. */
    static const char *const want[][2] = {{"ASAN_OPTIONS", "abort_on_error=1:symbolize=0"},
                                          {"MSAN_OPTIONS", "exit_code=86:symbolize=0"},
                                          {"LSAN_OPTIONS", "symbolize=0"}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        if (getenv(want[i][0]))
            strv_addf(env, "%s=%s:%s", want[i][0], getenv(want[i][0]), want[i][1]);
}

static void add_target(struct live *lv, struct strv *argv)
{
    strv_add(argv, "--");
    strv_add(argv, lv->o.target->family[lv->arm->family].binary);
    if (lv->o.args)
        for (size_t i = 0; lv->o.args[i]; i++)
            strv_add(argv, lv->o.args[i]);
    else if (lv->o.target->args)
        strv_split(argv, lv->o.target->args, '\n');
    else if (lv->o.target->kind == TARGET_FILE)
        strv_add(argv, "@@");
}

/* afl-fuzz refuses less than 5 MB. */
static uint64_t mem_mb(uint64_t bytes)
{
    return bytes >> 20 < 5 ? 5 : bytes >> 20;
}

/* The first instance has afl-fuzz's own power schedule, the others one each of those that its manual names for
 * secondaries (METHOD R19g). */
static void add_schedule(const struct live *lv, struct strv *argv)
{
    static const char *const others[] = {"fast", "coe", "rare", "lin", "quad", "exploit"};
    if (!lv->o.varied || lv->o.number < 1)
        return;
    strv_add(argv, "-p");
    strv_add(argv, others[(size_t)(lv->o.number - 1) % (sizeof others / sizeof *others)]);
}

/* No -s: with it afl-fuzz replaces measured execution times by made-up ones. */
int afl_command(struct live *lv, bool again, const struct afl_way *w, struct strv *argv,
                struct strv *env, struct err *e)
{
    bool resume = again && ready_to_resume(lv);
    int rc = live_link_files(lv, lv->arm->library, e);
    if (rc == 0 && again && !resume) {
        char *in = fs_join(lv->o.dir, "in");
        rc = fs_mkdirs(in, e); /* a power cut may have taken it */
        if (rc == 0)
            rc = write_seed(in, FALLBACK, "0", 1, e);
        free(in);
    }
    if (rc < 0)
        return rc;
    strv_take(argv, where_engine(afl_engine.program));
    strv_add(argv, "-i");
    strv_add(argv, resume ? "-" : "in");
    strv_add(argv, "-o");
    strv_add(argv, "out");
    strv_add(argv, "-t");
    strv_addf(argv, "%u", exec_ms(lv));
    strv_add(argv, "-m");
    if (lv->o.mem_bytes)
        strv_addf(argv, "%llu", (unsigned long long)mem_mb(lv->o.mem_bytes));
    else
        strv_add(argv, "none");
    if (w->plain)
        strv_add(argv, "-z");
    if (lv->o.dict) {
        strv_add(argv, "-x");
        strv_add(argv, "dict");
    }
    for (size_t i = 0; w->args && w->args[i]; i++)
        strv_add(argv, w->args[i]);
    add_schedule(lv, argv);
    add_target(lv, argv);
    add_environment(lv, w, env);
    return 0;
}

int afl_deliver(struct live *lv, const struct input *inputs, size_t n, struct err *e)
{
    return inbox_deliver(lv->o.dir, lv->page, lv->batch, inputs, n, e);
}
