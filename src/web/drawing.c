/* drawing: the process that draws: reads questions, refreshes the report and writes pieces.  Serves nobody itself.
 *
 * Questions are lines: "draw", "page", "status", "turn N".  An answer is pieces, each a line "KIND NAME SIZE" and so many bytes, and
 * last the line "done - CPU", the nanoseconds of CPU time it took.  A piece "failed" has the reason why there are no others. */
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

#define PORTION 1000 /* turns */
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
    bool fresh;         /* the record was read at least once */
    bool served;        /* somebody has the page: there is time for what takes longer */
    int64_t asking_ns;  /* CPU time of such things, which are few and do not count as drawing */
    struct status last; /* of what was drawn */
    struct triaged last_triaged;
};

static int64_t cpu_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int send_piece(const char *kind, const char *name, const char *data, size_t size,
                      struct err *e)
{
    char *head = str_fmt("%s %s %zu\n", kind, name, size);
    int rc = fs_write_fd(FD_OUT, head, strlen(head), e);
    free(head);
    return rc < 0 || !size ? rc : fs_write_fd(FD_OUT, data, size, e);
}

static int refresh(struct drawing *d, struct err *e)
{
    int rc = d->r ? 0 : report_begin(&d->r, d->dir, e);
    while (rc == 0 && (rc = report_refresh(d->r, PORTION, e)) > 0)
        rc = 0;
    d->fresh = d->fresh || rc == 0;
    return rc;
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
    bool asked = d->served && report_ask(d->r);
    d->asking_ns = cpu_ns() - before;
    return asked;
}

static int draw(struct drawing *d, struct err *e)
{
    struct digest now;
    int rc = refresh(d, e);
    if (rc == 0 && !ask(d) && nothing_new(d))
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
    return rc;
}

static int page(struct drawing *d, struct err *e)
{
    int rc = d->fresh ? 0 : refresh(d, e);
    if (rc < 0)
        return rc;
    buf_clear(&d->text);
    report_page(&d->r, 1, REPORT_SERVED, &d->text);
    d->served = true;
    return send_piece("page", "-", d->text.p, d->text.len, e);
}

static int status(struct drawing *d, struct err *e)
{
    int rc = refresh(d, e);
    if (rc < 0)
        return rc;
    buf_clear(&d->text);
    state_json(report_status(d->r), report_defects(d->r), &d->text);
    return send_piece("status", "-", d->text.p, d->text.len, e);
}

static int turn(struct drawing *d, int64_t number, struct err *e)
{
    struct err none = {0};
    int rc = d->fresh ? 0 : refresh(d, e);
    if (rc < 0)
        return rc;
    buf_clear(&d->text);
    rc = report_turn(d->r, number, &d->text, &none);
    if (rc == -ENOENT)
        return 0;
    if (rc < 0)
        *e = none;
    return rc < 0 ? rc : send_piece("turn", "-", d->text.p, d->text.len, e);
}

static int answer(struct drawing *d, const char *question, struct err *e)
{
    long long number;
    if (strcmp(question, "draw") == 0)
        return draw(d, e);
    if (strcmp(question, "page") == 0)
        return page(d, e);
    if (strcmp(question, "status") == 0)
        return status(d, e);
    if (sscanf(question, "turn %lld", &number) == 1)
        return turn(d, number, e);
    return err_usage(e, "'%s' is no question", question);
}

/* What is wrong now may be right the next time: a record that is just being made, say. */
static int serve(struct drawing *d, const char *question, struct err *e)
{
    struct err why = {0};
    int64_t before = cpu_ns();
    int rc = 0;
    d->asking_ns = 0;
    if (answer(d, question, &why) < 0)
        rc = send_piece("failed", "-", why.msg, strlen(why.msg), e);
    char *done = str_fmt("done - %lld\n", (long long)(cpu_ns() - before - d->asking_ns));
    if (rc == 0)
        rc = fs_write_fd(FD_OUT, done, strlen(done), e);
    free(done);
    if (strcmp(question, "page") == 0)
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
