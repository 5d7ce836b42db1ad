/* runner: starts, limits and ends the processes of the source build.  Does not look into profiles. */
#include "coverage/runner.h"

#include "base/die.h"
#include "base/fs.h"
#include "proc/cage.h"
#include "proc/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define AHEAD 8 /* per lane: inputs done before one that takes long */
#define DEFAULT_MEMORY ((uint64_t)2 << 30)
#define PROFILE_MAX ((size_t)1 << 30)

struct runner;

enum seat_state { SEAT_FREE = 0, SEAT_RUNS, SEAT_ENDED };

/* One input between its start and its hand-over. */
struct seat {
    struct runner *r;
    enum seat_state state;
    size_t input;
    struct cage cage;
    struct timer limit;
    bool late;
    char *input_path, *profile_path, *profile_name;
    enum run_status status;
};

struct runner {
    struct runner_opts o;
    struct loop *loop;
    struct seat *seats;
    size_t n_seats, running, next, due; /* next to start, next to hand over */
    int rc;
    struct err error;
};

static int go_on(struct runner *r, struct err *e);

static void stop(struct runner *r, int rc, const struct err *e)
{
    if (r->rc == 0 && rc < 0) {
        r->rc = rc;
        r->error = *e;
    }
    loop_stop(r->loop);
}

/* --- one process --------------------------------------------------------------------------------- */

static int set_limits(void *arg)
{
    const struct runner_opts *o = arg;
    rlim_t memory = o->mem_bytes ? o->mem_bytes : DEFAULT_MEMORY;
    rlim_t seconds = (o->timeout_ms + 999) / 1000 + 1;
    struct rlimit as = {memory, memory}, cpu = {seconds, seconds + 1}, none = {0, 0};
    int rc = setrlimit(RLIMIT_AS, &as);
    rc |= setrlimit(RLIMIT_CPU, &cpu);
    rc |= setrlimit(RLIMIT_CORE, &none);
    return rc;
}

static char *with_input(const char *word, const char *path)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (const char *at; (at = strstr(word, "@@")); word = at + 2) {
        buf_add(&b, word, (size_t)(at - word));
        buf_str(&b, path);
    }
    buf_str(&b, word);
    return buf_take(&b);
}

static void make_argv(const struct seat *s, struct strv *argv)
{
    const struct manifest *m = s->r->o.target;
    struct strv own = {0};
    strv_add(argv, m->family[FAMILY_SOURCE].binary);
    if (m->kind == TARGET_LIBFUZZER) {
        strv_add(argv, s->input_path);
        return;
    }
    if (m->args)
        strv_split(&own, m->args, '\n');
    for (const char *const *w = s->r->o.args ? s->r->o.args : (const char *const *)own.v; w && *w;
         w++)
        strv_take(argv, with_input(*w, s->input_path));
    strv_free(&own);
}

static void make_env(const struct seat *s, struct strv *env)
{
    for (char **p = environ; p && *p; p++)
        if (!str_starts(*p, "LLVM_PROFILE_FILE="))
            strv_add(env, *p);
    strv_addf(env, "LLVM_PROFILE_FILE=%s%%c", s->profile_name); /* %c: mapped while it runs */
}

static void on_limit(void *arg)
{
    struct seat *s = arg;
    s->late = true;
    cage_kill(&s->cage);
}

static enum run_status status_of(const struct seat *s, const struct cage_end *end)
{
    if (s->late || (!end->exited && end->signal == SIGXCPU))
        return RUN_TIMEOUT;
    if (!end->exited)
        return end->signal == SIGKILL ? RUN_TIMEOUT : RUN_CRASH; /* past the hard CPU limit */
    return end->code ? RUN_EXIT : RUN_OK;
}

static void on_end(void *arg, uint32_t events)
{
    struct seat *s = arg;
    struct runner *r = s->r;
    struct cage_end end;
    struct err e = {0};
    int rc = 0;
    (void)events;
    loop_unwatch(r->loop, s->cage.status_fd);
    loop_timer_clear(r->loop, &s->limit);
    cage_reap(&s->cage, &end);
    s->state = SEAT_ENDED;
    s->status = status_of(s, &end);
    r->running--;
    if (end.exec_errno) {
        errno = end.exec_errno;
        rc = err_sys(&e, "cannot run the source build %s",
                     r->o.target->family[FAMILY_SOURCE].binary);
    }
    if (rc == 0)
        rc = go_on(r, &e);
    if (rc != 0)
        stop(r, rc, &e);
}

/* Whom nobody watches nobody would reap. */
static int watch(struct seat *s, struct err *e)
{
    struct cage_end end;
    int rc = loop_watch(s->r->loop, s->cage.status_fd, EPOLLIN, on_end, s, e);
    if (rc < 0) {
        cage_kill(&s->cage);
        cage_reap(&s->cage, &end);
    }
    return rc;
}

static int start(struct seat *s, const void *bytes, size_t size, struct err *e)
{
    struct runner *r = s->r;
    struct strv argv = {0}, env = {0};
    int in = -1, rc = fs_write_quick(s->input_path, bytes, size, e);
    unlink(s->profile_path);
    make_argv(s, &argv);
    make_env(s, &env);
    if (rc == 0 && (in = open(s->input_path, O_RDONLY | O_CLOEXEC)) < 0)
        rc = err_sys(e, "cannot read %s", s->input_path);
    struct cage_opts o = {.argv = (const char *const *)argv.v,
                          .envp = (const char *const *)env.v,
                          .cwd = r->o.work,
                          .in = in,
                          .cpu = -1,
                          .before = set_limits,
                          .arg = &r->o};
    if (rc == 0)
        rc = cage_start(&s->cage, &o, e);
    if (rc == 0)
        rc = watch(s, e);
    if (rc == 0) {
        s->state = SEAT_RUNS;
        s->late = false;
        r->running++;
        loop_timer(r->loop, &s->limit,
                   loop_now(r->loop) + EVAL_WALL_MS((int64_t)r->o.timeout_ms) * NS_PER_MS);
    }
    if (in >= 0)
        close(in);
    strv_free(&argv);
    strv_free(&env);
    return rc;
}

/* --- all of them --------------------------------------------------------------------------------- */

static struct seat *seat_of(struct runner *r, size_t input)
{
    return &r->seats[input % r->n_seats];
}

static int hand_over(struct runner *r, struct seat *s, struct err *e)
{
    struct buf profile = BUF_INIT(PROFILE_MAX);
    int rc = fs_exists(s->profile_path) ? fs_read(s->profile_path, &profile, e) : 0;
    if (rc == 0)
        rc = r->o.done(r->o.arg, s->input, s->status, &profile, e);
    buf_free(&profile);
    s->state = SEAT_FREE;
    r->due++;
    return rc;
}

/* 1: all are done. */
static int go_on(struct runner *r, struct err *e)
{
    int rc = 0;
    while (rc == 0 && r->due < r->next && seat_of(r, r->due)->state == SEAT_ENDED)
        rc = hand_over(r, seat_of(r, r->due), e);
    while (rc == 0 && r->next < r->o.n && r->running < r->o.lanes &&
           seat_of(r, r->next)->state == SEAT_FREE) {
        struct seat *s = seat_of(r, r->next);
        struct buf bytes = BUF_INIT(PROFILE_MAX);
        s->input = r->next;
        rc = r->o.read(r->o.arg, r->next, &bytes, e);
        if (rc == 0)
            rc = start(s, bytes.p ? bytes.p : "", bytes.len, e);
        buf_free(&bytes);
        r->next++;
    }
    return rc == 0 && r->due == r->o.n ? 1 : rc;
}

static void make_seats(struct runner *r)
{
    r->n_seats = (size_t)r->o.lanes * AHEAD;
    r->seats = xcalloc(r->n_seats, sizeof *r->seats);
    for (size_t i = 0; i < r->n_seats; i++) {
        struct seat *s = &r->seats[i];
        s->r = r;
        s->limit = (struct timer){.fn = on_limit, .arg = s};
        s->input_path = str_fmt("%s/input-%zu", r->o.work, i);
        s->profile_name = str_fmt("profile-%zu", i);
        s->profile_path = fs_join(r->o.work, s->profile_name);
    }
}

static void free_seats(struct runner *r)
{
    for (size_t i = 0; i < r->n_seats; i++) {
        struct seat *s = &r->seats[i];
        struct cage_end end;
        if (s->state == SEAT_RUNS) {
            loop_unwatch(r->loop, s->cage.status_fd);
            loop_timer_clear(r->loop, &s->limit);
            cage_kill(&s->cage);
            cage_reap(&s->cage, &end);
        }
        free(s->input_path);
        free(s->profile_path);
        free(s->profile_name);
    }
    free(r->seats);
}

static void on_signal(void *arg, int signo)
{
    struct runner *r = arg;
    struct err e = {0};
    (void)signo;
    stop(r, err_set(&e, -EINTR, "interrupted; nothing was written"), &e);
}

int runner_run(const struct runner_opts *o, struct err *e)
{
    struct runner r = {.o = *o};
    int rc = loop_new(&r.loop, e);
    if (rc < 0)
        return rc;
    make_seats(&r);
    rc = loop_signal(r.loop, SIGINT, on_signal, &r, e);
    if (rc == 0)
        rc = loop_signal(r.loop, SIGTERM, on_signal, &r, e);
    if (rc == 0)
        rc = go_on(&r, e);
    if (rc == 0) {
        loop_run(r.loop);
        rc = r.rc;
        *e = r.error;
    }
    free_seats(&r);
    loop_free(r.loop);
    return rc < 0 ? rc : 0;
}
