/* selection: reads seeds from records and chooses among them.  Writes nothing and runs nothing. */
#include "corpus/selection.h"

#include "base/die.h"
#include "corpus/setcover.h"
#include "eval/eval.h"
#include "stats/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void chosen_free(struct chosen *c)
{
    free(c->name);
    free(c->edges);
}

/* --- reading ------------------------------------------------------------------------------------- */

struct reading {
    struct selection *s;
    const struct selection_opts *o;
    size_t campaign;
};

static bool asked_for(const struct reading *r, const struct store_seed *seed, const char *finder)
{
    const struct strv *f = r->o->finders;
    return (!f || !f->n || strv_has(f, finder)) && seed->found_ns >= r->o->since_ns;
}

static bool fits(struct selection *s, const struct store_seed *seed, bool any)
{
    bool pending = seed->state == SEED_PENDING;
    bool good = seed->state == SEED_DONE && run_is_through((enum run_status)seed->status);
    if (good || any)
        return true;
    *(pending ? &s->pending : &s->unfit) += 1;
    return false;
}

static int take_seed(void *arg, const struct store_seed *seed, struct err *e)
{
    struct reading *r = arg;
    struct selection *s = r->s;
    const char *finder = finder_name(&s->campaigns[r->campaign].finder, seed->turn);
    (void)e;
    s->seen++;
    if (!asked_for(r, seed, finder)) {
        s->unasked++;
        return 0;
    }
    if (!fits(s, seed, r->o->any))
        return 0;
    XGROW(s->v, s->n, s->cap);
    s->v[s->n++] = (struct chosen){
        .campaign = r->campaign,
        .seed = seed->id,
        .hash = seed->hash,
        .size = seed->size,
        .cpu_us = seed->cpu_us,
        .found_ns = seed->found_ns,
        .finder = finder,
        .name = xstrdup(seed->name ? seed->name : ""),
        .status = seed->status,
        .edges = seed->state == SEED_DONE ? xmemdup(seed->edges, seed->edges_size) : NULL,
        .edges_size = seed->edges_size};
    return 0;
}

static int check_finders(const struct selection_campaign *c, const struct strv *finders,
                         struct err *e)
{
    for (size_t i = 0; finders && i < finders->n; i++) {
        const char *f = finders->v[i];
        if (strv_has(&c->j.o.fuzzers, f) || strcmp(f, FINDER_SEEDS) == 0 ||
            strcmp(f, FINDER_IMPORTED) == 0)
            continue;
        struct buf names = BUF_INIT(4096);
        for (size_t k = 0; k < c->j.o.fuzzers.n; k++)
            buf_printf(&names, "%s, ", c->j.o.fuzzers.v[k]);
        int rc = err_usage(e, "no fuzzer '%s' took part in %s; --fuzzer takes: %s%s, %s", f,
                           c->j.out, names.p ? names.p : "", FINDER_SEEDS, FINDER_IMPORTED);
        buf_free(&names);
        return rc;
    }
    return 0;
}

static int open_campaign(struct selection_campaign *c, const char *out, const struct strv *finders,
                         struct err *e)
{
    char *total = NULL;
    int rc = journal_open(&c->j, out, JOURNAL_RECORD, e);
    if (rc == 0 && c->j.simulated)
        rc = err_usage(e, "%s is a simulated campaign ('carol sim'): it has no inputs", out);
    if (rc == 0)
        rc = check_finders(c, finders, e);
    if (rc == 0)
        rc = finder_load(&c->finder, c->j.store, &c->j.o.fuzzers, e);
    if (rc == 0)
        rc = store_get(c->j.store, "build_id", &c->build_id, e);
    if (rc == 0)
        rc = store_get(c->j.store, "edges_total", &total, e);
    c->n_edges = total ? (uint32_t)strtoul(total, NULL, 10) : 0;
    free(total);
    return rc;
}

/* --- the same content in several campaigns ------------------------------------------------------- */

static int by_content(const void *a, const void *b)
{
    const struct chosen *x = *(struct chosen *const *)a, *y = *(struct chosen *const *)b;
    int d = memcmp(x->hash.b, y->hash.b, sizeof x->hash.b);
    return d ? d : x < y ? -1 : 1;
}

/* The first one stays: that of the campaign named first. */
static void drop_twins(struct selection *s)
{
    struct chosen **order = xcalloc(s->n, sizeof *order);
    bool *twin = xcalloc(s->n, sizeof *twin);
    for (size_t i = 0; i < s->n; i++)
        order[i] = &s->v[i];
    if (s->n)
        qsort(order, s->n, sizeof *order, by_content);
    for (size_t i = 1; i < s->n; i++)
        twin[order[i] - s->v] = digest_equal(&order[i - 1]->hash, &order[i]->hash);
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (twin[i])
            chosen_free(&s->v[i]);
        else
            s->v[kept++] = s->v[i];
    }
    s->twice = s->n - kept;
    s->n = kept;
    free(order);
    free(twin);
}

/* --- what they cover ----------------------------------------------------------------------------- */

struct coverage {
    bool *has;
    uint32_t n_edges, covered;
};

/* How many edges the set has, and how many of them are new. */
static int cover(struct coverage *c, const void *edges, size_t size, uint32_t *n, uint32_t *fresh,
                 struct err *e)
{
    struct edges set;
    int rc = edges_decode(edges, size, c->n_edges, &set, e);
    if (rc < 0)
        return rc;
    *n = set.n;
    *fresh = 0;
    for (uint32_t k = 0; k < set.n; k++) {
        *fresh += !c->has[set.ids[k]];
        c->has[set.ids[k]] = true;
    }
    c->covered += *fresh;
    edges_free(&set);
    return 0;
}

int selection_count(struct selection *s, struct err *e)
{
    struct coverage c = {.n_edges = s->n_edges};
    int rc = 0;
    if (!s->comparable)
        return 0;
    c.has = xcalloc(s->n_edges, sizeof *c.has);
    for (size_t i = 0; rc == 0 && i < s->n; i++)
        rc = cover(&c, s->v[i].edges, s->v[i].edges_size, &s->v[i].n_edges, &s->v[i].fresh, e);
    s->covered = c.covered;
    free(c.has);
    return rc;
}

static int cover_row(void *arg, const struct store_seed *seed, struct err *e)
{
    uint32_t n, fresh;
    return seed->state == SEED_DONE ? cover(arg, seed->edges, seed->edges_size, &n, &fresh, e) : 0;
}

static int count_all(struct selection *s, struct err *e)
{
    struct coverage c = {.has = xcalloc(s->n_edges, 1), .n_edges = s->n_edges};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < s->n_campaigns; i++)
        rc = store_results(s->campaigns[i].j.store, cover_row, &c, e);
    s->covered_by_all = c.covered;
    free(c.has);
    return rc;
}

static bool one_build(const struct selection *s)
{
    const struct selection_campaign *c = s->campaigns;
    bool same = c[0].build_id != NULL && c[0].n_edges > 0;
    for (size_t i = 1; same && i < s->n_campaigns; i++)
        same = c[i].build_id && strcmp(c[i].build_id, c[0].build_id) == 0;
    return same;
}

int selection_load(struct selection *s, const struct selection_opts *o, struct err *e)
{
    *s = (struct selection){0};
    s->campaigns = xcalloc(o->n_outs, sizeof *s->campaigns);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < o->n_outs; i++) {
        struct reading r = {.s = s, .o = o, .campaign = i};
        s->n_campaigns++;
        rc = open_campaign(&s->campaigns[i], o->outs[i], o->finders, e);
        if (rc == 0)
            rc = store_results(s->campaigns[i].j.store, take_seed, &r, e);
    }
    if (rc < 0)
        return rc;
    drop_twins(s);
    s->comparable = one_build(s);
    s->n_edges = s->comparable ? s->campaigns[0].n_edges : 0;
    rc = selection_count(s, e);
    return rc < 0 || !s->comparable ? rc : count_all(s, e);
}

void selection_free(struct selection *s)
{
    for (size_t i = 0; i < s->n; i++)
        chosen_free(&s->v[i]);
    for (size_t i = 0; i < s->n_campaigns; i++) {
        finder_free(&s->campaigns[i].finder);
        journal_close(&s->campaigns[i].j);
        free(s->campaigns[i].build_id);
    }
    free(s->v);
    free(s->campaigns);
    *s = (struct selection){0};
}

int selection_read(struct selection *s, const struct chosen *c, store_seed_fn *fn, void *arg,
                   struct err *e)
{
    return store_seed_get(s->campaigns[c->campaign].j.store, c->seed, fn, arg, e);
}

/* --- the few ------------------------------------------------------------------------------------- */

/* The median, at least 1. */
static double usual(double *v, size_t n)
{
    return n ? fmax(1, stats_median(v, (int)n)) : 1;
}

static void price(const struct selection *s, struct setcover_set *sets)
{
    double *size = xcalloc(s->n, sizeof *size), *cpu_us = xcalloc(s->n, sizeof *cpu_us);
    for (size_t i = 0; i < s->n; i++) {
        size[i] = (double)s->v[i].size;
        cpu_us[i] = (double)s->v[i].cpu_us;
    }
    double usual_size = usual(size, s->n), usual_us = usual(cpu_us, s->n);
    for (size_t i = 0; i < s->n; i++)
        sets[i] = (struct setcover_set){.edges = s->v[i].edges,
                                        .edges_size = s->v[i].edges_size,
                                        .cost = 1 + (double)s->v[i].size / usual_size +
                                                (double)s->v[i].cpu_us / usual_us};
    free(size);
    free(cpu_us);
}

static void keep(struct selection *s, const struct setcover *few)
{
    struct chosen *kept = xcalloc(few->n, sizeof *kept);
    bool *stays = xcalloc(s->n, sizeof *stays);
    for (size_t i = 0; i < few->n; i++) {
        kept[i] = s->v[few->v[i].set];
        kept[i].fresh = few->v[i].fresh;
        stays[few->v[i].set] = true;
    }
    for (size_t i = 0; i < s->n; i++)
        if (!stays[i])
            chosen_free(&s->v[i]);
    free(stays);
    free(s->v);
    s->v = kept;
    s->n = s->cap = few->n;
    s->minimised = true;
}

int selection_minimise(struct selection *s, struct err *e)
{
    if (!s->comparable)
        return err_usage(e,
                         "%s and the others were measured on different neutral builds, whose edges "
                         "do not compare: name a build with -b DIR, and every input is measured "
                         "again on that one",
                         s->campaigns[0].j.out);
    struct setcover_set *sets = xcalloc(s->n, sizeof *sets);
    struct setcover few;
    price(s, sets);
    int rc = setcover_find(&few, sets, s->n, s->n_edges, e);
    if (rc == 0) {
        keep(s, &few);
        setcover_free(&few);
    }
    free(sets);
    return rc;
}
