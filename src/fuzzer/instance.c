/* instance: everything that is common to the real fuzzers: the cage, the turns on the control page, time
 * caps, death, restart and stop.  Does not know any fuzzer; the arm does (fuzzer/arm.h). */
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/live.h"
#include "fuzzer/live_private.h"
#include "proc/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define ATTACH_NS (2 * NS_PER_S) /* a library that is not there by then will never be */
#define STOP_NS (2 * NS_PER_S)
#define START_NS (60 * NS_PER_S)     /* calibrating a start corpus may take this beyond the turn */
#define START_STOP_NS (5 * NS_PER_S) /* and this once it shall end */

static struct live *live_of(struct instance *in)
{
    return (struct live *)in;
}

static void tell(struct live *lv, enum instance_event ev)
{
    if (lv->in.on_event)
        lv->in.on_event(lv->in.arg, &lv->in, ev);
}

/* Tell it from the loop, not from inside the call. */
static void tell_later(struct live *lv, enum instance_event ev)
{
    lv->p->later_event = ev;
    loop_timer(lv->loop, &lv->p->later, loop_now(lv->loop));
}

static void on_later(void *arg)
{
    struct live *lv = arg;
    tell(lv, lv->p->later_event);
}

static int64_t cpu_of(struct live *lv)
{
    struct tree_usage u = {0};
    if (lv->cage.init > 0)
        tree_usage(lv->cage.init, &u);
    return u.cpu_ns;
}

/* What was used between two looks.  A process of the tree that was killed, or a restart, takes its time along. */
static int64_t used_between(int64_t before, int64_t after)
{
    return after > before ? after - before : 0;
}

/* Start-up is over, or is cut by the end of a turn. */
static void note_startup(struct live *lv)
{
    struct live_private *p = lv->p;
    if (p->starting_at)
        p->startup_ns += loop_now(lv->loop) - p->starting_at;
    p->starting_at = 0;
}

/* Counters of the turn that ends now. */
static void fill_report(struct live *lv)
{
    struct live_private *p = lv->p;
    struct turn_report *r = &lv->in.report;
    int64_t now = loop_now(lv->loop);
    r->execs = ctl_get64(&lv->page->execs) - p->execs0;
    r->cycles = ctl_get64(&lv->page->cycles) - p->cycles0;
    r->cycle_ns = ctl_get_ns(&lv->page->cycles_ns) - p->cycles_ns0;
    r->offered = lv->offered - p->offered0;
    r->taken = ctl_get64(&lv->page->taken) - p->taken0;
    p->offered0 = lv->offered;
    r->active_ns = p->resumed_at ? now - p->resumed_at : 0;
    r->park_ns = p->asked_at ? now - p->asked_at : 0;
    note_startup(lv);
    r->startup_ns = p->startup_ns;
    p->resumed_at = p->asked_at = p->startup_ns = 0;
}

static void end_turn(struct live *lv)
{
    struct live_private *p = lv->p;
    loop_timer_clear(lv->loop, &p->cap);
    loop_timer_clear(lv->loop, &p->least);
    loop_timer_clear(lv->loop, &p->attach);
    p->turn_asked = false;
    fill_report(lv);
    p->cpu_parked = cpu_of(lv);
    lv->in.report.cpu_ns = used_between(p->cpu0, p->cpu_parked);
    lv->in.state = INST_PARKED;
    tell(lv, INSTANCE_PARKED);
}

/* The library does not answer: stop the fuzzer's own process.  Its target finishes what it runs. */
static void stop_by_signal(struct live *lv, const char *why)
{
    if (cage_signal(&lv->cage, SIGSTOP) < 0) {
        cage_kill(
            &lv->cage); /* it is dying, or out of reach: its end is an event, waiting is not */
        return;
    }
    if (lv->p->by_signal++ == 0)
        log_warn("%s #%d: %s; its process is stopped by SIGSTOP instead", lv->in.fuzzer,
                 lv->in.number, why);
    lv->p->stopped = true;
    lv->p->stopped_at = loop_now(lv->loop);
}

/* From here on its cycles may end the turn. */
static void on_least(void *arg)
{
    struct live *lv = arg;
    ctlpage_end_at(lv->page, lv->p->quota_at);
}

static void on_cap(void *arg)
{
    struct live *lv = arg;
    struct live_private *p = lv->p;
    if (lv->in.state == INST_STARTING && p->turn_asked) { /* it goes on calibrating next turn */
        stop_by_signal(lv, "its start-up takes longer than a turn");
        if (p->stopped)
            end_turn(lv);
    }
    if (lv->in.state != INST_RUNNING)
        return;
    bool attached = ctl_get32(&lv->page->attached) != 0;
    if (!p->asked_at && attached) {
        int64_t grace = 4 * (int64_t)lv->o.timeout_ms * NS_PER_MS;
        p->asked_at = loop_now(lv->loop);
        ctlpage_stop(lv->page);
        loop_timer(lv->loop, &p->cap, p->asked_at + (grace > 2 * NS_PER_S ? grace : 2 * NS_PER_S));
        return;
    }
    if (!p->asked_at)
        p->asked_at = loop_now(lv->loop);
    stop_by_signal(lv, attached ? "it did not reach a safe point in time"
                                : "the control library is not loaded in it");
    if (p->stopped)
        end_turn(lv);
}

static void become_ready(struct live *lv)
{
    struct live_private *p = lv->p;
    loop_timer_clear(lv->loop, &p->attach);
    note_startup(lv);
    p->ready = true;
    if (p->turn_asked) { /* the turn was asked for during start-up: its time begins now */
        p->turn_asked = false;
        lv->in.state = INST_RUNNING;
        p->resumed_at = loop_now(lv->loop);
        loop_timer(lv->loop, &p->cap, p->resumed_at + p->cap_ns);
        return;
    }
    p->cpu_parked = cpu_of(lv);
    lv->in.state = INST_PARKED;
    tell(lv, INSTANCE_READY);
}

/* No library two seconds after the start: SIGSTOP is the control of this instance. */
static void on_attach(void *arg)
{
    struct live *lv = arg;
    if (lv->in.state != INST_STARTING || ctl_get32(&lv->page->attached))
        return;
    if (!lv->p->turn_asked)
        stop_by_signal(lv, "the control library is not loaded in it");
    become_ready(lv);
}

static void note_faults(struct live *lv)
{
    uint32_t n = ctl_get32(&lv->page->faults);
    if (n == lv->p->faults)
        return;
    lv->p->faults = n;
    log_warn("%s #%d: the control library reports a fault, see %s/fault", lv->in.fuzzer,
             lv->in.number, lv->o.dir);
}

static void on_event_fd(void *arg, uint32_t events)
{
    struct live *lv = arg;
    uint64_t count;
    (void)events;
    ssize_t n = read(lv->p->event_fd, &count, sizeof count);
    (void)n;
    note_faults(lv);
    if (lv->in.state == INST_STARTING && ctl_get32(&lv->page->ready))
        become_ready(lv);
    if (lv->in.state == INST_RUNNING && ctlpage_parked(lv->page))
        end_turn(lv);
}

static void describe_end(struct live *lv, const struct cage_end *end)
{
    struct turn_report *r = &lv->in.report;
    const char *last = lv->p->out.last, *sep = *last ? ": " : "";
    if (end->exec_errno)
        snprintf(r->why, sizeof r->why, "cannot be executed: %s", strerror(end->exec_errno));
    else if (end->exited)
        snprintf(r->why, sizeof r->why, "exit %d%s%.200s", end->code, sep, last);
    else
        snprintf(r->why, sizeof r->why, "killed by signal %d%s%.200s", end->signal, sep, last);
    for (char *c = r->why; *c; c++) /* it goes into JSON and the store: no stray bytes */
        if ((unsigned char)*c > '~')
            *c = '?';
}

static void release_process(struct live *lv)
{
    struct live_private *p = lv->p;
    struct err e = {0};
    output_close(&p->out);
    if (p->event_fd >= 0) {
        loop_unwatch(lv->loop, p->event_fd);
        close(p->event_fd);
        p->event_fd = -1;
    }
    loop_timer_clear(lv->loop, &p->cap);
    loop_timer_clear(lv->loop, &p->least);
    loop_timer_clear(lv->loop, &p->attach);
    loop_timer_clear(lv->loop, &p->stopping);
    p->stopped = p->turn_asked = false;
    char *tmp = fs_join(lv->o.dir, "tmp");
    if (fs_remove_tree(tmp, &e) < 0)
        log_warn("%s #%d: %s", lv->in.fuzzer, lv->in.number, e.msg);
    free(tmp);
}

static void on_end(void *arg, uint32_t events)
{
    struct live *lv = arg;
    struct cage_end end;
    (void)events;
    loop_unwatch(lv->loop, lv->cage.status_fd);
    cage_reap(&lv->cage, &end);
    bool stopping = lv->in.state == INST_STOPPING;
    fill_report(lv);
    release_process(lv);
    note_faults(lv);
    lv->in.report.died = !stopping;
    describe_end(lv, &end);
    lv->in.state = stopping ? INST_STOPPED : INST_DEAD;
    tell(lv, stopping ? INSTANCE_STOPPED : INSTANCE_DIED);
}

static void on_line(void *arg, const char *line)
{
    struct live *lv = arg;
    if (lv->arm->line)
        lv->arm->line(lv, line);
}

static int spawn(struct live *lv, const struct strv *argv, const struct strv *env, struct err *e)
{
    struct live_private *p = lv->p;
    char *log = fs_join(lv->o.dir, "log");
    int rc = output_open(&p->out, lv->loop, log, e);
    free(log);
    p->out.noise = lv->arm->noise;
    p->out.on_line = on_line;
    p->out.arg = lv;
    p->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (rc == 0 && p->event_fd < 0)
        rc = err_sys(e, "eventfd");
    if (rc == 0)
        rc = loop_watch(lv->loop, p->event_fd, EPOLLIN, on_event_fd, lv, e);
    struct cage_fd fds[] = {{p->event_fd, CTL_EVENT_FD}};
    if (rc == 0)
        rc = cage_start(&lv->cage,
                        &(struct cage_opts){.argv = (const char *const *)argv->v,
                                            .envp = (const char *const *)env->v,
                                            .cwd = lv->o.dir,
                                            .out = p->out.child_fd,
                                            .err = p->out.child_fd,
                                            .fds = fds,
                                            .nfds = 1,
                                            .own_proc = lv->arm->own_proc,
                                            .cpu = p->cpu},
                        e);
    if (rc == 0)
        rc = loop_watch(lv->loop, lv->cage.status_fd, EPOLLIN, on_end, lv, e);
    output_started(&p->out);
    return rc;
}

/* A supervisor killed together with the init could not remove the segments of this instance's last life. */
static void sweep_former(struct live *lv)
{
    pid_t former = lv->page->pid;
    if (former > 0 && !cage_namespaces_work() && kill(former, 0) < 0 && errno == ESRCH)
        sweep_segments(former);
}

static int instance_start(struct instance *in, const struct input *seeds, size_t n, bool again,
                          struct err *e)
{
    struct live *lv = live_of(in);
    struct strv argv = {0}, extra = {0}, env = {0};
    if (in->state != INST_NEW && in->state != INST_DEAD && in->state != INST_STOPPED)
        return err_set(e, -EBUSY, "%s #%d is running already", in->fuzzer, in->number);
    lv->p->starting_at = loop_now(lv->loop);
    lv->p->startup_ns = 0;
    lv->p->ready = false;
    sweep_former(lv);
    ctlpage_reset(lv->page);
    int rc = live_fresh_tmp(lv, e);
    if (rc == 0 && !again)
        rc = lv->arm->prepare(lv, seeds, n, e);
    if (rc == 0)
        rc = lv->arm->command(lv, again, &argv, &extra, e);
    if (rc == 0) {
        live_environment(lv, argv.v[0], &extra, &env);
        rc = spawn(lv, &argv, &env, e);
    }
    if (rc == 0) {
        in->state = INST_STARTING;
        in->report = (struct turn_report){0};
        loop_timer(lv->loop, &lv->p->attach, loop_now(lv->loop) + ATTACH_NS);
    } else {
        if (lv->cage.init > 0)
            live_kill_now(lv);
        release_process(lv);
        err_wrap(e, "cannot start %s #%d", in->fuzzer, in->number);
    }
    strv_free(&argv);
    strv_free(&extra);
    strv_free(&env);
    return rc;
}

static int instance_deliver(struct instance *in, uint64_t batch, const struct input *inputs,
                            size_t n, struct err *e)
{
    struct live *lv = live_of(in);
    if (in->state == INST_RUNNING)
        return err_set(e, -EBUSY, "%s #%d is in a turn", in->fuzzer, in->number);
    if (batch <= ctl_get64(&lv->page->batch))
        return 0;
    lv->batch = batch;
    int rc = n ? lv->arm->deliver(lv, inputs, n, e) : 0;
    if (rc == 0) {
        lv->offered += n;
        ctl_set64(&lv->page->batch, batch);
    }
    return rc;
}

/* 0 where there is one only. */
static uint32_t mode_of(const struct live *lv, const char *fuzzer)
{
    const struct arm *a = arm_find(fuzzer);
    return a && a->host == lv->arm ? a->mode : CTL_MODE_NONE;
}

static int instance_resume(struct instance *in, const struct turn_quota *q, int cpu, struct err *e)
{
    struct live *lv = live_of(in);
    struct live_private *p = lv->p;
    if (in->state != INST_PARKED && in->state != INST_STARTING)
        return err_set(e, -EINVAL, "%s #%d is not there to be resumed", in->fuzzer, in->number);
    if (cpu >= 0 && cpu != p->cpu)
        tree_pin(lv->cage.init, cpu);
    p->cpu = cpu >= 0 ? cpu : p->cpu;
    p->cpu0 = cpu_of(lv);
    in->report = (struct turn_report){.cpu_parked_ns =
                                          p->cpu_parked ? used_between(p->cpu_parked, p->cpu0) : 0};
    p->execs0 = ctl_get64(&lv->page->execs);
    p->cycles0 = ctl_get64(&lv->page->cycles);
    p->cycles_ns0 = ctl_get_ns(&lv->page->cycles_ns);
    p->taken0 = ctl_get64(&lv->page->taken);
    p->cap_ns = q->cap_ns;
    p->asked_at = 0;
    int64_t now = loop_now(lv->loop);
    ctl_set32(&lv->page->mode, mode_of(lv, q->as));
    if (p->stopped) {
        ctlpage_was_stopped(lv->page, now - p->stopped_at);
        cage_signal(&lv->cage, SIGCONT);
    }
    p->stopped = false;
    p->turn_asked = !p->ready && !ctl_get32(&lv->page->ready);
    if (p->turn_asked) {
        p->resumed_at = 0;
        p->starting_at = p->starting_at ? p->starting_at : now;
        in->state = INST_STARTING; /* also when the turn before cut it */
    } else {
        note_startup(lv);
        p->ready = true;
        p->resumed_at = now;
        in->state = INST_RUNNING;
    }
    loop_timer(lv->loop, &p->cap, now + q->cap_ns + (p->turn_asked ? START_NS : 0));
    p->quota_at = p->cycles0 + q->cycles;
    if (q->cycles && q->least_ns)
        loop_timer(lv->loop, &p->least, now + q->least_ns);
    ctlpage_go(lv->page, q->least_ns ? 0 : q->cycles);
    return 0;
}

static void instance_suspend(struct instance *in)
{
    struct live *lv = live_of(in);
    if (in->state == INST_RUNNING && !lv->p->asked_at)
        loop_timer(lv->loop, &lv->p->cap, loop_now(lv->loop)); /* on_cap, from the loop */
    else if (in->state == INST_STARTING && lv->p->turn_asked) {
        lv->p->cap_ns = 0;
        loop_timer(lv->loop, &lv->p->cap, loop_now(lv->loop) + START_STOP_NS);
    }
}

static int instance_harvest(struct instance *in, struct harvest *h, struct err *e)
{
    struct live *lv = live_of(in);
    if (in->state == INST_RUNNING || in->state == INST_STARTING)
        return err_set(e, -EBUSY, "%s #%d is in a turn", in->fuzzer, in->number);
    return lv->arm->harvest(lv, h, e);
}

static void instance_harvested(struct instance *in, const struct harvest *h)
{
    struct live *lv = live_of(in);
    if (lv->arm->harvested)
        lv->arm->harvested(lv, h);
    free(in->cursor);
    in->cursor = h->cursor ? xstrdup(h->cursor) : NULL;
}

static void instance_usage(struct instance *in, struct tree_usage *u)
{
    struct live *lv = live_of(in);
    *u = (struct tree_usage){0};
    if (lv->cage.init > 0)
        tree_usage(lv->cage.init, u);
}

static void on_stop_late(void *arg)
{
    struct live *lv = arg;
    cage_kill(&lv->cage);
}

static void instance_stop(struct instance *in)
{
    struct live *lv = live_of(in);
    struct live_private *p = lv->p;
    if (in->state == INST_STOPPING)
        return;
    if (lv->cage.init <= 0) {
        in->state = INST_STOPPED;
        tell_later(lv, INSTANCE_STOPPED);
        return;
    }
    in->state = INST_STOPPING;
    loop_timer_clear(lv->loop, &p->cap);
    loop_timer_clear(lv->loop, &p->least);
    loop_timer_clear(lv->loop, &p->attach);
    cage_signal(&lv->cage, SIGINT);
    ctlpage_quit(lv->page);
    if (p->stopped)
        cage_signal(&lv->cage, SIGCONT);
    loop_timer(lv->loop, &p->stopping, loop_now(lv->loop) + STOP_NS);
}

void live_kill_now(struct live *lv)
{
    struct cage_end end;
    if (lv->cage.init <= 0)
        return;
    loop_unwatch(lv->loop, lv->cage.status_fd);
    cage_kill(&lv->cage);
    cage_reap(&lv->cage, &end); /* waits for the init, which was just killed */
}

static void instance_free(struct instance *in)
{
    struct live *lv = live_of(in);
    if (!in)
        return;
    if (lv->cage.init > 0) {
        live_kill_now(lv);
        release_process(lv);
    }
    loop_timer_clear(lv->loop, &lv->p->later);
    ctlpage_unmap(lv->page);
    live_free_opts(&lv->o);
    free(in->cursor);
    if (lv->arm->close)
        lv->arm->close(lv);
    free(lv->own);
    free(lv->p);
    free(lv);
}

static const struct instance_ops live_ops = {
    .start = instance_start,
    .deliver = instance_deliver,
    .resume = instance_resume,
    .suspend = instance_suspend,
    .harvest = instance_harvest,
    .harvested = instance_harvested,
    .usage = instance_usage,
    .stop = instance_stop,
    .free = instance_free,
};

int live_open(struct instance **out, struct loop *l, const struct arm *arm,
              const struct instance_opts *o, struct err *e)
{
    struct live *lv = xcalloc(1, sizeof *lv);
    struct live_private *p = lv->p = xcalloc(1, sizeof *p);
    lv->in = (struct instance){.ops = &live_ops, .fuzzer = arm->name, .number = o->number};
    lv->arm = arm;
    lv->loop = l;
    lv->cage = (struct cage){.init = -1, .pidfd = -1, .status_fd = -1};
    p->event_fd = p->out.fd = p->out.child_fd = p->out.file = p->cpu = -1;
    p->cap = (struct timer){.fn = on_cap, .arg = lv};
    p->least = (struct timer){.fn = on_least, .arg = lv};
    p->attach = (struct timer){.fn = on_attach, .arg = lv};
    p->stopping = (struct timer){.fn = on_stop_late, .arg = lv};
    p->later = (struct timer){.fn = on_later, .arg = lv};
    int rc = live_copy_opts(&lv->o, o, e);
    if (rc == 0) {
        char *path = fs_join(lv->o.dir, "ctl");
        rc = ctlpage_map(path, &lv->page, e);
        free(path);
    }
    if (rc < 0) {
        instance_free(&lv->in);
        return rc;
    }
    p->faults = ctl_get32(&lv->page->faults);
    p->taken0 = lv->offered = p->offered0 = ctl_get64(&lv->page->taken);
    *out = &lv->in;
    return 0;
}
