/* run: a cage around one run, its limits and its output.  Judges nothing of it. */
#include "triage/run.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "proc/cage.h"
#include "proc/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define INPUT_FD 200
#define INPUT_PATH "/proc/self/fd/200"
#define HEAD_MAX ((size_t)512 << 10)   /* what is kept of the beginning of the output, */
#define REPORT_MAX ((size_t)512 << 10) /* from where a sanitizer begins to report, */
#define TAIL_MAX ((size_t)512 << 10)   /* and of its end */
#define MARK_MAX 64                    /* longer than what a report begins with */
#define LOOK_NS (50 * NS_PER_MS)       /* how often the limits are looked at */
#define GRACE_NS (5 * NS_PER_S)        /* for a sanitizer to print its stack */

struct run {
    struct loop *loop;
    struct cage cage;
    int out; /* the end of the pipe that we read; -1: closed */
    struct buf head, report, tail;
    bool reports;    /* the report has begun, */
    bool apart, cut; /* with something left out before it; something is left out before the tail */
    struct timer look;
    int64_t began, cpu_limit_ns, wall_limit_ns, cpu_ns;
    bool abort_when_late, late, killed;
    int64_t late_ns;
    run_done_fn *done;
    void *arg;
};

/* --- output ------------------------------------------------------------------------------------- */

/* How many bytes of a text are before the report of a sanitizer; all of them: there is none. */
static size_t before_report(const char *p, size_t n)
{
    static const char *const marks[] = {"Sanitizer: ", ": runtime error: "};
    size_t first = n;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = memmem(p, n, marks[i], strlen(marks[i]));
        if (at && (size_t)(at - p) < first)
            first = (size_t)(at - p);
    }
    while (first < n && first && p[first - 1] != '\n')
        first--;
    return first;
}

/* The tail is kept in up to twice its size, so that it is moved rarely. */
static void shorten_tail(struct run *r)
{
    if (r->tail.len <= TAIL_MAX)
        return;
    size_t drop = r->tail.len - TAIL_MAX / 2;
    memmove(r->tail.p, r->tail.p + drop, r->tail.len - drop);
    r->tail.len -= drop;
    r->cut = true;
}

static size_t fill(struct buf *b, const char *p, size_t n)
{
    size_t room = b->max - b->len, some = n < room ? n : room;
    buf_add(b, p, some);
    return some;
}

/* Is there a report in what was just added to the tail?  Then it is kept from there on. */
static void look_for_report(struct run *r, size_t added)
{
    size_t back = added + MARK_MAX < r->tail.len ? r->tail.len - added - MARK_MAX : 0;
    size_t at = back + before_report(r->tail.p + back, r->tail.len - back);
    if (at == r->tail.len)
        return;
    buf_add(&r->report, r->tail.p + at, r->tail.len - at);
    r->tail.len = 0;
    r->cut = false;
    r->reports = r->apart = true;
}

/* The beginning; then what comes last, until a report begins; then that; then what comes last again. */
static void keep(struct run *r, const char *p, size_t n)
{
    size_t used = fill(&r->head, p, n);
    if (used && !r->reports)
        r->reports = before_report(r->head.p, r->head.len) < r->head.len;
    if (r->reports)
        used += fill(&r->report, p + used, n - used);
    if (used == n)
        return;
    buf_add(&r->tail, p + used, n - used);
    if (!r->reports)
        look_for_report(r, n - used);
    shorten_tail(r);
}

static void drain(struct run *r)
{
    char chunk[65536];
    for (ssize_t n; r->out >= 0 && (n = read(r->out, chunk, sizeof chunk)) != 0;) {
        if (n > 0)
            keep(r, chunk, (size_t)n);
        else if (errno != EINTR)
            return;
    }
}

static void on_output(void *arg, uint32_t events)
{
    struct run *r = arg;
    char chunk[65536];
    (void)events;
    ssize_t n = read(r->out, chunk, sizeof chunk);
    if (n > 0) {
        keep(r, chunk, (size_t)n);
    } else if (n == 0) { /* it closed it and goes on */
        loop_unwatch(r->loop, r->out);
        close(r->out);
        r->out = -1;
    }
}

/* --- the end ------------------------------------------------------------------------------------ */

static void dispose(struct run *r)
{
    loop_timer_clear(r->loop, &r->look);
    if (r->out >= 0) {
        loop_unwatch(r->loop, r->out);
        close(r->out);
    }
    buf_free(&r->head);
    buf_free(&r->report);
    buf_free(&r->tail);
    free(r);
}

static void look_at_cpu(struct run *r)
{
    pid_t pid = cage_program(&r->cage);
    struct tree_usage u = {0};
    if (pid > 0)
        tree_usage(pid, &u);
    if (u.cpu_ns > r->cpu_ns)
        r->cpu_ns = u.cpu_ns;
}

static void add_part(struct buf *text, const struct buf *part, bool apart)
{
    if (apart)
        buf_str(text, "\n[... much output left out ...]\n");
    if (part->len)
        buf_add(text, part->p, part->len);
}

static void on_end(void *arg, uint32_t events)
{
    struct run *r = arg;
    struct cage_end end = {0};
    struct rusage before, after;
    struct run_result res = {.begun = true,
                             .late = r->late,
                             .text = BUF_INIT(HEAD_MAX + REPORT_MAX + 2 * TAIL_MAX + 128)};
    (void)events;
    loop_unwatch(r->loop, r->cage.status_fd);
    getrusage(RUSAGE_CHILDREN, &before);
    cage_reap(&r->cage, &end);
    getrusage(RUSAGE_CHILDREN, &after);
    drain(r);
    int64_t cpu = (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
                   before.ru_stime.tv_sec) *
                      NS_PER_S +
                  (after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
                   before.ru_stime.tv_usec) *
                      1000;
    res.cpu_us = (cpu > r->cpu_ns ? cpu : r->cpu_ns) / 1000;
    if (end.exec_errno) {
        res.begun = false;
        snprintf(res.why, sizeof res.why, "%s", strerror(end.exec_errno));
    } else if (end.exited && end.code == CAGE_NOT_BEGUN) {
        res.begun = false;
        snprintf(res.why, sizeof res.why, "its limits could not be set");
    }
    res.signal = end.exited ? 0 : end.signal;
    res.code = end.exited ? end.code : 0;
    add_part(&res.text, &r->head, false);
    add_part(&res.text, &r->report, r->apart);
    add_part(&res.text, &r->tail, r->cut);
    run_done_fn *done = r->done;
    void *who = r->arg;
    dispose(r);
    done(who, &res);
    buf_free(&res.text);
}

/* Past its time: a sanitizer is asked to say where it is; then, or when it does not end of that, everything is
 * killed. */
static void on_look(void *arg)
{
    struct run *r = arg;
    int64_t now = loop_now(r->loop);
    look_at_cpu(r);
    bool over = r->cpu_ns >= r->cpu_limit_ns || now - r->began >= r->wall_limit_ns;
    if (over && !r->late) {
        pid_t pid = cage_program(&r->cage);
        r->late = true;
        r->late_ns = now;
        if (!r->abort_when_late || pid <= 0 || kill(pid, SIGABRT) < 0)
            cage_kill(&r->cage);
    } else if (r->late && now - r->late_ns > GRACE_NS && !r->killed) {
        r->killed = true;
        cage_kill(&r->cage);
    }
    loop_timer(r->loop, &r->look, now + LOOK_NS);
}

void run_cancel(struct run *r)
{
    struct cage_end end;
    if (!r)
        return;
    loop_unwatch(r->loop, r->cage.status_fd);
    cage_kill(&r->cage);
    cage_reap(&r->cage, &end); /* the kernel ends it at once */
    dispose(r);
}

/* --- the beginning ------------------------------------------------------------------------------ */

static char *with_path(const char *word, const char *path, bool *found)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    buf_str(&b, "");
    for (const char *at; (at = strstr(word, "@@")); word = at + 2, *found = true) {
        buf_add(&b, word, (size_t)(at - word));
        buf_str(&b, path);
    }
    buf_str(&b, word);
    return buf_take(&b);
}

bool run_words(const struct run_spec *s, const char *path, struct strv *argv)
{
    bool found = false;
    strv_add(argv, s->binary);
    for (const char *const *w = s->args; w && *w && s->kind != TARGET_LIBFUZZER; w++)
        strv_take(argv, with_path(*w, path, &found));
    if (s->kind == TARGET_STDIN && !found)
        return true;
    if (!found)
        strv_add(argv, path);
    return false;
}

static int set_limits(void *arg)
{
    const uint64_t *mem = arg;
    struct rlimit none = {0, 0}, as = {*mem, *mem};
    if (*mem && setrlimit(RLIMIT_AS, &as) < 0)
        return -1;
    return setrlimit(RLIMIT_CORE, &none);
}

static int start_cage(struct run *r, const struct run_spec *s, int input, int err_fd, struct err *e)
{
    struct strv argv = {0};
    bool standard = run_words(s, INPUT_PATH, &argv);
    uint64_t mem = s->mem_bytes;
    struct cage_fd fd = {input, INPUT_FD};
    struct cage_opts o = {.argv = (const char *const *)argv.v,
                          .envp = s->envp,
                          .cwd = s->cwd,
                          .in = standard ? input : 0,
                          .err = err_fd,
                          .fds = &fd,
                          .nfds = 1,
                          .cpu = s->cpu,
                          .before = set_limits,
                          .arg = &mem};
    int rc = cage_start(&r->cage, &o, e);
    strv_free(&argv);
    return rc;
}

int run_start(struct run **out, struct loop *l, const struct run_spec *s, run_done_fn *done,
              void *arg, struct err *e)
{
    struct run *r = xcalloc(1, sizeof *r);
    int pipes[2] = {-1, -1}, input = -1;
    *r = (struct run){.loop = l,
                      .out = -1,
                      .head = BUF_INIT(HEAD_MAX),
                      .report = BUF_INIT(REPORT_MAX),
                      .tail = BUF_INIT(2 * TAIL_MAX),
                      .began = loop_now(l),
                      .cpu_limit_ns = s->cpu_ms * NS_PER_MS,
                      .wall_limit_ns = s->wall_ms * NS_PER_MS,
                      .abort_when_late = s->abort_when_late,
                      .done = done,
                      .arg = arg};
    r->look = (struct timer){.fn = on_look, .arg = r};
    int rc = fs_memory(s->data, s->size, &input, e);
    if (rc == 0 && pipe2(pipes, O_CLOEXEC) < 0)
        rc = err_sys(e, "cannot make a pipe");
    if (rc == 0 && fcntl(pipes[0], F_SETFL, O_NONBLOCK) < 0)
        rc = err_sys(e, "cannot set up a pipe");
    if (rc == 0)
        rc = start_cage(r, s, input, pipes[1], e);
    if (input >= 0)
        close(input);
    if (pipes[1] >= 0)
        close(pipes[1]);
    if (rc < 0) {
        if (pipes[0] >= 0)
            close(pipes[0]);
        free(r);
        return rc;
    }
    r->out = pipes[0];
    rc = loop_watch(l, r->out, EPOLLIN, on_output, r, e);
    if (rc == 0)
        rc = loop_watch(l, r->cage.status_fd, EPOLLIN, on_end, r, e);
    if (rc < 0) {
        run_cancel(r);
        return rc;
    }
    loop_timer(l, &r->look, r->began + LOOK_NS);
    *out = r;
    return 0;
}
