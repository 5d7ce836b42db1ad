/* metrics: every number of a campaign's state, declared once: its name, what it is, its unit, and how it is read.
 * The terminal, `carol status --json`, the report, the live page and /metrics all take their numbers from this table,
 * so they are equal.
 *
 *     for (const struct metric *m = metrics; m->name; m++)
 *         for (int i = 0; i < metric_rows(m, &status); i++)
 *             ... metric_label(m, &status, i) ... m->read(&status, i) ...
 *     metrics_prometheus(&status, &text);     // the whole answer of /metrics
 */
#ifndef CAROL_JOURNAL_METRICS_H
#define CAROL_JOURNAL_METRICS_H

#include "base/buf.h"
#include "journal/status.h"

#include <stdbool.h>

/* Of what there is one value each. */
enum metric_scope { METRIC_NONE = 0, METRIC_CAMPAIGN, METRIC_FUZZER, METRIC_SLOT };

enum metric_unit {
    METRIC_COUNT = 1, /* a whole number */
    METRIC_SECONDS,
    METRIC_SHARE,  /* 0 to 1 */
    METRIC_NUMBER, /* anything else */
};

struct metric {
    enum metric_scope scope;
    const char *name; /* in `carol status --json`; NULL: the table ends */
    enum metric_unit unit;
    bool counter;           /* never goes down */
    const char *prometheus; /* its name in /metrics */
    const char *help;       /* one sentence without a full stop */
    double (*read)(const struct status *st, int i);
};
extern const struct metric metrics[];

/* The metric of that scope and name.  Which names there are is known when this is compiled: BUG if none. */
const struct metric *metric_find(enum metric_scope scope, const char *name);
/* Its value, of the campaign (i is 0), a fuzzer or a slot; a count as a whole number. */
double metric_value(const struct status *st, enum metric_scope scope, const char *name, int i);
unsigned long long metric_count(const struct status *st, enum metric_scope scope, const char *name,
                                int i);
/* A count of the campaign's. */
unsigned long long metric_total(const struct status *st, const char *name);
/* How many values it has now: 1, one per fuzzer, or one per slot. */
int metric_rows(const struct metric *m, const struct status *st);
/* The name of its fuzzer, the number of its slot; "" for the campaign's.  Good until the next call. */
const char *metric_label(const struct metric *m, const struct status *st, int i);
/* Prometheus text format 0.0.4: HELP, TYPE and the values of every metric, and carol_state{state="..."} 1. */
void metrics_prometheus(const struct status *st, struct buf *out);

#endif
