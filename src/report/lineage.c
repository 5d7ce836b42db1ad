/* lineage: the steps between inputs: who was made from whom, and which bytes changed.  Reads the bytes of those steps only. */
#include "report/data.h"

#include "base/die.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STEPS_MAX 20000 /* in memory */
#define CRASH_DIFFS 300 /* crashes whose bytes are compared, the first */
#define CHAIN_MAX 200   /* ancestors */

const struct data_step *data_step(const struct report *r, int64_t seed)
{
    size_t lo = 0, hi = r->n_steps; /* steps are sorted by seed after an update */
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (r->steps[mid].seed < seed)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < r->n_steps && r->steps[lo].seed == seed ? &r->steps[lo] : NULL;
}

static uint32_t few(size_t n)
{
    return n < sizeof((struct data_diff *)0)->old ? (uint32_t)n
                                                  : (uint32_t)sizeof((struct data_diff *)0)->old;
}

/* What lies between the equal beginnings and the equal ends of a and b. */
static void compare(const struct buf *a, const struct buf *b, struct data_diff *d)
{
    size_t least = a->len < b->len ? a->len : b->len, head = 0, tail = 0;
    while (head < least && a->p[head] == b->p[head])
        head++;
    while (tail < least - head && a->p[a->len - 1 - tail] == b->p[b->len - 1 - tail])
        tail++;
    *d = (struct data_diff){.at = (uint32_t)head,
                            .was = (uint32_t)(a->len - head - tail),
                            .now = (uint32_t)(b->len - head - tail),
                            .known = true};
    memcpy(d->old, a->p ? a->p + head : "", few(d->was));
    memcpy(d->new, b->p ? b->p + head : "", few(d->now));
}

struct reading {
    struct buf *bytes;
    struct data_step *step; /* NULL: only the bytes are wanted */
};

static int read_seed(void *arg, const struct store_seed *s, struct err *e)
{
    (void)e;
    struct reading *x = arg;
    buf_clear(x->bytes);
    buf_add(x->bytes, s->data, s->size);
    if (x->step) {
        x->step->size = (uint32_t)s->size;
        x->step->turn = s->turn;
        x->step->at_ns = s->found_ns;
        x->step->parent = s->parent;
        snprintf(x->step->name, sizeof x->step->name, "%s", s->name ? s->name : "");
    }
    return 0;
}

static int read_crash(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    struct buf *bytes = arg;
    buf_clear(bytes);
    buf_add(bytes, c->data, c->size);
    return 0;
}

/* Bytes that are gone or damaged: the rest of the page is as good without them. */
static bool is_lost(int rc)
{
    return rc == -ENOENT || rc == -EIO || rc == -EUCLEAN;
}

/* Bytes of the parent into *old; empty when there is none. */
static int read_parent(struct store *s, int64_t parent, struct buf *old, struct err *e)
{
    buf_clear(old);
    return parent > 0 ? store_seed_get(s, parent, read_seed, &(struct reading){old, NULL}, e) : 0;
}

static int add_step(struct report *r, struct store *s, int64_t seed, struct buf *old,
                    struct buf *now, struct err *e)
{
    XGROW(r->steps, r->n_steps, r->cap_steps);
    struct data_step *x = &r->steps[r->n_steps];
    *x = (struct data_step){.seed = seed,
                            .parent = r->seeds[seed].parent,
                            .added = r->seeds[seed].added,
                            .arm = r->seeds[seed].arm};
    int rc = store_seed_get(s, seed, read_seed, &(struct reading){now, x}, e);
    x->lost = is_lost(rc);
    if (rc == 0)
        rc = read_parent(s, x->parent, old, e);
    if (rc == 0)
        compare(old, now, &x->diff);
    else if (!is_lost(rc))
        return rc;
    r->seeds[seed].step = true;
    r->n_steps++;
    return 0;
}

static bool is_seed(const struct report *r, int64_t seed)
{
    return seed > 0 && (uint64_t)seed < r->n_seeds && r->seeds[seed].known;
}

/* A step for that seed and for each ancestor that has none yet, while there are fewer than most. */
static int add_chain(struct report *r, struct store *s, int64_t seed, size_t most, struct buf *old,
                     struct buf *now, struct err *e)
{
    int rc = 0;
    for (int i = 0; rc == 0 && i < CHAIN_MAX && r->n_steps < most && is_seed(r, seed);
         i++, seed = r->seeds[seed].parent)
        if (!r->seeds[seed].step)
            rc = add_step(r, s, seed, old, now, e);
    return rc;
}

static int by_seed(const void *a, const void *b)
{
    const struct data_step *x = a, *y = b;
    return (x->seed > y->seed) - (x->seed < y->seed);
}

/* Its chain and what it differs in, once. */
static int add_crash(struct report *r, struct store *s, struct data_crash *c, size_t most,
                     struct buf *old, struct buf *now, struct err *e)
{
    if (c->looked_at)
        return 0;
    c->looked_at = true;
    int rc = add_chain(r, s, c->parent, most, old, now, e);
    if (rc == 0)
        rc = store_crash_get(s, c->id, read_crash, now, e);
    if (rc == 0)
        rc = read_parent(s, c->parent, old, e);
    if (rc == 0)
        compare(old, now, &c->diff);
    return is_lost(rc) ? 0 : rc;
}

/* Was it made from a seed whose turn is not read yet, or not completed? */
static bool is_ahead(const struct report *r, const struct data_crash *c)
{
    bool more = r->n_turns < r->decisions || strcmp(r->st.state, "running") == 0;
    return more && c->parent > 0 && !is_seed(r, c->parent);
}

/* The first input of every defect, however many crashes and steps came before it. */
static int add_defects(struct report *r, struct store *s, struct buf *old, struct buf *now,
                       struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->defects.n; i++) {
        struct data_crash *c = (struct data_crash *)data_crash(r, r->defects.v[i].first);
        if (c && !is_ahead(r, c))
            rc = add_crash(r, s, c, SIZE_MAX, old, now, e);
    }
    return rc;
}

int lineage_update(struct report *r, struct store *s, struct err *e)
{
    struct buf old = BUF_INIT(BUF_TEXT_MAX), now = BUF_INIT(BUF_TEXT_MAX);
    int rc = 0;
    for (; rc == 0 && r->n_fresh > 0; r->n_fresh--)
        rc = add_chain(r, s, r->fresh[r->n_fresh - 1], STEPS_MAX, &old, &now, e);
    for (; rc == 0 && r->next_crash < r->n_crashes && r->next_crash < CRASH_DIFFS &&
           !is_ahead(r, &r->crashes[r->next_crash]);
         r->next_crash++)
        rc = add_crash(r, s, &r->crashes[r->next_crash], STEPS_MAX, &old, &now, e);
    if (rc == 0)
        rc = add_defects(r, s, &old, &now, e);
    if (r->n_steps)
        qsort(r->steps, r->n_steps, sizeof *r->steps, by_seed);
    buf_free(&old);
    buf_free(&now);
    return rc;
}
