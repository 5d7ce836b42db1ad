/* journal: opens a campaign's record and the tables it refers to.  Writes nothing. */
#include "journal/journal.h"

#include "journal/write.h"

static int load_table(struct journal *j, struct err *e)
{
    if (!j->o.build)
        return err_usage(e, "the record names no build, and edges mean nothing without one");
    int rc = manifest_load(j->o.build, j->o.target, &j->manifest, e);
    if (rc == 0 && !j->manifest.table)
        rc = err_usage(e, "%s has no neutral build any more, and edges mean nothing without it",
                       j->o.build);
    if (rc == 0)
        rc = table_load(j->manifest.table, &j->table, e);
    return rc < 0 ? rc : journal_check_build(j->store, &j->table, j->o.build, e);
}

int journal_open(struct journal *j, const char *out, enum journal_part part, struct err *e)
{
    bool edges = part == JOURNAL_EDGES;
    *j = (struct journal){.out = out};
    int rc = store_open(&j->store, out, part == JOURNAL_TURNS ? STORE_READ_JOURNAL : STORE_READ, e);
    if (rc == 0)
        rc = settings_read(&j->o, j->store, e);
    if (rc == 0)
        rc = journal_is_simulated(j->store, &j->simulated, e);
    if (rc == 0 && edges)
        rc = load_table(j, e);
    j->arms = (const char *const *)j->o.fuzzers.v;
    j->ops = j->o.scheduler ? sched_find(j->o.scheduler) : NULL;
    settings_fold(&j->o, edges ? &j->table : NULL, &j->fold);
    return rc;
}

void journal_close(struct journal *j)
{
    table_free(&j->table);
    manifest_free(&j->manifest);
    settings_free(&j->o);
    store_close(j->store);
}
