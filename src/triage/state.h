/* state: the state of a campaign and its defects together: one writer of what `carol status --json` and /api/status say. */
#ifndef CAROL_TRIAGE_STATE_H
#define CAROL_TRIAGE_STATE_H

#include "base/buf.h"
#include "journal/status.h"
#include "triage/defect.h"

/* What the metrics say of defects. */
void defects_gauges(const struct defects *d, const struct tally *t, struct gauges *g);
/* What the record in dir has beyond what st knows already (status_update), and its defects; free those. */
CAROL_MUST_CHECK int state_update(struct status *st, struct defects *d, const char *dir,
                                  struct err *e);
/* Schema 1, line end included; st has the numbers of d. */
void state_json(const struct status *st, const struct defects *d, struct buf *out);

#endif
