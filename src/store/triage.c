/* triage: what is known of each crash since it was run again, and the smallest inputs of defects.  Judges nothing. */
#include "store/db.h"

#include "base/die.h"

#include <errno.h>
#include <string.h>

#define COLUMNS                                                                                    \
    "t.crash, t.build, t.outcome, t.defect, t.function, t.file, t.line, t.fault, t.entry, "        \
    "t.access, t.bytes, t.address, t.cwe, t.withheld, t.asan_runs, t.asan_hits, t.plain_runs, "    \
    "t.plain_hits, t.plain_signal, t.cpu_us, t.why"

static const char *text_or_empty(const char *s)
{
    return s ? s : "";
}

/* What was confirmed stays: the campaign and `carol triage` may look at one crash at the same time. */
static int put(struct store *s, const struct store_triage *t, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "INSERT INTO triage(crash, build, outcome, defect, function, file,"
                      " line, fault, entry, access, bytes, address, cwe, withheld, asan_runs,"
                      " asan_hits, plain_runs, plain_hits, plain_signal, cpu_us, why, report)"
                      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                      " ON CONFLICT(crash) DO UPDATE SET build = excluded.build,"
                      " outcome = excluded.outcome, defect = excluded.defect,"
                      " function = excluded.function, file = excluded.file, line = excluded.line,"
                      " fault = excluded.fault, entry = excluded.entry, access = excluded.access,"
                      " bytes = excluded.bytes, address = excluded.address, cwe = excluded.cwe,"
                      " withheld = excluded.withheld, asan_runs = excluded.asan_runs,"
                      " asan_hits = excluded.asan_hits, plain_runs = excluded.plain_runs,"
                      " plain_hits = excluded.plain_hits, plain_signal = excluded.plain_signal,"
                      " cpu_us = excluded.cpu_us, why = excluded.why, report = excluded.report"
                      " WHERE triage.build <> excluded.build OR triage.outcome = 6"
                      " OR (triage.plain_runs = 0 AND triage.why = '')",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, t->crash);
    db_bind_text(&q, text_or_empty(t->build));
    db_bind_int(&q, t->outcome);
    db_bind_text(&q, text_or_empty(t->defect));
    db_bind_text(&q, text_or_empty(t->function));
    db_bind_text(&q, text_or_empty(t->file));
    db_bind_int(&q, t->line);
    db_bind_text(&q, text_or_empty(t->fault));
    db_bind_text(&q, text_or_empty(t->entry));
    db_bind_text(&q, text_or_empty(t->access));
    db_bind_int(&q, t->bytes);
    db_bind_text(&q, text_or_empty(t->address));
    db_bind_int(&q, t->cwe);
    db_bind_int(&q, t->withheld);
    db_bind_int(&q, t->asan_runs);
    db_bind_int(&q, t->asan_hits);
    db_bind_int(&q, t->plain_runs);
    db_bind_int(&q, t->plain_hits);
    db_bind_int(&q, t->plain_signal);
    db_bind_int(&q, t->cpu_us);
    db_bind_text(&q, text_or_empty(t->why));
    db_bind_text(&q, text_or_empty(t->report));
    return db_run(&q, e);
}

int store_triage_put(struct store *s, const struct store_triage *t, struct err *e)
{
    int rc = db_enter(s, e);
    return rc < 0 ? rc : db_leave(s, put(s, t, e), e);
}

static int confirm(struct store *s, const struct store_triage *t, struct err *e)
{
    struct query q;
    int rc =
        db_query(s, &q,
                 "UPDATE triage SET asan_runs = ?, asan_hits = ?, plain_runs = ?, plain_hits = ?,"
                 " plain_signal = ?, withheld = max(withheld, ?), cpu_us = cpu_us + ?, why = ?"
                 " WHERE crash = ? AND build = ?",
                 e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, t->asan_runs);
    db_bind_int(&q, t->asan_hits);
    db_bind_int(&q, t->plain_runs);
    db_bind_int(&q, t->plain_hits);
    db_bind_int(&q, t->plain_signal);
    db_bind_int(&q, t->withheld);
    db_bind_int(&q, t->cpu_us);
    db_bind_text(&q, text_or_empty(t->why));
    db_bind_int(&q, t->crash);
    db_bind_text(&q, text_or_empty(t->build));
    return db_run(&q, e);
}

int store_triage_confirm(struct store *s, const struct store_triage *t, struct err *e)
{
    int rc = db_enter(s, e);
    return rc < 0 ? rc : db_leave(s, confirm(s, t, e), e);
}

static struct store_triage row_of(struct query *q)
{
    struct store_triage t = {.crash = db_int(q), .build = db_text(q)};
    t.outcome = (enum triage_outcome)db_int(q);
    t.defect = db_text(q);
    t.function = db_text(q);
    t.file = db_text(q);
    t.line = (int)db_int(q);
    t.fault = db_text(q);
    t.entry = db_text(q);
    t.access = db_text(q);
    t.bytes = db_int(q);
    t.address = db_text(q);
    t.cwe = (int)db_int(q);
    t.withheld = db_int(q) != 0;
    t.asan_runs = (int)db_int(q);
    t.asan_hits = (int)db_int(q);
    t.plain_runs = (int)db_int(q);
    t.plain_hits = (int)db_int(q);
    t.plain_signal = (int)db_int(q);
    t.cpu_us = db_int(q);
    t.why = db_text(q);
    return t;
}

int store_triage_rows(struct store *s, store_triage_fn *fn, void *arg, struct err *e)
{
    struct query q;
    struct store_crash c;
    int rc = db_query(s, &q,
                      "SELECT " COLUMNS ", " CRASH_FACTS
                      " FROM triage t JOIN crashes c ON c.id = t.crash ORDER BY t.crash",
                      e);
    if (rc < 0)
        return rc;
    while ((rc = db_step(&q, e)) > 0) {
        struct store_triage t = row_of(&q);
        if ((rc = crash_facts(&q, &c, e)) < 0)
            break;
        s->walking = true;
        rc = fn(arg, &t, &c, e);
        s->walking = false;
        if (rc < 0)
            break;
    }
    db_done(&q);
    return rc;
}

int store_triage_row(struct store *s, int64_t crash, store_triage_row_fn *fn, void *arg,
                     struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, "SELECT " COLUMNS " FROM triage t WHERE t.crash = ?", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, crash);
    if ((rc = db_step(&q, e)) > 0) {
        struct store_triage t = row_of(&q);
        s->walking = true;
        rc = fn(arg, &t, e);
        s->walking = false;
    }
    db_done(&q);
    return rc;
}

int store_triage_report(struct store *s, int64_t crash, char **text, struct err *e)
{
    struct query q;
    *text = NULL;
    int rc = db_query(s, &q, "SELECT report FROM triage WHERE crash = ? AND report <> ''", e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, crash);
    rc = db_step(&q, e);
    if (rc > 0)
        *text = xstrdup(db_text(&q));
    db_done(&q);
    return rc < 0 ? rc : 0;
}

int store_untriaged(struct store *s, const char *build, int64_t after, store_crash_fn *fn,
                    void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "SELECT " CRASH_FACTS " FROM crashes c WHERE c.id > ? AND NOT EXISTS"
                      " (SELECT 1 FROM triage t WHERE t.crash = c.id AND t.build = ?)"
                      " ORDER BY c.id",
                      e);
    if (rc < 0)
        return rc;
    db_bind_int(&q, after);
    db_bind_text(&q, build);
    return crash_walk(&q, fn, arg, e);
}

/* --- the smallest inputs ----------------------------------------------------------------------- */

static int put_minimised(struct store *s, const struct store_minimised *m, struct err *e)
{
    struct query q;
    struct digest hash;
    hash_bytes(m->data, m->size, &hash);
    int rc = db_query(s, &q,
                      "INSERT OR REPLACE INTO minimised(defect, build, crash, runs, done, size,"
                      " hash, data) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                      e);
    if (rc < 0)
        return rc;
    db_bind_text(&q, m->defect);
    db_bind_text(&q, m->build);
    db_bind_int(&q, m->crash);
    db_bind_int(&q, m->runs);
    db_bind_int(&q, m->done);
    db_bind_int(&q, (int64_t)m->size);
    db_bind_blob(&q, hash.b, sizeof hash.b);
    rc = blob_bind(&q, &hash, m->data, m->size, e);
    if (rc == 0)
        return db_run(&q, e);
    db_done(&q);
    return rc;
}

int store_minimised_put(struct store *s, const struct store_minimised *m, struct err *e)
{
    int rc = db_enter(s, e);
    return rc < 0 ? rc : db_leave(s, put_minimised(s, m, e), e);
}

static int minimised_row(struct query *q, store_minimised_fn *fn, void *arg, struct err *e)
{
    struct store_minimised m = {.defect = db_text(q), .build = db_text(q)};
    struct digest hash;
    struct blob b;
    size_t n;
    m.crash = db_int(q);
    m.runs = db_int(q);
    m.done = db_int(q) != 0;
    m.size = (size_t)db_int(q);
    const void *h = db_blob(q, &n);
    if (!h || n != sizeof hash.b)
        return err_set(e, -EUCLEAN, "%s is damaged: the smallest input of defect %s has no hash",
                       q->s->path, m.defect);
    memcpy(hash.b, h, n);
    int rc = blob_column(q, &hash, m.size, &b, e);
    m.data = b.data;
    if (rc == 0) {
        q->s->walking = true;
        rc = fn(arg, &m, e);
        q->s->walking = false;
    }
    buf_free(&b.file);
    return rc;
}

int store_minimised(struct store *s, store_minimised_fn *fn, void *arg, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q,
                      "SELECT defect, build, crash, runs, done, size, hash, data FROM minimised"
                      " ORDER BY defect",
                      e);
    if (rc < 0)
        return rc;
    while ((rc = db_step(&q, e)) > 0)
        if ((rc = minimised_row(&q, fn, arg, e)) < 0)
            break;
    db_done(&q);
    return rc;
}
