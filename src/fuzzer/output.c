/* output: drains a fuzzer's stdout and stderr into a bounded log.  Does not understand the lines. */
#include "fuzzer/output.h"

#include "base/die.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LOG_HALF ((size_t)64 << 10)

static bool looks_fatal(const char *line)
{
    return strstr(line, "ABORT") || strstr(line, "SYSTEM ERROR") || strstr(line, "[F]") ||
           strstr(line, "Fatal") || strstr(line, "ERROR:");
}

static void rotate(struct output *o)
{
    char *old = str_fmt("%s.1", o->path);
    close(o->file);
    rename(o->path, old);
    free(old);
    o->file = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    o->written = 0;
}

static void write_line(struct output *o, const char *line, size_t n)
{
    if (o->file < 0)
        return;
    ssize_t a = write(o->file, line, n), b = write(o->file, "\n", 1);
    (void)a; /* a full disk costs the log, not the fuzzer */
    (void)b;
    o->written += n + 1;
    if (o->written > LOG_HALF)
        rotate(o);
}

static void end_line(struct output *o)
{
    if (o->len == 0)
        return;
    o->line[o->len] = 0;
    bool bad = looks_fatal(o->line), noise = o->noise && strstr(o->line, o->noise);
    if (bad || (!noise && !o->last_bad)) {
        snprintf(o->last, sizeof o->last, "%.*s", (int)sizeof o->last - 1, o->line);
        o->last_bad = bad;
    }
    if (!noise)
        write_line(o, o->line, o->len);
    if (o->on_line)
        o->on_line(o->arg, o->line);
    o->len = 0;
}

/* One byte of output; escape sequences (colours, cursor) are dropped. */
static void take_byte(struct output *o, char c)
{
    if (o->escape) {
        o->escape = !((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
        return;
    }
    if (c == '\033') {
        o->escape = true;
        return;
    }
    if (c == '\n' || o->len == sizeof o->line - 1)
        end_line(o);
    if ((unsigned char)c >= ' ' || c == '\t')
        o->line[o->len++] = c;
}

static bool drain(struct output *o)
{
    char buf[16384];
    ssize_t n = read(o->fd, buf, sizeof buf);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    for (ssize_t i = 0; i < n; i++)
        take_byte(o, buf[i]);
    return true;
}

static void on_readable(void *arg, uint32_t events)
{
    struct output *o = arg;
    bool more = drain(o);
    if (!more && (events & (EPOLLHUP | EPOLLERR)))
        loop_unwatch(o->loop, o->fd);
}

int output_open(struct output *o, struct loop *l, const char *path, struct err *e)
{
    *o = (struct output){.loop = l, .path = xstrdup(path), .fd = -1, .child_fd = -1, .file = -1};
    int p[2];
    if (pipe2(p, O_CLOEXEC) < 0)
        return err_sys(e, "pipe");
    o->fd = p[0];
    o->child_fd = p[1];
    fcntl(o->fd, F_SETFL, O_NONBLOCK);
    o->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (o->file < 0)
        return err_sys(e, "cannot create %s", path);
    off_t end = lseek(o->file, 0, SEEK_END);
    o->written = end > 0 ? (size_t)end : 0;
    return loop_watch(l, o->fd, EPOLLIN, on_readable, o, e);
}

void output_started(struct output *o)
{
    if (o->child_fd >= 0)
        close(o->child_fd);
    o->child_fd = -1;
}

void output_close(struct output *o)
{
    output_started(o);
    if (o->fd >= 0) {
        while (drain(o))
            ;
        end_line(o);
        loop_unwatch(o->loop, o->fd);
        close(o->fd);
    }
    if (o->file >= 0)
        close(o->file);
    free(o->path);
    o->path = NULL;
    o->fd = o->file = -1;
}
