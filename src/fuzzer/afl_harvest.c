/* afl_harvest: reads afl-fuzz's queue, crashes and hangs: everything above the cursor, exactly once.
 * Changes nothing in its directories.
 *
 * Cursor: "q=<next queue id> c=<life>.<files read> h=<life>.<files read>", crashes and hangs of a life in
 * order of the executions in their names: their numbers are not unique, for a crash of the dry run takes
 * one without using it up. */
#include "base/die.h"
#include "base/fs.h"
#include "fuzzer/afl.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)

struct position {
    long long life, read;
};

struct cursor {
    long long queue;
    struct position crash, hang;
};

/* Hashes of what we gave, read when the first crash or hang asks for them. */
struct given {
    const char *dir;
    bool loaded;
    struct inbox_known known;
};

static bool was_given(struct given *g, const struct find *f)
{
    if (!g->loaded && inbox_known_load(g->dir, &g->known, NULL) < 0)
        return false; /* then it is reported: a crash too many is better than one lost */
    g->loaded = true;
    return inbox_known(&g->known, f->data, f->size);
}

/* What the export list says: import id by queue id. */
struct imports {
    int64_t *v; /* -1: its own find */
    size_t n;
};

static struct cursor cursor_read(const char *s)
{
    struct cursor c = {0};
    if (s && sscanf(s, "q=%lld c=%lld.%lld h=%lld.%lld", &c.queue, &c.crash.life, &c.crash.read,
                    &c.hang.life, &c.hang.read) != 5)
        return (struct cursor){0};
    return c;
}

/* "id:000012,..." -> 12; -1: not such a name. */
static long long number_of(const char *name)
{
    char *end;
    if (!str_starts(name, "id:"))
        return -1;
    long long v = strtoll(name + 3, &end, 10);
    return end == name + 3 ? -1 : v;
}

/* The number after "key" in a name, -1: none. */
static long long field_of(const char *name, const char *key)
{
    const char *at = strstr(name, key);
    char *end;
    if (!at)
        return -1;
    at += strlen(key);
    long long v = strtoll(at, &end, 10);
    return end == at ? -1 : v;
}

static void note_import(struct imports *im, long long id, int64_t import)
{
    if (id < 0 || id > 100000000)
        return;
    size_t want = (size_t)id + 1;
    if (want > im->n) {
        im->v = xrealloc(im->v, want * sizeof *im->v);
        for (size_t i = im->n; i < want; i++)
            im->v[i] = -2;
        im->n = want;
    }
    im->v[id] = import;
}

/* Lines "<import> <name>"; a last line without its newline was cut by a kill and does not count. */
static int imports_read(const char *dir, struct imports *im, struct err *e)
{
    char *path = fs_join(dir, "export");
    struct buf b = BUF_INIT((size_t)1 << 30);
    int rc = fs_exists(path) ? fs_read(path, &b, e) : 0;
    for (char *line = b.p, *end; rc == 0 && line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        char *name;
        long long import = strtoll(line, &name, 10);
        if (name != line && *name == ' ')
            note_import(im, number_of(name + 1), import);
    }
    buf_free(&b);
    free(path);
    return rc;
}

static int read_find(const char *dir, const char *name, struct find *f, struct err *e)
{
    char *path = fs_join(dir, name);
    struct buf b = BUF_INIT(FILE_MAX_BYTES);
    int rc = fs_read(path, &b, e);
    f->size = b.len;
    f->data = buf_take(&b);
    f->name = xstrdup(name);
    free(path);
    return rc;
}

static void drop_find(struct find *f)
{
    free(f->data);
    free(f->name);
}

static int add_queue_file(const char *dir, const char *name, const struct imports *im,
                          struct harvest *h, struct err *e)
{
    long long id = number_of(name);
    struct find f = {.entry = id, .parent_entry = field_of(name, ",src:"), .seed = -1};
    const char *orig = strstr(name, ",orig:");
    long long seed = orig ? field_of(name, ",orig:s") : -1;
    if (!orig && (size_t)id < im->n && im->v[id] >= 0)
        seed = im->v[id];
    if (seed >= 0) {
        f.kind = FIND_IMPORTED;
        f.seed = seed;
        f.name = xstrdup(name);
        harvest_add(h, f);
        return 0;
    }
    if (orig) /* the input we made up when there was none */
        return 0;
    f.kind = FIND_SEED;
    int rc = read_find(dir, name, &f, e);
    if (rc < 0)
        drop_find(&f);
    else
        harvest_add(h, f);
    return rc;
}

static bool is_empty(const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    struct stat st;
    bool empty = stat(path, &st) < 0 || st.st_size == 0;
    free(path);
    return empty;
}

/* Files of one directory whose number is at least `from`, in order of their numbers. */
static int numbered_files(const char *dir, long long from, struct strv *out, struct err *e)
{
    struct strv names = {0};
    if (!fs_is_dir(dir))
        return 0;
    int rc = fs_list(dir, &names, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        if (number_of(names.v[i]) >= from)
            strv_add(out, names.v[i]);
    strv_free(&names);
    return rc;
}

static int by_number(const void *a, const void *b)
{
    long long x = number_of(*(char *const *)a), y = number_of(*(char *const *)b);
    return x < y ? -1 : x > y;
}

static void sort_numbers(struct strv *l)
{
    if (l->n > 1)
        qsort(l->v, l->n, sizeof *l->v, by_number);
}

/* queue/, and of _resume/ what is not in queue/ yet, when afl-fuzz died while it linked from there to there:
 * the two hold the same files under the same numbers. */
static int harvest_queue(struct live *lv, const char *out, struct cursor *c, struct harvest *h,
                         struct err *e)
{
    static const char *const subs[] = {"queue", "_resume"};
    struct imports im = {0};
    int rc = imports_read(lv->o.dir, &im, e);
    for (size_t s = 0; rc == 0 && s < 2; s++) {
        char *dir = fs_join(out, subs[s]);
        struct strv names = {0};
        rc = numbered_files(dir, c->queue, &names, e);
        sort_numbers(&names);
        for (size_t i = 0; rc == 0 && i < names.n; i++) {
            if (is_empty(dir, names.v[i]))
                continue; /* killed before it was written: its number may be given again */
            rc = add_queue_file(dir, names.v[i], &im, h, e);
            if (number_of(names.v[i]) >= c->queue)
                c->queue = number_of(names.v[i]) + 1;
        }
        strv_free(&names);
        free(dir);
    }
    free(im.v);
    return rc;
}

static int by_execs(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    long long xe = field_of(x, ",execs:"), ye = field_of(y, ",execs:");
    return xe != ye ? (xe < ye ? -1 : 1) : by_number(a, b);
}

/* alive: its fuzzer may have been stopped by a signal between open and write; an empty file is read again. */
static int harvest_life(const char *dir, enum find_kind kind, bool alive, struct given *given,
                        long long *done, struct harvest *h, struct err *e)
{
    struct strv names = {0};
    int rc = numbered_files(dir, 0, &names, e);
    if (names.n > 1)
        qsort(names.v, names.n, sizeof *names.v, by_execs);
    for (; rc == 0 && *done < (long long)names.n; ++*done) {
        const char *name = names.v[*done];
        if (alive && is_empty(dir, name))
            break;
        struct find f = {.kind = kind, .entry = -1, .seed = -1};
        f.parent_entry = field_of(name, ",src:");
        f.signal =
            kind == FIND_CRASH && field_of(name, ",sig:") > 0 ? (int)field_of(name, ",sig:") : 0;
        rc = read_find(dir, name, &f, e);
        /* ",op:dry_run" alone says nothing: afl-fuzz keeps that name into its first stages. */
        bool ours = rc == 0 && (strstr(name, ",orig:") || was_given(given, &f));
        if (ours && kind == FIND_CRASH)
            f.kind = FIND_ECHO;
        if (rc < 0 || f.size == 0 || (ours && kind != FIND_CRASH))
            drop_find(&f);
        else
            harvest_add(h, f);
    }
    strv_free(&names);
    return rc;
}

/* All lives of crashes/ or hangs/ from the cursor on; the current one has the highest number. */
static int harvest_lives(const char *out, const char *what, enum find_kind kind, bool alive,
                         struct given *given, struct position *at, struct harvest *h, struct err *e)
{
    for (;;) {
        char *past = str_fmt("%s/%s.%lld", out, what, at->life), *now = fs_join(out, what);
        bool is_past = fs_is_dir(past);
        int rc =
            harvest_life(is_past ? past : now, kind, alive && !is_past, given, &at->read, h, e);
        free(past);
        free(now);
        if (rc < 0 || !is_past)
            return rc;
        at->life++;
        at->read = 0;
    }
}

static bool has_queue(const char *out)
{
    char *queue = fs_join(out, "queue"), *resume = fs_join(out, "_resume");
    struct strv names = {0};
    bool has = numbered_files(queue, 0, &names, NULL) < 0 ||
               numbered_files(resume, 0, &names, NULL) < 0 || names.n;
    strv_free(&names);
    free(queue);
    free(resume);
    return has;
}

int afl_harvest(struct live *lv, struct harvest *h, struct err *e)
{
    char *out = fs_join(lv->o.dir, "out/default");
    struct given given = {.dir = lv->o.dir};
    bool alive = lv->in.state == INST_PARKED;
    if (!alive)
        afl_settle(lv);
    if (!alive && cursor_read(lv->in.cursor).queue > 0 && !has_queue(out))
        live_begin_again(lv);
    struct cursor c = cursor_read(lv->in.cursor);
    int rc = harvest_queue(lv, out, &c, h, e);
    if (rc == 0)
        rc = harvest_lives(out, "crashes", FIND_CRASH, alive, &given, &c.crash, h, e);
    if (rc == 0)
        rc = harvest_lives(out, "hangs", FIND_HANG, alive, &given, &c.hang, h, e);
    free(h->cursor);
    h->cursor = str_fmt("q=%lld c=%lld.%lld h=%lld.%lld", c.queue, c.crash.life, c.crash.read,
                        c.hang.life, c.hang.read);
    inbox_known_free(&given.known);
    free(out);
    return rc;
}

void afl_settle(struct live *lv)
{
    uint64_t inflight = ctl_get64(&lv->page->inflight);
    if (!inflight)
        return;
    char *queue = fs_join(lv->o.dir, "out/default/queue"), *list = fs_join(lv->o.dir, "export");
    struct imports im = {0};
    struct strv names = {0};
    if (imports_read(lv->o.dir, &im, NULL) == 0 && numbered_files(queue, 0, &names, NULL) == 0 &&
        names.n) {
        sort_numbers(&names);
        const char *top = names.v[names.n - 1];
        long long id = number_of(top);
        bool listed = (size_t)id < im.n && im.v[id] > -2;
        int fd = !listed && !strstr(top, ",orig:")
                     ? open(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)
                     : -1;
        if (fd >= 0) {
            /* The newline first ends a line that a kill may have cut. */
            dprintf(fd, "\n%lld %s\n", (long long)(inflight - 1), top);
            close(fd);
        }
    }
    ctl_set64(&lv->page->inflight, 0);
    strv_free(&names);
    free(im.v);
    free(queue);
    free(list);
}
