/* state: what `carol status --json` and /api/status say: one writer for both. */
#ifndef CAROL_TRIAGE_STATE_H
#define CAROL_TRIAGE_STATE_H

#include "base/buf.h"
#include "journal/status.h"
#include "triage/defect.h"

/* Schema 1, line end included. */
void state_json(const struct status *st, const struct defects *d, struct buf *out);

#endif
