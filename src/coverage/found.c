/* found: lists inputs from the record.  Runs none of them. */
#include "coverage/found.h"

#include "base/die.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int take_seed(void *arg, const struct store_seed *seed, struct err *e)
{
    struct found *f = arg;
    (void)e;
    XGROW(f->v, f->n, f->cap);
    f->v[f->n++] = (struct found_input){.id = seed->id,
                                        .hash = seed->hash,
                                        .found_ns = seed->found_ns,
                                        .finder = finder_name(&f->finder, seed->turn)};
    return 0;
}

struct crashes {
    struct found *f;
    size_t n_seeds; /* by content, at the start of f->v */
};

static int by_content(const void *a, const void *b)
{
    const struct found_input *x = a, *y = b;
    return memcmp(x->hash.b, y->hash.b, sizeof x->hash.b);
}

static int take_crash(void *arg, const struct store_crash *c, struct err *e)
{
    const struct crashes *k = arg;
    struct found *f = k->f;
    struct found_input in = {.id = c->id,
                             .crash = true,
                             .hash = c->hash,
                             .found_ns = c->found_ns,
                             .finder = finder_name(&f->finder, c->turn)};
    (void)e;
    if (k->n_seeds && bsearch(&in, f->v, k->n_seeds, sizeof *f->v, by_content))
        return 0;
    XGROW(f->v, f->n, f->cap);
    f->v[f->n++] = in;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct found_input *x = a, *y = b;
    if (x->found_ns != y->found_ns)
        return x->found_ns < y->found_ns ? -1 : 1;
    if (x->crash != y->crash)
        return x->crash ? 1 : -1;
    return x->id < y->id ? -1 : x->id > y->id;
}

int found_load(struct found *f, const struct journal *j, struct err *e)
{
    *f = (struct found){.store = j->store};
    int rc = finder_load(&f->finder, j->store, &j->o.fuzzers, e);
    if (rc == 0)
        rc = store_results(j->store, take_seed, f, e);
    if (rc == 0 && f->n)
        qsort(f->v, f->n, sizeof *f->v, by_content);
    if (rc == 0)
        rc = store_crashes(j->store, 0, take_crash, &(struct crashes){f, f->n}, e);
    if (rc == 0 && f->n)
        qsort(f->v, f->n, sizeof *f->v, by_time);
    return rc;
}

static int add(struct buf *bytes, const void *data, size_t size, struct err *e)
{
    buf_add(bytes, data, size);
    return bytes->over ? err_set(e, -EFBIG, "an input is larger than %zu bytes", bytes->max) : 0;
}

static int add_seed(void *arg, const struct store_seed *seed, struct err *e)
{
    return add(arg, seed->data, seed->size, e);
}

static int add_crash(void *arg, const struct store_crash *c, struct err *e)
{
    return add(arg, c->data, c->size, e);
}

int found_read(const struct found *f, size_t i, struct buf *bytes, struct err *e)
{
    return f->v[i].crash ? store_crash_get(f->store, f->v[i].id, add_crash, bytes, e)
                         : store_seed_get(f->store, f->v[i].id, add_seed, bytes, e);
}

void found_free(struct found *f)
{
    finder_free(&f->finder);
    free(f->v);
    *f = (struct found){0};
}
