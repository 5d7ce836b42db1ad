/* artist: starts the drawing process, asks it and takes its pieces apart.  Draws nothing. */
#include "web/artist.h"

#include "base/die.h"
#include "base/log.h"
#include "base/str.h"
#include "base/where.h"
#include "proc/cage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_NS (60 * NS_PER_S)   /* for one answer */
#define PAUSE_NS (5 * NS_PER_S)       /* after a failure, before another process is started */
#define ANSWER_MAX ((size_t)64 << 20) /* one piece */
#define READ_AT_ONCE ((size_t)256 << 10)
#define HEAD_MAX 160

struct artist {
    struct loop *loop;
    char *dir;
    const struct artist_ops *ops;
    void *arg;
    struct cage cage;
    bool running, busy;
    int fd; /* questions out, pieces in; -1: none */
    struct buf in;
    size_t taken;         /* of in */
    struct timer late;    /* it takes too long, or it is time to say that it failed */
    const char *why;      /* what `late` says */
    int64_t failed_at_ns; /* 0: the process is well */
    char failure[256];    /* what it said went wrong with this question */
};

static void on_pieces(void *arg, uint32_t events);
static void on_end(void *arg, uint32_t events);

static void hang_up(struct artist *a)
{
    if (a->fd < 0)
        return;
    loop_unwatch(a->loop, a->fd);
    close(a->fd);
    a->fd = -1;
    buf_clear(&a->in);
    a->taken = 0;
}

static void reap(struct artist *a)
{
    struct cage_end end;
    loop_unwatch(a->loop, a->cage.status_fd);
    cage_reap(&a->cage, &end);
    a->running = false;
}

/* The process has done what it could. */
static void answered(struct artist *a, int64_t cpu_ns)
{
    loop_timer_clear(a->loop, &a->late);
    a->failed_at_ns = 0;
    a->busy = false;
    a->ops->done(a->arg, cpu_ns, a->failure[0] ? a->failure : NULL);
}

/* The process is of no use any more. */
static void give_up(struct artist *a, const char *why)
{
    loop_timer_clear(a->loop, &a->late);
    a->failed_at_ns = loop_now(a->loop);
    hang_up(a);
    if (a->running)
        cage_kill(&a->cage); /* on_end collects it */
    if (!a->busy)
        return;
    a->busy = false;
    a->ops->done(a->arg, 0, why);
}

static void on_late(void *arg)
{
    struct artist *a = arg;
    if (a->fd >= 0) {
        give_up(a, a->why);
    } else { /* nobody was asked */
        a->busy = false;
        a->ops->done(a->arg, 0, a->why);
    }
}

struct artist *artist_new(struct loop *loop, const char *dir, const struct artist_ops *ops,
                          void *arg)
{
    struct artist *a = xcalloc(1, sizeof *a);
    *a = (struct artist){.loop = loop, .dir = xstrdup(dir), .ops = ops, .arg = arg, .fd = -1};
    a->in = (struct buf)BUF_INIT(ANSWER_MAX);
    a->late = (struct timer){.fn = on_late, .arg = a};
    return a;
}

bool artist_busy(const struct artist *a)
{
    return a->busy;
}

static int start_cage(struct artist *a, int theirs, struct err *e)
{
    char *self = where_self();
    const char *argv[] = {self, "view", "--draw", a->dir, NULL};
    int rc = cage_start(
        &a->cage, &(struct cage_opts){.argv = argv, .in = theirs, .out = theirs, .cpu = -1}, e);
    free(self);
    if (rc < 0)
        return rc;
    a->running = true;
    return loop_watch(a->loop, a->cage.status_fd, EPOLLIN, on_end, a, e);
}

static int start(struct artist *a, struct err *e)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys(e, "socketpair");
    a->fd = pair[0];
    int rc = start_cage(a, pair[1], e);
    close(pair[1]);
    if (rc == 0)
        rc = loop_watch(a->loop, a->fd, EPOLLIN, on_pieces, a, e);
    if (rc < 0)
        hang_up(a);
    return rc;
}

/* The question will be answered with a failure, from the loop. */
static void fail_soon(struct artist *a, const char *why)
{
    a->why = why;
    loop_timer(a->loop, &a->late, loop_now(a->loop));
}

void artist_ask(struct artist *a, const char *question)
{
    struct err e = {0};
    BUG_ON(a->busy);
    a->busy = true;
    a->failure[0] = '\0';
    if (a->fd < 0 &&
        (a->running || (a->failed_at_ns && loop_now(a->loop) - a->failed_at_ns < PAUSE_NS))) {
        fail_soon(a, "the page could not be drawn a moment ago; try again");
        return;
    }
    if (a->fd < 0 && start(a, &e) < 0) {
        log_warn("the page cannot be drawn: %s", e.msg);
        fail_soon(a, "the process that draws the page cannot be started");
        return;
    }
    a->why = "drawing the page takes too long";
    loop_timer(a->loop, &a->late, loop_now(a->loop) + PATIENCE_NS);
    char *line = str_fmt("%s\n", question);
    if (send(a->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)strlen(line))
        fail_soon(a, "the process that draws the page does not listen");
    free(line);
}

/* One piece from the front of what arrived; false: it is not whole yet. */
static bool take_piece(struct artist *a)
{
    char kind[16], name[64], head[HEAD_MAX];
    unsigned long long number;
    const char *from = a->in.p + a->taken;
    size_t left = a->in.len - a->taken;
    const char *nl = left ? memchr(from, '\n', left < HEAD_MAX - 1 ? left : HEAD_MAX - 1) : NULL;
    if (!nl && left < HEAD_MAX - 1)
        return false;
    snprintf(head, sizeof head, "%.*s", nl ? (int)(nl - from) : 0, from);
    if (!nl || sscanf(head, "%15s %63s %llu", kind, name, &number) != 3) {
        give_up(a, "the process that draws the page talks nonsense");
        return false;
    }
    bool done = strcmp(kind, "done") == 0;
    size_t start = (size_t)(nl + 1 - from), size = done ? 0 : (size_t)number;
    if (size > left - start)
        return false;
    a->taken += start + size;
    if (done)
        answered(a, (int64_t)number);
    else if (strcmp(kind, "failed") == 0)
        snprintf(a->failure, sizeof a->failure, "%.*s", (int)size, nl + 1);
    else
        a->ops->piece(a->arg, kind, name, nl + 1, size);
    return a->fd >= 0;
}

static void on_pieces(void *arg, uint32_t events)
{
    (void)events;
    struct artist *a = arg;
    char *room = buf_room(&a->in, READ_AT_ONCE);
    ssize_t n = room ? recv(a->fd, room, READ_AT_ONCE, MSG_DONTWAIT) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        give_up(a, "the process that draws the page has ended");
        return;
    }
    a->in.len += (size_t)n;
    while (take_piece(a))
        ;
    if (a->fd >= 0 && a->taken == a->in.len) {
        buf_clear(&a->in);
        a->taken = 0;
    }
}

static void on_end(void *arg, uint32_t events)
{
    (void)events;
    struct artist *a = arg;
    reap(a);
    if (a->fd >= 0)
        give_up(a, "the process that draws the page has ended");
}

void artist_rest(struct artist *a)
{
    if (!a->busy)
        hang_up(a); /* it sees the end of its input */
    if (!a->busy)
        buf_free(&a->in);
}

void artist_free(struct artist *a)
{
    if (!a)
        return;
    loop_timer_clear(a->loop, &a->late);
    hang_up(a);
    if (a->running) {
        cage_kill(&a->cage);
        reap(a); /* waits for the init, which was just killed */
    }
    buf_free(&a->in);
    free(a->dir);
    free(a);
}
