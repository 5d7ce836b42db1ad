/* libfuzzer: the arm of libFuzzer, which is part of the target: entropic, with value profile.  What keeps its process
 * alive, hands it imports and parks it is preloaded (runtime/ctl/lf.h, where the directories are explained).
 *
 * DIR/in     the start corpus, files named s<id of the seed>; linked to DIR/old for the first start
 * DIR/finds  names of all files ever harvested from new, old and crash (fuzzer/seen.h)
 * DIR/known  hashes of all we ever gave (fuzzer/inbox.h)
 * DIR/nothing  its seed, which the library does not let it open (runtime/ctl/lf_replay.c)
 *
 * libFuzzer removes a file of its corpus when a smaller input has the same features.  What it removes before its turn
 * ends is not harvested: nothing that it would miss itself. */
#include "../../runtime/ctl/lf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/inbox.h"
#include "fuzzer/layout.h"
#include "fuzzer/seen.h"
#include "target/elf.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- can it run? ---- */

/* Carol stands where a target may have a mutator of its own. */
static int check_program(const char *path, struct err *e)
{
    static const char *const own[] = {"LLVMFuzzerCustomMutator", "LLVMFuzzerCustomCrossOver"};
    enum elf_def defs[2];
    if (elf_look(path, own, defs, 2) != ELF_PROGRAM)
        return 0; /* the self-test will tell */
    for (size_t i = 0; i < 2; i++)
        if (defs[i] != ELF_ABSENT)
            return err_env(e,
                           "the target has its own %s, the place from which carol controls "
                           "libFuzzer: leave libfuzzer out of -f",
                           own[i]);
    if (!elf_exports(path, "LLVMFuzzerMutate"))
        return err_env(e,
                       "%s does not export LLVMFuzzerMutate, which its control needs: run `carol "
                       "build` again with --families libfuzzer",
                       path);
    return 0;
}

static int check(const struct instance_opts *o, struct err *e)
{
    if (o->target->kind != TARGET_LIBFUZZER)
        return err_env(e, "libfuzzer is part of a target with LLVMFuzzerTestOneInput, and this one "
                          "is a program with main(): leave libfuzzer out of -f");
    return check_program(o->target->family[FAMILY_LIBFUZZER].binary, e);
}

/* ---- the start ---- */

static int make_dirs(struct live *lv, struct err *e)
{
    static const char *const subs[] = {"in", "old", "new", "crash", NULL};
    return layout_dirs(lv, subs, e);
}

static int prepare(struct live *lv, const struct input *seeds, size_t n, struct err *e)
{
    int rc = make_dirs(lv, e);
    return rc < 0 ? rc : layout_seeds(lv, seeds, n, e);
}

/* With no corpus, as at first and after a power cut, it begins with the seeds. */
static int link_seeds(struct live *lv, struct err *e)
{
    size_t largest = 0;
    struct strv names = {0};
    if (layout_survey(lv, "old", &largest) || layout_survey(lv, "new", &largest))
        return 0;
    char *in = fs_join(lv->o.dir, "in");
    int rc = fs_list(in, &names, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        char *from = fs_join(in, names.v[i]), *to = str_fmt("%s/old/%s", lv->o.dir, names.v[i]);
        if (link(from, to) < 0 && errno != EEXIST)
            rc = err_sys(e, "cannot link %s", to);
        free(from);
        free(to);
    }
    strv_free(&names);
    free(in);
    return rc;
}

/* A seed, so that it does not make one up; what is in it would be that one. */
static int write_nothing(struct live *lv, struct err *e)
{
    char *path = fs_join(lv->o.dir, LF_NOTHING);
    int rc = fs_write_quick(path, "\n", 1, e);
    free(path);
    return rc;
}

/* Each life has random numbers of its own: with the same it would do the same again. */
static unsigned long long seed_of(const struct live *lv)
{
    return ((lv->o.seed + ctl_get64(&lv->page->execs)) & 0x7fffffff) | 1; /* 0: any */
}

/* The limit per input in seconds is for what it executes before the library does, which has its own in ms.  The
 * corpus has its full path, which is not taken apart, because a target may change its directory. */
static void add_options(struct live *lv, struct strv *argv)
{
    static const char *const fixed[] = {
        "-entropic=1",  "-use_value_profile=1", "-len_control=0",  "-reload=0",
        "-verbosity=0", "-detect_leaks=0",      "-rss_limit_mb=0", "-malloc_limit_mb=0",
        "-runs=-1",     "-print_final_stats=0", "-print_funcs=0",  "-artifact_prefix=tmp/"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        strv_add(argv, fixed[i]);
    strv_addf(argv, "-timeout=%u", (lv->o.timeout_ms + 999) / 1000);
    strv_addf(argv, "-max_len=%zu", layout_size_limit(lv));
    strv_addf(argv, "-seed=%llu", seed_of(lv));
    if (lv->o.dict)
        strv_add(argv, "-dict=dict");
    strv_addf(argv, "-seed_inputs=%s/" LF_NOTHING, lv->o.dir);
    strv_take(argv, fs_join(lv->o.dir, "new"));
}

/* Its tables take 28 MB at every beginning: in large pages that is half of the time. */
static void add_environment(struct live *lv, struct strv *env)
{
    strv_add(env, "LD_PRELOAD=./ctl.so");
    strv_addf(env, "%s=%u", LF_ENV_LIMIT, lv->o.timeout_ms);
    strv_addf(env, "%s=%llu", LF_ENV_BYTES, (unsigned long long)lv->o.mem_bytes);
    if (!getenv("GLIBC_TUNABLES"))
        strv_add(env, LIVE_TUNABLES ":glibc.malloc.hugetlb=1");
}

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    (void)again; /* the library goes on with what it finds */
    int rc = make_dirs(lv, e);
    if (rc == 0)
        rc = live_link_files(lv, lv->arm->library, e);
    if (rc == 0)
        rc = link_seeds(lv, e);
    if (rc == 0)
        rc = write_nothing(lv, e);
    if (rc < 0)
        return rc;
    strv_add(argv, lv->o.target->family[FAMILY_LIBFUZZER].binary);
    add_options(lv, argv);
    add_environment(lv, env);
    return 0;
}

/* ---- imports ---- */

/* Those that do not fit are left out: empty ones, and those above its limit of sizes. */
static int deliver(struct live *lv, const struct input *inputs, size_t n, struct err *e)
{
    size_t limit = layout_size_limit(lv), fit = 0, too_long = 0;
    struct input *some = xcalloc(n, sizeof *some);
    for (size_t i = 0; i < n; i++) {
        too_long += inputs[i].size > limit;
        if (inputs[i].size && inputs[i].size <= limit)
            some[fit++] = inputs[i];
    }
    int rc = fit ? inbox_deliver(lv->o.dir, lv->page, lv->batch, some, fit, e) : 0;
    if (rc == 0)
        lv->offered -= n - fit; /* instance.c counts all n */
    if (too_long)
        log_debug("libfuzzer #%d: %zu inputs of more than %zu bytes were not offered to it",
                  lv->in.number, too_long, limit);
    free(some);
    return rc;
}

/* ---- finds ---- */

/* A corpus file is named by its hash: seeds are not, and one that a kill cut is not either. */
static bool is_whole(const char *dir, const char *path, const struct stat *st)
{
    const char *name = strrchr(path, '/') + 1;
    char hex[41] = "";
    if (strcmp(dir, "crash") == 0)
        return str_starts(name, "SIG") && st->st_size > 0;
    struct buf b = BUF_INIT(LAYOUT_SIZE_MAX);
    if (strlen(name) == 40 && st->st_size > 0 && fs_read(path, &b, NULL) == 0)
        hash_sha1_hex(b.p, b.len, hex);
    buf_free(&b);
    return strcmp(hex, name) == 0;
}

static enum find_kind kind_of(const char *name, int *signal)
{
    if (!str_starts(name, "SIG"))
        return FIND_SEED;
    *signal = seen_signal(name);
    return *signal == SIGALRM ? FIND_HANG : FIND_CRASH;
}

static int harvest(struct live *lv, struct harvest *h, struct err *e)
{
    static const char *const dirs[] = {"new", "old", "crash", NULL};
    static const struct seen_way way = {dirs, is_whole, NULL, kind_of};
    return seen_harvest(lv, &way, h, e);
}

const struct arm arm_libfuzzer = {
    .name = "libfuzzer",
    .summary = "libFuzzer inside the target, guided by coverage and comparisons",
    .family = FAMILY_LIBFUZZER,
    .library = "ctl/libcarollf.so",
    .cycle = "1000 executions",
    .check = check,
    .prepare = prepare,
    .command = command,
    .deliver = deliver,
    .harvest = harvest,
    .close = seen_close,
    .noise = "INFO: ",
};
