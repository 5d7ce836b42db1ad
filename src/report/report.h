/* report: a campaign as one page: figures and tables of what its record says.  `carol report` writes the page to
 * a file; `carol view` and `carol fuzz --web` serve it and renew its sections while the campaign runs.
 *
 *     struct report *r;
 *     report_open(&r, "OUT", &e);                         // one pass over the record
 *     report_page(&r, 1, REPORT_FILE, &html);             // assets inside, loads nothing
 *
 *     report_page(&r, 1, REPORT_SERVED, &html);           // <link href="report.css">, <script src="report.js">
 *     while (report_refresh(r, 200, &e) > 0) ...          // what was committed since; costs what is new
 *     for (const struct report_section *s = report_sections; s->id; s++)
 *         s->write(r, &html);                             // the whole <section id="ID">...</section>
 *     report_close(r);
 *
 * The same record gives the same bytes: a section whose bytes are those sent before has not changed.  Everything
 * from outside (names, paths, seeds) is escaped where it is written (html.h), and nowhere else.
 *
 * The served page and its script agree on this:
 *   - report.css and report.js are beside the page (relative addresses), no inline script, style or handler;
 *   - <body data-live> is present on the served page; then the script opens an EventSource on "events" beside the page;
 *   - an event `section` has the HTML of one section as its data (a data: line per line of it): the script puts it in
 *     the place of the element with that id;
 *   - an event `state` has the word of the state as its data (running, ended, interrupted), sent when it changes; the
 *     script shows when the connection is lost;
 *   - "turn/N" beside the page answers with report_turn, an HTML fragment; the script asks for it when a turn is
 *     opened of which the page has only the outline, and for any turn that is typed in.  When there is no answer it shows
 *     the command that explains the turn;
 *   - "edge/N" answers with report_edge, when an edge is asked for whose lineage the page leaves out. */
#ifndef CAROL_REPORT_REPORT_H
#define CAROL_REPORT_REPORT_H

#include "base/buf.h"
#include "base/err.h"
#include "journal/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;
struct defects; /* triage/defect.h */

/* Reads the whole record: everything the page shows.  The build need not be there any more: then only the
 * influence of the signals is missing, and the page says so. */
CAROL_MUST_CHECK int report_open(struct report **out, const char *dir, struct err *e);
/* The same for a viewer that must not be held up: reads settings and state only.  report_refresh brings the turns in
 * portions, report_ask the influence of the signals. */
CAROL_MUST_CHECK int report_begin(struct report **out, const char *dir, struct err *e);
/* What the record has now: the state, and at most max_turns turns more.  1: there is more, call it again; 0: it is
 * up to date.  After a failure r has a part of it, and the next call goes on. */
CAROL_MUST_CHECK int report_refresh(struct report *r, int max_turns, struct err *e);
/* Asks which signals moved the choices, which takes a replay of the campaign: once it has grown by half since it was
 * asked last, or has ended, so that all the replays of a growing campaign cost as much as three of the whole.  One that takes
 * longer than that is given up, and the page says so.  True: it was asked. */
bool report_ask(struct report *r, int64_t within_ns);
/* Has all of the record been read at least once?  Until then the sections that need it say that it is being read. */
bool report_is_whole(const struct report *r);
void report_close(struct report *r);

/* The state as of the last refresh: what `carol status` says. */
const struct status *report_status(const struct report *r);
/* What triage says as of then. */
const struct defects *report_defects(const struct report *r);

enum report_form {
    REPORT_FILE = 1, /* one file that needs no other */
    REPORT_SERVED,   /* style sheet, script and events come from beside it */
};
/* The page of one campaign; of several: side by side, medians and tests, then the figures of each. */
void report_page(struct report *const *v, size_t n, enum report_form form, struct buf *out);

/* The parts of a campaign's page, in order; ends with a NULL id.  The table is const and the same for every
 * campaign; which section has nothing to show says so inside. */
struct report_section {
    const char *id;    /* of the element */
    const char *title; /* its heading */
    void (*write)(const struct report *r, struct buf *out);
    const char *brief; /* in the navigation */
    bool early;        /* it has something to show before the whole record is read */
};
extern const struct report_section report_sections[];

/* Decision number turn as `carol explain` has it, as an HTML fragment without a heading.  -ENOENT: there is none. */
CAROL_MUST_CHECK int report_turn(const struct report *r, int64_t turn, struct buf *out,
                                 struct err *e);

/* The inputs that led to the first cover of that edge, as rows of the section of lineages: those that the page leaves out, too.
 * -ENOENT: there is none. */
CAROL_MUST_CHECK int report_edge(const struct report *r, int64_t edge, struct buf *out,
                                 struct err *e);

/* The style sheet and the script, as they are in src/report/.  No NUL at the end. */
struct report_asset {
    const char *data;
    size_t size;
};
struct report_asset report_css(void);
struct report_asset report_js(void);

#endif
