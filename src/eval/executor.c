/* executor: drives the neutral server: starts and restarts it, feeds it batches, finds out which input
 * killed it.  Runs no target code and never waits: everything happens in callbacks of the loop.
 *
 * A job is cut into batches that fit the shared memory.  Per batch:
 *
 *     send -> done  -> all slots final -> results, next batch
 *                      (in a team: first without confirming, then, in its turn, with)
 *          -> death -> the current input gets a strike and is sent alone; the second strike is its
 *                      quarantine; then the rest of the batch again, without what is already final */
#include "eval/executor.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/str.h"
#include "eval/area.h"
#include "eval/launch.h"
#include "eval/program.h"
#include "proc/cage.h"
#include "proc/tree.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATA_MIN ((uint64_t)16 << 20)
#define DATA_MAX ((uint64_t)1 << 30)
#define STARTS_MAX 3 /* in a row without a word from the server */
#define HELLO_S 60
#define SILENCE_S 30  /* a server that does not even tick is gone */
#define UNEXPLAINED 3 /* deaths with no input marked until the first waiting one is suspected */
#define STRIKES 2
#define LEAVE_MS 200
#define NOBODY UINT32_MAX

enum phase { PHASE_DOWN = 0, PHASE_STARTING, PHASE_READY, PHASE_BUSY, PHASE_DYING };

struct executor {
    struct evaluator ev;
    struct loop *loop;
    struct executor_opts opts;
    struct program program;
    struct area area;
    uint64_t *known;
    uint64_t data_len; /* wanted; the area is made again when it has less */

    enum phase phase;
    struct cage cage;
    int sock, cpu;
    uint32_t beat;
    int64_t beat_at;
    unsigned failed_starts;
    struct timer kick, watchdog;

    struct eval_job *job;
    size_t next;          /* first input of the job not in a batch yet */
    size_t *of;           /* slot -> input */
    uint8_t *strikes;     /* per slot */
    uint64_t number;      /* of the job, in a team */
    bool ran;             /* the batch is through the first tier */
    bool confirming;      /* the request under way does the second tier too */
    uint32_t alone;       /* slot being run on its own; NOBODY */
    unsigned unexplained; /* deaths of the server in a row with no input marked */
    struct digest *jail;
    size_t n_jail;
    struct executor_stats stats;
};

static void advance(struct executor *x);

static void finish(struct executor *x, int failed, const struct err *why)
{
    struct eval_job *job = x->job;
    x->job = NULL;
    job->failed = failed;
    if (failed < 0 && why)
        job->error = *why;
    x->stats.inputs += job->n;
    if (x->opts.team)
        team_done(x->opts.team, x->number);
    job->done(job->arg, job);
}

/* ---- the server process ---- */

static void close_sock(struct executor *x)
{
    if (x->sock < 0)
        return;
    loop_unwatch(x->loop, x->sock);
    close(x->sock);
    x->sock = -1;
}

static void stop(struct executor *x)
{
    close_sock(x);
    if (x->phase != PHASE_DOWN)
        x->phase = PHASE_DYING;
    cage_kill(&x->cage);
}

/* The server died while input `cur` was running: run it alone next, or never again. */
static void blame(struct executor *x, uint32_t cur)
{
    if (cur >= x->area.n || area_is_final(&x->area, cur)) {
        /* No input is marked: the machine is to blame, or a target overwrote the mark.  Once may be chance. */
        if (++x->unexplained < UNEXPLAINED)
            return;
        for (cur = 0; cur < x->area.n && area_is_final(&x->area, cur); cur++)
            ;
        if (cur == x->area.n)
            return;
    }
    x->unexplained = 0;
    if (++x->strikes[cur] < STRIKES) {
        x->alone = cur;
        return;
    }
    const struct eval_input *in = &x->job->inputs[x->of[cur]];
    x->jail = xrealloc(x->jail, (x->n_jail + 1) * sizeof *x->jail);
    hash_bytes(in->data, in->size, &x->jail[x->n_jail++]);
    area_set_final(&x->area, cur, RUN_QUARANTINED);
    x->stats.quarantined++;
    x->alone = NOBODY;
}

static int start_error(struct executor *x, const struct cage_end *end, struct err *e)
{
    const char *binary = x->opts.target->family[FAMILY_NEUTRAL].binary;
    if (end->exec_errno)
        return err_env(e, "cannot execute the neutral binary %s: %s; %s", binary,
                       strerror(end->exec_errno),
                       end->exec_errno == EMFILE ? "allow more with 'ulimit -n 1024'"
                                                 : "build it again with 'carol build'");
    return err_usage(e,
                     "the neutral binary does not come up (%s %d): try '%s FILE' by hand, and "
                     "build it again with 'carol build' if it was linked without $CC",
                     end->exited ? "exit code" : "signal", end->exited ? end->code : end->signal,
                     binary);
}

static void on_end(void *arg, uint32_t events)
{
    (void)events;
    struct executor *x = arg;
    struct cage_end end;
    enum phase was = x->phase;
    loop_unwatch(x->loop, x->cage.status_fd);
    loop_timer_clear(x->loop, &x->watchdog);
    close_sock(x);
    cage_reap(&x->cage, &end);
    x->phase = PHASE_DOWN;
    if (!x->job)
        return;
    struct err e = {0};
    bool idle = was == PHASE_STARTING || (was == PHASE_BUSY && area_current(&x->area) >= x->area.n);
    if (idle && (end.exec_errno || ++x->failed_starts >= STARTS_MAX)) {
        finish(x, start_error(x, &end, &e), &e);
        return;
    }
    x->stats.restarts++;
    if (was == PHASE_BUSY)
        blame(x, area_current(&x->area));
    advance(x);
}

static bool is_stopped(const struct executor *x)
{
    char path[64], line[256];
    pid_t pid = cage_program(&x->cage);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (pid <= 0 || !fs_read_line(path, line, sizeof line))
        return false;
    const char *after = strrchr(line, ')');
    return after && (after[2] == 'T' || after[2] == 't');
}

/* An input can stop the server or make it deaf; only this watchdog would notice. */
static void on_watchdog(void *arg)
{
    struct executor *x = arg;
    int64_t now = loop_now(x->loop);
    uint32_t beat = area_beat(&x->area) + area_current(&x->area);
    if (x->phase != PHASE_STARTING && x->phase != PHASE_BUSY)
        return;
    if (beat != x->beat) {
        x->beat = beat;
        x->beat_at = now;
    }
    int64_t limit = x->phase == PHASE_STARTING ? HELLO_S : SILENCE_S;
    if (is_stopped(x) || now - x->beat_at > limit * NS_PER_S) {
        cage_kill(&x->cage); /* phase stays: the end is judged as a death of its own */
        return;
    }
    loop_timer(x->loop, &x->watchdog, now + NS_PER_S);
}

static void arm_watchdog(struct executor *x)
{
    x->beat_at = loop_now(x->loop);
    loop_timer(x->loop, &x->watchdog, x->beat_at + NS_PER_S);
}

static bool may_confirm(const struct executor *x)
{
    return !x->opts.team || team_has_turn(x->opts.team, x->number);
}

static void send_batch(struct executor *x)
{
    bool alone = x->alone != NOBODY;
    x->confirming = alone || may_confirm(x);
    if (x->ran && !x->confirming)
        return; /* on_turn comes back here */
    uint32_t limit_ms = x->job->limit_ms ? x->job->limit_ms : x->opts.timeout_ms;
    struct cov_req q = {.first = alone ? x->alone : 0,
                        .count = alone ? 1 : x->area.n,
                        .per_worker = alone ? 1 : x->opts.per_worker,
                        .cpu_ms = limit_ms,
                        .wall_ms = EVAL_WALL_MS(limit_ms),
                        .confirm = x->confirming,
                        .mem_bytes = x->opts.mem_bytes};
    area_arm(&x->area, x->known);
    x->phase = PHASE_BUSY;
    if (send(x->sock, &q, sizeof q, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        cage_kill(&x->cage); /* it is dying already; on_end goes on */
    arm_watchdog(x);
}

/* True when every slot of the batch is final. */
static bool batch_complete(struct executor *x, bool was_whole)
{
    bool all = true;
    for (uint32_t i = 0; i < x->area.n; i++)
        if (!area_is_final(&x->area, i)) {
            all = false;
            if (was_whole) /* it wrote over its own result */
                blame(x, i);
        }
    return all;
}

static void take_batch(struct executor *x)
{
    for (uint32_t i = 0; i < x->area.n; i++)
        area_take(&x->area, i, !x->job->only_counts, &x->job->results[x->of[i]], x->known);
    area_empty(&x->area);
    x->ran = false;
}

static void on_done(struct executor *x, const struct cov_done *d)
{
    bool whole = x->alone == NOBODY;
    x->alone = NOBODY;
    x->phase = PHASE_READY;
    x->failed_starts = 0;
    loop_timer_clear(x->loop, &x->watchdog);
    x->stats.runs += d->runs;
    x->stats.workers += d->workers;
    x->stats.late_modules = d->late;
    for (uint32_t i = 0; i < d->ring_n; i++) {
        struct eval_job *job = x->job;
        struct eval_call call;
        if (area_call(&x->area, i, &call)) {
            job->calls = xrealloc(job->calls, (job->n_calls + 1) * sizeof call);
            job->calls[job->n_calls++] = call;
        }
    }
    x->ran |= whole;
    if (x->confirming && batch_complete(x, whole))
        take_batch(x);
    advance(x);
}

static const char *check_hello(const struct executor *x, struct cov_hello *h)
{
    h->error[sizeof h->error - 1] = 0;
    if (memcmp(h->magic, COV_MAGIC, sizeof h->magic) != 0)
        return "it was linked with the runtime of another Carol";
    if (h->error[0])
        return h->error;
    if (h->n_edges != x->program.n_edges || h->n_modules != x->program.n_modules ||
        h->layout != x->program.layout)
        return "its table is of another build (a library beside it has changed)";
    return NULL;
}

static void tell_of_threads(const struct executor *x)
{
    static bool told; /* by one of them for all */
    if (!told)
        log_warn(
            "%s has threads before its first input; inputs are measured in copies of the process "
            "without them, so one that waits for such a thread will count as a hang",
            x->opts.target->family[FAMILY_NEUTRAL].binary);
    told = true;
}

static void on_hello(struct executor *x, struct cov_hello *h)
{
    const char *why = check_hello(x, h);
    if (!why && h->threads)
        tell_of_threads(x);
    if (!why) {
        x->phase = PHASE_READY;
        loop_timer_clear(x->loop, &x->watchdog);
        advance(x);
        return;
    }
    struct err e = {0};
    int rc = err_usage(&e, "%s cannot be used: %s; make it again with 'carol build'",
                       x->opts.target->family[FAMILY_NEUTRAL].binary, why);
    stop(x);
    if (x->job)
        finish(x, rc, &e);
}

static void on_sock(void *arg, uint32_t events)
{
    (void)events;
    struct executor *x = arg;
    union {
        struct cov_hello hello;
        struct cov_done done;
    } m;
    ssize_t n = recv(x->sock, &m, sizeof m, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (x->phase == PHASE_STARTING && n == (ssize_t)sizeof m.hello) {
        on_hello(x, &m.hello);
    } else if (x->phase == PHASE_BUSY && n == (ssize_t)sizeof m.done) {
        on_done(x, &m.done);
    } else {
        close_sock(x); /* it closed its end, or talks nonsense: on_end judges */
        cage_kill(&x->cage);
    }
}

static int start(struct executor *x, struct err *e)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, "socketpair");
    struct strv argv = {0}, env = {0};
    launch_argv(x->opts.target, x->opts.args, &argv);
    launch_env(x->opts.target, &env);
    struct cage_fd fds[] = {{x->area.fd, COV_FD_SHM}, {pair[1], COV_FD_SOCK}};
    int rc = cage_start(&x->cage,
                        &(struct cage_opts){.argv = (const char *const *)argv.v,
                                            .envp = (const char *const *)env.v,
                                            .fds = fds,
                                            .nfds = 2,
                                            .cpu = x->cpu},
                        e);
    strv_free(&argv);
    strv_free(&env);
    close(pair[1]);
    if (rc < 0) {
        close(pair[0]);
        return rc;
    }
    x->sock = pair[0];
    x->phase = PHASE_STARTING;
    arm_watchdog(x);
    rc = loop_watch(x->loop, x->cage.status_fd, EPOLLIN, on_end, x, e);
    return rc < 0 ? rc : loop_watch(x->loop, x->sock, EPOLLIN, on_sock, x, e);
}

/* ---- the job ---- */

static bool is_jailed(const struct executor *x, const struct eval_input *in)
{
    if (!x->n_jail)
        return false;
    struct digest d;
    hash_bytes(in->data, in->size, &d);
    for (size_t i = 0; i < x->n_jail; i++)
        if (digest_equal(&d, &x->jail[i]))
            return true;
    return false;
}

/* Put the next inputs of the job into the area.  An input larger than it sets data_len and leaves
 * the batch empty: the area must be made again first. */
static void fill_batch(struct executor *x)
{
    for (; x->next < x->job->n; x->next++) {
        const struct eval_input *in = &x->job->inputs[x->next];
        if (is_jailed(x, in)) {
            x->job->results[x->next].status = RUN_QUARANTINED;
            x->job->results[x->next].edges.ids = xcalloc(1, sizeof(uint32_t));
            continue;
        }
        uint32_t slot = x->area.n;
        if (!area_add(&x->area, in)) {
            if (slot == 0)
                x->data_len = in->size;
            return;
        }
        x->of[slot] = x->next;
        x->strikes[slot] = 0;
    }
}

/* Fail only if waiting cannot help. */
static int step(struct executor *x, struct err *e)
{
    if (x->area.fd >= 0 && x->area.n == 0)
        fill_batch(x);
    if (x->data_len > DATA_MAX)
        return err_usage(e, "an input of %llu MB is too large to measure (the most is 1 GB)",
                         (unsigned long long)(x->data_len >> 20));
    if (x->area.fd < 0 || x->area.h.data_len < x->data_len) {
        if (x->phase != PHASE_DOWN) {
            stop(x); /* on_end comes back here */
            return 0;
        }
        area_free(&x->area);
        int rc = area_make(&x->area, x->program.n_edges, x->program.n_modules, x->data_len, e);
        if (rc < 0)
            return rc;
        x->of = xrealloc(x->of, x->area.h.max_inputs * sizeof *x->of);
        x->strikes = xrealloc(x->strikes, x->area.h.max_inputs);
        fill_batch(x);
    }
    if (x->area.n == 0)
        return 1;
    if (x->phase == PHASE_DOWN)
        return start(x, e);
    if (x->phase == PHASE_READY)
        send_batch(x);
    return 0;
}

static void advance(struct executor *x)
{
    if (!x->job)
        return;
    struct err e = {0};
    if (x->area.n && x->phase == PHASE_DOWN && batch_complete(x, false))
        take_batch(x); /* the last open slot was just quarantined */
    int rc = step(x, &e);
    if (rc != 0)
        finish(x, rc < 0 ? rc : 0, &e);
}

static void on_kick(void *arg)
{
    advance(arg);
}

static void on_turn(void *arg)
{
    struct executor *x = arg;
    if (x->job && x->ran && x->phase == PHASE_READY && may_confirm(x))
        loop_timer(x->loop, &x->kick, loop_now(x->loop));
}

static int submit(struct evaluator *ev, struct eval_job *job, struct err *e)
{
    struct executor *x = (struct executor *)ev;
    if (x->job)
        return err_set(e, -EBUSY, "the executor measures one job at a time");
    x->job = job;
    x->number = x->opts.team ? team_number(x->opts.team) : 0;
    x->next = 0;
    x->ran = false;
    x->alone = NOBODY;
    x->failed_starts = 0;
    x->data_len = DATA_MIN;
    if (x->area.fd >= 0)
        area_empty(&x->area);
    job->results = xcalloc(job->n ? job->n : 1, sizeof *job->results);
    job->calls = NULL;
    job->n_calls = 0;
    job->failed = 0;
    if (job->cpu >= 0 && job->cpu != x->cpu) {
        x->cpu = job->cpu;
        if (x->cage.init > 0)
            tree_pin(x->cage.init, x->cpu);
    }
    loop_timer(x->loop, &x->kick, loop_now(x->loop));
    return 0;
}

static void executor_free(struct evaluator *ev)
{
    struct executor *x = (struct executor *)ev;
    struct cage_end end;
    loop_timer_clear(x->loop, &x->kick);
    loop_timer_clear(x->loop, &x->watchdog);
    bool idle = x->phase == PHASE_READY;
    close_sock(x);
    if (x->cage.init > 0) {
        /* An idle server exits by itself at once; its CPU time then counts among our children's. */
        struct pollfd p = {.fd = x->cage.status_fd, .events = POLLIN};
        if (!idle || poll(&p, 1, LEAVE_MS) != 1)
            cage_kill(&x->cage);
        loop_unwatch(x->loop, x->cage.status_fd);
        cage_reap(&x->cage, &end);
    }
    area_free(&x->area);
    if (x->opts.team)
        team_leave(x->opts.team, x);
    else
        free(x->known);
    free(x->of);
    free(x->strikes);
    free(x->jail);
    free(x);
}

static const struct eval_ops executor_ops = {.submit = submit, .free = executor_free};

int executor_new(struct evaluator **out, struct loop *l, const struct executor_opts *o,
                 struct err *e)
{
    struct executor *x = xcalloc(1, sizeof *x);
    *x = (struct executor){.ev = {.ops = &executor_ops},
                           .loop = l,
                           .opts = *o,
                           .area = {.fd = -1},
                           .cage = {.init = -1, .pidfd = -1, .status_fd = -1},
                           .sock = -1,
                           .cpu = o->cpu,
                           .alone = NOBODY};
    x->kick = (struct timer){.fn = on_kick, .arg = x};
    x->watchdog = (struct timer){.fn = on_watchdog, .arg = x};
    if (!x->opts.mem_bytes)
        x->opts.mem_bytes = (uint64_t)2 << 30;
    if (!x->opts.timeout_ms)
        x->opts.timeout_ms = 1000;
    if (!x->opts.per_worker)
        x->opts.per_worker = 200;
    const struct executor *other = o->team ? team_first(o->team) : NULL;
    int rc = other ? 0 : program_check(o->target, &x->program, e);
    if (rc < 0) {
        executor_free(&x->ev);
        return rc;
    }
    if (other) /* they measure on the same build: what it read holds for us */
        x->program = other->program;
    size_t words = ((size_t)x->program.n_edges + 63) / 64;
    x->known = o->team ? team_known(o->team, words) : xcalloc(words, sizeof *x->known);
    if (o->team)
        team_join(o->team, on_turn, x);
    x->stats.n_edges = x->program.n_edges;
    *out = &x->ev;
    return 0;
}

void executor_stats(const struct evaluator *ev, struct executor_stats *s)
{
    const struct executor *x = (const struct executor *)ev;
    *s = x->stats;
    s->covered = edges_count(x->known, s->n_edges);
}
