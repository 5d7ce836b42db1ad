/* write: puts the results of a coverage run into its directory.  Everything is made in the work directory first;
 * what is in place is replaced by whole files and whole directories. */
#include "coverage/coverage.h"

#include "base/die.h"
#include "base/fs.h"
#include "coverage/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_MAX ((size_t)1 << 32)

static int save(const char *dir, const char *name, struct buf *b, struct err *e)
{
    char *path = fs_join(dir, name);
    int rc = b->over ? err_set(e, -EFBIG, "%s would be too large", name)
                     : fs_write_atomic(path, b->p ? b->p : "", b->len, e);
    free(path);
    buf_free(b);
    return rc;
}

static int save_pages(const struct coverage *c, struct err *e)
{
    char *dir = fs_join(c->work, "first");
    int rc = fs_mkdirs(dir, e);
    for (size_t i = 0; rc == 0 && i < c->lines.n; i++) {
        struct buf b = BUF_INIT(PAGE_MAX);
        char name[32];
        snprintf(name, sizeof name, "%zu.html", i);
        page_file(c, &c->lines.files[i], &b);
        rc = save(dir, name, &b, e);
    }
    free(dir);
    return rc;
}

static int save_json(const struct coverage *c, struct err *e)
{
    json_t *o = page_json(c);
    char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    struct buf b = BUF_INIT(PAGE_MAX);
    buf_str(&b, text ? text : "");
    buf_str(&b, "\n");
    free(text);
    json_decref(o);
    return save(c->o.dir, "first.json", &b, e);
}

/* The inputs that were first somewhere, to look at; those of earlier runs stay. */
static int save_inputs(const struct coverage *c, struct err *e)
{
    char *dir = fs_join(c->o.dir, "inputs");
    int rc = fs_mkdirs(dir, e);
    for (size_t i = 0; rc == 0 && i < c->n_steps; i++) {
        struct buf b = BUF_INIT(PAGE_MAX);
        rc = found_read(&c->found, c->steps[i].input, &b, e);
        if (rc == 0)
            rc = save(dir, c->steps[i].sha1, &b, e);
        buf_free(&b);
    }
    free(dir);
    return rc;
}

/* A directory of ours takes the place of the one of an earlier run, which goes with the work directory. */
static int put_in_place(const struct coverage *c, const char *name, struct err *e)
{
    char *from = fs_join(c->work, name), *to = fs_join(c->o.dir, name);
    int rc = 0;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) < 0 && rename(from, to) < 0)
        rc = err_sys(e, "cannot put %s in place", to);
    free(from);
    free(to);
    return rc;
}

static int save_html(const struct coverage *c, struct err *e)
{
    char *indexed = fs_join(c->work, COVERAGE_ALL ".profdata"), *dir = fs_join(c->work, "html");
    int rc = clangtools_html(&c->tools, c->target.family[FAMILY_SOURCE].binary, indexed, dir, e);
    free(indexed);
    free(dir);
    return rc < 0 ? rc : put_in_place(c, "html", e);
}

/* first.json comes last: where it is, the rest belongs to it or is newer. */
int coverage_save(struct coverage *c, struct err *e)
{
    struct buf csv = BUF_INIT(PAGE_MAX), index = BUF_INIT(PAGE_MAX);
    int rc = save_html(c, e);
    if (rc == 0)
        rc = put_in_place(c, "lcov.info", e);
    if (rc == 0)
        rc = save_pages(c, e);
    if (rc == 0)
        rc = put_in_place(c, "first", e);
    if (rc == 0)
        rc = save_inputs(c, e);
    page_csv(c, &csv);
    if (rc == 0)
        rc = save(c->o.dir, "first.csv", &csv, e);
    page_index(c, &index);
    if (rc == 0)
        rc = save(c->o.dir, "index.html", &index, e);
    buf_free(&csv);
    buf_free(&index);
    return rc < 0 ? rc : save_json(c, e);
}
