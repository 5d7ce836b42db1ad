/* json: what the journal says, for programs: the fields of METHOD §18, schema 1, computed nowhere else. */
#ifndef CAROL_JOURNAL_JSON_H
#define CAROL_JOURNAL_JSON_H

#include "journal/explain.h"
#include "journal/journal.h"
#include "journal/status.h"

#include <jansson.h>

json_t *status_json(const struct status *st);
/* One decision and what came of it; why: explain_why. */
json_t *explain_turn_json(const struct journal *j, const struct explained *x, const char *why);
/* The choices of a campaign and what moved them. */
json_t *influence_json(const struct journal *j, const struct influence *f);

/* Bytes as text, such as a path; those that are not UTF-8 are written as \xNN. */
json_t *json_bytes(const char *s);

#endif
