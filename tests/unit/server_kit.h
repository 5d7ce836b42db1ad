/* server_kit: the web server of a campaign on fakes, the process that draws in this program, and a client on the server's own
 * loop: what the tests of the server share.  Each includes it once. */
#ifndef CAROL_TESTS_SERVER_KIT_H
#define CAROL_TESTS_SERVER_KIT_H

#include "fakes.h"
#include "web/artist.h"
#include "web/server.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "triage/state.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define HOST "Host: 127.0.0.1\r\n"
#define CLOSE "Connection: close\r\n"
#define PATIENCE_NS (40 * NS_PER_S)

static struct fakes f;
static char *out;
static struct loop *loop;
static struct web *w;

static int status_now(void *arg, struct status *st, struct err *e)
{
    struct defects d;
    (void)arg;
    *st = (struct status){0};
    int rc = state_update(st, &d, out, e);
    defects_free(&d);
    return rc;
}

static inline int open_server_at(const char *address, const char *dir, bool soon)
{
    struct err e = {0};
    struct web_opts o = {
        .loop = loop, .dir = dir, .address = address, .soon = soon, .status = status_now};
    return web_open(&w, &o, &e);
}

static inline int open_server(const char *dir, bool soon)
{
    return open_server_at("127.0.0.1:0", dir, soon);
}

static int make(void **state)
{
    struct tally t;
    struct err e = {0};
    int rc = fakes_fresh_dir(state);
    fakes_init(&f, 3);
    fakes_run(&f, fakes_options(fakes_dir, "contextual", 3, 2, 3600), &t);
    out = fs_join(fakes_dir, "out");
    signal(SIGPIPE, SIG_IGN);
    if (rc == 0)
        rc = loop_new(&loop, &e);
    return rc == 0 ? open_server(out, false) : rc;
}

static int drop(void **state)
{
    web_close(w, "ended");
    loop_free(loop);
    fakes_free(&f);
    free(out);
    return fakes_remove_dir(state);
}

/* --- a client on the server's own loop -------------------------------------------------------------- */
static inline int connect_to_it(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    to.sin_port = htons((uint16_t)strtol(strrchr(w->url, ':') + 1, NULL, 10));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* All that comes until the end, until it has that word, or until nothing has come for so long. */
static inline char *hear(int fd, const char *word, int64_t silence_ns)
{
    struct buf got = BUF_INIT(BUF_TEXT_MAX);
    char part[65536];
    for (int64_t end = loop_now(loop) + silence_ns; loop_now(loop) < end;) {
        ssize_t n = recv(fd, part, sizeof part, MSG_DONTWAIT);
        if (n > 0) {
            buf_add(&got, part, (size_t)n);
            end = loop_now(loop) + silence_ns;
        }
        if (n == 0 || (n < 0 && errno != EAGAIN) || (word && got.p && strstr(got.p, word)))
            break;
        if (n < 0)
            loop_step(loop, 10 * NS_PER_MS);
    }
    char *text = buf_take(&got);
    return text ? text : xstrdup("");
}

/* What is answered to those bytes within that time; whoever sent them hangs up then. */
static inline char *send_bytes(const char *data, size_t size, int64_t silence_ns)
{
    int fd = connect_to_it();
    for (size_t at = 0; at < size;) {
        ssize_t n = send(fd, data + at, size - at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN)
            break; /* it has heard enough */
        at += n > 0 ? (size_t)n : 0;
        loop_step(loop, 0);
    }
    char *text = hear(fd, NULL, silence_ns);
    close(fd);
    return text;
}

static inline char *get(const char *path)
{
    char *request = str_fmt("GET /%s/%s HTTP/1.1\r\n" HOST CLOSE "\r\n", w->token, path);
    int fd = connect_to_it();
    assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
    char *text = hear(fd, NULL, PATIENCE_NS);
    close(fd);
    free(request);
    return text;
}

static inline int code_of(const char *answer)
{
    int code = 0;
    return sscanf(answer, "HTTP/1.%*1[01] %d ", &code) == 1 ? code : 0;
}

static inline void everybody_leaves(void)
{
    for (int64_t end = loop_now(loop) + PATIENCE_NS; w->n_clients || w->n_guests;) {
        assert_true(loop_now(loop) < end);
        loop_step(loop, 10 * NS_PER_MS);
    }
}

#endif
