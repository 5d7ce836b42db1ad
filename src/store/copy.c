/* copy: a campaign's journal without its inputs, as a file of its own.  Reads the record, never changes it. */
#include "base/die.h"
#include "base/fs.h"
#include "store/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One file that is never written again: no log beside it, and small pages, for most tables are empty. */
static const char pragmas[] = "PRAGMA page_size = 1024; PRAGMA journal_mode = OFF;"
                              "PRAGMA synchronous = FULL";

static const char rows[] = "INSERT INTO main.settings SELECT * FROM whole.settings;"
                           "INSERT INTO main.events SELECT * FROM whole.events;"
                           "INSERT INTO main.instances SELECT * FROM whole.instances;"
                           "INSERT INTO main.turns SELECT * FROM whole.turns;"
                           "INSERT INTO main.decisions SELECT * FROM whole.decisions;"
                           "INSERT INTO main.learner SELECT * FROM whole.learner;"
                           "INSERT INTO main.clock SELECT * FROM whole.clock;"
                           "INSERT INTO main.slots SELECT * FROM whole.slots";

static int attach(struct store *copy, const struct store *record, struct err *e)
{
    char *uri = db_uri(record->path, "mode=ro"), *sql = sqlite3_mprintf("ATTACH %Q AS whole", uri);
    if (!sql)
        die_oom();
    int rc = db_exec(copy, sql, e);
    sqlite3_free(sql);
    free(uri);
    return rc;
}

static int fill(struct store *copy, const struct store *record, struct err *e)
{
    int rc = db_connect(copy, "mode=rwc", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);
    if (rc == 0)
        rc = db_exec(copy, pragmas, e);
    if (rc == 0)
        rc = schema_create(copy, e);
    if (rc == 0)
        rc = attach(copy, record, e);
    if (rc == 0)
        rc = db_begin(copy, e);
    if (rc == 0)
        rc = db_exec(copy, rows, e);
    return rc == 0 ? db_commit(copy, e) : rc;
}

int store_copy_journal(const char *from, const char *to, struct err *e)
{
    struct store *record, *copy = xcalloc(1, sizeof *copy);
    char *final = fs_join(to, STORE_JOURNAL_FILE);
    copy->dir = xstrdup(to);
    copy->path = str_fmt("%s.new", final);
    copy->mode = STORE_CREATE;
    copy->lock = -1;
    int rc = store_open(&record, from, STORE_READ, e); /* is it one, and of our version? */
    unlink(copy->path);
    if (rc == 0)
        rc = fill(copy, record, e);
    store_close(record);
    char *made = xstrdup(copy->path);
    store_close(copy);
    if (rc == 0 && rename(made, final) < 0)
        rc = err_sys(e, "cannot rename %s to %s", made, final);
    if (rc < 0) {
        unlink(made);
        err_wrap(e, "cannot keep the journal of %s", from);
    }
    free(made);
    free(final);
    return rc;
}
