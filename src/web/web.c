/* web: libmicrohttpd on our event loop: opening, running and closing.  What is answered is request.c's. */
#include "web/server.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "web/address.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLIENT_MEMORY 16384 /* of one connection: its request must fit */
#define SILENCE_S 30        /* a connection on which nothing moves */
#define LAST_ROUNDS 8       /* of the library, to get the last word out */

static void run(struct web *w)
{
    MHD_UNSIGNED_LONG_LONG ms;
    MHD_run(w->daemon);
    if (MHD_get_timeout(w->daemon, &ms) == MHD_YES)
        loop_timer(w->loop, &w->run, loop_now(w->loop) + (int64_t)ms * NS_PER_MS);
    else
        loop_timer_clear(w->loop, &w->run);
}

static void on_ready(void *arg, uint32_t events)
{
    (void)events;
    run(arg);
}

static void on_run(void *arg)
{
    run(arg);
}

void web_run_soon(struct web *w)
{
    loop_timer(w->loop, &w->run, loop_now(w->loop));
}

void web_tick_on(struct web *w)
{
    if (!w->tick.set)
        loop_timer(w->loop, &w->tick, loop_now(w->loop) + NS_PER_S);
}

/* Nobody there: no ticks. */
static void on_tick(void *arg)
{
    struct web *w = arg;
    door_sweep(w);
    clients_sweep(w);
    viewers_tick(w);
    if (canvas_tick(w) || w->n_clients || w->n_guests || w->deaf)
        web_tick_on(w);
}

static int random_hex(char *out, size_t n, struct err *e)
{
    unsigned char b[GUARD_TOKEN / 2];
    BUG_ON(n / 2 > sizeof b);
    if (getrandom(b, n / 2, 0) != (ssize_t)(n / 2))
        return err_sys(e, "getrandom");
    for (size_t i = 0; i < n / 2; i++)
        snprintf(out + 2 * i, 3, "%02x", b[i]);
    return 0;
}

static int read_token(struct web *w, const char *path, struct err *e)
{
    char line[GUARD_TOKEN + 2];
    struct stat st;
    if (stat(path, &st) < 0)
        return err_sys(e, "cannot look at the token file %s", path);
    if (st.st_mode & 077)
        return err_usage(e,
                         "others may read or change the token file %s, and with it see the page: "
                         "'chmod 600' it, or name a file that does not exist",
                         path);
    if (fs_read_line(path, line, sizeof line) && strlen(line) == GUARD_TOKEN &&
        strspn(line, "0123456789abcdef") == GUARD_TOKEN) {
        memcpy(w->token, line, sizeof w->token);
        return 0;
    }
    return err_usage(
        e, "%s holds no token (%d hex digits): name a file that does not exist, and one is made",
        path, GUARD_TOKEN);
}

/* For the user alone: whoever reads it reads the page. */
static int make_token(struct web *w, const char *path, struct err *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_sys(e, "cannot make the token file %s", path);
    char *line = str_fmt("%s\n", w->token);
    int rc = fs_write_fd(fd, line, strlen(line), e);
    free(line);
    close(fd);
    if (rc < 0)
        unlink(path); /* half a token is none, and would be refused the next time */
    return rc;
}

static int take_token(struct web *w, struct err *e)
{
    const char *path = w->o.token_file;
    if (path && fs_exists(path))
        return read_token(w, path, e);
    int rc = random_hex(w->token, GUARD_TOKEN, e);
    return rc == 0 && path ? make_token(w, path, e) : rc;
}

static int start_daemon(struct web *w, struct err *e)
{
    w->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
        request_serve, w, MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_CLIENTS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENCE_S, MHD_OPTION_NOTIFY_COMPLETED, request_completed, w,
        MHD_OPTION_NOTIFY_CONNECTION, client_notify, w, MHD_OPTION_END);
    const union MHD_DaemonInfo *i =
        w->daemon ? MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!i)
        return err_env(e, "--web: libmicrohttpd %s does not start", MHD_get_version());
    w->epoll_fd = i->epoll_fd;
    return loop_watch(w->loop, w->epoll_fd, EPOLLIN, on_ready, w, e);
}

/* What it may be called beside its address: the machine's own name, and one that --web gives. */
static void know_names(struct web *w, const char *host)
{
    static const char *const none[] = {NULL};
    int n = 0;
    if (gethostname(w->own_name, sizeof w->own_name - 1) == 0 && w->own_name[0])
        w->names[n++] = w->own_name;
    if (strchr(host, ':') || guard_host(host, none))
        return; /* an address */
    snprintf(w->given_name, sizeof w->given_name, "%s", host);
    w->names[n] = w->given_name;
}

static int begin(struct web *w, struct err *e)
{
    struct address a;
    char *shown = NULL;
    int rc = address_parse(w->o.address, &a, e);
    if (rc == 0)
        know_names(w, a.host);
    if (rc == 0)
        rc = mhd_load(e);
    if (rc == 0)
        rc = take_token(w, e);
    if (rc == 0)
        rc = random_hex(w->nonce, NONCE, e);
    if (rc == 0)
        rc = address_listen(&a, &w->listen_fd, &shown, &w->loopback, e);
    if (rc == 0)
        rc = start_daemon(w, e);
    if (rc == 0)
        rc = door_open(w, e);
    if (rc == 0)
        w->url = str_fmt("http://%s/%s/", shown, w->token);
    free(shown);
    return rc;
}

int web_open(struct web **out, const struct web_opts *o, struct err *e)
{
    struct web *w = xcalloc(1, sizeof *w);
    w->o = *o;
    w->loop = o->loop;
    w->epoll_fd = w->listen_fd = -1;
    w->run = (struct timer){.fn = on_run, .arg = w};
    w->tick = (struct timer){.fn = on_tick, .arg = w};
    canvas_open(w);
    int rc = begin(w, e);
    if (rc < 0) {
        web_close(w, NULL);
        return rc;
    }
    if (o->soon)
        canvas_prepare(w);
    *out = w;
    return 0;
}

const char *web_url(const struct web *w)
{
    return w->url;
}

bool web_is_open(const struct web *w)
{
    return !w->loopback;
}

/* Who is suspended must go on, or the library cannot end. */
static void say_goodbye(struct web *w, const char *state)
{
    w->closing = true;
    if (state)
        canvas_state(w, state);
    canvas_close_requests(w);
    viewers_wake(w);
    for (int i = 0; i < LAST_ROUNDS; i++)
        MHD_run(w->daemon);
}

void web_close(struct web *w, const char *state)
{
    if (!w)
        return;
    door_close(w);
    if (w->daemon) {
        say_goodbye(w, state);
        if (w->epoll_fd >= 0)
            loop_unwatch(w->loop, w->epoll_fd);
        MHD_stop_daemon(w->daemon);
    }
    canvas_close(w);
    loop_timer_clear(w->loop, &w->run);
    loop_timer_clear(w->loop, &w->tick);
    free(w->url);
    free(w);
}
