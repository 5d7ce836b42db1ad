/* selftest: drives one instance through start, pause, turns and stop, and judges.  Knows instances only
 * by their interface. */
#include "fuzzer/selftest.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SEEDS 8
#define TURN_NS (NS_PER_S / 2)
#define PAUSE_NS (NS_PER_S * 3 / 10)
/* Executions after which an import must have been taken.  Trimming one entry of 30 KB takes thousands, and
 * they all come before the stage in which imports are taken: fewer prove nothing against the fuzzer. */
#define CONCLUSIVE 20000
#define TRIES 6                         /* turns until the input must have been taken */
#define CPU_ALLOWED_NS (30 * NS_PER_MS) /* the clock of /proc ticks in 10 ms */

static const char ours[] = "carol self-test input\n";

enum step {
    STEP_START = 0, /* until it is parked for the first time */
    STEP_PAUSE,     /* it should cost nothing */
    STEP_TURN,      /* until it has taken the input */
    STEP_AGAIN,     /* one more turn: it must not take it twice */
    STEP_STOP,
    STEP_END
};

struct selftest {
    struct loop *loop;
    struct instance *in;
    char *dir, *fuzzer;
    enum step step;
    struct timer limit, pause, finish;
    int64_t began, wait_ns; /* how long each step may take */
    int64_t cpu0, paused_at;
    uint64_t taken;
    int turns;
    struct selftest_result r;
    void (*done)(void *arg, const struct selftest_result *r);
    void *arg;
};

static void finish_later(struct selftest *t)
{
    t->step = STEP_END;
    loop_timer_clear(t->loop, &t->limit);
    loop_timer_clear(t->loop, &t->pause);
    loop_timer(t->loop, &t->finish, loop_now(t->loop));
}

static void fail(struct selftest *t, const char *fmt, ...) CAROL_PRINTF(2, 3);
static void fail(struct selftest *t, const char *fmt, ...)
{
    va_list ap;
    if (t->step == STEP_END)
        return;
    va_start(ap, fmt);
    vsnprintf(t->r.why, sizeof t->r.why, fmt, ap);
    va_end(ap);
    t->r.ok = false;
    finish_later(t);
}

static void release(struct selftest *t)
{
    struct err e = {0};
    loop_timer_clear(t->loop, &t->limit);
    loop_timer_clear(t->loop, &t->pause);
    loop_timer_clear(t->loop, &t->finish);
    if (t->in)
        t->in->ops->free(t->in);
    if (fs_remove_tree(t->dir, &e) < 0)
        log_warn("the self-test of %s left %s: %s", t->fuzzer, t->dir, e.msg);
    free(t->dir);
    free(t->fuzzer);
    free(t);
}

static void on_finish(void *arg)
{
    struct selftest *t = arg;
    t->r.took_ns = loop_now(t->loop) - t->began;
    struct selftest_result r = t->r;
    char name[32];
    snprintf(name, sizeof name, "%s", t->fuzzer);
    r.fuzzer = name;
    void (*done)(void *, const struct selftest_result *) = t->done;
    void *done_arg = t->arg;
    release(t);
    done(done_arg, &r);
}

static void on_limit(void *arg)
{
    struct selftest *t = arg;
    static const char *const what[] = {
        [STEP_START] = "it did not get through its start corpus to a safe point",
        [STEP_PAUSE] = "the pause did not end",
        [STEP_TURN] = "it did not park",
        [STEP_AGAIN] = "it did not park",
        [STEP_STOP] = "it did not end",
    };
    fail(t, "%s within %.0f s", what[t->step], (double)t->wait_ns / 1e9);
}

static void enter(struct selftest *t, enum step s)
{
    t->step = s;
    loop_timer(t->loop, &t->limit, loop_now(t->loop) + t->wait_ns);
}

static void run_turn(struct selftest *t, enum step s)
{
    struct err e = {0};
    /* On a slow target the control library hurries imports only after a while: each try is longer. */
    struct turn_quota q = {.cap_ns = ++t->turns * TURN_NS, .as = t->fuzzer};
    enter(t, s);
    if (t->in->ops->resume(t->in, &q, -1, &e) < 0)
        fail(t, "it cannot be resumed: %s", e.msg);
}

static void on_pause_end(void *arg)
{
    struct selftest *t = arg;
    struct tree_usage u;
    t->in->ops->usage(t->in, &u);
    t->r.cpu_parked_ns = u.cpu_ns - t->cpu0;
    t->r.pause_ns = loop_now(t->loop) - t->paused_at;
    t->r.rss_kb = u.rss_kb;
    if (t->r.cpu_parked_ns > CPU_ALLOWED_NS + t->r.pause_ns / 20) {
        fail(t, "it used %.0f ms of CPU in %.0f ms while it should have been parked",
             (double)t->r.cpu_parked_ns / 1e6, (double)t->r.pause_ns / 1e6);
        return;
    }
    run_turn(t, STEP_TURN);
}

static void on_ready(struct selftest *t)
{
    struct err e = {0};
    struct tree_usage u;
    struct input in = {.id = INT32_MAX, .data = ours, .size = sizeof ours - 1};
    t->r.ready_ns = loop_now(t->loop) - t->began;
    if (t->in->ops->deliver(t->in, 1, &in, 1, &e) < 0) {
        fail(t, "an input could not be given to it: %s", e.msg);
        return;
    }
    enter(t, STEP_PAUSE);
    t->in->ops->usage(t->in, &u);
    t->cpu0 = u.cpu_ns;
    t->paused_at = loop_now(t->loop);
    loop_timer(t->loop, &t->pause, t->paused_at + PAUSE_NS);
}

/* What it found must be its own, and made as the fuzzer's name says. */
static void judge_finds(struct selftest *t, const struct harvest *h)
{
    const char *mark = fuzzer_find_mark(t->fuzzer);
    for (size_t i = 0; i < h->n; i++) {
        const struct find *f = &h->finds[i];
        if (f->kind != FIND_SEED)
            continue;
        if (f->size == sizeof ours - 1 && memcmp(f->data, ours, f->size) == 0)
            fail(t, "it gives an input of ours back as its own find");
        else if (mark && f->name && !strstr(f->name, mark))
            fail(t, "a find was not made in its own way, its name lacks %s: %.200s", mark, f->name);
    }
}

static void harvest(struct selftest *t)
{
    struct harvest h = {0};
    struct err e = {0};
    if (t->in->ops->harvest(t->in, &h, &e) < 0)
        fail(t, "its finds cannot be read: %s", e.msg);
    else
        judge_finds(t, &h);
    harvest_free(&h);
}

static void ask_to_end(struct selftest *t)
{
    harvest(t);
    if (t->step == STEP_END)
        return;
    enter(t, STEP_STOP);
    t->in->ops->stop(t->in);
}

static void on_parked(struct selftest *t)
{
    const struct turn_report *r = &t->in->report;
    t->r.execs += r->execs;
    t->taken += r->taken;
    if (r->park_ns > t->r.park_ns)
        t->r.park_ns = r->park_ns;
    if (t->taken > 1)
        fail(t, "it took the same input %llu times", (unsigned long long)t->taken);
    else if (t->step == STEP_AGAIN)
        ask_to_end(t);
    else if (t->taken == 1)
        run_turn(t, STEP_AGAIN);
    else if (t->turns < TRIES)
        run_turn(t, STEP_TURN);
    else if (t->r.execs == 0)
        fail(t, "it executed nothing in %d turns", t->turns);
    else if (t->r.execs < CONCLUSIVE)
        ask_to_end(t);
    else
        fail(t, "it did not take an input offered to it in %d turns (%llu executions)", t->turns,
             (unsigned long long)t->r.execs);
}

static void on_stopped(struct selftest *t)
{
    if (str_starts(t->in->report.why, "exit ")) {
        t->r.ok = true;
        finish_later(t);
    } else {
        fail(t, "asked to end it had to be killed (%s)", t->in->report.why);
    }
}

static void on_event(void *arg, struct instance *in, enum instance_event ev)
{
    struct selftest *t = arg;
    if (t->step == STEP_END)
        return;
    if (ev == INSTANCE_DIED)
        fail(t, "it died: %s", in->report.why);
    else if (ev == INSTANCE_READY && t->step == STEP_START)
        on_ready(t);
    else if (ev == INSTANCE_PARKED)
        on_parked(t);
    else if (ev == INSTANCE_STOPPED && t->step == STEP_STOP)
        on_stopped(t);
}

static int by_size(const void *a, const void *b)
{
    const struct input *x = a, *y = b;
    return x->size < y->size ? -1 : x->size > y->size;
}

static int start_instance(struct selftest *t, const struct input *seeds, size_t n, struct err *e)
{
    struct input *few = xcalloc(n ? n : 1, sizeof *few);
    if (n) {
        memcpy(few, seeds, n * sizeof *few);
        qsort(few, n, sizeof *few, by_size);
    }
    int rc = t->in->ops->start(t->in, few, n < MAX_SEEDS ? n : MAX_SEEDS, false, e);
    free(few);
    return rc;
}

int selftest_start(struct selftest **out, struct loop *l, const struct instance_opts *o,
                   const struct input *seeds, size_t n,
                   void (*done)(void *arg, const struct selftest_result *r), void *arg,
                   struct err *e)
{
    if (fs_exists(o->dir))
        return err_set(e, -EEXIST, "%s is in the way of the self-test of %s", o->dir,
                       o->as ? o->as : o->fuzzer);
    int rc = fuzzer_check(o, e);
    if (rc < 0)
        return rc;
    struct selftest *t = xcalloc(1, sizeof *t);
    t->loop = l;
    t->dir = xstrdup(o->dir);
    t->fuzzer = xstrdup(o->as ? o->as : o->fuzzer);
    t->done = done;
    t->arg = arg;
    t->limit = (struct timer){.fn = on_limit, .arg = t};
    t->pause = (struct timer){.fn = on_pause_end, .arg = t};
    t->finish = (struct timer){.fn = on_finish, .arg = t};
    t->began = loop_now(l);
    t->wait_ns = 20 * NS_PER_S + 40 * (int64_t)o->timeout_ms * NS_PER_MS;
    rc = fuzzer_open(&t->in, l, o, e);
    if (rc == 0) {
        t->in->on_event = on_event;
        t->in->arg = t;
        enter(t, STEP_START);
        rc = start_instance(t, seeds, n, e);
    }
    if (rc < 0) {
        release(t);
        return rc;
    }
    *out = t;
    return 0;
}

void selftest_cancel(struct selftest *t)
{
    if (t)
        release(t);
}
