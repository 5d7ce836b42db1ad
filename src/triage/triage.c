/* triage: which input is looked at next, on which lane, and where the result goes.  What a look is, is in look.c; what
 * a result means, in report.c and defect.c. */
#include "triage/triage.h"

#include "base/die.h"
#include "base/log.h"
#include "fuzzer/fuzzer.h"
#include "triage/defect.h"
#include "triage/look.h"
#include "triage/shrink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIRM_TRIES 3 /* inputs of one defect that are tried */
#define LANES_MAX 64

/* A crash or hang. */
struct item {
    int64_t id;
    bool hang, done, tried;
    enum triage_outcome outcome;
    size_t size;
    int arm, signal;
    char defect[BUCKET_LEN]; /* "": none */
    int asan_runs, asan_hits, plain_runs, plain_hits;
};

/* A defect on its way. */
struct group {
    char id[BUCKET_LEN];
    bool hang, confirmed, busy, minimised;
    int tries;
};

struct lane {
    struct triage *t;
    struct item *item; /* NULL: idle, or minimising */
    struct group *group;
    struct look *look;
    struct buf data;
    struct timer next;
    bool busy;
    /* minimising */
    struct shrink *shrink;
    const void *candidate;
    size_t candidate_size;
    int64_t until, runs;
    bool complete;
};

struct triage {
    struct loop *loop;
    struct store *store;
    struct triage_opts o;
    struct lab *lab;
    struct item *items;
    size_t n, cap, cursor;
    struct group *groups;
    size_t n_groups, cap_groups;
    struct lane lane[LANES_MAX];
    int n_lanes;
    enum triage_part part;
    size_t part_done, part_total, hangs_run, hangs_left;
    bool over;
};

const char *triage_part_name(enum triage_part p)
{
    static const char *const names[] = {[PART_BUCKETS] = "run again on the asan build",
                                        [PART_CONFIRM] = "confirmed on the plain build",
                                        [PART_MINIMISE] = "minimised",
                                        [PART_HANGS] = "hangs run again",
                                        [PART_CONFIRM_HANGS] = "confirmed on the plain build",
                                        [PART_OVER] = "done"};
    return names[p];
}

/* --- what there is ------------------------------------------------------------------------------ */

static struct item *find_item(struct triage *t, int64_t id)
{
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->items[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->n && t->items[lo].id == id ? &t->items[lo] : NULL;
}

static int add_item(void *arg, const struct store_crash *c, struct err *e)
{
    struct triage *t = arg;
    (void)e;
    XGROW(t->items, t->n, t->cap);
    t->items[t->n++] = (struct item){
        .id = c->id, .hang = c->hang, .size = c->size, .arm = c->arm, .signal = c->signal};
    return 0;
}

static int add_row(void *arg, const struct store_triage *r, const struct store_crash *c,
                   struct err *e)
{
    struct triage *t = arg;
    (void)e;
    struct item *i = find_item(t, c->id);
    if (!i || strcmp(r->build, lab_builds(t->lab)) != 0 || r->outcome == TRIAGE_BROKEN)
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

static int load(struct triage *t, struct err *e)
{
    struct store_fact build = {"triage.build", lab_builds(t->lab)};
    char *was;
    int rc = store_get(t->store, build.key, &was, e);
    if (rc == 0 && was && strcmp(was, build.value) != 0)
        log_info("the builds are not those of the last triage: everything is run again");
    if (rc == 0 && (!was || strcmp(was, build.value) != 0))
        rc = store_put(t->store, &build, 1, e);
    free(was);
    if (rc == 0) /* "": no row is of that build, so every crash is listed */
        rc = store_untriaged(t->store, "", 0, add_item, t, e);
    return rc < 0 ? rc : store_triage_rows(t->store, add_row, t, e);
}

static bool is_sure(const struct item *i)
{
    return is_confirmed(i->outcome, i->plain_runs, i->plain_hits);
}

static struct group *group_of(struct triage *t, const char *id)
{
    for (size_t i = 0; i < t->n_groups; i++)
        if (strcmp(t->groups[i].id, id) == 0)
            return &t->groups[i];
    XGROW(t->groups, t->n_groups, t->cap_groups);
    struct group *g = &t->groups[t->n_groups++];
    *g = (struct group){0};
    snprintf(g->id, sizeof g->id, "%s", id);
    return g;
}

static int mark_minimised(void *arg, const struct store_minimised *m, struct err *e)
{
    struct triage *t = arg;
    (void)e;
    for (size_t i = 0; strcmp(m->build, lab_builds(t->lab)) == 0 && i < t->n_groups; i++)
        t->groups[i].minimised = t->groups[i].minimised || strcmp(t->groups[i].id, m->defect) == 0;
    return 0;
}

/* Of the items as they are now.  No lane points to a group then. */
static int make_groups(struct triage *t, struct err *e)
{
    t->n_groups = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct item *x = &t->items[i];
        if (!*x->defect)
            continue;
        struct group *g = group_of(t, x->defect);
        g->confirmed = g->confirmed || is_sure(x);
        g->hang = g->hang || x->hang;
        g->tries += x->tried;
    }
    return store_minimised(t->store, mark_minimised, t, e);
}

/* --- ending ------------------------------------------------------------------------------------- */

static void lane_rest(struct lane *l)
{
    l->busy = false;
    l->item = NULL;
    l->group = NULL;
    l->look = NULL;
    shrink_free(l->shrink);
    l->shrink = NULL;
    buf_free(&l->data);
}

static void stop(struct triage *t, int rc, const struct err *e)
{
    if (t->over)
        return;
    t->over = true;
    for (int i = 0; i < t->n_lanes; i++)
        loop_timer_clear(t->loop, &t->lane[i].next);
    t->o.done(t->o.arg, rc, e);
}

static void wake(struct triage *t)
{
    for (int i = 0; i < t->n_lanes; i++)
        if (!t->lane[i].busy && !t->over)
            loop_timer(t->loop, &t->lane[i].next, loop_now(t->loop));
}

/* What the lane did is stored, or could not be. */
static void lane_free(struct lane *l, int rc, const struct err *e)
{
    lane_rest(l);
    if (rc < 0)
        stop(l->t, rc, e);
    else
        wake(l->t);
}

static bool all_idle(const struct triage *t)
{
    for (int i = 0; i < t->n_lanes; i++)
        if (t->lane[i].busy)
            return false;
    return true;
}

/* --- one look ----------------------------------------------------------------------------------- */

static int keep_bytes(void *arg, const struct store_crash *c, struct err *e)
{
    struct lane *l = arg;
    (void)e;
    buf_free(&l->data);
    l->data = (struct buf)BUF_INIT(c->size + 1);
    buf_add(&l->data, c->data, c->size);
    return 0;
}

struct store_triage triage_row(const struct verdict *v, int64_t crash, const char *build,
                               char *bucket)
{
    struct store_triage r = {.crash = crash,
                             .build = build,
                             .outcome = v->outcome,
                             .defect = bucket,
                             .asan_runs = v->asan_runs,
                             .asan_hits = v->asan_hits,
                             .plain_runs = v->plain_runs,
                             .plain_hits = v->plain_hits,
                             .plain_signal = v->plain_signal,
                             .cpu_us = v->cpu_us,
                             .why = v->why,
                             .report = v->text};
    bucket[0] = '\0';
    bool defect = v->known && (v->outcome == TRIAGE_CRASH || v->outcome == TRIAGE_HANG ||
                               v->outcome == TRIAGE_OOM);
    if (!defect)
        return r;
    report_bucket(&v->r, bucket);
    r.function = v->r.function;
    r.file = v->r.file;
    r.line = v->r.line;
    r.fault = v->r.fault;
    r.entry = v->r.entry;
    r.access = v->r.access;
    r.bytes = v->r.bytes;
    r.address = v->r.address;
    r.cwe = v->r.cwe;
    r.withheld = v->r.withheld;
    return r;
}

static void take_counts(struct item *i, const struct verdict *v)
{
    i->asan_runs = v->asan_runs;
    i->asan_hits = v->asan_hits;
    i->plain_runs = v->plain_runs;
    i->plain_hits = v->plain_hits;
    i->tried = i->tried || v->plain_runs || *v->why;
}

static void on_bucket(void *arg, struct verdict *v)
{
    struct lane *l = arg;
    struct triage *t = l->t;
    struct err e = {0};
    char bucket[BUCKET_LEN];
    struct store_triage row = triage_row(v, l->item->id, lab_builds(t->lab), bucket);
    int rc = store_triage_put(t->store, &row, &e);
    l->item->done = true;
    l->item->outcome = v->outcome;
    snprintf(l->item->defect, sizeof l->item->defect, "%s", bucket);
    take_counts(l->item, v);
    t->part_done++;
    lane_free(l, rc, &e);
}

static void on_confirm(void *arg, struct verdict *v)
{
    struct lane *l = arg;
    struct triage *t = l->t;
    struct err e = {0};
    struct store_triage row = {.crash = l->item->id,
                               .build = lab_builds(t->lab),
                               .asan_runs = v->asan_runs ? v->asan_runs : l->item->asan_runs,
                               .asan_hits = v->asan_runs ? v->asan_hits : l->item->asan_hits,
                               .plain_runs = v->plain_runs,
                               .plain_hits = v->plain_hits,
                               .plain_signal = v->plain_signal,
                               .cpu_us = v->cpu_us,
                               .why = v->why};
    int rc = store_triage_confirm(t->store, &row, &e);
    take_counts(l->item, v);
    l->item->asan_runs = row.asan_runs;
    l->item->asan_hits = row.asan_hits;
    l->item->tried = true;
    l->group->tries++;
    l->group->confirmed = is_sure(l->item);
    l->group->busy = false;
    t->part_done += l->group->confirmed || l->group->tries == CONFIRM_TRIES;
    lane_free(l, rc, &e);
}

static enum family finder_of(const struct triage *t, const struct item *i)
{
    int n = 0;
    while (t->o.roster && t->o.roster[n])
        n++;
    return i->arm >= 0 && i->arm < n ? fuzzer_family(t->o.roster[i->arm]) : FAMILY_NONE;
}

/* 1: it has begun.  An input whose bytes are lost is set aside; the rest goes on. */
static int look_at(struct lane *l, struct item *i, enum look_kind kind, look_fn *fn, struct err *e)
{
    struct triage *t = l->t;
    struct err why = {0};
    if (store_crash_get(t->store, i->id, keep_bytes, l, &why) < 0) {
        struct store_triage row = {
            .crash = i->id, .build = lab_builds(t->lab), .outcome = TRIAGE_BROKEN, .why = why.msg};
        log_warn("crash %lld is set aside: %s", (long long)i->id, why.msg);
        i->done = i->tried = true;
        i->defect[0] = '\0';
        t->part_done++;
        return store_triage_put(t->store, &row, e);
    }
    struct look_spec s = {.kind = kind,
                          .data = l->data.p ? l->data.p : "",
                          .size = l->data.len,
                          .cpu = -1,
                          .finder = finder_of(t, i),
                          .signal = i->signal};
    int rc = look_start(&l->look, t->lab, &s, fn, l, e);
    l->busy = rc == 0;
    l->item = i;
    return rc < 0 ? rc : 1;
}

/* --- minimising --------------------------------------------------------------------------------- */

static void try_next(struct lane *l);

static void minimised(struct lane *l, const void *data, size_t size)
{
    struct triage *t = l->t;
    struct err e = {0};
    struct store_minimised m = {.defect = l->group->id,
                                .build = lab_builds(t->lab),
                                .crash = l->item->id,
                                .runs = l->runs,
                                .done = l->complete,
                                .data = data,
                                .size = size};
    int rc = store_minimised_put(t->store, &m, &e);
    l->group->minimised = true;
    l->group->busy = false;
    t->part_done++;
    lane_free(l, rc, &e);
}

/* The smallest must fail as surely as the one it was made from; else that one stays. */
static void on_last_check(void *arg, struct verdict *v)
{
    struct lane *l = arg;
    const void *data;
    size_t size;
    shrink_best(l->shrink, &data, &size);
    l->look = NULL;
    bool sure = v->plain_hits == CONFIRM_RUNS;
    minimised(l, sure ? data : l->data.p, sure ? size : l->data.len);
}

static void end_shrinking(struct lane *l)
{
    const void *data;
    size_t size;
    struct err e = {0};
    shrink_best(l->shrink, &data, &size);
    if (!l->group->confirmed) {
        minimised(l, data, size);
        return;
    }
    struct look_spec s = {.kind = LOOK_CONFIRM, .data = data, .size = size, .cpu = -1};
    if (look_start(&l->look, l->t->lab, &s, on_last_check, l, &e) < 0)
        stop(l->t, e.code, &e);
}

static void on_asan_candidate(void *arg, struct shot *s)
{
    struct lane *l = arg;
    char bucket[BUCKET_LEN] = "";
    if (s->known)
        report_bucket(&s->r, bucket);
    shrink_tell(l->shrink, strcmp(bucket, l->group->id) == 0);
    try_next(l);
}

static void shoot_candidate(struct lane *l, enum family f, shot_fn *fn)
{
    struct err e = {0};
    struct shot_spec spec = {.family = f,
                             .data = l->candidate,
                             .size = l->candidate_size,
                             .cpu = -1,
                             .quick = f == FAMILY_PLAIN};
    l->runs++;
    if (lab_shoot(l->t->lab, &spec, fn, l, &e) < 0)
        stop(l->t, e.code, &e);
}

/* The plain build is the quicker of the two: what runs through there need not be asked about. */
static void on_plain_candidate(void *arg, struct shot *s)
{
    struct lane *l = arg;
    if (s->hit) {
        shoot_candidate(l, FAMILY_ASAN, on_asan_candidate);
        return;
    }
    shrink_tell(l->shrink, false);
    try_next(l);
}

static void try_next(struct lane *l)
{
    l->complete = !shrink_next(l->shrink, &l->candidate, &l->candidate_size);
    if (l->complete || loop_now(l->t->loop) >= l->until)
        end_shrinking(l);
    else
        shoot_candidate(l, l->group->confirmed ? FAMILY_PLAIN : FAMILY_ASAN,
                        l->group->confirmed ? on_plain_candidate : on_asan_candidate);
}

/* 1: it has begun.  A defect whose input is lost stays as it is; the rest goes on. */
static int shrink_it(struct lane *l, struct group *g, struct item *i)
{
    struct triage *t = l->t;
    struct err why = {0};
    if (store_crash_get(t->store, i->id, keep_bytes, l, &why) < 0) {
        log_warn("defect %s is not minimised: %s", g->id, why.msg);
        g->minimised = true;
        t->part_done++;
        return 0;
    }
    l->busy = g->busy = true;
    l->group = g;
    l->item = i;
    l->runs = 0;
    l->until = loop_now(t->loop) + t->o.minimise_ns;
    l->shrink = shrink_new(l->data.p ? l->data.p : "", l->data.len);
    try_next(l);
    return 1;
}

/* --- what next ---------------------------------------------------------------------------------- */

static int next_bucket(struct triage *t, struct lane *l, bool hangs, struct err *e)
{
    for (; t->cursor < t->n; t->cursor++) {
        struct item *i = &t->items[t->cursor];
        if (i->done || i->hang != hangs)
            continue;
        t->cursor++;
        int rc = look_at(l, i, hangs ? LOOK_HANG : LOOK_BUCKET, on_bucket, e);
        if (rc)
            return rc;
        t->cursor--;
    }
    return 0;
}

/* The smallest of a defect's inputs that was not tried. */
static struct item *to_try(struct triage *t, const struct group *g)
{
    struct item *best = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct item *x = &t->items[i];
        if (!x->tried && strcmp(x->defect, g->id) == 0 && (!best || x->size < best->size))
            best = x;
    }
    return best;
}

static bool wants_confirming(const struct group *g)
{
    return !g->confirmed && !g->busy && g->tries < CONFIRM_TRIES;
}

static int next_confirm(struct triage *t, struct lane *l, struct err *e)
{
    for (size_t i = 0; i < t->n_groups; i++) {
        struct group *g = &t->groups[i];
        struct item *x = wants_confirming(g) ? to_try(t, g) : NULL;
        if (!x)
            continue;
        l->group = g;
        int rc = look_at(l, x, LOOK_CONFIRM, on_confirm, e);
        g->busy = rc > 0;
        if (rc)
            return rc;
        i--; /* that one was lost: another of the same */
    }
    return 0;
}

/* The input that counts: sure, then small; nothing that fails only sometimes. */
static struct item *to_shrink(struct triage *t, const struct group *g)
{
    struct item *best = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct item *x = &t->items[i];
        bool sure = is_sure(x) || (!g->confirmed && x->asan_hits && x->asan_hits == x->asan_runs);
        bool asan = x->asan_hits > 0; /* else its bucket cannot be seen again */
        if (strcmp(x->defect, g->id) == 0 && sure && asan && !x->hang &&
            (!best || x->size < best->size))
            best = x;
    }
    return best;
}

static bool wants_shrinking(const struct group *g)
{
    return !g->minimised && !g->busy && !g->hang;
}

static int next_shrink(struct triage *t, struct lane *l)
{
    for (size_t i = 0; t->o.minimise_ns && lab_has(t->lab, FAMILY_ASAN) && i < t->n_groups; i++) {
        struct item *x = wants_shrinking(&t->groups[i]) ? to_shrink(t, &t->groups[i]) : NULL;
        if (x && shrink_it(l, &t->groups[i], x))
            return 1;
    }
    return 0;
}

/* Alone: with other runs beside it, time means little. */
static int next_hang(struct triage *t, struct lane *l, struct err *e)
{
    if (!all_idle(t))
        return 0;
    if (t->o.hangs_max >= 0 && t->hangs_run >= (size_t)t->o.hangs_max)
        return 0;
    int rc = next_bucket(t, l, true, e);
    t->hangs_run += rc > 0;
    return rc;
}

static void begin_part(struct triage *t)
{
    t->cursor = t->part_done = t->part_total = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct item *x = &t->items[i];
        t->part_total += !x->done && x->hang == (t->part == PART_HANGS) &&
                         (t->part == PART_BUCKETS || t->part == PART_HANGS);
    }
    for (size_t i = 0; i < t->n_groups; i++) {
        const struct group *g = &t->groups[i];
        bool confirm = t->part == PART_CONFIRM || t->part == PART_CONFIRM_HANGS;
        t->part_total += confirm && wants_confirming(g) && to_try(t, g);
        t->part_total +=
            t->part == PART_MINIMISE && wants_shrinking(g) && to_shrink(t, g) && t->o.minimise_ns;
    }
    bool some =
        t->part == PART_HANGS && t->o.hangs_max >= 0 && t->part_total > (size_t)t->o.hangs_max;
    if (some) {
        t->hangs_left = t->part_total - (size_t)t->o.hangs_max;
        t->part_total = (size_t)t->o.hangs_max;
    }
}

/* 1: the lane has something to do; 0: nothing in this part. */
static int next_of_part(struct triage *t, struct lane *l, struct err *e)
{
    switch (t->part) {
    case PART_BUCKETS: return next_bucket(t, l, false, e);
    case PART_CONFIRM:
    case PART_CONFIRM_HANGS: return next_confirm(t, l, e);
    case PART_MINIMISE: return next_shrink(t, l);
    case PART_HANGS: return next_hang(t, l, e);
    case PART_OVER: break;
    }
    return 0;
}

static void on_next(void *arg)
{
    struct lane *l = arg;
    struct triage *t = l->t;
    struct err e = {0};
    int rc = 0;
    while (!l->busy && !t->over && (rc = next_of_part(t, l, &e)) == 0 && all_idle(t) &&
           t->part < PART_OVER) {
        t->part++;
        if ((rc = make_groups(t, &e)) < 0)
            break;
        begin_part(t);
        wake(t);
    }
    if (rc < 0)
        stop(t, rc, &e);
    else if (t->part == PART_OVER && all_idle(t))
        stop(t, 0, NULL);
}

/* --- making it ---------------------------------------------------------------------------------- */

int triage_new(struct triage **out, struct loop *l, struct store *s, const struct triage_opts *o,
               struct err *e)
{
    struct triage *t = xcalloc(1, sizeof *t);
    t->loop = l;
    t->store = s;
    t->o = *o;
    t->n_lanes = o->jobs < 1 ? 1 : o->jobs > LANES_MAX ? LANES_MAX : o->jobs;
    for (int i = 0; i < t->n_lanes; i++) {
        t->lane[i].t = t;
        t->lane[i].next = (struct timer){.fn = on_next, .arg = &t->lane[i]};
    }
    int rc = lab_new(&t->lab, l, &o->lab, e);
    if (rc == 0 && !lab_has(t->lab, FAMILY_ASAN) && !lab_has(t->lab, FAMILY_PLAIN))
        rc = err_usage(e,
                       "%s has neither an asan nor a plain build (or their files are gone), so "
                       "nothing can be run "
                       "again: carol build -o %s with the families asan and plain",
                       o->lab.target->dir, o->lab.target->dir);
    if (rc == 0)
        rc = load(t, e);
    if (rc < 0)
        triage_free(t);
    else
        *out = t;
    return rc;
}

int triage_start(struct triage *t, struct err *e)
{
    int rc = make_groups(t, e);
    begin_part(t);
    wake(t);
    return rc;
}

void triage_progress(const struct triage *t, struct triage_progress *p)
{
    *p = (struct triage_progress){.part = t->part,
                                  .done = t->part_done,
                                  .total = t->part_total,
                                  .defects = t->n_groups,
                                  .left_out = t->hangs_left};
}

const struct lab *triage_lab(const struct triage *t)
{
    return t->lab;
}

void triage_free(struct triage *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->n_lanes; i++) {
        struct lane *l = &t->lane[i];
        loop_timer_clear(t->loop, &l->next);
        if (l->look)
            look_cancel(l->look);
        else if (l->busy)
            lab_forget(t->lab, l);
        lane_rest(l);
    }
    lab_free(t->lab);
    free(t->items);
    free(t->groups);
    free(t);
}
