/* schema: the tables of carol.db and the steps from each version to the next.  docs/FILES.md
 * explains them.  A step that was released is never edited: add another. */
#include "store/db.h"

#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Records from this version on are brought forward by a writer, older ones are refused: their decisions come
 * from schedulers that began in roster order, and do not come out again from those of today. */
#define OLDEST 3
#define APPLICATION_ID 1128354383 /* "CARO" */

/* step[v] takes a database of version v to v+1; version 0 is an empty one. */
static const char *const step[] = {
    "CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"

    "CREATE TABLE events(id INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL, kind TEXT NOT NULL,"
    " text TEXT NOT NULL);"

    "CREATE TABLE instances(id INTEGER PRIMARY KEY, fuzzer TEXT NOT NULL, number INTEGER NOT NULL,"
    " cursor TEXT, shared INTEGER NOT NULL DEFAULT 0, started INTEGER NOT NULL DEFAULT 0,"
    " UNIQUE(fuzzer, number));"

    "CREATE TABLE turns(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, round INTEGER NOT NULL,"
    " at_decision INTEGER NOT NULL, arm INTEGER NOT NULL, slot INTEGER NOT NULL, instance INTEGER "
    "REFERENCES instances(id),"
    " start_ns INTEGER NOT NULL, parked_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
    " quota_cycles INTEGER NOT NULL, execs INTEGER NOT NULL, cycles INTEGER NOT NULL,"
    " offered INTEGER NOT NULL, taken INTEGER NOT NULL, active_ns INTEGER NOT NULL,"
    " park_ns INTEGER NOT NULL, cpu_ns INTEGER NOT NULL, cpu_parked_ns INTEGER NOT NULL,"
    " eval_ns INTEGER NOT NULL, inputs INTEGER NOT NULL, new_edges INTEGER NOT NULL,"
    " crashes INTEGER NOT NULL, hangs INTEGER NOT NULL, raw REAL NOT NULL, reward REAL NOT NULL,"
    " rarity REAL NOT NULL, sec REAL NOT NULL, died INTEGER NOT NULL, why TEXT NOT NULL);"
    "CREATE UNIQUE INDEX turns_round ON turns(round) WHERE round > 0;"

    "CREATE TABLE decisions(turn INTEGER PRIMARY KEY REFERENCES turns(id), data BLOB NOT NULL);"

    "CREATE TABLE learner(id INTEGER PRIMARY KEY CHECK(id = 1), turn INTEGER NOT NULL,"
    " state BLOB NOT NULL);"

    /* data comes last: reading the other columns does not touch its pages. */
    "CREATE TABLE seeds(id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INTEGER NOT NULL,"
    " instance INTEGER REFERENCES instances(id), turn INTEGER REFERENCES turns(id),"
    " parent INTEGER REFERENCES seeds(id), name TEXT NOT NULL, found_ns INTEGER NOT NULL,"
    " state INTEGER NOT NULL, status INTEGER NOT NULL DEFAULT 0,"
    " signal INTEGER NOT NULL DEFAULT 0, cpu_us INTEGER NOT NULL DEFAULT 0,"
    " round INTEGER NOT NULL DEFAULT 0, share INTEGER, edges BLOB, data BLOB);"
    "CREATE INDEX seeds_turn ON seeds(turn);"
    "CREATE UNIQUE INDEX seeds_share ON seeds(share) WHERE share IS NOT NULL;"

    "CREATE TABLE entries(instance INTEGER NOT NULL REFERENCES instances(id),"
    " entry INTEGER NOT NULL, seed INTEGER NOT NULL REFERENCES seeds(id),"
    " PRIMARY KEY(instance, entry)) WITHOUT ROWID;"

    "CREATE TABLE imports(id INTEGER PRIMARY KEY,"
    " instance INTEGER NOT NULL REFERENCES instances(id),"
    " seed INTEGER NOT NULL REFERENCES seeds(id), turn INTEGER REFERENCES turns(id),"
    " delivered INTEGER NOT NULL DEFAULT 0, UNIQUE(instance, seed));"
    "CREATE INDEX imports_open ON imports(instance, id) WHERE delivered = 0;"

    "CREATE TABLE crashes(id INTEGER PRIMARY KEY, hang INTEGER NOT NULL, hash BLOB NOT NULL,"
    " size INTEGER NOT NULL, instance INTEGER REFERENCES instances(id),"
    " turn INTEGER REFERENCES turns(id), parent INTEGER REFERENCES seeds(id),"
    " arm INTEGER NOT NULL, signal INTEGER NOT NULL, name TEXT NOT NULL,"
    " found_ns INTEGER NOT NULL, by_eval INTEGER NOT NULL, data BLOB, UNIQUE(hang, hash));"

    "CREATE TABLE calls(id INTEGER PRIMARY KEY, round INTEGER NOT NULL, caller INTEGER NOT NULL,"
    " callee INTEGER NOT NULL, UNIQUE(caller, callee));"

    "CREATE TABLE clock(id INTEGER PRIMARY KEY CHECK(id = 1), elapsed_ns INTEGER NOT NULL);"

    "CREATE TABLE slots(slot INTEGER PRIMARY KEY, fuzz_ns INTEGER NOT NULL,"
    " eval_ns INTEGER NOT NULL, idle_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL);",

    /* 2: the tables are the same; turns may be late ones, with negative numbers and state 5, which an older
     * carol does not understand. */
    "",

    /* 3: the time of completed cycles and of start-up. */
    "ALTER TABLE turns ADD COLUMN startup_ns INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE turns ADD COLUMN cycle_ns INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE slots ADD COLUMN start_ns INTEGER NOT NULL DEFAULT 0;",

    /* 4: what triage found out about each crash and hang, and the smallest inputs of defects. */
    "CREATE TABLE triage(crash INTEGER PRIMARY KEY REFERENCES crashes(id), build TEXT NOT NULL,"
    " outcome INTEGER NOT NULL, defect TEXT NOT NULL, function TEXT NOT NULL, file TEXT NOT NULL,"
    " line INTEGER NOT NULL, fault TEXT NOT NULL, entry TEXT NOT NULL, access TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, address TEXT NOT NULL, cwe INTEGER NOT NULL,"
    " withheld INTEGER NOT NULL, asan_runs INTEGER NOT NULL, asan_hits INTEGER NOT NULL,"
    " plain_runs INTEGER NOT NULL, plain_hits INTEGER NOT NULL, plain_signal INTEGER NOT NULL,"
    " cpu_us INTEGER NOT NULL, why TEXT NOT NULL, report TEXT NOT NULL);"
    "CREATE TABLE minimised(defect TEXT PRIMARY KEY, build TEXT NOT NULL,"
    " crash INTEGER NOT NULL REFERENCES crashes(id), runs INTEGER NOT NULL, done INTEGER NOT NULL,"
    " size INTEGER NOT NULL, hash BLOB NOT NULL, data BLOB) WITHOUT ROWID;",
};
#define VERSION ((int64_t)(sizeof step / sizeof *step))

static int pragma_int(struct store *s, const char *sql, int64_t *v, struct err *e)
{
    struct query q;
    int rc = db_query(s, &q, sql, e);
    if (rc < 0)
        return rc;
    rc = db_step(&q, e);
    *v = rc > 0 ? db_int(&q) : 0;
    db_done(&q);
    return rc < 0 ? rc : 0;
}

/* One transaction per step, version number included: a kill in between leaves a valid version. */
static int migrate(struct store *s, int64_t version, struct err *e)
{
    for (int rc; version < VERSION; version++) {
        if ((rc = db_begin(s, e)) < 0)
            return rc;
        char mark[96];
        snprintf(mark, sizeof mark, "PRAGMA user_version = %d; PRAGMA application_id = %d",
                 (int)version + 1, APPLICATION_ID);
        rc = db_exec(s, step[version], e);
        if (rc == 0)
            rc = db_exec(s, mark, e);
        if (rc == 0)
            rc = db_commit(s, e);
        else
            db_rollback(s);
        if (rc < 0)
            return err_wrap(e, "cannot bring %s from version %d to %d", s->path, (int)version,
                            (int)version + 1);
    }
    return 0;
}

static int versions(struct store *s, int64_t *version, int64_t *application, struct err *e)
{
    int rc = pragma_int(s, "PRAGMA user_version", version, e);
    return rc < 0 ? rc : pragma_int(s, "PRAGMA application_id", application, e);
}

static int refuse_foreign(struct store *s, int64_t version, int64_t application, struct err *e)
{
    if (!application && !version)
        return err_usage(e, "%s is empty: the campaign never began; begin it with carol fuzz -o %s",
                         s->path, s->dir);
    if (application != APPLICATION_ID)
        return err_usage(e, "%s is not a campaign of carol: give another directory", s->path);
    if (version > VERSION)
        return err_usage(e,
                         "%s was written by a newer carol (record version %d, this one knows %d): "
                         "use that carol, or a newer one",
                         s->path, (int)version, (int)VERSION);
    if (version < OLDEST)
        return err_usage(e,
                         "%s was written by an older carol (record version %d, this one knows %d "
                         "to %d), and its decisions cannot be computed again by this one: go on "
                         "with that carol, or start a new campaign and give it the corpora in %s/"
                         "fuzzers as seeds with -i",
                         s->path, (int)version, OLDEST, (int)VERSION, s->dir);
    return 0;
}

/* Was it killed while it was being made, between two steps or before the first thing a campaign writes?  Then
 * there is nothing in it but tables. */
static int never_begun(struct store *s, int64_t version, int64_t application, bool *yes,
                       struct err *e)
{
    int64_t settings;
    *yes = !version && !application;
    if (application != APPLICATION_ID || version < 1 || version > VERSION)
        return 0;
    int rc = pragma_int(s, "SELECT count(*) FROM settings", &settings, e);
    *yes = rc == 0 && settings == 0;
    return rc;
}

int schema_create(struct store *s, struct err *e)
{
    int64_t version, application;
    bool empty = false;
    int rc = versions(s, &version, &application, e);
    if (rc == 0)
        rc = never_begun(s, version, application, &empty, e);
    if (rc < 0)
        return rc;
    if (!empty) {
        char *dir = str_shell(s->dir);
        err_usage(e,
                  "%s already holds a campaign: go on with carol fuzz --resume %s, or give "
                  "another -o",
                  s->dir, dir);
        free(dir);
        if (e)
            e->code = -EEXIST;
        return -EEXIST;
    }
    return migrate(s, version, e);
}

int schema_open(struct store *s, struct err *e)
{
    int64_t version, application;
    int rc = versions(s, &version, &application, e);
    if (rc == 0)
        rc = refuse_foreign(s, version, application, e);
    if (rc < 0 || version == VERSION)
        return rc;
    if (s->mode == STORE_TRIAGE)
        rc = lock_take(s->dir, &s->lock, e); /* nobody else writes the tables meanwhile */
    if (rc == 0 && s->mode != STORE_READ)
        rc = migrate(s, version, e);
    if (s->mode == STORE_TRIAGE && s->lock >= 0) {
        close(s->lock);
        s->lock = -1;
    }
    if (rc < 0 || s->mode != STORE_READ)
        return rc;
    return err_usage(e,
                     "%s is of an older carol (record version %d): carol triage %s brings it up to "
                     "date",
                     s->path, (int)version, s->dir);
}
