/* server: the inside of a web server, shared by the files of this folder and nobody else. */
#ifndef CAROL_WEB_SERVER_H
#define CAROL_WEB_SERVER_H

#include "web/artist.h"
#include "web/guard.h"
#include "web/mhd.h"
#include "web/web.h"

#define ITEMS_MAX 64
#define NONCE 8 /* characters */

/* One connection.  Whoever is slower than its deadline is disconnected. */
struct client {
    struct web *w;
    struct MHD_Connection *connection;
    int fd;
    int64_t deadline_ns; /* INT64_MAX: none */
    bool known;          /* it has shown the token */
    struct client *next, *prev;
};

/* One request that waits for the artist, then its answer. */
enum wants { WANTS_NOTHING = 0, WANTS_PAGE, WANTS_STATUS, WANTS_TURN, WANTS_EDGE };
struct request {
    struct web *w;
    struct MHD_Connection *connection;
    enum wants wants;
    int64_t number; /* of the turn or edge */
    bool suspended, answered;
    struct MHD_Response *answer; /* the page is that of the server */
    char why[128];               /* there is none; empty: there is */
    struct request *next;
};

/* An event as it goes over the wire, made once for all viewers. */
struct event {
    int refs;
    size_t size;
    char text[];
};

/* What viewers are told of: a section of the page, or the state.  Versions are numbers that only grow, one for each
 * change of any item, so one number says what a viewer has seen. */
struct item {
    char name[64];
    bool is_state;
    uint64_t version;
    int64_t changed_ns;
    struct event *event;
};

/* Somebody who gets events. */
struct viewer {
    struct web *w;
    struct MHD_Connection *connection;
    struct client *client;
    bool suspended;
    uint64_t seen;       /* the version of the last event that was begun */
    struct event *event; /* being sent; NULL: none */
    size_t sent;
    int64_t heard_ns; /* when something was sent last */
    bool beat;        /* a heartbeat is due */
    bool gone;        /* its connection is closed */
    struct viewer *next;
};

struct web {
    struct loop *loop;
    struct web_opts o;
    struct MHD_Daemon *daemon;
    int epoll_fd, listen_fd;
    char token[GUARD_TOKEN + 1], nonce[NONCE + 1];
    char *url, own_name[256], given_name[256];
    const char *names[3]; /* these two, as far as there are any */
    bool loopback, closing;
    struct timer run;  /* the library wants to be called then */
    struct timer tick; /* once a second while anybody is connected */

    bool deaf;            /* no connection can be accepted now */
    struct guest *guests; /* at the door */
    int n_guests;
    struct client *clients, *last_client; /* newest first */
    int n_clients;
    struct viewer *viewers;
    int n_viewers;

    /* canvas.c */
    struct artist *artist;
    enum { ASKED_NOTHING = 0, ASKED_DRAW, ASKED_PAGE, ASKED_STATUS, ASKED_PART } asked;
    enum wants asked_for; /* which part: of a turn or an edge */
    int64_t asked_number;
    bool asked_found;
    struct request *waiting; /* in the order they came */
    struct item item[ITEMS_MAX];
    int n_items;
    uint64_t version;
    struct MHD_Response *page;
    uint64_t page_version;
    bool more;        /* the artist has not read the whole record yet */
    int64_t drawn_ns; /* when it was drawn last; 0: never */
    int64_t rest_ns;  /* how long to leave it at that */
    /* the oldest version of the page that was served in this half minute, and in the one before */
    uint64_t served[2];
    int64_t served_ns;
    bool told;         /* that drawing fails */
    int64_t looked_ns; /* when somebody was there last */
};

/* web.c */
void web_run_soon(struct web *w); /* after a connection was resumed */
void web_tick_on(struct web *w);  /* somebody is there */

/* door.c */
int door_open(struct web *w, struct err *e);
void door_sweep(struct web *w);
void door_close(struct web *w);
/* METHOD SP TARGET SP HTTP/VERSION, without the line's end */
bool door_line_ok(const char *line, size_t n);

/* clients.c */
void client_notify(void *web, struct MHD_Connection *c, void **slot,
                   enum MHD_ConnectionNotificationCode code);
struct client *client_of(struct MHD_Connection *c);
void client_limit(struct client *c, int64_t within_ns); /* INT64_MAX: no limit */
void clients_make_room(struct web *w);
void clients_sweep(struct web *w);

/* request.c */
enum MHD_Result request_serve(void *web, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **slot);
void request_completed(void *web, struct MHD_Connection *c, void **slot,
                       enum MHD_RequestTerminationCode code);
#define RESPONSE_HTML "text/html; charset=utf-8"
#define RESPONSE_JSON "application/json"
#define RESPONSE_TEXT "text/plain; charset=utf-8"
/* With the headers that all have; takes the text (malloc'ed). */
struct MHD_Response *response_new(char *text, size_t size, const char *type);
void response_secure(struct MHD_Response *r);

/* viewers.c */
enum MHD_Result viewer_begin(struct web *w, struct MHD_Connection *c);
void viewers_wake(struct web *w); /* there is something new */
void viewers_tick(struct web *w);
struct event *event_new(const char *kind, const char *id, const char *data, size_t size);
void event_drop(struct event *ev);

/* canvas.c */
void canvas_open(struct web *w);
void canvas_prepare(struct web *w);        /* somebody will look soon */
void canvas_close_requests(struct web *w); /* those that wait are answered: it is closed */
void canvas_close(struct web *w);
bool canvas_tick(struct web *w); /* false: nothing is left to look after */
void canvas_state(struct web *w, const char *state);
/* Answered at once (true), or later: the connection is suspended then. */
bool canvas_wants(struct web *w, struct request *r);
void canvas_forget(struct web *w, struct request *r); /* it is over */
/* The next thing to tell one who has seen all up to that version; NULL: nothing. */
const struct item *canvas_after(const struct web *w, uint64_t seen);
/* The page is given to somebody. */
void canvas_served(struct web *w);
/* What somebody who comes from the page has seen for sure; 0: nobody got the page lately. */
uint64_t canvas_settled(struct web *w);

#endif
