/* state: the JSON of a campaign's state and its defects together.  Reads no record. */
#include "triage/state.h"

#include "journal/json.h"

#include <stdlib.h>
#include <string.h>

/* Who saw how many of them first. */
static void add_finders(json_t *fuzzers, const struct defects *d)
{
    const char *name;
    json_t *x;
    json_object_foreach(fuzzers, name, x)
    {
        json_int_t n = 0;
        for (size_t i = 0; i < d->n; i++)
            n += strcmp(d->v[i].found_by, name) == 0;
        json_object_set_new(x, "defects", json_integer(n));
    }
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
    add_finders(json_object_get(o, "fuzzers"), d);
    json_object_set_new(o, "defects", all_defects(d));
    json_object_set_new(o, "untriaged", json_integer((json_int_t)d->waiting));
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    buf_printf(out, "%s\n", text);
    free(text);
    json_decref(o);
}
