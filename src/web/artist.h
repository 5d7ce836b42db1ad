/* artist: the process that draws the page, as the server sees it.  Drawing takes what it takes, and may fail; the server's
 * loop only asks and gets pieces.  The process reads the record itself, so nothing of the campaign is shared with it.
 *
 *     struct artist *a = artist_new(loop, dir, &ops, me);
 *     artist_ask(a, "draw");            // -> ops.piece for each section that changed, or one "more"; then ops.done
 *     artist_ask(a, "renew");           // the same, with what may take a replay: for who has a page
 *     artist_ask(a, "page");            // -> ops.piece "page"; before it "more", if it is the page of a part of the record
 *     artist_ask(a, "status");          // -> ops.piece "status": the bytes of `carol status --json`
 *     artist_ask(a, "turn 12");         // -> ops.piece "part"; none if there is no such turn
 *     artist_ask(a, "edge 700");        // the same
 *     artist_rest(a);                   // nobody looks any more: the process ends, the next question starts another
 *
 * One question at a time.  A long record is read in portions: after "more" ask to draw again, or what somebody waits for.  What goes
 * over the wire is in drawing.c. */
#ifndef CAROL_WEB_ARTIST_H
#define CAROL_WEB_ARTIST_H

#include "base/buf.h"
#include "base/err.h"
#include "proc/loop.h"

#include <stdbool.h>

struct artist;

struct artist_ops {
    /* kind: section, state, page, status, part, more.  name: which.  The data is lent. */
    void (*piece)(void *arg, const char *kind, const char *name, const char *data, size_t size);
    /* The question is answered: cpu_ns is what that took; or it failed, and why says so.  Never called from artist_ask. */
    void (*done)(void *arg, int64_t cpu_ns, const char *why);
};

struct artist *artist_new(struct loop *loop, const char *dir, const struct artist_ops *ops,
                          void *arg);
bool artist_busy(const struct artist *a);
void artist_ask(struct artist *a, const char *question); /* not while it is busy */
void artist_rest(struct artist *a);
void artist_free(struct artist *a);

/* The process itself: answers the questions on standard input until that ends.  `carol view --draw DIR`. */
CAROL_MUST_CHECK int artist_main(const char *dir, struct err *e);

#endif
