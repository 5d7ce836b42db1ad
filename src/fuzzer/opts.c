/* opts: copies the options of an instance and makes its directory.  Does not interpret them. */
#include "base/die.h"
#include "base/fs.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/live_private.h"

#include <stdlib.h>
#include <string.h>

static const char *const *copy_words(const char *const *v)
{
    struct strv l = {0};
    for (size_t i = 0; v && v[i]; i++)
        strv_add(&l, v[i]);
    return (const char *const *)l.v;
}

static char *copy_text(const char *s)
{
    return s ? xstrdup(s) : NULL;
}

int live_copy_opts(struct instance_opts *to, const struct instance_opts *from, struct err *e)
{
    *to = *from;
    to->fuzzer = copy_text(from->fuzzer);
    to->as = NULL;
    to->dict = copy_text(from->dict);
    to->args = copy_words(from->args);
    to->dir = NULL;
    int rc = fs_mkdirs(from->dir, e);
    if (rc < 0)
        return rc;
    to->dir = realpath(from->dir, NULL);
    return to->dir ? 0 : err_sys(e, "cannot find %s", from->dir);
}

void live_free_opts(struct instance_opts *o)
{
    for (size_t i = 0; o->args && o->args[i]; i++)
        free((char *)o->args[i]);
    free((void *)o->args);
    free((char *)o->fuzzer);
    free((char *)o->dict);
    free((char *)o->dir);
}

void harvest_add(struct harvest *h, struct find f)
{
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 32;
        h->finds = xrealloc(h->finds, h->cap * sizeof *h->finds);
    }
    h->finds[h->n++] = f;
}

void harvest_free(struct harvest *h)
{
    for (size_t i = 0; i < h->n; i++) {
        free(h->finds[i].data);
        free(h->finds[i].name);
    }
    free(h->finds);
    free(h->cursor);
    *h = (struct harvest){0};
}
