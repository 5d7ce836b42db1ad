/* web: the live page of a campaign over HTTP, on the event loop of whoever opens it: `carol fuzz --web` and `carol
 * view`.
 *
 *     web_open(&w, &(struct web_opts){.loop = loop, .dir = out, .status = my_status, .arg = me}, &e);
 *     puts(web_url(w));            // http://127.0.0.1:8390/TOKEN/
 *     loop_run(loop);
 *     web_close(w, "ended");
 *
 * What it answers, GET only, below /TOKEN/ (or without it, with the header "Authorization: Bearer TOKEN" or with
 * ?token=TOKEN):
 *     (nothing)               the page (report/report.h), with report.css and report.js beside it
 *     events                  server-sent events: `section`, `state`; a comment now and then
 *     turn/N                  decision N explained, a fragment of the page
 *     edge/N                  the inputs that led to edge N, a fragment of the page
 *     api/status              the bytes of `carol status --json`
 *     metrics                 the same numbers for Prometheus
 *
 * It does not hold up its loop: only .status is called on it, and costs what its owner makes it cost (`carol fuzz` copies
 * what it has in memory, `carol view` reads what is new in the record).  The page is drawn by a process of its own (web/artist.h), only while somebody looks, once for
 * all who look, and so rarely that it takes no more than WEB_SHARE of the machine; a section is sent again only when
 * it changed.  While the record, which may be large, is read for the first time, whoever opens the page gets what there is: the state
 * in numbers, defects and settings; the other sections follow as events.  Connections are few (WEB_CLIENTS), each has a time limit, and whoever reads slowly misses the states in
 * between.  Nothing is ever written to the record, and it is read without a lock that a writer waits for.
 *
 * Who may look: whoever knows the token, which is new each time unless it is kept in a file.  The Host must be an IP address, localhost, the name of
 * this machine or the name in the address it was told to listen on, and the Origin, if there is one, this very server: a page from elsewhere can neither read this one
 * through a name that it points here, nor make a browser ask. */
#ifndef CAROL_WEB_WEB_H
#define CAROL_WEB_WEB_H

#include "base/err.h"
#include "journal/status.h"
#include "proc/loop.h"

#define WEB_ADDRESS "127.0.0.1:8390" /* where it listens unless told otherwise */
#define WEB_CLIENTS 64               /* connections at once; more wait in line */
#define WEB_VIEWERS 32               /* of these, pages that are kept up to date */
#define WEB_SHARE 0.002              /* of the time of all cores, for drawing */

struct web;

struct web_opts {
    struct loop *loop;
    const char *dir; /* of the campaign */
    const char *
        address; /* ADDR:PORT, [ADDR]:PORT, PORT or ADDR; port 0: any free one; NULL: WEB_ADDRESS */
    /* Where the token is kept: 32 hex digits, made when the file is not there; NULL: a new one each time. */
    const char *token_file;
    bool soon; /* somebody will look at once: the record is read without waiting for them */
    /* The campaign's state now, for /metrics. */
    int (*status)(void *arg, struct status *st, struct err *e);
    void *arg;
};

/* Listens; serves whenever the loop runs.  A port that is taken is wrong usage, and the message says what to type. */
CAROL_MUST_CHECK int web_open(struct web **out, const struct web_opts *o, struct err *e);
/* With the token. */
const char *web_url(const struct web *w);
/* Can it be reached from other machines? */
bool web_is_open(const struct web *w);
/* Tells the viewers that word of the state (NULL: nothing), and ends. */
void web_close(struct web *w, const char *state);

#endif
