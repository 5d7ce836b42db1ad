/* state: the JSON of a campaign's state and its defects together.  Judges nothing. */
#include "triage/state.h"

#include "journal/json.h"

#include <stdlib.h>
#include <string.h>

void defects_gauges(const struct defects *d, const struct tally *t, struct gauges *g)
{
    g->defects = d->n;
    g->confirmed = d->confirmed;
    g->triaged = d->rows;
    memset(g->first_defects, 0, sizeof g->first_defects);
    for (size_t i = 0; i < d->n; i++) {
        int arm = tally_find(t, d->v[i].found_by);
        if (arm >= 0)
            g->first_defects[arm]++;
    }
}

int state_update(struct status *st, struct defects *d, const char *dir, struct err *e)
{
    struct store *s = NULL;
    *d = (struct defects){0};
    int rc = store_open(&s, dir, STORE_READ, e);
    if (rc == 0)
        rc = status_update(st, s, dir, e);
    if (rc == 0)
        rc = defects_load(d, s, e);
    if (rc == 0)
        defects_gauges(d, &st->tally, &st->gauges);
    store_close(s);
    return rc;
}

/* One list, in the order in which they were first seen. */
static json_t *all_defects(const struct defects *d)
{
    json_t *o = defects_json(d, NULL), *list = json_incref(json_object_get(o, "defects"));
    json_array_extend(list, json_object_get(o, "unconfirmed"));
    json_decref(o);
    return list;
}

void state_json(const struct status *st, const struct defects *d, struct buf *out)
{
    json_t *o = status_json(st);
    json_object_set_new(o, "defects", all_defects(d));
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    buf_printf(out, "%s\n", text);
    free(text);
    json_decref(o);
}
