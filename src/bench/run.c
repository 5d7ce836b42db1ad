/* run: deals campaigns to slots, measures what they kept, writes results.  What happens inside one campaign is
 * in contest.c. */
#include "bench/run.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "bench/contest.h"
#include "bench/measure.h"
#include "bench/order.h"
#include "bench/ready.h"
#include "bench/result.h"
#include "proc/loop.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define SLOTS_MAX 256
#define LEAST_ROOM ((uint64_t)1 << 20)
#define FAILURES_AT_FIRST 3    /* so many without a single success: something is wrong with all */
#define LATE_NS (2 * NS_PER_S) /* beyond a fiftieth of the budget */

struct bench;

struct slot {
    struct bench *b;
    int cpus[CONTEST_CORES];
    struct planned *now; /* NULL: nothing to do */
    struct contest *contest;
    struct measure *measure;
    struct kept *kept;
    size_t n_kept;
    struct growth growth;
    double top_share[GROWTH_QUARTERS];
    struct strv fuzzers; /* of the campaign; a rival has none */
    struct timer next;   /* goes on outside of callbacks of what it frees */
};

struct bench {
    const struct suite *s;
    const struct bench_opts *o;
    struct bench_summary *sum;
    struct order plan;
    struct manifest *builds;
    struct loop *loop;
    struct slot slot[SLOTS_MAX];
    int n_slots, busy;
    int64_t spent_ns; /* wall time of the campaigns done now */
    int rc;           /* what stopped everything */
    struct err error;
};

static const struct bench_target *target_of(const struct slot *sl)
{
    return &sl->b->s->targets[sl->now->target];
}

static const struct contender *contender_of(const struct slot *sl)
{
    return &sl->b->s->contenders[sl->now->contender];
}

static char *name_of(const struct slot *sl)
{
    return str_fmt("%s, %s, trial %d", target_of(sl)->name, contender_of(sl)->name, sl->now->trial);
}

/* Nothing more is begun; what runs is stopped. */
static void stop_all(struct bench *b)
{
    for (int i = 0; i < b->n_slots; i++)
        if (b->slot[i].contest && !b->slot[i].measure)
            contest_stop(b->slot[i].contest);
    if (b->busy == 0)
        loop_stop(b->loop);
}

static void give_up(struct bench *b, int rc, const struct err *e)
{
    if (b->rc == 0) {
        b->rc = rc;
        b->error = *e;
    }
    stop_all(b);
}

static bool stopping(const struct bench *b)
{
    return b->rc < 0 || b->sum->interrupted;
}

static void on_signal(void *arg, int signo)
{
    struct bench *b = arg;
    (void)signo;
    b->sum->interrupted = true;
    stop_all(b);
}

/* --- the end of a campaign ----------------------------------------------------------------------- */

/* Free what a campaign used and go on with the next one; not from inside its own callbacks. */
static void leave(struct slot *sl)
{
    loop_timer(sl->b->loop, &sl->next, loop_now(sl->b->loop));
}

static void clear(struct slot *sl)
{
    measure_free(sl->measure);
    contest_free(sl->contest);
    kept_free(sl->kept, sl->n_kept);
    growth_free(&sl->growth);
    strv_free(&sl->fuzzers);
    sl->measure = NULL;
    sl->contest = NULL;
    sl->kept = NULL;
    sl->n_kept = 0;
    sl->now = NULL;
}

static int keep_journal(const struct slot *sl, struct err *e)
{
    if (sl->b->o->keep != KEEP_JOURNALS || contender_of(sl)->rival)
        return 0;
    char *out = fs_join(sl->now->dir, "out");
    int rc = store_copy_journal(out, sl->now->dir, e);
    free(out);
    return rc;
}

/* Everything but the result, the journal, the oracle's file and what the contender printed. */
static void remove_rest(const struct slot *sl)
{
    static const char *const subs[] = {"out", "tmp"};
    for (size_t i = 0; i < 2; i++) {
        char *path = fs_join(sl->now->dir, subs[i]);
        struct err e = {0};
        if (fs_remove_tree(path, &e) < 0)
            log_warn("%s", e.msg);
        free(path);
    }
}

static void say_done(struct slot *sl, const struct result *r)
{
    struct bench *b = sl->b;
    char *name = name_of(sl);
    size_t done = b->plan.done, left = b->plan.n - done - b->sum->elsewhere - b->sum->absent;
    double mean = (double)b->spent_ns / 1e9 / (double)b->sum->done,
           hours = mean * (double)left / b->n_slots / 3600;
    log_info("[%zu/%zu] %s: %zu of %zu bugs, %u edges, %llu inputs, %.1f CPU s in %.1f s; about "
             "%.*f %s left",
             done, b->plan.n, name, result_triggered(r), r->n_bugs, r->edges[RESULT_MOMENTS],
             (unsigned long long)r->execs, r->cpu_s, r->wall_s, hours < 1 ? 0 : 1,
             hours < 1 ? 60 * hours : hours, hours < 1 ? "min" : "h");
    free(name);
}

static void fill(const struct slot *sl, struct result *r)
{
    const struct suite *s = sl->b->s;
    const struct contest *c = sl->contest;
    const char *build_id = sl->b->builds[sl->now->target].family[FAMILY_NEUTRAL].build_id;
    char began[32];
    time_t at = (time_t)(c->began_real_ns / NS_PER_S);
    struct tm tm;
    strftime(began, sizeof began, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
    *r = (struct result){.target = xstrdup(target_of(sl)->name),
                         .contender = xstrdup(contender_of(sl)->name),
                         .definition = suite_definition(s, contender_of(sl)),
                         .role = contender_of(sl)->role,
                         .trial = sl->now->trial,
                         .cores = s->cores,
                         .attempts = sl->now->attempts,
                         .first_ratio = sl->now->first_ratio,
                         .seed = s->seed + (uint64_t)sl->now->trial,
                         .budget_s = (double)s->cpu_ns / 1e9,
                         .cpu_s = (double)c->cpu_ns / 1e9,
                         .wall_s = (double)c->wall_ns / 1e9,
                         .ratio = (double)c->cpu_ns / (double)c->wall_ns / s->cores,
                         .inputs = sl->growth.inputs,
                         .edges_total = sl->growth.n_edges,
                         .command = xstrdup(c->command),
                         .version = result_version(),
                         .build_id = xstrdup(build_id ? build_id : ""),
                         .began = xstrdup(began),
                         .host = result_host()};
    result_bugs(r, target_of(sl)->bugs, target_of(sl)->n_bugs, &c->oracle);
    for (int i = 0; i <= RESULT_MOMENTS; i++) {
        r->wall_at[i] = (double)c->wall_at[i] / 1e9;
        r->edges[i] = growth_at(&sl->growth, c->wall_at[i]);
    }
    memcpy(r->top_share, sl->top_share, sizeof r->top_share);
    for (size_t i = 0; i < sl->fuzzers.n; i++)
        strv_add(&r->fuzzers, sl->fuzzers.v[i]);
}

static void write_result(struct slot *sl)
{
    struct bench *b = sl->b;
    struct result r;
    struct err e = {0};
    char *path = fs_join(sl->now->dir, "result.json");
    fill(sl, &r);
    int rc = keep_journal(sl, &e);
    if (rc == 0)
        rc = result_write(&r, path, &e);
    if (rc == 0) {
        sl->now->done = true;
        b->plan.done++;
        b->sum->done++;
        b->spent_ns += sl->contest->whole_ns;
        say_done(sl, &r);
        if (b->o->keep != KEEP_ALL)
            remove_rest(sl);
    } else {
        give_up(b, rc, &e);
    }
    result_free(&r);
    free(path);
}

static void on_measured(void *arg, int rc, const struct err *e)
{
    struct slot *sl = arg;
    if (rc < 0)
        give_up(sl->b, rc, e);
    else if (!sl->b->rc)
        write_result(sl);
    leave(sl);
}

/* The seeds count from the start, whether the rival kept them or not. */
static int add_seeds(struct slot *sl, struct err *e)
{
    struct strv files = {0};
    int rc = fs_walk(target_of(sl)->seeds, &files, e);
    if (rc == 0)
        sl->kept = xrealloc(sl->kept, (sl->n_kept + files.n + 1) * sizeof *sl->kept);
    for (size_t i = 0; rc == 0 && i < files.n; i++)
        sl->kept[sl->n_kept++] = (struct kept){xstrdup(files.v[i]), 0};
    strv_free(&files);
    return rc;
}

static int measure_rival(struct slot *sl, struct err *e)
{
    const struct suite *s = sl->b->s;
    for (int q = 0; q < GROWTH_QUARTERS; q++)
        sl->top_share[q] = -1;
    int rc = rival_kept(contender_of(sl)->rival, sl->now->dir, sl->contest->began_real_ns,
                        &sl->kept, &sl->n_kept, e);
    rc = rc < 0 ? rc : add_seeds(sl, e);
    if (rc < 0)
        return rc;
    return measure_start(&sl->measure,
                         &(struct measure_opts){.loop = sl->b->loop,
                                                .target = &sl->b->builds[sl->now->target],
                                                .timeout_ms = s->timeout_ms,
                                                .mem_bytes = s->memory_mb << 20,
                                                .cpu = sl->cpus[0],
                                                .files = sl->kept,
                                                .n = sl->n_kept,
                                                .growth = &sl->growth,
                                                .done = on_measured,
                                                .arg = sl},
                         e);
}

static int measure_carol(struct slot *sl, struct err *e)
{
    char *out = fs_join(sl->now->dir, "out");
    int rc =
        growth_of_campaign(&sl->growth, out, sl->contest->whole_ns, sl->top_share, &sl->fuzzers, e);
    free(out);
    if (rc == 0)
        on_measured(sl, 0, e);
    return rc;
}

/* Then every campaign would fail. */
static bool disk_is_full(const char *dir)
{
    struct statvfs v;
    return statvfs(dir, &v) == 0 && v.f_bavail * v.f_frsize < LEAST_ROOM;
}

/* It could not be judged: it stays undone, and the next run tries it again. */
static void fail(struct slot *sl, const char *why)
{
    struct bench *b = sl->b;
    char *name = name_of(sl);
    b->sum->failed++;
    log_warn("%s failed: %s; see %s/log", name, why, sl->now->dir);
    if (disk_is_full(b->s->out)) {
        struct err e = {0};
        int rc = err_env(&e,
                         "there is no space left in %s: %s failed (%s); make room, and the same "
                         "command goes on",
                         b->s->out, name, why);
        give_up(b, rc, &e);
    }
    if (b->sum->failed >= FAILURES_AT_FIRST && b->plan.done == 0) {
        struct err e = {0};
        int rc = err_env(&e, "%zu campaigns failed and none succeeded; the last: %s: %s (%s/log)",
                         b->sum->failed, name, why, sl->now->dir);
        give_up(b, rc, &e);
    }
    free(name);
    leave(sl);
}

/* The machine gave it too little, or kept us from ending it in time: once more, and what it had the first time is noted. */
static bool again(struct slot *sl)
{
    const struct contest *c = sl->contest;
    int64_t budget = sl->b->s->cpu_ns, over = c->cpu_ns - budget;
    double ratio = (double)c->cpu_ns / (double)c->wall_ns / sl->b->s->cores;
    bool starved = ratio<sl->b->s->least_ratio, late = over> budget / 50 + LATE_NS;
    bool repeat = sl->now->attempts == 1;
    if (!starved && !late)
        return false;
    char *name = name_of(sl);
    if (starved)
        log_warn("%s got only %.0f %% of its cores%s", name, 100 * ratio,
                 repeat ? " and is repeated" : " again, and counts");
    else
        log_warn("%s was not ended in time and used %.1f CPU s more than it may%s", name,
                 (double)over / 1e9, repeat ? "; it is repeated" : " again; it counts");
    free(name);
    if (!repeat)
        return false;
    sl->now->first_ratio = ratio;
    sl->now->taken = false;
    return true;
}

static void on_contest_end(void *arg)
{
    struct slot *sl = arg;
    const struct contest *c = sl->contest;
    struct err e = {0};
    if (stopping(sl->b) || c->end == CONTEST_STOPPED) {
        leave(sl);
    } else if (c->end == CONTEST_FAILED) {
        fail(sl, c->why);
    } else if (again(sl)) {
        leave(sl);
    } else if (c->end == CONTEST_STARVED) {
        fail(sl, "it got nearly no CPU time");
    } else if (!c->judged) {
        fail(sl, "the oracle saw nothing: is the target built with it?");
    } else {
        int rc = contender_of(sl)->rival ? measure_rival(sl, &e) : measure_carol(sl, &e);
        if (rc < 0)
            fail(sl, e.msg);
    }
}

/* --- the beginning ------------------------------------------------------------------------------- */

static int begin(struct slot *sl, struct err *e)
{
    struct bench *b = sl->b;
    struct contest_opts o = {.loop = b->loop,
                             .suite = b->s,
                             .contender = contender_of(sl),
                             .target = target_of(sl),
                             .build = &b->builds[sl->now->target],
                             .dir = sl->now->dir,
                             .trial = sl->now->trial,
                             .ended = on_contest_end,
                             .arg = sl};
    memcpy(o.cpus, sl->cpus, sizeof o.cpus);
    int rc = fs_remove_tree(sl->now->dir, e);
    rc = rc < 0 ? rc : fs_mkdirs(sl->now->dir, e);
    rc = rc < 0 ? rc : contest_start(&sl->contest, &o, e);
    if (rc < 0)
        e->exit = ERR_EXIT_ENV;
    return rc;
}

static void on_next(void *arg)
{
    struct slot *sl = arg;
    struct bench *b = sl->b;
    struct err e = {0};
    if (sl->now)
        b->busy--;
    clear(sl);
    sl->now = stopping(b) ? NULL : order_next(&b->plan);
    if (sl->now) {
        sl->now->taken = true;
        sl->now->attempts++;
        b->busy++;
        int rc = begin(sl, &e);
        if (rc < 0) {
            give_up(b, rc, &e);
            leave(sl);
        }
    } else if (b->busy == 0) {
        loop_stop(b->loop);
    }
}

/* Cores for every slot, none twice. */
static int make_slots(struct bench *b, struct err *e)
{
    cpu_set_t set;
    int cores = b->s->cores, cpus[CPU_SETSIZE], n = 0;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return err_sys(e, "cannot see the cores of this machine");
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &set))
            cpus[n++] = i;
    int fit = n / cores;
    if (fit < 1 || b->s->parallel > fit)
        return err_env(e, "%d campaigns of %d cores at a time need more than the %d cores here",
                       b->s->parallel ? b->s->parallel : 1, cores, n);
    b->n_slots = b->s->parallel ? b->s->parallel : fit > SLOTS_MAX ? SLOTS_MAX : fit;
    for (int i = 0; i < b->n_slots; i++) {
        struct slot *sl = &b->slot[i];
        *sl = (struct slot){.b = b, .next = {.fn = on_next, .arg = sl}};
        memcpy(sl->cpus, cpus + i * cores, (size_t)cores * sizeof *cpus);
    }
    return 0;
}

static int take_lock(const char *out, int *lock, struct err *e)
{
    char *path = fs_join(out, "lock");
    int rc = fs_mkdirs(out, e);
    *lock = rc == 0 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (rc == 0 && *lock < 0)
        rc = err_sys(e, "cannot write %s", path);
    if (rc < 0)
        e->exit = ERR_EXIT_ENV;
    else if (flock(*lock, LOCK_EX | LOCK_NB) < 0)
        rc = err_usage(e, "another carol bench is running in %s", out);
    free(path);
    return rc;
}

static int run_plan(struct bench *b, struct err *e)
{
    int rc = loop_new(&b->loop, e);
    rc = rc < 0 ? rc : make_slots(b, e);
    rc = rc < 0 ? rc : loop_signal(b->loop, SIGINT, on_signal, b, e);
    rc = rc < 0 ? rc : loop_signal(b->loop, SIGTERM, on_signal, b, e);
    if (rc < 0)
        return rc;
    log_info("%zu campaigns of %.4g CPU s, %d at a time on %d core%s each; %zu are done", b->plan.n,
             (double)b->s->cpu_ns / 1e9, b->n_slots, b->s->cores, b->s->cores == 1 ? "" : "s",
             b->plan.done);
    for (int i = 0; i < b->n_slots; i++)
        leave(&b->slot[i]);
    loop_run(b->loop);
    for (int i = 0; i < b->n_slots; i++)
        clear(&b->slot[i]);
    if (b->rc < 0)
        *e = b->error;
    return b->rc;
}

int bench_run(const struct suite *s, const struct bench_opts *o, struct bench_summary *sum,
              struct err *e)
{
    struct bench *b = xcalloc(1, sizeof *b);
    int lock = -1;
    *sum = (struct bench_summary){0};
    *b = (struct bench){.s = s, .o = o, .sum = sum};
    int rc = take_lock(s->out, &lock, e);
    rc = rc < 0 ? rc : order_make(&b->plan, s, e);
    sum->planned = b->plan.n;
    sum->before = b->plan.done;
    if (rc == 0 && o->parts)
        sum->elsewhere = order_part(&b->plan, o->part, o->parts);
    bool any = rc == 0 && order_next(&b->plan);
    bool *absent = xcalloc(s->n_targets + 1, sizeof *absent),
         *wanted = xcalloc(s->n_targets + 1, sizeof *wanted);
    for (size_t i = 0; i < s->n_targets; i++)
        wanted[i] = order_wants(&b->plan, i);
    rc = any ? ready_targets(s, wanted, &b->builds, absent, e) : rc;
    for (size_t i = 0; rc == 0 && i < s->n_targets; i++)
        sum->absent += absent[i] ? order_leave_out(&b->plan, i) : 0;
    free(absent);
    free(wanted);
    if (rc == 0 && any)
        rc = run_plan(b, e);
    loop_free(b->loop);
    ready_free(b->builds, s->n_targets);
    order_free(&b->plan);
    if (lock >= 0)
        close(lock);
    free(b);
    return rc;
}
