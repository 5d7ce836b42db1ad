/* contest: starts a contender in cages, watches its CPU time, ends it when that is used. */
#include "bench/contest.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/where.h"
#include "bench/bugfile.h"
#include "proc/cage.h"
#include "proc/tree.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

/* How often the CPU time is looked at: a thousandth of the budget, within these bounds. */
#define TICK_LEAST_NS (50 * NS_PER_MS)
#define TICK_MOST_NS (250 * NS_PER_MS)
#define GRACE_NS (60 * NS_PER_S)
/* A contender that got less than this part of its cores is not waited for. */
#define STARVED 20
#define STARVED_NS (120 * NS_PER_S)

struct process {
    struct contest *c;
    struct cage cage;
    bool running;
    int64_t cpu_ns; /* the most that was seen */
    cpu_set_t cpus;
};

struct contest_private {
    struct process process[CONTEST_CORES];
    int n, running;
    struct bugfile *bugs;
    struct timer tick, grace;
    int64_t began_ns;
    int moments; /* noted so far */
};

static int64_t tick_ns(const struct contest *c)
{
    int64_t ns = c->o.suite->cpu_ns / c->o.suite->cores / 1000;
    return ns < TICK_LEAST_NS ? TICK_LEAST_NS : ns > TICK_MOST_NS ? TICK_MOST_NS : ns;
}

static int64_t limit_ns(const struct contest *c)
{
    return STARVED * (c->o.suite->cpu_ns / c->o.suite->cores) + STARVED_NS;
}

/* Its time is over, whatever it is that ended it: this is what counts. */
static void decide(struct contest *c, enum contest_end end)
{
    struct contest_private *p = c->p;
    c->end = end;
    c->wall_ns = loop_now(c->o.loop) - p->began_ns;
    bugfile_tick(p->bugs, c->cpu_ns);
    bugfile_read(p->bugs, &c->oracle);
    c->judged = bugfile_used(p->bugs);
    for (; p->moments <= RESULT_MOMENTS; p->moments++)
        c->wall_at[p->moments] = c->wall_ns;
    loop_timer_clear(c->o.loop, &p->tick);
}

static void signal_all(struct contest *c, int signo)
{
    for (int i = 0; i < c->p->n; i++)
        if (c->p->process[i].running) {
            if (signo == SIGKILL)
                cage_kill(&c->p->process[i].cage);
            else
                cage_signal(&c->p->process[i].cage, signo);
        }
}

static void on_grace(void *arg)
{
    signal_all(arg, SIGKILL);
}

static void account(struct contest *c)
{
    struct contest_private *p = c->p;
    int64_t sum = 0;
    for (int i = 0; i < p->n; i++) {
        struct process *x = &p->process[i];
        struct tree_usage u = {0};
        if (x->running)
            tree_usage(x->cage.init, &u);
        x->cpu_ns = u.cpu_ns > x->cpu_ns ? u.cpu_ns : x->cpu_ns;
        sum += x->cpu_ns;
    }
    c->cpu_ns = sum;
    bugfile_tick(p->bugs, sum);
}

static void on_tick(void *arg)
{
    struct contest *c = arg;
    struct contest_private *p = c->p;
    int64_t now = loop_now(c->o.loop), budget = c->o.suite->cpu_ns;
    account(c);
    while (p->moments <= RESULT_MOMENTS && c->cpu_ns >= budget / RESULT_MOMENTS * p->moments)
        c->wall_at[p->moments++] = now - p->began_ns;
    if (c->cpu_ns >= budget)
        decide(c, CONTEST_BUDGET);
    else if (now - p->began_ns > limit_ns(c))
        decide(c, CONTEST_STARVED);
    if (c->end == CONTEST_RUNNING) {
        loop_timer(c->o.loop, &p->tick, now + tick_ns(c));
    } else {
        const struct rival *r = c->o.contender->rival;
        signal_all(c, r && r->deaf ? SIGKILL : SIGINT);
        loop_timer(c->o.loop, &p->grace, now + (c->o.grace_ns ? c->o.grace_ns : GRACE_NS));
    }
}

static void say_end(struct contest *c, const struct cage_end *end)
{
    if (end->exec_errno)
        snprintf(c->why, sizeof c->why, "it cannot be executed: %s", strerror(end->exec_errno));
    else if (end->exited)
        snprintf(c->why, sizeof c->why, "it ended by itself with exit code %d", end->code);
    else
        snprintf(c->why, sizeof c->why, "it was killed by signal %d", end->signal);
}

static void on_process_end(void *arg, uint32_t events)
{
    struct process *x = arg;
    struct contest *c = x->c;
    struct cage_end end;
    (void)events;
    loop_unwatch(c->o.loop, x->cage.status_fd);
    cage_reap(&x->cage, &end);
    x->running = false;
    c->p->running--;
    if (c->end == CONTEST_RUNNING) {
        say_end(c, &end);
        decide(c, CONTEST_FAILED);
        signal_all(c, SIGKILL);
    }
    if (c->p->running == 0) {
        loop_timer_clear(c->o.loop, &c->p->grace);
        c->whole_ns = loop_now(c->o.loop) - c->p->began_ns;
        c->o.ended(c->o.arg);
    }
}

/* --- starting ------------------------------------------------------------------------------------ */

static int pin(void *arg)
{
    struct process *x = arg;
    return sched_setaffinity(0, sizeof x->cpus, &x->cpus) == 0 ? 0 : -1;
}

static void carol_command(const struct contest *c, struct strv *argv)
{
    const struct suite *s = c->o.suite;
    const struct bench_target *t = c->o.target;
    strv_take(argv, where_self());
    strv_add(argv, "fuzz");
    const char *const fixed[] = {"-b", t->build, "-i", t->seeds, "-o", "out", "-d", "0", NULL};
    for (size_t i = 0; fixed[i]; i++)
        strv_add(argv, fixed[i]);
    strv_addf(argv, "-j%d", s->cores);
    strv_addf(argv, "--turn=%gs", (double)s->turn_ns / 1e9);
    strv_addf(argv, "--seed=%llu", (unsigned long long)(s->seed + (uint64_t)c->o.trial));
    strv_addf(argv, "--timeout=%u", s->timeout_ms);
    strv_addf(argv, "--memory=%lluM", (unsigned long long)s->memory_mb);
    if (t->dict)
        strv_addf(argv, "--dict=%s", t->dict);
    strv_add(argv, "--quiet");
    strv_add(argv, "--no-triage"); /* the oracle counts, and the time is the fuzzers' */
    for (size_t i = 0; i < c->o.contender->options.n; i++)
        strv_add(argv, c->o.contender->options.v[i]);
}

static void environment(const struct contest *c, struct strv *env)
{
    extern char **environ;
    for (char **v = environ; *v; v++)
        if (!str_starts(*v, "CAROL_ORACLE=") && !str_starts(*v, "MAGMA_STORAGE=") &&
            !str_starts(*v, "TMPDIR=") && !str_starts(*v, "AFL_"))
            strv_add(env, *v);
    strv_addf(env, "%s=%s/oracle", bugfile_variable(c->o.target->oracle), c->o.dir);
    strv_addf(env, "TMPDIR=%s/tmp", c->o.dir);
}

static void note_command(struct contest *c, const struct strv *argv)
{
    struct buf b = BUF_INIT(1 << 16);
    buf_printf(&b, "%s%s", c->command ? c->command : "", c->command ? " & " : "");
    for (size_t i = 0; i < argv->n; i++) {
        char *word = str_shell(argv->v[i]);
        buf_printf(&b, "%s%s", i ? " " : "", word);
        free(word);
    }
    free(c->command);
    c->command = buf_take(&b);
}

static int start_process(struct contest *c, int i, int log, struct err *e)
{
    const struct suite *s = c->o.suite;
    const struct rival *r = c->o.contender->rival;
    struct process *x = &c->p->process[i];
    struct strv argv = {0}, env = {0};
    environment(c, &env);
    if (r)
        r->command(&(struct rival_start){.target = c->o.build,
                                         .seeds = c->o.target->seeds,
                                         .dict = c->o.target->dict,
                                         .cores = s->cores,
                                         .timeout_ms = s->timeout_ms,
                                         .memory_mb = s->memory_mb,
                                         .seed = s->seed + (uint64_t)c->o.trial},
                   i, &argv, &env);
    else
        carol_command(c, &argv);
    note_command(c, &argv);
    *x = (struct process){.c = c};
    CPU_ZERO(&x->cpus);
    for (int k = 0; k < s->cores; k++)
        if (!r || !r->per_core || k == i)
            CPU_SET((size_t)c->o.cpus[k], &x->cpus);
    int rc = cage_start(&x->cage,
                        &(struct cage_opts){.argv = (const char *const *)argv.v,
                                            .envp = (const char *const *)env.v,
                                            .cwd = c->o.dir,
                                            .out = log,
                                            .err = log,
                                            .cpu = -1,
                                            .own_proc = !r || r->own_proc,
                                            .before = pin,
                                            .arg = x},
                        e);
    if (rc == 0) {
        x->running = true;
        c->p->running++;
        rc = loop_watch(c->o.loop, x->cage.status_fd, EPOLLIN, on_process_end, x, e);
    }
    strv_free(&argv);
    strv_free(&env);
    return rc;
}

static int make_dirs(const struct contest_opts *o, struct err *e)
{
    const char *const subs[] = {"tmp", o->contender->rival ? "out" : NULL};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2 && subs[i]; i++) {
        char *path = fs_join(o->dir, subs[i]);
        rc = fs_mkdirs(path, e);
        free(path);
    }
    return rc;
}

static int start_all(struct contest *c, struct err *e)
{
    const struct rival *r = c->o.contender->rival;
    char *log = fs_join(c->o.dir, "log"), *file = fs_join(c->o.dir, "oracle");
    int fd = -1, rc = make_dirs(&c->o, e);
    rc = rc < 0 ? rc
                : bugfile_create(&c->p->bugs, file, c->o.target->oracle, c->o.target->bugs,
                                 c->o.target->n_bugs, e);
    if (rc == 0 && (fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)) < 0)
        rc = err_sys(e, "cannot write %s", log);
    c->p->began_ns = loop_now(c->o.loop);
    c->p->n = r && r->per_core ? c->o.suite->cores : 1;
    for (int i = 0; i < c->p->n; i++)
        c->p->process[i].cage.init = -1;
    for (int i = 0; rc == 0 && i < c->p->n; i++)
        rc = start_process(c, i, fd, e);
    if (fd >= 0)
        close(fd);
    free(log);
    free(file);
    return rc;
}

int contest_start(struct contest **out, const struct contest_opts *o, struct err *e)
{
    struct timespec now;
    struct contest *c = xcalloc(1, sizeof *c);
    c->o = *o;
    c->p = xcalloc(1, sizeof *c->p);
    c->p->moments = 1;
    c->p->tick = (struct timer){.fn = on_tick, .arg = c};
    c->p->grace = (struct timer){.fn = on_grace, .arg = c};
    clock_gettime(CLOCK_REALTIME, &now);
    c->began_real_ns = (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
    int rc = start_all(c, e);
    if (rc < 0) {
        contest_free(c);
        c = NULL;
    } else {
        loop_timer(o->loop, &c->p->tick, loop_now(o->loop) + TICK_LEAST_NS);
    }
    *out = c;
    return rc;
}

void contest_stop(struct contest *c)
{
    if (c->end == CONTEST_RUNNING)
        decide(c, CONTEST_STOPPED);
    signal_all(c, SIGKILL);
}

void contest_free(struct contest *c)
{
    if (!c)
        return;
    struct contest_private *p = c->p;
    loop_timer_clear(c->o.loop, &p->tick);
    loop_timer_clear(c->o.loop, &p->grace);
    for (int i = 0; i < p->n; i++) {
        struct process *x = &p->process[i];
        struct cage_end end;
        if (!x->running)
            continue;
        loop_unwatch(c->o.loop, x->cage.status_fd);
        cage_kill(&x->cage);
        cage_reap(&x->cage, &end);
    }
    bugfile_close(p->bugs);
    free(c->command);
    free(p);
    free(c);
}
