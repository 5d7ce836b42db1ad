/* order: which campaigns, in which order, which of them are done.  Runs none. */
#include "bench/order.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/rng.h"
#include "bench/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *directory_of(const struct suite *s, const struct planned *c)
{
    char *name =
        str_fmt("%s,%s,%d", s->targets[c->target].name, s->contenders[c->contender].name, c->trial);
    for (char *p = name; *p; p++)
        if (*p == '/' || *p == ':') /* afl-fuzz, for one, splits paths at colons */
            *p = '+';
    char *dir = str_fmt("%s/campaigns/%s", s->out, name);
    free(name);
    return dir;
}

/* Fisher and Yates. */
static void shuffle(struct planned *v, size_t n, struct rng *r)
{
    for (size_t i = n; i > 1; i--) {
        size_t k = (size_t)rng_below(r, i);
        struct planned x = v[i - 1];
        v[i - 1] = v[k];
        v[k] = x;
    }
}

static int look(const struct suite *s, struct planned *c, struct err *e)
{
    struct result r = {0};
    char *path = fs_join(c->dir, "result.json");
    int rc = 0;
    c->done = fs_exists(path);
    if (c->done)
        rc = result_read(&r, path, e);
    if (c->done && rc == 0) {
        char *now = suite_definition(s, &s->contenders[c->contender]);
        if (strcmp(now, r.definition) != 0) {
            rc = err_usage(e,
                           "%s is the result of another campaign (%s; now it would be %s): give "
                           "another directory with -o",
                           path, r.definition, now);
        }
        free(now);
    }
    result_free(&r);
    free(path);
    return rc;
}

int order_make(struct order *p, const struct suite *s, struct err *e)
{
    size_t block = s->n_targets * s->n_contenders;
    struct rng dice;
    int rc = 0;
    rng_stream(&dice, s->seed, "bench order");
    *p = (struct order){.v = xcalloc(block * (size_t)s->trials + 1, sizeof *p->v)};
    for (int trial = 1; trial <= s->trials; trial++) {
        struct planned *first = &p->v[p->n];
        for (size_t i = 0; i < block; i++) {
            struct planned *c = &p->v[p->n++];
            *c = (struct planned){i / s->n_contenders, i % s->n_contenders, trial};
            c->dir = directory_of(s, c);
        }
        shuffle(first, block, &dice);
    }
    for (size_t i = 0; rc == 0 && i < p->n; i++) {
        rc = look(s, &p->v[i], e);
        p->done += p->v[i].done;
    }
    if (rc < 0)
        order_free(p);
    return rc;
}

size_t order_part(struct order *p, size_t part, size_t parts)
{
    size_t left = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->v[i].elsewhere = i % parts != part - 1;
        left += p->v[i].elsewhere && !p->v[i].done;
    }
    return left;
}

size_t order_leave_out(struct order *p, size_t target)
{
    size_t left = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool ours = p->v[i].target == target && !p->v[i].done && !p->v[i].elsewhere;
        p->v[i].elsewhere |= ours;
        left += ours;
    }
    return left;
}

static bool is_left(const struct planned *c)
{
    return !c->done && !c->taken && !c->elsewhere;
}

bool order_wants(const struct order *p, size_t target)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_left(&p->v[i]) && p->v[i].target == target)
            return true;
    return false;
}

struct planned *order_next(struct order *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (is_left(&p->v[i]))
            return &p->v[i];
    return NULL;
}

void order_free(struct order *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i].dir);
    free(p->v);
    *p = (struct order){0};
}
