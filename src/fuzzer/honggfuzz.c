/* honggfuzz: the arm of honggfuzz with our preload library: directories, command, imports.  What it found
 * is read in hfuzz_harvest.c.
 *
 * honggfuzz cannot be given a random seed, and its time limit is in whole seconds: the campaign's limit is
 * rounded up. */
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/where.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/hfuzz.h"
#include "fuzzer/inbox.h"
#include "fuzzer/layout.h"
#include "fuzzer/seen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct engine engine = {"honggfuzz/honggfuzz", "--version", "honggfuzz "};

static int make_dirs(struct live *lv, struct err *e)
{
    static const char *const subs[] = {"in", "out", "new", "crash", "stage", "dyn", "ws", NULL};
    return layout_dirs(lv, subs, e);
}

/* Its time limit (-t), rounded up. */
static unsigned limit_seconds(const struct live *lv)
{
    return (lv->o.timeout_ms + 999) / 1000;
}

static int prepare(struct live *lv, const struct input *seeds, size_t n, struct err *e)
{
    if (lv->o.timeout_ms % 1000 && lv->in.number == 0)
        log_debug("honggfuzz knows whole seconds only: its limit per input is %u s, not %u ms",
                  limit_seconds(lv), lv->o.timeout_ms);
    int rc = make_dirs(lv, e);
    return rc < 0 ? rc : layout_seeds(lv, seeds, n, e);
}

/* The word with every @@ replaced by honggfuzz's own mark. */
static char *with_mark(const char *word)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (const char *at; (at = strstr(word, "@@")); word = at + 2) {
        buf_add(&b, word, (size_t)(at - word));
        buf_str(&b, "___FILE___");
    }
    buf_str(&b, word);
    return buf_take(&b);
}

static void target_words(struct live *lv, struct strv *words)
{
    const struct manifest *m = lv->o.target;
    if (lv->o.args)
        for (size_t i = 0; lv->o.args[i]; i++)
            strv_add(words, lv->o.args[i]);
    else if (m->args)
        strv_split(words, m->args, '\n');
    else if (m->kind == TARGET_FILE)
        strv_add(words, "@@");
}

/* "-P -- target", "-- target ___FILE___" or "-s -- target". */
static void add_target(struct live *lv, struct strv *argv)
{
    struct strv words = {0};
    bool file = false;
    target_words(lv, &words);
    for (size_t i = 0; i < words.n; i++)
        file = file || strstr(words.v[i], "@@");
    if (lv->o.target->kind == TARGET_LIBFUZZER)
        strv_add(argv, "-P");
    else if (!file)
        strv_add(argv, "-s");
    strv_add(argv, "--");
    strv_add(argv, lv->o.target->family[FAMILY_HFUZZ].binary);
    for (size_t i = 0; i < words.n; i++)
        strv_take(argv, with_mark(words.v[i]));
    strv_free(&words);
}

static void add_pair(struct strv *argv, const char *option, char *value)
{
    strv_add(argv, option);
    strv_take(argv, value);
}

static void add_options(struct live *lv, const char *corpus, struct strv *argv)
{
    static const char *const dirs[][2] = {
        {"-o", "out"}, {"--covdir_new", "new"},    {"--crashdir", "crash"},
        {"-W", "ws"},  {"--dynamic_input", "dyn"}, {"--statsfile", "ws/stats"}};
    strv_add(argv, "-v");
    strv_add(argv, "-T"); /* time-outs are saved like crashes, as SIGVTALRM.* */
    add_pair(argv, "-n", xstrdup("1"));
    add_pair(argv, "-i", xstrdup(corpus));
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
        add_pair(argv, dirs[i][0], xstrdup(dirs[i][1]));
    add_pair(argv, "-t", str_fmt("%u", limit_seconds(lv)));
    add_pair(argv, "-F", str_fmt("%zu", layout_size_limit(lv)));
    if (lv->o.mem_bytes)
        add_pair(argv, "--rlimit_as", str_fmt("%llu", (unsigned long long)(lv->o.mem_bytes >> 20)));
    if (lv->o.dict)
        add_pair(argv, "-w", xstrdup("dict"));
}

static int finish_delivery(struct live *lv, struct err *e);

static int command(struct live *lv, bool again, struct strv *argv, struct strv *env, struct err *e)
{
    size_t largest = 0;
    int rc = make_dirs(lv, e);
    if (rc == 0)
        rc = live_link_files(lv, lv->arm->library, e);
    if (rc == 0)
        rc = finish_delivery(lv, e);
    if (rc < 0)
        return rc;
    strv_take(argv, where_engine(engine.program));
    add_options(lv, again && layout_survey(lv, "out", &largest) ? "out" : "in", argv);
    add_target(lv, argv);
    strv_add(env, "LD_PRELOAD=./ctl.so");
    return 0;
}

/* ---- imports ---- */

/* Each input is written to stage, then all hashes are noted, then the files are moved to dyn.  A file that
 * a kill left in stage is moved on when its hash was noted, and otherwise dropped: its batch will come
 * again, and the noted ones are then left out.  So each is offered exactly once. */
static int finish_delivery(struct live *lv, struct err *e)
{
    struct inbox_known known;
    struct strv names = {0};
    char *stage = fs_join(lv->o.dir, "stage");
    int rc = inbox_known_load(lv->o.dir, &known, e);
    if (rc == 0)
        rc = fs_list(stage, &names, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        char *from = fs_join(stage, names.v[i]), *to = str_fmt("%s/dyn/%s", lv->o.dir, names.v[i]);
        struct buf b = BUF_INIT(LAYOUT_SIZE_MAX);
        rc = fs_read(from, &b, e);
        bool noted = rc == 0 && inbox_known(&known, b.p, b.len);
        if (rc == 0 && (noted ? rename(from, to) : unlink(from)) < 0)
            rc = err_sys(e, "cannot move %s", from);
        buf_free(&b);
        free(from);
        free(to);
    }
    strv_free(&names);
    inbox_known_free(&known);
    free(stage);
    return rc;
}

/* Inputs that honggfuzz cannot take are left out: empty ones, and those above its limit of sizes, at which it
 * would end. */
static int stage_inputs(struct live *lv, const struct input *inputs, size_t n, struct err *e)
{
    struct inbox_known known;
    size_t limit = layout_size_limit(lv), too_long = 0;
    int rc = inbox_known_load(lv->o.dir, &known, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "%012lld", (long long)inputs[i].id);
        too_long += inputs[i].size > limit;
        if (inputs[i].size == 0 || inputs[i].size > limit ||
            inbox_known(&known, inputs[i].data, inputs[i].size)) {
            lv->offered--; /* instance.c counts all n */
            continue;
        }
        rc = layout_write(lv, "stage", name, inputs[i].data, inputs[i].size, e);
    }
    inbox_known_free(&known);
    if (too_long)
        log_debug("honggfuzz #%d: %zu inputs of more than %zu bytes were not offered to it",
                  lv->in.number, too_long, limit);
    return rc;
}

static int deliver(struct live *lv, const struct input *inputs, size_t n, struct err *e)
{
    int rc = make_dirs(lv, e);
    if (rc == 0)
        rc = finish_delivery(lv, e);
    if (rc == 0)
        rc = stage_inputs(lv, inputs, n, e);
    if (rc == 0)
        rc = inbox_known_add(lv->o.dir, inputs, n, e);
    return rc < 0 ? rc : finish_delivery(lv, e);
}

const struct arm arm_honggfuzz = {
    .name = "honggfuzz",
    .summary = "honggfuzz, guided by coverage and comparisons",
    .rosters = ROSTER_PAPER | ROSTER_DEFAULT,
    .family = FAMILY_HFUZZ,
    .engine = &engine,
    .library = "ctl/libcarolhf.so",
    .cycle = "1000 executions",
    .prepare = prepare,
    .command = command,
    .deliver = deliver,
    .harvest = hfuzz_harvest,
    .harvested = hfuzz_harvested,
    .close = seen_close,
    .own_proc = true,
    .noise = "Launched new persistent pid",
};
