/* journal: a campaign's journal opened for reading, with what is needed to fold it.
 *
 *     struct journal j;
 *     if (journal_open(&j, out, true, &e) == 0)
 *         replay_journal(&r, j.store, &j.fold, NULL, &e);
 *     fold_free(&r.fold);              // it looks into j.table
 *     journal_close(&j);               // also after a failed open
 */
#ifndef CAROL_CLI_JOURNAL_H
#define CAROL_CLI_JOURNAL_H

#include "campaign/campaign.h"
#include "campaign/fold.h"
#include "store/store.h"
#include "target/manifest.h"
#include "target/table.h"

struct journal {
    struct store *store; /* in one transaction: one moment of a campaign that may be running */
    struct campaign_opts o;
    struct manifest manifest;
    struct table table;
    struct fold_settings fold;
    bool simulated; /* by `carol sim` */
};

/* edges: also the target's neutral table, without which no turn can be folded. */
CAROL_MUST_CHECK int journal_open(struct journal *j, const char *out, bool edges, struct err *e);
void journal_close(struct journal *j);

#endif
