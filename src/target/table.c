/* table: reads the neutral table and checks every index in it, so that no caller has to.
 * Does not make one: runtime/cov/dump.c does. */
#include "target/table.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "runtime/cov/protocol.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_MAX ((size_t)2 << 30)

_Static_assert(sizeof(struct cov_table_hdr) == 120 && sizeof(struct cov_table_edge) == 40 &&
                   sizeof(struct cov_table_func) == 12,
               "docs/FILES.md says so");

static int broken(struct err *e, const char *path, const char *why)
{
    return err_usage(e,
                     "%s is not a usable neutral table: %s; make it again with 'carol build' "
                     "(the same command as before)",
                     path, why);
}

static const char *check_header(const struct cov_table_hdr *h, size_t size)
{
    if (memcmp(h->magic, COV_TABLE_MAGIC, sizeof h->magic) != 0)
        return "it does not begin like one";
    if (h->version != COV_TABLE_VERSION || h->hdr_bytes != sizeof *h)
        return "it is of another version of Carol";
    uint64_t want = sizeof *h + (uint64_t)h->n_edges * sizeof(struct cov_table_edge) +
                    (uint64_t)h->n_preds * 4 +
                    (uint64_t)h->n_funcs * sizeof(struct cov_table_func) + h->names_bytes;
    if (want > size)
        return "it is truncated";
    if (want < size)
        return "it has bytes after its end";
    return h->n_edges ? NULL : "it has no edges";
}

static const char *take_header(struct table *t, const void *from, size_t got, size_t size)
{
    struct cov_table_hdr h;
    if (got < sizeof h)
        return got ? "it is truncated" : "it is empty";
    memcpy(&h, from, sizeof h);
    const char *why = check_header(&h, size);
    if (why)
        return why;
    memcpy(t->build_id, h.build_id, sizeof h.build_id);
    t->n_modules = h.n_modules;
    t->n_edges = h.n_edges;
    t->n_funcs = h.n_funcs;
    t->n_preds = h.n_preds;
    t->layout = h.layout;
    return NULL;
}

static const char *take_edges(struct table *t, const struct cov_table_edge *from)
{
    t->edges = xcalloc(t->n_edges + 1, sizeof *t->edges);
    for (uint32_t i = 0; i < t->n_edges; i++) {
        struct cov_table_edge f;
        memcpy(&f, from + i, sizeof f);
        if (f.func >= t->n_funcs || f.pred_n > t->n_preds || f.pred_off > t->n_preds - f.pred_n)
            return "an edge points outside of it";
        t->edges[i] = (struct table_edge){f.pc,    f.func, f.pred_off, f.pred_n, f.succ_n,
                                          f.depth, f.mem,  f.memw,     f.ind,    f.flags};
    }
    return NULL;
}

static const char *take_preds(struct table *t, const char *from)
{
    t->preds = xcalloc(t->n_preds + 1, sizeof *t->preds);
    memcpy(t->preds, from, (size_t)t->n_preds * 4);
    for (uint32_t i = 0; i < t->n_preds; i++)
        if (t->preds[i] >= t->n_edges)
            return "a predecessor is no edge";
    return NULL;
}

static const char *take_funcs(struct table *t, const char *from, uint32_t names_bytes)
{
    const char *names = from + (size_t)t->n_funcs * sizeof(struct cov_table_func);
    if (t->n_funcs && (!names_bytes || names[names_bytes - 1] != 0))
        return "its names do not end";
    t->names = xmalloc(names_bytes + 1);
    memcpy(t->names, names, names_bytes);
    t->funcs = xcalloc(t->n_funcs + 1, sizeof *t->funcs);
    for (uint32_t i = 0; i < t->n_funcs; i++) {
        struct cov_table_func f;
        memcpy(&f, from + i * sizeof f, sizeof f);
        if (f.name >= names_bytes || f.entry >= t->n_edges)
            return "a function points outside of it";
        t->funcs[i] = (struct table_func){t->names + f.name, f.entry, f.depth};
    }
    return NULL;
}

static const char *parse(struct table *t, const struct buf *b)
{
    const char *why = take_header(t, b->p, b->len, b->len);
    if (why)
        return why;
    struct cov_table_hdr h;
    memcpy(&h, b->p, sizeof h);
    const char *p = b->p + sizeof h;
    if (cov_fnv(COV_FNV_START, p, b->len - sizeof h) != h.checksum)
        return "its checksum is wrong";
    why = take_edges(t, (const struct cov_table_edge *)(const void *)p);
    p += (size_t)t->n_edges * sizeof(struct cov_table_edge);
    why = why ? why : take_preds(t, p);
    p += (size_t)t->n_preds * 4;
    return why ? why : take_funcs(t, p, h.names_bytes);
}

static int unreadable(struct err *e)
{
    if (e)
        e->exit = ERR_EXIT_USAGE;
    return err_wrap(e, "cannot read the neutral table; 'carol build' makes it");
}

int table_load_head(const char *path, struct table *t, struct err *e)
{
    *t = (struct table){0};
    struct cov_table_hdr h;
    struct stat st;
    int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 || fstat(fd, &st) < 0 ? -1 : read(fd, &h, sizeof h);
    if (n < 0)
        rc = err_sys(e, "cannot read %s", path);
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return unreadable(e);
    const char *why = take_header(t, &h, (size_t)n, (size_t)st.st_size);
    return why ? broken(e, path, why) : 0;
}

int table_load(const char *path, struct table *t, struct err *e)
{
    *t = (struct table){0};
    struct buf b = BUF_INIT(TABLE_MAX);
    int rc = fs_read(path, &b, e);
    if (rc < 0)
        return unreadable(e);
    const char *why = parse(t, &b);
    if (why) {
        rc = broken(e, path, why);
        table_free(t);
    }
    buf_free(&b);
    return rc;
}

void table_free(struct table *t)
{
    free(t->edges);
    free(t->preds);
    free(t->funcs);
    free(t->names);
    *t = (struct table){0};
}
