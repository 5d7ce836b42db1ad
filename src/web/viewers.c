/* viewers: server-sent events.  A viewer is told of what changed since what it has seen, the oldest change first; what
 * changes again meanwhile is sent once, as it is then. */
#include "web/server.h"

#include "base/buf.h"
#include "base/die.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define BLOCK 16384               /* bytes at a time */
#define EVENT_NS (600 * NS_PER_S) /* to take one event */
#define BEAT_NS (15 * NS_PER_S)   /* of silence */
static const char heartbeat[] = ": still here\n\n";

struct event *event_new(const char *kind, const char *id, const char *data, size_t size)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    buf_printf(&b, "event: %s\nid: %s\n", kind, id);
    for (const char *p = data, *end = data + size; p < end;) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((nl ? nl : end) - p);
        buf_str(&b, "data: ");
        buf_add(&b, p, n);
        buf_str(&b, "\n");
        p += n + 1;
    }
    buf_str(&b, "\n");
    struct event *ev = xmalloc(sizeof *ev + b.len);
    *ev = (struct event){.refs = 1, .size = b.len};
    memcpy(ev->text, b.p, b.len);
    buf_free(&b);
    return ev;
}

void event_drop(struct event *ev)
{
    if (ev && --ev->refs == 0)
        free(ev);
}

/* The next event to send; false: there is none now. */
static bool begin_event(struct viewer *v)
{
    const struct item *i = canvas_after(v->w, v->seen);
    if (!i)
        return false;
    v->seen = i->version;
    v->event = i->event;
    v->event->refs++;
    v->sent = 0;
    client_limit(v->client, EVENT_NS);
    return true;
}

static void fall_silent(struct viewer *v)
{
    client_limit(v->client, INT64_MAX);
    v->suspended = true;
    MHD_suspend_connection(v->connection);
}

static ssize_t read_events(void *arg, uint64_t pos, char *out, size_t max)
{
    (void)pos;
    struct viewer *v = arg;
    if (v->gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    v->heard_ns = loop_now(v->w->loop);
    if (v->beat && !v->event) {
        v->beat = false;
        if (max >= sizeof heartbeat) {
            memcpy(out, heartbeat, sizeof heartbeat - 1);
            return sizeof heartbeat - 1;
        }
    }
    if (!v->event && !begin_event(v)) {
        if (v->w->closing)
            return MHD_CONTENT_READER_END_OF_STREAM;
        fall_silent(v);
        return 0;
    }
    size_t n = v->event->size - v->sent < max ? v->event->size - v->sent : max;
    memcpy(out, v->event->text + v->sent, n);
    v->sent += n;
    if (v->sent == v->event->size) {
        event_drop(v->event);
        v->event = NULL;
    }
    return (ssize_t)n;
}

static void free_viewer(void *arg)
{
    struct viewer *v = arg, **p = &v->w->viewers;
    while (*p != v)
        p = &(*p)->next;
    *p = v->next;
    v->w->n_viewers--;
    loop_unwatch(v->w->loop, v->client->fd);
    event_drop(v->event);
    free(v);
}

static void wake(struct viewer *v)
{
    if (!v->suspended)
        return;
    v->suspended = false;
    client_limit(v->client, EVENT_NS);
    MHD_resume_connection(v->connection);
    web_run_soon(v->w);
}

/* The library does not look at a suspended connection. */
static void on_gone(void *arg, uint32_t events)
{
    (void)events;
    struct viewer *v = arg;
    v->gone = true;
    wake(v);
}

/* Where one goes on who was cut off: the id of the last event it got.  Ids of another server mean nothing here. */
static uint64_t seen_before(struct web *w, struct MHD_Connection *c)
{
    const char *last = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Last-Event-ID");
    unsigned long long version;
    if (!last)
        return canvas_settled(w);
    bool ours = strncmp(last, w->nonce, NONCE) == 0 && last[NONCE] == '-';
    return ours && sscanf(last + NONCE + 1, "%llu", &version) == 1 ? version : 0;
}

enum MHD_Result viewer_begin(struct web *w, struct MHD_Connection *c)
{
    struct viewer *v = xcalloc(1, sizeof *v);
    *v = (struct viewer){.w = w, .connection = c, .client = client_of(c), .next = w->viewers};
    v->seen = seen_before(w, c);
    v->beat = true; /* so that the browser knows at once that it is connected */
    struct err e = {0};
    if (loop_watch(w->loop, v->client->fd, EPOLLRDHUP | EPOLLET, on_gone, v, &e) < 0) {
        free(v);
        return MHD_NO;
    }
    w->viewers = v;
    w->n_viewers++;
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_events, v, free_viewer);
    if (!r)
        die_oom();
    MHD_add_response_header(r, "Content-Type", "text/event-stream");
    response_secure(r);
    enum MHD_Result ok = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return ok;
}

void viewers_wake(struct web *w)
{
    for (struct viewer *v = w->viewers; v; v = v->next)
        if (w->closing || canvas_after(w, v->seen))
            wake(v);
}

/* A word now and then also shows who is gone. */
void viewers_tick(struct web *w)
{
    int64_t now = loop_now(w->loop);
    for (struct viewer *v = w->viewers; v; v = v->next)
        if (v->suspended && now - v->heard_ns >= BEAT_NS) {
            v->beat = true;
            wake(v);
        }
}
