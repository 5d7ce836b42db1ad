/* cases: what there is to triage, read from the record, and which input of a defect counts.  Runs nothing. */
#include "triage/cases.h"

#include "base/die.h"
#include "triage/defect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- crashes and hangs --------------------------------------------------------------------------- */

struct item *cases_find(struct cases *c, int64_t id)
{
    size_t lo = 0, hi = c->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->items[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->n && c->items[lo].id == id ? &c->items[lo] : NULL;
}

static int add_item(void *arg, const struct store_crash *k, struct err *e)
{
    struct cases *c = arg;
    (void)e;
    XGROW(c->items, c->n, c->cap);
    c->items[c->n++] = (struct item){
        .id = k->id, .hang = k->hang, .size = k->size, .arm = k->arm, .signal = k->signal};
    return 0;
}

static int add_row(void *arg, const struct store_triage *r, const struct store_crash *k,
                   struct err *e)
{
    struct cases *c = arg;
    (void)e;
    struct item *i = cases_find(c, k->id);
    if (!i || strcmp(r->build, c->build) != 0 || r->outcome == TRIAGE_BROKEN)
        return 0; /* what could not be run may run now */
    i->done = true;
    i->outcome = r->outcome;
    i->tried = r->plain_runs > 0 || *r->why;
    i->asan_runs = r->asan_runs;
    i->asan_hits = r->asan_hits;
    i->plain_runs = r->plain_runs;
    i->plain_hits = r->plain_hits;
    snprintf(i->defect, sizeof i->defect, "%s", r->defect);
    return 0;
}

int cases_load(struct cases *c, struct store *s, const char *build, struct err *e)
{
    c->build = build;
    /* "": no row is of that build, so every crash is listed */
    int rc = store_untriaged(s, "", 0, add_item, c, e);
    return rc < 0 ? rc : store_triage_rows(s, add_row, c, e);
}

bool case_is_sure(const struct item *i)
{
    return is_confirmed(i->outcome, i->plain_runs, i->plain_hits);
}

/* --- defects ------------------------------------------------------------------------------------- */

static struct group *group_of(struct cases *c, const char *id)
{
    for (size_t i = 0; i < c->n_groups; i++)
        if (strcmp(c->groups[i].id, id) == 0)
            return &c->groups[i];
    XGROW(c->groups, c->n_groups, c->cap_groups);
    struct group *g = &c->groups[c->n_groups++];
    *g = (struct group){0};
    snprintf(g->id, sizeof g->id, "%s", id);
    return g;
}

static int mark_minimised(void *arg, const struct store_minimised *m, struct err *e)
{
    struct cases *c = arg;
    (void)e;
    for (size_t i = 0; strcmp(m->build, c->build) == 0 && i < c->n_groups; i++)
        c->groups[i].minimised = c->groups[i].minimised || strcmp(c->groups[i].id, m->defect) == 0;
    return 0;
}

int cases_group(struct cases *c, struct store *s, struct err *e)
{
    c->n_groups = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct item *x = &c->items[i];
        if (!*x->defect)
            continue;
        struct group *g = group_of(c, x->defect);
        g->confirmed = g->confirmed || case_is_sure(x);
        g->hang = g->hang || x->hang;
        g->tries += x->tried;
    }
    return store_minimised(s, mark_minimised, c, e);
}

void cases_free(struct cases *c)
{
    free(c->items);
    free(c->groups);
    *c = (struct cases){0};
}

/* --- which input of a defect --------------------------------------------------------------------- */

struct item *case_to_try(struct cases *c, const struct group *g)
{
    struct item *best = NULL;
    if (g->confirmed || g->busy || g->tries >= CONFIRM_TRIES)
        return NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct item *x = &c->items[i];
        if (!x->tried && strcmp(x->defect, g->id) == 0 && (!best || x->size < best->size))
            best = x;
    }
    return best;
}

struct item *case_to_shrink(struct cases *c, const struct group *g)
{
    struct item *best = NULL;
    if (g->minimised || g->busy || g->hang)
        return NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct item *x = &c->items[i];
        bool sure =
            case_is_sure(x) || (!g->confirmed && x->asan_hits && x->asan_hits == x->asan_runs);
        bool asan = x->asan_hits > 0; /* else its bucket cannot be seen again */
        if (strcmp(x->defect, g->id) == 0 && sure && asan && !x->hang &&
            (!best || x->size < best->size))
            best = x;
    }
    return best;
}
