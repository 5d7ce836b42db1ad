/* engine_run: `carol engine run`: one fuzzer under control, turn by turn, with figures of each.  Evaluates
 * nothing; the campaign does. */
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/engine.h"
#include "proc/loop.h"
#include "target/manifest.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEATHS 3 /* in a row */

struct run {
    const struct engine_opts *o;
    struct loop *loop;
    struct instance *in;
    struct engine_seeds seeds;
    size_t n_start; /* so many of them are the start corpus */
    uint64_t turn;  /* under way, from 1 */
    int64_t began, turn_began;
    double ready_ms;
    uint64_t rss_kb;
    int deaths;
    bool interrupted;
    struct timer pause;
    json_t *turns;
    struct err error;
};

static double ms(int64_t ns)
{
    return (double)ns / (double)NS_PER_MS;
}

static void give_up(struct run *r)
{
    loop_stop(r->loop);
}

static void finish(struct run *r)
{
    r->in->ops->stop(r->in);
}

/* The imports of turn k: an even share of the seeds that were not in the start corpus. */
static int offer(struct run *r)
{
    size_t rest = r->seeds.n - r->n_start, k = (size_t)r->turn, n = (size_t)r->o->turns;
    size_t from = r->n_start + rest * (k - 1) / n, to = r->n_start + rest * k / n;
    return r->in->ops->deliver(r->in, r->turn, r->seeds.v + from, to - from, &r->error);
}

static void next_turn(struct run *r)
{
    struct turn_quota q = {.cap_ns = r->o->turn_ns};
    r->turn++;
    r->turn_began = loop_now(r->loop);
    int rc = offer(r);
    if (rc == 0)
        rc = r->in->ops->resume(r->in, &q, -1, &r->error);
    if (rc < 0)
        give_up(r);
}

static void on_pause_end(void *arg)
{
    struct run *r = arg;
    if (r->interrupted)
        finish(r);
    else
        next_turn(r);
}

static json_t *turn_object(const struct run *r, const json_int_t finds[3])
{
    const struct turn_report *t = &r->in->report;
    json_t *o = json_pack(
        "{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "n",
        (json_int_t)r->turn, "wall_ms", ms(loop_now(r->loop) - r->turn_began), "active_ms",
        ms(t->active_ns), "startup_ms", ms(t->startup_ns), "cycle_ms", ms(t->cycle_ns), "park_ms",
        ms(t->park_ns), "cpu_parked_ms", ms(t->cpu_parked_ns), "cpu_ms", ms(t->cpu_ns), "execs",
        (json_int_t)t->execs, "cycles", (json_int_t)t->cycles, "offered", (json_int_t)t->offered,
        "taken", (json_int_t)t->taken, "exports", finds[0], "crashes", finds[1], "hangs", finds[2],
        "died", t->died);
    if (t->died)
        json_object_set_new(o, "why", json_string(t->why));
    return o;
}

static void say_turn(const struct run *r, const json_int_t f[3])
{
    const struct turn_report *t = &r->in->report;
    if (r->turn == 1)
        printf("%4s %9s %9s %8s %9s %9s %7s %13s %7s %7s %5s\n", "turn", "active ms", "cpu ms",
               "park ms", "cpu prkd", "execs", "cycles", "taken/offered", "exports", "crashes",
               "hangs");
    printf("%4llu %9.0f %9.0f %8.1f %9.0f %9llu %7llu %6llu/%-6llu %7lld %7lld %5lld%s%s\n",
           (unsigned long long)r->turn, ms(t->active_ns), ms(t->cpu_ns), ms(t->park_ns),
           ms(t->cpu_parked_ns), (unsigned long long)t->execs, (unsigned long long)t->cycles,
           (unsigned long long)t->taken, (unsigned long long)t->offered, (long long)f[0],
           (long long)f[1], (long long)f[2], t->died ? "  died: " : "", t->died ? t->why : "");
    fflush(stdout);
}

/* Harvest and note the turn that just ended. */
static int note_turn(struct run *r)
{
    struct harvest h = {0};
    json_int_t finds[3] = {0};
    struct tree_usage u;
    int rc = r->in->ops->harvest(r->in, &h, &r->error);
    if (rc == 0) {
        for (size_t i = 0; i < h.n; i++) {
            finds[0] += h.finds[i].kind == FIND_SEED;
            finds[1] += h.finds[i].kind == FIND_CRASH;
            finds[2] += h.finds[i].kind == FIND_HANG;
        }
        r->in->ops->harvested(r->in, &h);
        r->in->ops->usage(r->in, &u);
        r->rss_kb = u.rss_kb > r->rss_kb ? u.rss_kb : r->rss_kb;
        json_array_append_new(r->turns, turn_object(r, finds));
        if (!r->o->json)
            say_turn(r, finds);
    }
    harvest_free(&h);
    return rc;
}

static void on_died(struct run *r)
{
    if (r->turn && note_turn(r) < 0) {
        give_up(r);
        return;
    }
    if (r->turn == 0 || ++r->deaths >= MAX_DEATHS) {
        err_env(&r->error, "%s died: %s", r->in->fuzzer, r->in->report.why);
        give_up(r);
    } else if (r->interrupted || r->turn >= r->o->turns) {
        finish(r);
    } else {
        log_warn("%s died (%s); started again from its own directory", r->in->fuzzer,
                 r->in->report.why);
        if (r->in->ops->start(r->in, NULL, 0, true, &r->error) < 0)
            give_up(r);
    }
}

static void on_event(void *arg, struct instance *in, enum instance_event ev)
{
    struct run *r = arg;
    if (ev == INSTANCE_READY) {
        if (r->turn == 0)
            r->ready_ms = ms(loop_now(r->loop) - r->began);
        if (r->interrupted)
            finish(r);
        else
            next_turn(r);
    } else if (ev == INSTANCE_PARKED) {
        r->deaths = 0;
        if (note_turn(r) < 0)
            give_up(r);
        else if (r->turn >= r->o->turns || r->interrupted)
            finish(r);
        else
            loop_timer(r->loop, &r->pause, loop_now(r->loop) + r->o->pause_ns);
    } else if (ev == INSTANCE_DIED) {
        on_died(r);
    } else if (ev == INSTANCE_STOPPED) {
        loop_stop(r->loop);
    }
    (void)in;
}

/* Once: end after this turn, which ends now.  Twice: at once. */
static void on_signal(void *arg, int signo)
{
    struct run *r = arg;
    (void)signo;
    if (r->interrupted || r->in->state == INST_STARTING) {
        r->interrupted = true;
        loop_stop(r->loop);
        return;
    }
    r->interrupted = true;
    if (r->in->state == INST_RUNNING)
        r->in->ops->suspend(r->in);
    else if (r->in->state == INST_PARKED)
        loop_timer(r->loop, &r->pause, loop_now(r->loop));
}

static void print_json(const struct run *r, const struct manifest *m)
{
    json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:f, s:I, s:b, s:O}", "schema", 1, "fuzzer",
                          r->in->fuzzer, "target", m->target, "kind", target_kind_name(m->kind),
                          "cycle", fuzzer_cycle(r->in->fuzzer), "ready_ms", r->ready_ms, "rss_kb",
                          (json_int_t)r->rss_kb, "interrupted", r->interrupted, "turns", r->turns);
    json_dumpf(o, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(o);
}

static int start(struct run *r, const struct instance_opts *io, struct err *e)
{
    int rc = fuzzer_check(io, e);
    if (rc == 0)
        rc = loop_new(&r->loop, e);
    if (rc == 0)
        rc = loop_signal(r->loop, SIGINT, on_signal, r, e);
    if (rc == 0)
        rc = loop_signal(r->loop, SIGTERM, on_signal, r, e);
    if (rc == 0)
        rc = fuzzer_open(&r->in, r->loop, io, e);
    if (rc < 0)
        return rc;
    r->in->on_event = on_event;
    r->in->arg = r;
    r->began = loop_now(r->loop);
    return r->in->ops->start(r->in, r->seeds.v, r->n_start, false, e);
}

int engine_run(const struct engine_opts *o, const char *work, struct err *e)
{
    struct run r = {.o = o, .turns = json_array()};
    struct manifest m = {0};
    char *dir = fs_join(work, "0");
    r.pause = (struct timer){.fn = on_pause_end, .arg = &r};
    int rc = manifest_load(o->build, o->target, &m, e);
    if (rc == 0)
        rc = manifest_check_args(&m, o->args, e);
    if (rc == 0)
        rc = engine_read_seeds(o->seeds, &r.seeds, e);
    r.n_start = (r.seeds.n + 1) / 2;
    struct instance_opts io = {.fuzzer = o->names.v[0],
                               .dir = dir,
                               .target = &m,
                               .args = o->args,
                               .dict = o->dict ? o->dict : m.dict,
                               .timeout_ms = o->timeout_ms,
                               .mem_bytes = o->mem_bytes,
                               .seed = 1};
    if (rc == 0)
        rc = start(&r, &io, e);
    if (rc == 0) {
        loop_run(r.loop);
        if (r.error.code < 0) {
            *e = r.error;
            rc = r.error.code;
        }
    }
    if (rc == 0 && o->json)
        print_json(&r, &m);
    if (r.in)
        r.in->ops->free(r.in);
    loop_free(r.loop);
    engine_free_seeds(&r.seeds);
    json_decref(r.turns);
    manifest_free(&m);
    free(dir);
    return rc;
}
