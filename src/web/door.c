/* door: accepts connections and lets those in whose first line is a request.  libmicrohttpd hangs up on others without
 * a word; here they get an answer.  Who is too slow, or one too many, is turned away. */
#include "web/server.h"

#include "base/die.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define KNOCKS 16           /* accepted in one round */
#define LINE_MAX_BYTES 8192 /* of a request's first line */
#define PATIENCE (10 * NS_PER_S)

struct guest {
    struct web *w;
    int fd;
    int64_t deadline_ns;
    struct sockaddr_storage from;
    socklen_t len;
    struct guest *next;
};

static void forget(struct guest *g)
{
    struct guest **p = &g->w->guests;
    while (*p != g)
        p = &(*p)->next;
    *p = g->next;
    g->w->n_guests--;
    loop_unwatch(g->w->loop, g->fd);
    free(g);
}

/* What they sent is read first: closing a socket with unread data would take the answer back. */
static void hang_up(int fd, const char *status, const char *why)
{
    char text[512], rest[4096];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %s\r\nContent-Type: text/plain; "
                     "charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n"
                     "Connection: close\r\nContent-Length: %zu\r\n\r\n%s\n",
                     status, strlen(why) + 1, why);
    for (int i = 0; i < 16 && recv(fd, rest, sizeof rest, MSG_DONTWAIT) > 0; i++)
        ;
    if (send(fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        shutdown(fd, SHUT_WR);
    close(fd);
}

static void turn_away(struct guest *g, const char *status, const char *why)
{
    int fd = g->fd;
    forget(g);
    hang_up(fd, status, why);
}

static void admit(struct guest *g)
{
    struct web *w = g->w;
    struct guest it = *g;
    forget(g);
    MHD_add_connection(w->daemon, it.fd, (struct sockaddr *)&it.from,
                       it.len); /* closes it if it cannot */
    web_run_soon(w);
}

bool door_line_ok(const char *line, size_t n)
{
    const char *end = line + n, *p = line;
    while (p < end && *p >= 'A' && *p <= 'Z')
        p++;
    if (p == line || p - line > 16 || p == end || *p++ != ' ')
        return false;
    const char *target = p;
    while (p < end && *p > ' ' && *p < 127)
        p++;
    return p > target && end - p >= 9 && strncmp(p, " HTTP/", 6) == 0 &&
           strspn(p + 6, "0123456789.") == (size_t)(end - p - 6);
}

static void on_word(void *arg, uint32_t events)
{
    struct guest *g = arg;
    bool over = events & (EPOLLRDHUP | EPOLLHUP); /* nothing more will come */
    char said[LINE_MAX_BYTES];
    ssize_t n = recv(g->fd, said, sizeof said, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        int fd = g->fd;
        forget(g);
        close(fd);
        return;
    }
    size_t from = 0; /* empty lines before a request are forgiven */
    while (from < (size_t)n && (said[from] == '\r' || said[from] == '\n'))
        from++;
    const char *line = said + from, *nl = memchr(line, '\n', (size_t)n - from);
    size_t len = (size_t)(nl ? nl - line : n - (ssize_t)from);
    if (nl && len && line[len - 1] == '\r')
        len--;
    if (nl ? !door_line_ok(line, len) : len && (line[0] < 'A' || line[0] > 'Z'))
        turn_away(g, "400 Bad Request", "this is no HTTP request");
    else if (nl)
        admit(g);
    else if (n == (ssize_t)sizeof said)
        turn_away(g, "414 URI Too Long", "the address is too long");
    else if (over)
        turn_away(g, "400 Bad Request", "the request is cut off");
}

static void welcome(struct web *w, int fd, const struct sockaddr_storage *from, socklen_t len)
{
    struct err e = {0};
    if (w->n_guests + w->n_clients >= WEB_CLIENTS) {
        hang_up(fd, "503 Service Unavailable", "too many connections; try again");
        return;
    }
    struct guest *g = xcalloc(1, sizeof *g);
    *g = (struct guest){.w = w, .fd = fd, .from = *from, .len = len, .next = w->guests};
    g->deadline_ns = loop_now(w->loop) + PATIENCE;
    if (loop_watch(w->loop, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, on_word, g, &e) < 0) {
        close(fd);
        free(g);
        return;
    }
    w->guests = g;
    w->n_guests++;
    clients_make_room(w);
    web_tick_on(w);
}

static void on_knock(void *arg, uint32_t events)
{
    (void)events;
    struct web *w = arg;
    for (int i = 0; i < KNOCKS; i++) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        int fd =
            accept4(w->listen_fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
            w->deaf = true; /* for a second: the knocking would not stop */
            loop_unwatch(w->loop, w->listen_fd);
            web_tick_on(w);
        }
        if (fd < 0)
            return;
        welcome(w, fd, &from, len);
    }
}

int door_open(struct web *w, struct err *e)
{
    return loop_watch(w->loop, w->listen_fd, EPOLLIN, on_knock, w, e);
}

void door_sweep(struct web *w)
{
    int64_t now = loop_now(w->loop);
    struct err e = {0};
    w->deaf = w->deaf && door_open(w, &e) < 0;
    for (struct guest *g = w->guests, *next; g; g = next) {
        next = g->next;
        if (g->deadline_ns < now)
            turn_away(g, "408 Request Timeout", "the request does not arrive");
    }
}

void door_close(struct web *w)
{
    while (w->guests)
        turn_away(w->guests, "503 Service Unavailable", "the page is closed");
    if (w->listen_fd < 0)
        return;
    loop_unwatch(w->loop, w->listen_fd);
    close(w->listen_fd);
    w->listen_fd = -1;
}
