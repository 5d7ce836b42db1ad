/* canvas: what has been drawn, when it is drawn again, and who waits for it.  The drawing itself is the artist's. */
#include "web/server.h"

#include "base/die.h"
#include "base/log.h"
#include "base/str.h"
#include "proc/cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST_MIN_NS (3 * NS_PER_S)
#define SETTLED_NS (30 * NS_PER_S) /* from getting the page to asking for events */
#define LINGER_NS (60 * NS_PER_S)  /* after the last viewer, before the artist goes home */
#define BARE                                                                                       \
    1 /* the version of a page that lacks what a record not read yet will bring: older than any item */

static void ask_next(struct web *w);

/* --- items ---------------------------------------------------------------------------------------- */
static struct item *item_named(struct web *w, const char *name, bool is_state)
{
    for (int i = 0; i < w->n_items; i++)
        if (w->item[i].is_state == is_state && strcmp(w->item[i].name, name) == 0)
            return &w->item[i];
    if (w->n_items == ITEMS_MAX)
        return NULL;
    struct item *it = &w->item[w->n_items++];
    *it = (struct item){.is_state = is_state};
    snprintf(it->name, sizeof it->name, "%s", name);
    return it;
}

/* After the id, which changes with every version. */
static const char *payload(const struct event *ev, size_t *size)
{
    const char *at = memchr(ev->text, '\n', ev->size);
    at = memchr(at + 1, '\n', ev->size - (size_t)(at + 1 - ev->text));
    *size = ev->size - (size_t)(at - ev->text);
    return at;
}

static bool same_payload(const struct event *a, const struct event *b)
{
    size_t n, m;
    const char *p = payload(a, &n), *q = payload(b, &m);
    return n == m && memcmp(p, q, n) == 0;
}

static void put_item(struct web *w, const char *name, bool is_state, const char *data, size_t size)
{
    struct item *it = item_named(w, name, is_state);
    if (!it)
        return;
    char *id = str_fmt("%s-%llu", w->nonce, (unsigned long long)(w->version + 1));
    struct event *ev = event_new(is_state ? "state" : "section", id, data, size);
    free(id);
    if (it->event && same_payload(it->event, ev)) { /* another artist, the same picture */
        event_drop(ev);
        return;
    }
    event_drop(it->event);
    it->event = ev;
    it->version = ++w->version;
    it->changed_ns = loop_now(w->loop);
}

const struct item *canvas_after(const struct web *w, uint64_t seen)
{
    const struct item *next = NULL;
    for (int i = 0; i < w->n_items; i++)
        if (w->item[i].version > seen && (!next || w->item[i].version < next->version))
            next = &w->item[i];
    return next;
}

static void turn_over(struct web *w)
{
    int64_t now = loop_now(w->loop);
    if (now - w->served_ns < SETTLED_NS)
        return;
    w->served[1] = now - w->served_ns < 2 * SETTLED_NS ? w->served[0] : 0;
    w->served[0] = 0;
    w->served_ns = now;
}

void canvas_served(struct web *w)
{
    turn_over(w);
    if (!w->served[0] || w->page_version < w->served[0])
        w->served[0] = w->page_version;
}

uint64_t canvas_settled(struct web *w)
{
    turn_over(w);
    uint64_t before = w->served[1], now = w->served[0];
    return before && (!now || before < now) ? before : now;
}

void canvas_state(struct web *w, const char *state)
{
    put_item(w, "state", true, state, strlen(state));
}

/* --- waiting requests ------------------------------------------------------------------------------- */
void canvas_forget(struct web *w, struct request *r)
{
    struct request **p = &w->waiting;
    while (*p && *p != r)
        p = &(*p)->next;
    if (*p)
        *p = r->next;
}

/* It goes on in request_serve.  why: there is no answer. */
static void answer(struct web *w, struct request *r, struct MHD_Response *part, const char *why)
{
    canvas_forget(w, r);
    r->answer = part;
    if (why)
        snprintf(r->why, sizeof r->why, "%s", why);
    r->answered = true;
    if (r->suspended) {
        r->suspended = false;
        MHD_resume_connection(r->connection);
        web_run_soon(w);
    }
}

/* Everybody who waits for the turn or edge that was asked for; NULL: there is none. */
static void answer_part(struct web *w, const char *data, size_t size)
{
    w->asked_found = true;
    for (struct request *r = w->waiting, *next; r; r = next) {
        next = r->next;
        if (r->wants != w->asked_for || r->number != w->asked_number)
            continue;
        answer(w, r, data ? response_new(xmemdup(data, size), size, RESPONSE_HTML) : NULL,
               data ? NULL : "there is no such turn or edge");
    }
}

/* Everybody who waits for the state. */
static void answer_status(struct web *w, const char *data, size_t size)
{
    for (struct request *r = w->waiting, *next; r; r = next) {
        next = r->next;
        if (r->wants == WANTS_STATUS)
            answer(w, r, response_new(xmemdup(data, size), size, RESPONSE_JSON), NULL);
    }
}

/* Everybody who waits for the page. */
static void answer_page(struct web *w)
{
    for (struct request *r = w->waiting, *next; r; r = next) {
        next = r->next;
        if (r->wants == WANTS_PAGE)
            answer(w, r, NULL, NULL);
    }
}

static const struct request *first_who(const struct web *w, enum wants wants)
{
    const struct request *r = w->waiting;
    while (r && r->wants != wants)
        r = r->next;
    return r;
}

/* --- the artist ------------------------------------------------------------------------------------- */
static bool rested(const struct web *w)
{
    return w->more || !w->drawn_ns || loop_now(w->loop) - w->drawn_ns >= w->rest_ns;
}

static void on_piece(void *arg, const char *kind, const char *name, const char *data, size_t size)
{
    struct web *w = arg;
    if (strcmp(kind, "section") == 0) {
        put_item(w, name, false, data, size);
    } else if (strcmp(kind, "state") == 0) {
        put_item(w, "state", true, data, size);
    } else if (strcmp(kind, "page") == 0) {
        if (w->page)
            MHD_destroy_response(w->page);
        w->page = response_new(xmemdup(data, size), size, RESPONSE_HTML);
        w->page_version = w->more ? BARE : w->version;
    } else if (strcmp(kind, "more") == 0) {
        w->more = true;
    } else if (strcmp(kind, "status") == 0) {
        answer_status(w, data, size);
    } else if (strcmp(kind, "part") == 0) {
        answer_part(w, data, size);
    }
}

/* Drawing gets at most its share of the time of all cores. */
static void rest_after(struct web *w, int64_t cpu_ns)
{
    int64_t rest = (int64_t)((double)cpu_ns / (WEB_SHARE * cpus_count()));
    w->rest_ns = rest > REST_MIN_NS ? rest : REST_MIN_NS;
    w->drawn_ns = loop_now(w->loop);
}

static void fail_all(struct web *w, const char *why)
{
    while (w->waiting)
        answer(w, w->waiting, NULL, why);
}

static void on_done(void *arg, int64_t cpu_ns, const char *why)
{
    struct web *w = arg;
    int asked = w->asked;
    w->asked = ASKED_NOTHING;
    if (asked == ASKED_DRAW)
        rest_after(w, cpu_ns);
    if (why) {
        if (!w->told)
            log_warn("the live page cannot be drawn: %s", why);
        w->told = true;
        fail_all(w, why);
    } else if (asked == ASKED_DRAW) {
        viewers_wake(w);
    } else if (asked == ASKED_PAGE && w->page) {
        answer_page(w);
    } else if (asked == ASKED_PART && !w->asked_found && !w->more) {
        answer_part(w, NULL, 0);
    }
    ask_next(w);
}

static void ask_part(struct web *w, const struct request *r)
{
    char *question =
        str_fmt("%s %lld", r->wants == WANTS_TURN ? "turn" : "edge", (long long)r->number);
    w->asked = ASKED_PART;
    w->asked_for = r->wants;
    w->asked_number = r->number;
    w->asked_found = false;
    artist_ask(w->artist, question);
    free(question);
}

/* Whoever waits for the page does not wait for a replay. */
static void ask_draw(struct web *w, bool page)
{
    w->asked = ASKED_DRAW;
    w->more = false;
    artist_ask(w->artist, w->n_viewers && !page ? "renew" : "draw");
}

static void ask_page(struct web *w)
{
    w->asked = ASKED_PAGE;
    artist_ask(w->artist, "page");
}

/* The state first, which takes a moment; then news, the page that shows them, turns and edges.  While the record is being read there is
 * no news: whoever wants the page gets what there is of it, and the rest as events. */
static void ask_next(struct web *w)
{
    if (w->closing || artist_busy(w->artist))
        return;
    bool page = first_who(w, WANTS_PAGE) != NULL;
    const struct request *turn = first_who(w, WANTS_TURN), *edge = first_who(w, WANTS_EDGE);
    if (first_who(w, WANTS_STATUS)) {
        w->asked = ASKED_STATUS;
        artist_ask(w->artist, "status");
    } else if (page && w->more) {
        ask_page(w);
    } else if (rested(w) && (w->n_viewers || w->more || page)) {
        ask_draw(w, page);
    } else if (page && w->page && w->page_version == w->version) {
        answer_page(w);
        ask_next(w);
    } else if (page) {
        ask_page(w);
    } else if (turn || edge) {
        ask_part(w, turn ? turn : edge);
    }
}

bool canvas_wants(struct web *w, struct request *r)
{
    if (w->closing) { /* nobody may be left suspended */
        snprintf(r->why, sizeof r->why, "the page is closed");
        return true;
    }
    struct request **p = &w->waiting;
    while (*p)
        p = &(*p)->next;
    r->next = NULL;
    *p = r;
    w->looked_ns = loop_now(w->loop);
    ask_next(w);
    if (r->answered)
        return true;
    r->suspended = true;
    MHD_suspend_connection(r->connection);
    return false;
}

bool canvas_tick(struct web *w)
{
    int64_t now = loop_now(w->loop);
    if (w->n_viewers || w->waiting)
        w->looked_ns = now;
    ask_next(w);
    if (now - w->looked_ns <= LINGER_NS || artist_busy(w->artist))
        return true;
    artist_rest(w->artist);
    return false;
}

void canvas_open(struct web *w)
{
    static const struct artist_ops ops = {.piece = on_piece, .done = on_done};
    w->artist = artist_new(w->loop, w->o.dir, &ops, w);
    w->rest_ns = REST_MIN_NS;
    w->version = BARE;
}

void canvas_prepare(struct web *w)
{
    w->more = true;
    w->looked_ns = loop_now(w->loop);
    web_tick_on(w);
    ask_next(w);
}

void canvas_close_requests(struct web *w)
{
    fail_all(w, "the campaign's page is closed");
}

void canvas_close(struct web *w)
{
    artist_free(w->artist);
    w->artist = NULL;
    for (int i = 0; i < w->n_items; i++)
        event_drop(w->item[i].event);
    w->n_items = 0;
    if (w->page)
        MHD_destroy_response(w->page);
    w->page = NULL;
}
