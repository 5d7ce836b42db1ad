/* hfuzz_harvest: reads what honggfuzz found: each file of new and crash exactly once, without what is only
 * the echo of an import.
 *
 * Every file seen gets a line in DIR/finds; the cursor is the number of lines that the store has.
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

/* A last line without its newline was cut by a kill and does not count. */
static int read_list(struct live *lv, struct strv *list, struct err *e)
{
    char *path = fs_join(lv->o.dir, "finds");
    struct buf b = BUF_INIT((size_t)1 << 30);
    int rc = fs_exists(path) ? fs_read(path, &b, e) : 0;
    for (char *line = b.p, *end; rc == 0 && line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        if (*line)
            strv_add(list, line);
    }
    buf_free(&b);
    free(path);
    return rc;
}

static int append_list(struct live *lv, const struct strv *names, struct err *e)
{
    char *path = fs_join(lv->o.dir, "finds");
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int rc = fd < 0 ? err_sys(e, "cannot open %s", path) : 0;
    buf_str(&b, "\n"); /* ends a line that was cut */
    for (size_t i = 0; i < names->n; i++)
        buf_printf(&b, "%s\n", names->v[i]);
    if (rc == 0)
        rc = fs_write_fd(fd, b.p, b.len, e);
    if (fd >= 0)
        close(fd);
    buf_free(&b);
    free(path);
    return rc;
}

/* A corpus file carries its size in its name; another size means that a kill cut it. */
static bool is_whole(const char *name, const struct stat *st)
{
    const char *dot = strchr(name, '.');
    if (!str_ends(name, CORPUS_SUFFIX) || !dot)
        return true;
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

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Files of DIR/sub that `sorted` does not name. */
static int scan(struct live *lv, const char *sub, char **sorted, size_t n, struct seen **out,
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
        if (mine && !(n && bsearch(&names.v[i], sorted, n, sizeof *sorted, by_name))) {
            *out = xrealloc(*out, (*count + 1) * sizeof **out);
            (*out)[(*count)++] = (struct seen){st.st_mtim, xstrdup(names.v[i])};
        }
        free(path);
    }
    strv_free(&names);
    free(dir);
    return rc;
}

/* Length of "SIGSEGV.PC.x.STACK.y", the place of a crash; 0: not such a name. */
static size_t place_len(const char *name)
{
    const char *end = strstr(name, ".CODE.");
    return end && !str_ends(name, CORPUS_SUFFIX) ? (size_t)(end - name) : 0;
}

static bool is_surplus(const char *name, const struct strv *list, const struct strv *fresh)
{
    size_t len = place_len(name), same = 0;
    for (size_t i = 0; len && i < list->n + fresh->n; i++) {
        const char *other = i < list->n ? list->v[i] : fresh->v[i - list->n];
        same += place_len(other) == len && strncmp(other, name, len) == 0;
    }
    return same >= PER_PLACE;
}

static void drop_crash(struct live *lv, char *name)
{
    char *path = str_fmt("%s/crash/%s", lv->o.dir, name);
    unlink(path);
    free(path);
    free(name);
}

/* Bring DIR/finds, and `list` with it, up to date. */
static int update_list(struct live *lv, struct strv *list, struct err *e)
{
    struct seen *seen = NULL;
    struct strv fresh = {0};
    size_t count = 0, n = list->n;
    char **sorted = n ? xmalloc(n * sizeof *sorted) : NULL;
    if (n) {
        memcpy(sorted, list->v, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, by_name);
    }
    int rc = scan(lv, "new", sorted, n, &seen, &count, e);
    if (rc == 0)
        rc = scan(lv, "crash", sorted, n, &seen, &count, e);
    if (count)
        qsort(seen, count, sizeof *seen, by_time);
    for (size_t i = 0; i < count; i++)
        if (is_surplus(seen[i].name, list, &fresh))
            drop_crash(lv, seen[i].name);
        else
            strv_take(&fresh, seen[i].name);
    if (rc == 0 && fresh.n)
        rc = append_list(lv, &fresh, e);
    for (size_t i = 0; rc == 0 && i < fresh.n; i++)
        strv_add(list, fresh.v[i]);
    strv_free(&fresh);
    free(seen);
    free(sorted);
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
    struct strv list = {0};
    struct inbox_known known = {0};
    int rc = read_list(lv, &list, e);
    if (rc == 0)
        rc = update_list(lv, &list, e);
    if (rc == 0)
        rc = inbox_known_load(lv->o.dir, &known, e);
    for (uint64_t i = cursor_of(lv->in.cursor); rc == 0 && i < list.n; i++)
        rc = add_find(lv, list.v[i], &known, h, e);
    free(h->cursor);
    h->cursor = str_fmt("%zu", list.n);
    inbox_known_free(&known);
    strv_free(&list);
    return rc;
}

void hfuzz_harvested(struct live *lv, const struct harvest *h)
{
    struct strv list = {0};
    uint64_t end = cursor_of(h->cursor);
    if (read_list(lv, &list, NULL) == 0)
        for (uint64_t i = cursor_of(lv->in.cursor); i < end && i < list.n; i++)
            if (str_ends(list.v[i], CORPUS_SUFFIX)) {
                char *path = str_fmt("%s/new/%s", lv->o.dir, list.v[i]);
                unlink(path);
                free(path);
            }
    strv_free(&list);
}
