/* crashes: the crashes and hangs of a record, and the defects that triage made of them. */
#include "report/data.h"

#include "base/die.h"
#include "triage/state.h"

#include <errno.h>
#include <stdio.h>

const struct data_crash *data_crash(const struct report *r, int64_t id)
{
    for (size_t i = 0; i < r->n_crashes; i++)
        if (r->crashes[i].id == id)
            return &r->crashes[i];
    return NULL;
}

static int keep_crash(void *arg, const struct store_crash *c, struct err *e)
{
    (void)e;
    struct report *r = arg;
    XGROW(r->crashes, r->n_crashes, r->cap_crashes);
    struct data_crash *x = &r->crashes[r->n_crashes++];
    char hex[65];
    digest_hex(&c->hash, hex);
    *x = (struct data_crash){.id = c->id,
                             .at_ns = c->found_ns,
                             .parent = c->parent,
                             .turn = c->turn,
                             .size = (uint32_t)c->size,
                             .arm = (int16_t)(c->arm < r->n_arms ? c->arm : NO_ARM),
                             .signal = c->signal,
                             .hang = c->hang,
                             .by_eval = c->by_eval};
    snprintf(x->hash, sizeof x->hash, "%.16s", hex);
    return 0;
}

static int take_crash(void *arg, const struct store_crash *c, struct err *e)
{
    struct report *r = arg;
    r->last_crash = c->id;
    return r->n_crashes < DATA_CRASHES ? keep_crash(r, c, e) : 0;
}

/* The first crash of every defect is on the page, however late it came. */
static int read_late_crashes(struct report *r, struct store *s, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && r->n_crashes >= DATA_CRASHES && i < r->defects.n; i++) {
        int64_t id = r->defects.v[i].first;
        if (!data_crash(r, id))
            rc = store_crash_get(s, id, keep_crash, r, e);
        if (rc == -ENOENT || rc == -EIO || rc == -EUCLEAN)
            rc = 0; /* lost: the page goes without */
    }
    return rc;
}

int crashes_read(struct report *r, struct store *s, struct err *e)
{
    struct defects fresh;
    int rc = store_crash_list(s, r->last_crash, take_crash, r, e);
    if (rc >= 0)
        rc = defects_load(&fresh, s, e);
    if (rc < 0)
        return rc;
    defects_free(&r->defects);
    r->defects = fresh;
    defects_gauges(&r->defects, &r->st.tally, &r->st.gauges);
    return read_late_crashes(r, s, e);
}
