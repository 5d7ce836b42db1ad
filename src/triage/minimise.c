/* minimise: asks the builds about one candidate after another.  Writes nothing. */
#include "triage/minimise.h"

#include "base/die.h"
#include "triage/defect.h"
#include "triage/look.h"
#include "triage/shrink.h"

#include <stdlib.h>
#include <string.h>

struct minimise {
    struct lab *lab;
    struct loop *loop;
    struct minimise_spec s;
    minimise_fn *fn;
    void *arg;
    struct shrink *shrink;
    struct look *look; /* the last check */
    const void *candidate;
    size_t size;
    int64_t runs;
    bool complete;
};

static void dispose(struct minimise *m)
{
    shrink_free(m->shrink);
    free(m);
}

static void finish(struct minimise *m, const void *data, size_t size)
{
    struct smallest s = {.data = data, .size = size, .runs = m->runs, .complete = m->complete};
    m->fn(m->arg, &s, NULL);
    dispose(m);
}

static void give_up(struct minimise *m, const struct err *e)
{
    m->fn(m->arg, NULL, e);
    dispose(m);
}

/* The smallest must fail as surely as the one it was made from; else that one stays. */
static void on_last_check(void *arg, struct verdict *v)
{
    struct minimise *m = arg;
    const void *data;
    size_t size;
    shrink_best(m->shrink, &data, &size);
    m->look = NULL;
    bool sure = v->plain_hits == CONFIRM_RUNS;
    finish(m, sure ? data : m->s.data, sure ? size : m->s.size);
}

static void last_check(struct minimise *m)
{
    struct look_spec s = {.kind = LOOK_CONFIRM, .cpu = -1};
    struct err e = {0};
    shrink_best(m->shrink, &s.data, &s.size);
    if (!m->s.confirmed)
        finish(m, s.data, s.size);
    else if (look_start(&m->look, m->lab, &s, on_last_check, m, &e) < 0)
        give_up(m, &e);
}

static void try_next(struct minimise *m);

static void on_asan(void *arg, struct shot *s)
{
    struct minimise *m = arg;
    char bucket[BUCKET_LEN] = "";
    if (s->known)
        report_bucket(&s->r, bucket);
    shrink_tell(m->shrink, strcmp(bucket, m->s.bucket) == 0);
    try_next(m);
}

static void shoot(struct minimise *m, enum family f, shot_fn *fn)
{
    struct err e = {0};
    struct shot_spec spec = {
        .family = f, .data = m->candidate, .size = m->size, .cpu = -1, .quick = f == FAMILY_PLAIN};
    m->runs++;
    if (lab_shoot(m->lab, &spec, fn, m, &e) < 0)
        give_up(m, &e);
}

/* What runs through on the plain build need not be asked about. */
static void on_plain(void *arg, struct shot *s)
{
    struct minimise *m = arg;
    if (s->hit) {
        shoot(m, FAMILY_ASAN, on_asan);
        return;
    }
    shrink_tell(m->shrink, false);
    try_next(m);
}

static void try_next(struct minimise *m)
{
    m->complete = !shrink_next(m->shrink, &m->candidate, &m->size);
    if (m->complete || loop_now(m->loop) >= m->s.until)
        last_check(m);
    else if (m->s.confirmed)
        shoot(m, FAMILY_PLAIN, on_plain);
    else
        shoot(m, FAMILY_ASAN, on_asan);
}

void minimise_start(struct minimise **out, struct lab *lab, struct loop *l,
                    const struct minimise_spec *s, minimise_fn *fn, void *arg)
{
    struct minimise *m = *out = xcalloc(1, sizeof *m);
    *m = (struct minimise){.lab = lab, .loop = l, .s = *s, .fn = fn, .arg = arg};
    m->shrink = shrink_new(s->data, s->size);
    try_next(m);
}

void minimise_cancel(struct minimise *m)
{
    if (!m)
        return;
    look_cancel(m->look);
    lab_forget(m->lab, m);
    dispose(m);
}
