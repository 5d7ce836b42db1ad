/* open: opening and closing a campaign's database in its modes.  Knows no table. */
#include "base/die.h"
#include "base/fs.h"
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 30000

char *db_uri(const char *path, const char *query)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    buf_str(&b, "file:");
    for (const char *p = path; *p; p++)
        if (*p == '?' || *p == '#' || *p == '%')
            buf_printf(&b, "%%%02x", *p);
        else
            buf_add(&b, p, 1);
    buf_printf(&b, "?%s", query);
    return buf_take(&b);
}

int db_connect(struct store *s, const char *query, int flags, struct err *e)
{
    char *uri = db_uri(s->path, query);
    int rc = sqlite3_open_v2(uri, &s->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    if (rc != SQLITE_OK) {
        if (!s->db)
            die_oom();
        return db_error(s, "open the record", e);
    }
    sqlite3_extended_result_codes(s->db, 0);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    return 0;
}

static int sync_dir(const char *dir, struct err *e)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    if (fd < 0 || fsync(fd) < 0)
        rc = err_sys(e, "cannot sync %s", dir);
    if (fd >= 0)
        close(fd);
    return rc;
}

static const char pragmas[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                              "PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864;"
                              "PRAGMA cache_size = -16384";

static int open_writer(struct store *s, struct err *e)
{
    char *blobs = fs_join(s->dir, "blobs");
    int rc = fs_mkdirs(blobs, e);
    if (rc == 0)
        rc = lock_take(s->dir, &s->lock, e);
    if (rc == 0)
        rc = db_connect(s, "mode=rwc", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);
    if (rc == 0)
        rc = db_exec(s, pragmas, e);
    if (rc == 0)
        rc = s->mode == STORE_RESUME ? schema_open(s, e) : schema_create(s, e);
    if (rc == 0)
        rc = sync_dir(s->dir, e);
    free(blobs);
    return rc;
}

/* Beside the campaign's writer: SQLite lets one of the two wait for the other's step, which is short. */
static int open_triage(struct store *s, struct err *e)
{
    int rc = db_connect(s, "mode=rw", SQLITE_OPEN_READWRITE, e);
    if (rc == 0)
        rc = db_exec(s, pragmas, e);
    if (rc == 0)
        rc = schema_open(s, e);
    return rc;
}

/* A directory we cannot write, without the files of a live or killed writer: nobody can change the
 * database under us as long as it stays so. */
static bool is_settled(const struct store *s)
{
    char *wal = str_fmt("%s-wal", s->path);
    struct stat st;
    bool settled = access(s->dir, W_OK) < 0 && (stat(wal, &st) < 0 || st.st_size == 0);
    free(wal);
    return settled;
}

static int open_reader(struct store *s, struct err *e)
{
    int rc = db_connect(s, is_settled(s) ? "immutable=1" : "mode=ro", SQLITE_OPEN_READONLY, e);
    if (rc == 0)
        rc = db_exec(s, "PRAGMA query_only = ON", e);
    if (rc == 0)
        rc = db_begin(s, e); /* until it is closed */
    if (rc == 0)
        rc = schema_open(s, e); /* its first look: from here on it sees no other moment */
    if (rc == -EACCES)
        err_wrap(e, "if you may not write %s, copy it somewhere you may", s->dir);
    return rc;
}

static int check_there(const struct store *s, struct err *e)
{
    if (s->mode == STORE_CREATE || s->mode == STORE_CREATE_LAZY || fs_exists(s->path))
        return 0;
    char *journal = fs_join(s->dir, STORE_JOURNAL_FILE);
    if (fs_exists(journal))
        err_usage(e,
                  "%s holds the journal of a campaign without its inputs: carol analyze reads it",
                  s->dir);
    else
        err_usage(e, "%s holds no campaign (no carol.db): start one with carol fuzz -o %s", s->dir,
                  s->dir);
    free(journal);
    if (e)
        e->code = -ENOENT;
    return -ENOENT;
}

int store_open(struct store **out, const char *dir, enum store_mode mode, struct err *e)
{
    struct store *s = xcalloc(1, sizeof *s);
    *out = NULL;
    s->dir = xstrdup(dir);
    s->path = fs_join(dir, "carol.db");
    if (mode == STORE_READ_JOURNAL && !fs_exists(s->path)) {
        free(s->path);
        s->path = fs_join(dir, STORE_JOURNAL_FILE);
    }
    s->mode = mode == STORE_READ_JOURNAL ? STORE_READ : mode;
    s->lazy = mode == STORE_CREATE_LAZY;
    s->lock = -1;
    int rc = check_there(s, e);
    if (rc == 0)
        rc = s->mode == STORE_READ     ? open_reader(s, e)
             : s->mode == STORE_TRIAGE ? open_triage(s, e)
                                       : open_writer(s, e);
    if (rc < 0)
        store_close(s);
    else
        *out = s;
    return rc;
}

int store_flush(struct store *s, struct err *e)
{
    if (!s->lazy || (!s->failed && !s->in_transaction))
        return 0;
    int rc = db_enter(s, e);
    return rc < 0 ? rc : db_commit(s, e);
}

static void disconnect(struct store *s)
{
    for (int i = 0; i < s->cached; i++)
        sqlite3_finalize(s->cache[i].stmt);
    if (s->db)
        sqlite3_close_v2(s->db);
    s->cached = 0;
    s->db = NULL;
}

void store_discard(struct store *s)
{
    static const char *const files[] = {"carol.db", "carol.db-wal", "carol.db-shm", "blobs",
                                        "lock"};
    BUG_ON(s->mode != STORE_CREATE && s->mode != STORE_CREATE_LAZY);
    disconnect(s);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = fs_join(s->dir, files[i]);
        remove(path); /* a directory only when it is empty */
        free(path);
    }
    rmdir(s->dir);
    store_close(s);
}

int store_order_take(struct store *s, struct err *e)
{
    (void)e;
    BUG_ON(s->ordered); /* not let go: the next one would decide on top of it */
    s->ordered = true;
    return 0;
}

void store_order_leave(struct store *s)
{
    s->ordered = false;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    disconnect(s);
    if (s->lock >= 0)
        close(s->lock);
    free(s->dir);
    free(s->path);
    free(s);
}
