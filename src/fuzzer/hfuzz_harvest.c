/* hfuzz_harvest: reads what honggfuzz found: each file of new and crash exactly once, without what is only
 * the echo of an import.
 *
 * Every file seen gets a line in DIR/finds; the cursor is the number of lines that the store has.  That list
 * grows for ever, so it is kept in memory and only its new part is read.
 *
 * honggfuzz tells crashes apart by the faulting address too, which for a wild pointer gives a new file at
 * nearly every crash: of one place (signal, program counter, stack) only the first few are kept. */
#include "base/die.h"
#include "base/fs.h"
#include "fuzzer/hfuzz.h"
#include "fuzzer/inbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define CORPUS_SUFFIX ".honggfuzz.cov"
#define PER_PLACE 3

static const char *sub_of(const char *name)
{
    return str_ends(name, CORPUS_SUFFIX) ? "new" : "crash";
}

static uint64_t cursor_of(const char *s)
{
    uint64_t n = 0;
    if (s && str_to_u64(s, "cursor", 0, UINT64_MAX, &n, NULL) < 0)
        return 0;
    return n;
}

/* DIR/finds in memory. */
struct finds {
    struct strv names;   /* in the order of the file */
    const char **sorted; /* the same, by name */
    size_t sorted_n;
    size_t read; /* bytes of the file that `names` stands for */
};

static struct finds *finds_of(struct live *lv)
{
    if (!lv->own)
        lv->own = xcalloc(1, sizeof(struct finds));
    return lv->own;
}

void hfuzz_close(struct live *lv)
{
    struct finds *f = lv->own;
    if (!f)
        return;
    strv_free(&f->names);
    free(f->sorted);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many of the sorted names come before this one. */
static size_t rank_of(const struct finds *f, const char *name)
{
    size_t low = 0, high = f->sorted_n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(f->sorted[mid], name) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_listed(const struct finds *f, const char *name)
{
    size_t i = rank_of(f, name);
    return i < f->sorted_n && strcmp(f->sorted[i], name) == 0;
}

/* A new name, in its place. */
static void add_name(struct finds *f, char *name)
{
    size_t i = rank_of(f, name);
    strv_take(&f->names, name);
    f->sorted = xrealloc(f->sorted, f->names.n * sizeof *f->sorted);
    memmove(f->sorted + i + 1, f->sorted + i, (f->sorted_n - i) * sizeof *f->sorted);
    f->sorted[i] = name;
    f->sorted_n++;
}

/* The lines of a text; returns how many bytes they are.  A last line without its newline was cut by a
 * kill and does not count. */
static size_t add_lines(struct finds *f, char *text)
{
    char *line = text;
    for (char *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (*line)
            strv_add(&f->names, line);
    }
    if (f->names.n > f->sorted_n) {
        f->sorted_n = f->names.n;
        f->sorted = xrealloc(f->sorted, f->sorted_n * sizeof *f->sorted);
        memcpy(f->sorted, f->names.v, f->sorted_n * sizeof *f->sorted);
        qsort(f->sorted, f->sorted_n, sizeof *f->sorted, by_name);
    }
    return (size_t)(line - text);
}

/* What the file has beyond what we know of it: the whole of it once, and usually nothing. */
static int read_list(struct live *lv, struct finds *f, struct err *e)
{
    char *path = fs_join(lv->o.dir, "finds");
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    struct stat st;
    if (fd < 0)
        rc = errno == ENOENT ? 0 : err_sys(e, "cannot open %s", path);
    else if (fstat(fd, &st) < 0)
        rc = err_sys(e, "cannot read %s", path);
    else if ((size_t)st.st_size > f->read) {
        size_t n = (size_t)st.st_size - f->read;
        char *text = xmalloc(n + 1);
        ssize_t got = pread(fd, text, n, (off_t)f->read);
        if (got < 0)
            rc = err_sys(e, "cannot read %s", path);
        text[got > 0 ? got : 0] = 0;
        f->read += add_lines(f, text);
        free(text);
    }
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

/* Behind the last whole line: one that was cut is written over. */
static int append_list(struct live *lv, struct finds *f, const struct strv *names, struct err *e)
{
    char *path = fs_join(lv->o.dir, "finds");
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int rc = fd < 0 ? err_sys(e, "cannot open %s", path) : 0;
    for (size_t i = 0; i < names->n; i++)
        buf_printf(&b, "%s\n", names->v[i]);
    if (rc == 0 && ftruncate(fd, (off_t)f->read) < 0)
        rc = err_sys(e, "cannot write %s", path);
    if (rc == 0)
        rc = fs_write_fd(fd, b.p, b.len, e);
    if (rc == 0)
        f->read += b.len;
    if (fd >= 0)
        close(fd);
    buf_free(&b);
    free(path);
    return rc;
}

/* A corpus file carries its size in its name; another size means that a kill cut it.  An empty crash may be
 * filled yet: honggfuzz can be stopped by a signal between open and write. */
static bool is_whole(const char *name, const struct stat *st)
{
    const char *dot = strchr(name, '.');
    if (!str_ends(name, CORPUS_SUFFIX) || !dot)
        return st->st_size > 0;
    return strtoull(dot + 1, NULL, 16) == (unsigned long long)st->st_size;
}

struct seen {
    struct timespec at;
    char *name;
};

static int by_time(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->at.tv_sec != y->at.tv_sec)
        return x->at.tv_sec < y->at.tv_sec ? -1 : 1;
    if (x->at.tv_nsec != y->at.tv_nsec)
        return x->at.tv_nsec < y->at.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Files of DIR/sub that are not listed yet. */
static int scan(struct live *lv, const struct finds *f, const char *sub, struct seen **out,
                size_t *count, struct err *e)
{
    char *dir = fs_join(lv->o.dir, sub);
    struct strv names = {0};
    int rc = fs_is_dir(dir) ? fs_list(dir, &names, e) : 0;
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct stat st;
        char *path = fs_join(dir, names.v[i]);
        bool mine = strcmp(sub_of(names.v[i]), sub) == 0 && stat(path, &st) == 0 &&
                    S_ISREG(st.st_mode) && is_whole(names.v[i], &st);
        if (mine && !is_listed(f, names.v[i])) {
            *out = xrealloc(*out, (*count + 1) * sizeof **out);
            (*out)[(*count)++] = (struct seen){st.st_mtim, xstrdup(names.v[i])};
        }
        free(path);
    }
    strv_free(&names);
    free(dir);
    return rc;
}

/* Of this crash's place, "SIGSEGV.PC.x.STACK.y", there are enough. */
static bool is_surplus(const struct finds *f, const char *name)
{
    const char *code = strstr(name, ".CODE.");
    if (!code || str_ends(name, CORPUS_SUFFIX))
        return false;
    char *place = str_fmt("%.*s.CODE.", (int)(code - name), name);
    size_t first = rank_of(f, place), i = first;
    while (i < f->sorted_n && i - first < PER_PLACE && str_starts(f->sorted[i], place))
        i++;
    free(place);
    return i - first >= PER_PLACE;
}

static void drop_crash(struct live *lv, char *name)
{
    char *path = str_fmt("%s/crash/%s", lv->o.dir, name);
    unlink(path);
    free(path);
    free(name);
}

/* Bring DIR/finds up to date with the directories.  A name that could not be written is forgotten with all
 * the rest: then the file is read again. */
static int update_list(struct live *lv, struct finds *f, struct err *e)
{
    struct seen *seen = NULL;
    struct strv fresh = {0};
    size_t count = 0;
    int rc = scan(lv, f, "new", &seen, &count, e);
    if (rc == 0)
        rc = scan(lv, f, "crash", &seen, &count, e);
    if (count)
        qsort(seen, count, sizeof *seen, by_time);
    for (size_t i = 0; i < count; i++)
        if (is_surplus(f, seen[i].name)) {
            drop_crash(lv, seen[i].name);
        } else {
            strv_add(&fresh, seen[i].name);
            add_name(f, seen[i].name);
        }
    if (rc == 0 && fresh.n)
        rc = append_list(lv, f, &fresh, e);
    if (rc < 0 && fresh.n) {
        hfuzz_close(lv);
        *f = (struct finds){0};
    }
    strv_free(&fresh);
    free(seen);
    return rc;
}

/* "SIGSEGV.PC..." -> SIGSEGV; 0: unknown. */
static int signal_of(const char *name)
{
    size_t n = strcspn(name, ".");
    for (int s = 1; n > 3 && str_starts(name, "SIG") && s < NSIG; s++) {
        const char *abbrev = sigabbrev_np(s);
        if (abbrev && strlen(abbrev) == n - 3 && strncmp(abbrev, name + 3, n - 3) == 0)
            return s;
    }
    return 0;
}

static int add_find(struct live *lv, const char *name, const struct inbox_known *known,
                    struct harvest *h, struct err *e)
{
    char *path = str_fmt("%s/%s/%s", lv->o.dir, sub_of(name), name);
    struct buf b = BUF_INIT(FILE_MAX_BYTES);
    struct find f = {.kind = FIND_SEED, .entry = -1, .parent_entry = -1, .seed = -1};
    int rc = fs_exists(path) ? fs_read(path, &b, e) : 0;
    if (!str_ends(name, CORPUS_SUFFIX)) {
        f.signal = signal_of(name);
        f.kind = f.signal == SIGVTALRM ? FIND_HANG : FIND_CRASH;
    }
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
    free(path);
    return rc;
}

int hfuzz_harvest(struct live *lv, struct harvest *h, struct err *e)
{
    struct finds *f = finds_of(lv);
    struct inbox_known known = {0};
    int rc = read_list(lv, f, e);
    if (rc == 0)
        rc = update_list(lv, f, e);
    if (rc == 0 && cursor_of(lv->in.cursor) > f->names.n)
        live_begin_again(lv);
    if (rc == 0)
        rc = inbox_known_load(lv->o.dir, &known, e);
    for (uint64_t i = cursor_of(lv->in.cursor); rc == 0 && i < f->names.n; i++)
        rc = add_find(lv, f->names.v[i], &known, h, e);
    free(h->cursor);
    h->cursor = str_fmt("%zu", f->names.n);
    inbox_known_free(&known);
    return rc;
}

void hfuzz_harvested(struct live *lv, const struct harvest *h)
{
    struct finds *f = finds_of(lv);
    uint64_t end = cursor_of(h->cursor);
    if (read_list(lv, f, NULL) < 0)
        return;
    for (uint64_t i = cursor_of(lv->in.cursor); i < end && i < f->names.n; i++)
        if (str_ends(f->names.v[i], CORPUS_SUFFIX)) {
            char *path = str_fmt("%s/new/%s", lv->o.dir, f->names.v[i]);
            unlink(path);
            free(path);
        }
}
