/* journal: a campaign's journal opened for reading, with what is needed to fold it.
 *
 *     struct journal j;
 *     if (journal_open(&j, out, JOURNAL_EDGES, &e) == 0)
 *         replay_journal(&r, j.store, &j.fold, NULL, &e);
 *     fold_free(&r.fold);              // it looks into j.table
 *     journal_close(&j);               // also after a failed open
 *
 * Report, live view, bench, analyses and simulations read campaigns through this module: fold.h (what is
 * known at any moment), replay.h (every decision once more), explain.h (why), status.h (the state now),
 * json.h (the same for programs). */
#ifndef CAROL_JOURNAL_JOURNAL_H
#define CAROL_JOURNAL_JOURNAL_H

#include "journal/fold.h"
#include "journal/settings.h"
#include "store/store.h"
#include "target/manifest.h"
#include "target/table.h"

struct journal {
    const char *out;
    struct store *store; /* one moment of a campaign that may be running */
    struct settings o;
    const char *const *arms;     /* the roster */
    const struct sched_ops *ops; /* the scheduler; NULL: this carol has none of that name */
    struct manifest manifest;
    struct table table;
    struct fold_settings fold;
    bool simulated; /* by `carol sim` */
};

enum journal_part {
    JOURNAL_TURNS =
        0, /* settings, turns and decisions: also of a journal without inputs (store_copy_journal) */
    JOURNAL_RECORD, /* the whole record */
    JOURNAL_EDGES,  /* and the target's neutral table, without which no turn can be folded */
};
CAROL_MUST_CHECK int journal_open(struct journal *j, const char *out, enum journal_part part,
                                  struct err *e);
void journal_close(struct journal *j);

#endif
