/* part: what the sections of a page share.  A section writes itself from data.h and returns nothing: what is missing is said
 * where it would be. */
#ifndef CAROL_REPORT_PART_H
#define CAROL_REPORT_PART_H

#include "journal/metrics.h"
#include "report/data.h"
#include "report/html.h"
#include "report/svg.h"

/* <section id="..."> with its heading from report_sections; part_end closes it.  False: the record is not read yet, which is
 * said, and the section is closed. */
bool part_begin(const struct report *r, const char *id, struct buf *out);
void part_end(struct buf *out);
/* True when no turn was completed, which is said. */
bool part_empty(const struct report *r, struct buf *out);
/* The fuzzers and their colours: buttons that the script makes switches of. */
void part_legend(const struct report *r, struct buf *out);
/* A metric of the campaign (i is 0), of a fuzzer or a slot, for people, with its exact value beside it. */
void part_value(const struct report *r, enum metric_scope scope, const char *name, int i,
                struct buf *out);
/* That text as a link to the crash among the lineages, where the page has them. */
void part_crash(const struct report *r, int64_t crash, const char *text, struct buf *out);
/* A cell of a heat map: "h0" to "h9". */
const char *part_heat(double v, double most);

/* The time axis of all figures: 0 to the end of what is recorded, in seconds. */
double part_end_s(const struct report *r);
/* Turns in equal parts of that time, fewer of them when there are few turns. */
#define PART_BINS 60
struct part_bins {
    int n;
    double width_s;
    double active[PART_BINS][SCHED_MAX_ARMS]; /* seconds each fuzzer ran */
    double reward[PART_BINS][SCHED_MAX_ARMS]; /* summed */
    uint32_t turns[PART_BINS][SCHED_MAX_ARMS];
    uint32_t warmup[PART_BINS], explored[PART_BINS], exploited[PART_BINS];
};
void part_bins(const struct report *r, struct part_bins *b);

/* Who has which edge, for the script.  The order of sets of fuzzers, for qsort. */
void sharers_write(const struct report *r, struct buf *out);
int sharers_order(const void *a, const void *b);

void glance_write(const struct report *r, struct buf *out);
void coverage_write(const struct report *r, struct buf *out);
void shares_write(const struct report *r, struct buf *out);
void predictions_write(const struct report *r, struct buf *out);
void signals_write(const struct report *r, struct buf *out);
void exploration_write(const struct report *r, struct buf *out);
void finders_write(const struct report *r, struct buf *out);
void imports_write(const struct report *r, struct buf *out);
void lineage_write(const struct report *r, struct buf *out);
void turns_write(const struct report *r, struct buf *out);
void defects_write(const struct report *r, struct buf *out);
void settings_write(const struct report *r, struct buf *out);
/* Several campaigns side by side. */
void compare_write(struct report *const *v, size_t n, struct buf *out);

#endif
