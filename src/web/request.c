/* request: which request gets which answer.  Who may ask is guard.c's business, what is drawn canvas.c's. */
#include "web/server.h"

#include "base/die.h"
#include "base/str.h"
#include "journal/metrics.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_NS (120 * NS_PER_S) /* to take an answer */
#define WAIT_NS (300 * NS_PER_S)  /* for the artist, and to take the answer then */

/* --- responses -------------------------------------------------------------------------------------- */
void response_secure(struct MHD_Response *r)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "
                                    "img-src 'self' data:; connect-src 'self'; base-uri "
                                    "'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(r, headers[i][0], headers[i][1]);
}

static struct MHD_Response *with_headers(struct MHD_Response *r, const char *type)
{
    if (!r)
        die_oom();
    MHD_add_response_header(r, "Content-Type", type);
    response_secure(r);
    return r;
}

struct MHD_Response *response_new(char *text, size_t size, const char *type)
{
    return with_headers(MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE), type);
}

static enum MHD_Result send_once(struct MHD_Connection *c, unsigned code, struct MHD_Response *r)
{
    enum MHD_Result ok = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    return ok;
}

static enum MHD_Result send_buf(struct MHD_Connection *c, struct buf *b, const char *type)
{
    size_t size = b->len;
    return send_once(c, MHD_HTTP_OK, response_new(buf_take(b), size, type));
}

static enum MHD_Result send_error(struct MHD_Connection *c, unsigned code, const char *why)
{
    char *text = str_fmt("%s\n", why);
    struct MHD_Response *r = response_new(text, strlen(text), RESPONSE_TEXT);
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET");
    if (code == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(r, "Retry-After", "10");
    MHD_add_response_header(r, "Connection", "close");
    return send_once(c, code, r);
}

/* --- answers ---------------------------------------------------------------------------------------- */
static enum MHD_Result send_numbers(struct web *w, struct MHD_Connection *c,
                                    void (*write)(const struct status *st, struct buf *out),
                                    const char *type)
{
    struct status *st = xcalloc(1, sizeof *st);
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    struct err e = {0};
    int rc = w->o.status(w->o.arg, st, &e);
    if (rc == 0)
        write(st, &b);
    free(st);
    return rc < 0 ? send_error(c, MHD_HTTP_SERVICE_UNAVAILABLE, e.msg) : send_buf(c, &b, type);
}

static enum MHD_Result send_asset(struct MHD_Connection *c, struct report_asset a, const char *type)
{
    return send_once(c, MHD_HTTP_OK,
                     with_headers(MHD_create_response_from_buffer(a.size, (void *)(uintptr_t)a.data,
                                                                  MHD_RESPMEM_PERSISTENT),
                                  type));
}

/* The address of the page ends with a slash, or what is beside it would not be found. */
static enum MHD_Result send_on(struct web *w, struct MHD_Connection *c)
{
    struct MHD_Response *r = response_new(NULL, 0, RESPONSE_TEXT);
    char *to = str_fmt("/%s/", w->token);
    MHD_add_response_header(r, "Location", to);
    free(to);
    return send_once(c, MHD_HTTP_MOVED_PERMANENTLY, r);
}

/* What the artist had to draw first. */
static enum MHD_Result send_drawn(struct web *w, struct request *r)
{
    struct MHD_Response *part = r->answer;
    bool missing = strstr(r->why, "no such turn");
    r->answer = NULL;
    if (r->why[0] || (r->wants == WANTS_PAGE && !w->page))
        return send_error(r->connection,
                          missing ? MHD_HTTP_NOT_FOUND : MHD_HTTP_SERVICE_UNAVAILABLE,
                          r->why[0] ? r->why : "the page is not drawn yet");
    if (r->wants == WANTS_PAGE) {
        canvas_served(w);
        return MHD_queue_response(r->connection, MHD_HTTP_OK, w->page);
    }
    return send_once(r->connection, MHD_HTTP_OK, part);
}

static enum MHD_Result wait_for(struct web *w, struct request *r, enum wants wants, int64_t number)
{
    r->wants = wants;
    r->number = number;
    client_limit(client_of(r->connection), WAIT_NS);
    return canvas_wants(w, r) ? send_drawn(w, r) : MHD_YES;
}

static enum MHD_Result send_part(struct web *w, struct request *r, enum wants wants,
                                 const char *text)
{
    uint64_t number;
    if (str_to_u64(text, "number", 0, INT64_MAX, &number, NULL) < 0)
        return send_error(r->connection, MHD_HTTP_NOT_FOUND, "a turn or an edge is a number");
    return wait_for(w, r, wants, (int64_t)number);
}

static enum MHD_Result route(struct web *w, struct request *r, const char *path)
{
    struct MHD_Connection *c = r->connection;
    if (!path)
        return send_on(w, c);
    if (strcmp(path, "") == 0)
        return wait_for(w, r, WANTS_PAGE, 0);
    if (strcmp(path, "report.css") == 0)
        return send_asset(c, report_css(), "text/css; charset=utf-8");
    if (strcmp(path, "report.js") == 0)
        return send_asset(c, report_js(), "text/javascript; charset=utf-8");
    if (strcmp(path, "api/status") == 0)
        return wait_for(w, r, WANTS_STATUS, 0);
    if (strcmp(path, "metrics") == 0)
        return send_numbers(w, c, metrics_prometheus, "text/plain; version=0.0.4; charset=utf-8");
    if (str_starts(path, "turn/"))
        return send_part(w, r, WANTS_TURN, path + strlen("turn/"));
    if (str_starts(path, "edge/"))
        return send_part(w, r, WANTS_EDGE, path + strlen("edge/"));
    if (strcmp(path, "events") != 0)
        return send_error(c, MHD_HTTP_NOT_FOUND, "there is nothing of that name here");
    return w->n_viewers < WEB_VIEWERS
               ? viewer_begin(w, c)
               : send_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
                            "too many are looking; the page itself is still served");
}

/* --- the library's view ----------------------------------------------------------------------------- */
static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

enum MHD_Result request_serve(void *web, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **slot)
{
    (void)version, (void)data;
    struct web *w = web;
    struct request *r = *slot;
    const char *rest = NULL, *why = NULL;
    struct guard_request g = {.method = method,
                              .path = url,
                              .host = header(c, "Host"),
                              .origin = header(c, "Origin"),
                              .authorization = header(c, "Authorization"),
                              .token =
                                  MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token")};
    int wrong = guard_check(&g, w->token, w->names, &rest, &why);
    if (wrong)
        return send_error(c, (unsigned)wrong, why);
    if (!r) { /* the headers are there; a body, which GET has none of, is not read */
        *slot = r = xcalloc(1, sizeof *r);
        *r = (struct request){.w = w, .connection = c};
        client_of(c)->known = true;
        client_limit(client_of(c), REPLY_NS);
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    return r->answered ? send_drawn(w, r) : route(w, r, rest);
}

void request_completed(void *web, struct MHD_Connection *c, void **slot,
                       enum MHD_RequestTerminationCode code)
{
    (void)code;
    struct web *w = web;
    struct request *r = *slot;
    struct client *client = client_of(c);
    if (client)
        client_limit(client, 10 * NS_PER_S);
    if (!r)
        return;
    canvas_forget(w, r);
    if (r->answer)
        MHD_destroy_response(r->answer);
    free(r);
    *slot = NULL;
}
