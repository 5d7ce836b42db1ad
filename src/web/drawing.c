/* drawing: the process that draws: reads questions, refreshes the report and writes pieces.  Serves nobody itself.
 *
 * Questions are lines: "draw", "renew", "page", "status", "turn N", "edge N".  An answer is pieces, each a line "KIND NAME SIZE" and so many bytes, and
 * last the line "done - CPU", the nanoseconds of CPU time that drawing took.  A piece "failed" has the reason why there are no
 * others.  A piece "more" says that the record is not read to its end: there is nothing drawn yet, or what is there of the page. */
#include "web/artist.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "report/report.h"
#include "triage/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PORTION 250                    /* turns */
#define READ_NS INT64_C(300000000)     /* for one question, then the next one may be asked */
#define REPLAY_NS INT64_C(20000000000) /* the server waits for an answer three times as long */
#define SECTIONS_MAX 64
#define CLOCK_NS                                                                                   \
    INT64_C(                                                                                       \
        15000000000) /* campaign time that may pass before the clocks on the page are set again */
#define NICE 10 /* a renewal may wait; the first page, for which somebody waits, is drawn before */
#define FD_OUT 1

/* How far triage is. */
struct triaged {
    uint64_t rows;
    size_t n, confirmed, minimised;
};

struct drawing {
    struct report *r;
    const char *dir;
    struct buf text;
    struct digest sent[SECTIONS_MAX]; /* what the server has of each section */
    char state[32];
    bool drawn;         /* all sections, at least once */
    int64_t asking_ns;  /* CPU time of replays, which are few and do not count as drawing */
    struct status last; /* of what was drawn */
    struct triaged last_triaged;
};

static int64_t clock_ns(clockid_t which)
{
    struct timespec ts;
    clock_gettime(which, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int64_t cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int send_piece(const char *kind, const char *name, const char *data, size_t size,
                      struct err *e)
{
    char *head = str_fmt("%s %s %zu\n", kind, name, size);
    int rc = fs_write_fd(FD_OUT, head, strlen(head), e);
    free(head);
    return rc < 0 || !size ? rc : fs_write_fd(FD_OUT, data, size, e);
}

/* Reads on for a while.  1: there is more. */
static int refresh(struct drawing *d, struct err *e)
{
    int64_t end = clock_ns(CLOCK_MONOTONIC) + READ_NS;
    int rc = d->r ? 0 : report_begin(&d->r, d->dir, e);
    if (rc < 0)
        return rc;
    do
        rc = report_refresh(d->r, PORTION, e);
    while (rc > 0 && clock_ns(CLOCK_MONOTONIC) < end);
    return rc;
}

/* A page and its parts are of what was read last, if that was all. */
static int begin(struct drawing *d, struct err *e)
{
    return d->r && report_is_whole(d->r) ? 0 : refresh(d, e);
}

static int say_more(struct err *e)
{
    return send_piece("more", "-", "", 0, e);
}

static struct triaged triaged(const struct report *r)
{
    const struct defects *d = report_defects(r);
    struct triaged t = {.rows = d->rows, .n = d->n, .confirmed = d->confirmed};
    for (size_t i = 0; i < d->n; i++)
        t.minimised += d->v[i].minimised;
    return t;
}

/* Has nothing happened but that some seconds passed?  A campaign that rests may be triaged. */
static bool nothing_new(const struct drawing *d)
{
    const struct status *a = &d->last, *b = report_status(d->r);
    const struct triaged *s = &d->last_triaged, t = triaged(d->r);
    if (s->rows != t.rows || s->n != t.n || s->confirmed != t.confirmed ||
        s->minimised != t.minimised)
        return false;
    return a->state && strcmp(a->state, b->state) == 0 && a->tally.turns == b->tally.turns &&
           a->gauges.seeds == b->gauges.seeds && a->gauges.crashes == b->gauges.crashes &&
           a->gauges.hangs == b->gauges.hangs &&
           b->gauges.elapsed_ns - a->gauges.elapsed_ns < CLOCK_NS;
}

static bool ask(struct drawing *d)
{
    int64_t before = cpu_ns();
    bool asked = d->drawn && report_ask(d->r, REPLAY_NS);
    d->asking_ns = cpu_ns() - before;
    return asked;
}

/* renew: those who look have a page: there is time for what takes longer. */
static int draw(struct drawing *d, bool renew, struct err *e)
{
    struct digest now;
    int rc = refresh(d, e);
    if (rc > 0)
        return say_more(e);
    bool asked = rc == 0 && renew && ask(d);
    if (rc == 0 && !asked && nothing_new(d))
        return 0;
    if (rc == 0) {
        d->last = *report_status(d->r);
        d->last_triaged = triaged(d->r);
    }
    const char *state = rc == 0 ? report_status(d->r)->state : "";
    if (rc == 0 && strcmp(d->state, state) != 0) {
        snprintf(d->state, sizeof d->state, "%s", state);
        rc = send_piece("state", "-", state, strlen(state), e);
    }
    for (size_t i = 0; rc == 0 && report_sections[i].id; i++) {
        BUG_ON(i >= SECTIONS_MAX);
        buf_clear(&d->text);
        report_sections[i].write(d->r, &d->text);
        hash_bytes(d->text.p, d->text.len, &now);
        if (digest_equal(&now, &d->sent[i]))
            continue;
        d->sent[i] = now;
        rc = send_piece("section", report_sections[i].id, d->text.p, d->text.len, e);
    }
    d->drawn = rc == 0;
    return rc;
}

static int page(struct drawing *d, struct err *e)
{
    int rc = begin(d, e);
    if (rc >= 0 && !report_is_whole(d->r))
        rc = say_more(e);
    if (rc < 0)
        return rc;
    buf_clear(&d->text);
    report_page(&d->r, 1, REPORT_SERVED, &d->text);
    return send_piece("page", "-", d->text.p, d->text.len, e);
}

static int status(struct drawing *d, struct err *e)
{
    int rc = d->r ? report_refresh(d->r, 0, e) : report_begin(&d->r, d->dir, e);
    if (rc < 0)
        return rc;
    buf_clear(&d->text);
    state_json(report_status(d->r), report_defects(d->r), &d->text);
    return send_piece("status", "-", d->text.p, d->text.len, e);
}

typedef int part_fn(const struct report *r, int64_t number, struct buf *out, struct err *e);

static int part(struct drawing *d, part_fn *write, int64_t number, struct err *e)
{
    struct err none = {0};
    int rc = begin(d, e);
    if (rc < 0)
        return rc;
    buf_clear(&d->text);
    rc = write(d->r, number, &d->text, &none);
    if (rc == -ENOENT && !report_is_whole(d->r))
        return say_more(e);
    if (rc == -ENOENT)
        return 0;
    if (rc < 0)
        *e = none;
    return rc < 0 ? rc : send_piece("part", "-", d->text.p, d->text.len, e);
}

static int answer(struct drawing *d, const char *question, struct err *e)
{
    long long number;
    if (strcmp(question, "draw") == 0)
        return draw(d, false, e);
    if (strcmp(question, "renew") == 0)
        return draw(d, true, e);
    if (strcmp(question, "page") == 0)
        return page(d, e);
    if (strcmp(question, "status") == 0)
        return status(d, e);
    if (sscanf(question, "turn %lld", &number) == 1)
        return part(d, report_turn, number, e);
    if (sscanf(question, "edge %lld", &number) == 1)
        return part(d, report_edge, number, e);
    return err_usage(e, "'%s' is no question", question);
}

/* What is wrong now may be right the next time: a record that is just being made, say. */
static int serve(struct drawing *d, const char *question, struct err *e)
{
    struct err why = {0};
    int64_t before = cpu_ns();
    bool first = !d->drawn; /* reading the record and drawing it once comes on top */
    int rc = 0;
    d->asking_ns = 0;
    if (answer(d, question, &why) < 0)
        rc = send_piece("failed", "-", why.msg, strlen(why.msg), e);
    int64_t took = first ? 0 : cpu_ns() - before - d->asking_ns;
    char *done = str_fmt("done - %lld\n", (long long)took);
    if (rc == 0)
        rc = fs_write_fd(FD_OUT, done, strlen(done), e);
    free(done);
    if (d->drawn && strcmp(question, "renew") == 0)
        setpriority(PRIO_PROCESS, 0, NICE);
    return rc;
}

int artist_main(const char *dir, struct err *e)
{
    struct drawing d = {.dir = dir, .text = BUF_INIT(BUF_TEXT_MAX)};
    char line[64];
    int rc = 0;
    while (rc == 0 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        rc = serve(&d, line, e);
    }
    report_close(d.r);
    buf_free(&d.text);
    return rc;
}
