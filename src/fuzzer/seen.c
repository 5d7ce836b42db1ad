/* seen: keeps the list of the files seen and reads those that are new.  Does not know what fuzzers call them. */
#include "fuzzer/seen.h"

#include "base/die.h"
#include "base/fs.h"
#include "fuzzer/inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)

/* DIR/finds in memory. */
struct seen {
    struct strv names;   /* in the order of the file */
    const char **sorted; /* the same, by name */
    size_t sorted_n;
    size_t read; /* bytes of the file that `names` stands for */
};

uint64_t seen_cursor(const char *cursor)
{
    uint64_t n = 0;
    if (cursor && str_to_u64(cursor, "cursor", 0, UINT64_MAX, &n, NULL) < 0)
        return 0;
    return n;
}

static struct seen *list_of(struct live *lv)
{
    if (!lv->own)
        lv->own = xcalloc(1, sizeof(struct seen));
    return lv->own;
}

void seen_close(struct live *lv)
{
    struct seen *s = lv->own;
    if (!s)
        return;
    strv_free(&s->names);
    free(s->sorted);
}

/* ---- the list ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many of the sorted names come before this one. */
static size_t rank_of(const struct seen *s, const char *name)
{
    size_t low = 0, high = s->sorted_n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(s->sorted[mid], name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_listed(const struct seen *s, const char *name)
{
    size_t i = rank_of(s, name);
    return i < s->sorted_n && strcmp(s->sorted[i], name) == 0;
}

size_t seen_beginning(const struct seen *s, const char *start, size_t most)
{
    size_t first = rank_of(s, start), i = first;
    while (i < s->sorted_n && i - first < most && str_starts(s->sorted[i], start))
        i++;
    return i - first;
}

/* A new name, in its place. */
static void add_name(struct seen *s, char *name)
{
    size_t i = rank_of(s, name);
    strv_take(&s->names, name);
    s->sorted = xrealloc(s->sorted, s->names.n * sizeof *s->sorted);
    memmove(s->sorted + i + 1, s->sorted + i, (s->sorted_n - i) * sizeof *s->sorted);
    s->sorted[i] = name;
    s->sorted_n++;
}

/* The lines of a text; returns how many bytes they are.  A last line without its newline was cut by a
 * kill and does not count. */
static size_t add_lines(struct seen *s, char *text)
{
    char *line = text;
    for (char *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (*line)
            strv_add(&s->names, line);
    }
    if (s->names.n > s->sorted_n) {
        s->sorted_n = s->names.n;
        s->sorted = xrealloc(s->sorted, s->sorted_n * sizeof *s->sorted);
        memcpy(s->sorted, s->names.v, s->sorted_n * sizeof *s->sorted);
        qsort(s->sorted, s->sorted_n, sizeof *s->sorted, by_name);
    }
    return (size_t)(line - text);
}

/* What the file has beyond what we know of it: the whole of it once, and usually nothing. */
static int read_list(struct live *lv, struct seen *s, struct err *e)
{
    char *path = fs_join(lv->o.dir, "finds");
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    struct stat st;
    if (fd < 0)
        rc = errno == ENOENT ? 0 : err_sys(e, "cannot open %s", path);
    else if (fstat(fd, &st) < 0)
        rc = err_sys(e, "cannot read %s", path);
    else if ((size_t)st.st_size > s->read) {
        size_t n = (size_t)st.st_size - s->read;
        char *text = xmalloc(n + 1);
        ssize_t got = pread(fd, text, n, (off_t)s->read);
        if (got < 0)
            rc = err_sys(e, "cannot read %s", path);
        text[got > 0 ? got : 0] = 0;
        s->read += add_lines(s, text);
        free(text);
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

/* Behind the last whole line: one that was cut is written over. */
static int append_list(struct live *lv, struct seen *s, const struct strv *names, struct err *e)
{
    char *path = fs_join(lv->o.dir, "finds");
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int rc = fd < 0 ? err_sys(e, "cannot open %s", path) : 0;
    for (size_t i = 0; i < names->n; i++)
        buf_printf(&b, "%s\n", names->v[i]);
    if (rc == 0 && ftruncate(fd, (off_t)s->read) < 0)
        rc = err_sys(e, "cannot write %s", path);
    if (rc == 0)
        rc = fs_write_fd(fd, b.p, b.len, e);
    if (rc == 0)
        s->read += b.len;
    if (fd >= 0)
        close(fd);
    buf_free(&b);
    free(path);
    return rc;
}

const struct strv *seen_names(struct live *lv)
{
    struct seen *s = list_of(lv);
    return read_list(lv, s, NULL) < 0 ? NULL : &s->names;
}

/* ---- the directories ---- */

struct file {
    struct timespec at;
    char *name, *path;
};

static int by_time(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    if (x->at.tv_sec != y->at.tv_sec)
        return x->at.tv_sec < y->at.tv_sec ? -1 : 1;
    if (x->at.tv_nsec != y->at.tv_nsec)
        return x->at.tv_nsec < y->at.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Files of DIR/sub that are not listed yet. */
static int scan(struct live *lv, const struct seen *s, const struct seen_way *way, const char *sub,
                struct file **out, size_t *count, struct err *e)
{
    char *dir = fs_join(lv->o.dir, sub);
    struct strv names = {0};
    int rc = fs_is_dir(dir) ? fs_list(dir, &names, e) : 0;
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct stat st;
        if (is_listed(s, names.v[i]))
            continue;
        char *path = fs_join(dir, names.v[i]);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && way->whole(sub, path, &st)) {
            *out = xrealloc(*out, (*count + 1) * sizeof **out);
            (*out)[(*count)++] = (struct file){st.st_mtim, xstrdup(names.v[i]), path};
        } else {
            free(path);
        }
    }
    strv_free(&names);
    free(dir);
    return rc;
}

/* A file is listed, is removed, or was in another directory too. */
static void enter_file(struct seen *s, const struct seen_way *way, struct file *f,
                       struct strv *fresh)
{
    bool twice = is_listed(s, f->name),
         surplus = !twice && way->surplus && way->surplus(s, f->name);
    if (surplus)
        unlink(f->path);
    if (twice || surplus) {
        free(f->name);
    } else {
        strv_add(fresh, f->name);
        add_name(s, f->name);
    }
    free(f->path);
}

/* Bring DIR/finds up to date with the directories.  A name that could not be written is forgotten with all
 * the rest: then the file is read again. */
static int update_list(struct live *lv, struct seen *s, const struct seen_way *way, struct err *e)
{
    struct file *files = NULL;
    struct strv fresh = {0};
    size_t count = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && way->dirs[i]; i++)
        rc = scan(lv, s, way, way->dirs[i], &files, &count, e);
    if (count)
        qsort(files, count, sizeof *files, by_time);
    for (size_t i = 0; i < count; i++)
        enter_file(s, way, &files[i], &fresh);
    if (rc == 0 && fresh.n)
        rc = append_list(lv, s, &fresh, e);
    if (rc < 0 && fresh.n) {
        seen_close(lv);
        *s = (struct seen){0};
    }
    strv_free(&fresh);
    free(files);
    return rc;
}

/* ---- what they are ---- */

int seen_signal(const char *name)
{
    size_t n = strcspn(name, ".");
    for (int s = 1; n > 3 && str_starts(name, "SIG") && s < NSIG; s++) {
        const char *abbrev = sigabbrev_np(s);
        if (abbrev && strlen(abbrev) == n - 3 && strncmp(abbrev, name + 3, n - 3) == 0)
            return s;
    }
    return 0;
}

/* The file of this name, empty when it is gone. */
static int read_file(struct live *lv, const struct seen_way *way, const char *name, struct buf *b,
                     struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && b->len == 0 && way->dirs[i]; i++) {
        char *path = str_fmt("%s/%s/%s", lv->o.dir, way->dirs[i], name);
        rc = fs_exists(path) ? fs_read(path, b, e) : 0;
        free(path);
    }
    return rc;
}

/* Without what is only the echo of an import. */
static int add_find(struct live *lv, const struct seen_way *way, const char *name,
                    const struct inbox_known *known, struct harvest *h, struct err *e)
{
    struct buf b = BUF_INIT(FILE_MAX_BYTES);
    struct find f = {.entry = -1, .parent_entry = -1, .seed = -1};
    int rc = read_file(lv, way, name, &b, e);
    f.kind = way->kind(name, &f.signal);
    bool ours = rc == 0 && b.len && inbox_known(known, b.p, b.len);
    if (ours && f.kind == FIND_CRASH)
        f.kind = FIND_ECHO;
    if (rc == 0 && b.len && (!ours || f.kind == FIND_ECHO)) {
        f.size = b.len;
        f.data = buf_take(&b);
        f.name = xstrdup(name);
        harvest_add(h, f);
    }
    buf_free(&b);
    return rc;
}

int seen_harvest(struct live *lv, const struct seen_way *way, struct harvest *h, struct err *e)
{
    struct seen *s = list_of(lv);
    struct inbox_known known = {0};
    int rc = read_list(lv, s, e);
    if (rc == 0)
        rc = update_list(lv, s, way, e);
    if (rc == 0 && seen_cursor(lv->in.cursor) > s->names.n)
        live_begin_again(lv);
    if (rc == 0)
        rc = inbox_known_load(lv->o.dir, &known, e);
    for (uint64_t i = seen_cursor(lv->in.cursor); rc == 0 && i < s->names.n; i++)
        rc = add_find(lv, way, s->names.v[i], &known, h, e);
    free(h->cursor);
    h->cursor = str_fmt("%zu", s->names.n);
    inbox_known_free(&known);
    return rc;
}
