/* export: writes inputs.  Does not choose them. */
#include "corpus/export.h"

#include "base/die.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct writing {
    const char *dir;
    struct export_result *r;
    size_t at;
};

static bool has_content(const char *path, const void *data, size_t size)
{
    struct stat st;
    struct buf b = BUF_INIT(size);
    bool same = lstat(path, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == size &&
                fs_read(path, &b, NULL) == 0 && b.len == size &&
                (!size || memcmp(b.p, data, size) == 0);
    buf_free(&b);
    return same;
}

/* The user can mend that: a full disk, or a directory that is not his. */
static int cannot_write(const char *dir, struct err *e)
{
    bool full = e->code == -ENOSPC || e->code == -EDQUOT;
    e->exit = full ? ERR_EXIT_ENV : ERR_EXIT_USAGE;
    return err_wrap(e, "cannot export to %s", dir);
}

static int write_input(void *arg, const struct store_seed *seed, struct err *e)
{
    struct writing *w = arg;
    char *name = w->r->names[w->at];
    hash_sha1_hex(seed->data, seed->size, name);
    w->r->bytes += seed->size;
    if (!w->dir)
        return 0;
    char *path = fs_join(w->dir, name);
    int rc = 0;
    if (has_content(path, seed->data, seed->size)) {
        w->r->present++;
    } else {
        rc = fs_write_quick(path, seed->data, seed->size, e);
        if (rc < 0)
            cannot_write(w->dir, e);
        w->r->written += rc == 0;
    }
    free(path);
    return rc;
}

/* One flush for all instead of one for each. */
static int flush(const char *dir, struct err *e)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
    if (fd < 0 || syncfs(fd) < 0)
        rc = err_sys(e, "cannot flush %s", dir);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int count_others(const struct selection *s, const char *dir, struct export_result *r,
                        struct err *e)
{
    struct strv names = {0};
    char(*sorted)[41] = xmemdup(r->names, s->n * sizeof *r->names);
    int rc = fs_list(dir, &names, e);
    if (s->n)
        qsort(sorted, s->n, sizeof *sorted, by_name);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        r->others += !s->n || !bsearch(names.v[i], sorted, s->n, sizeof *sorted, by_name);
    strv_free(&names);
    free(sorted);
    return rc;
}

int export_write(struct selection *s, const char *dir, struct export_result *r, struct err *e)
{
    struct writing w = {.dir = dir, .r = r};
    *r = (struct export_result){.names = xcalloc(s->n, sizeof *r->names)};
    int rc = dir ? fs_mkdirs_durable(dir, e) : 0;
    if (rc < 0)
        return cannot_write(dir, e);
    for (; rc == 0 && w.at < s->n; w.at++)
        rc = selection_read(s, &s->v[w.at], write_input, &w, e);
    if (rc < 0 || !dir)
        return rc;
    rc = flush(dir, e);
    return rc < 0 ? cannot_write(dir, e) : count_others(s, dir, r, e);
}

void export_free(struct export_result *r)
{
    free(r->names);
    *r = (struct export_result){0};
}
