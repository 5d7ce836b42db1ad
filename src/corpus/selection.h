/* selection: the seeds of one or several campaigns that somebody asked for, and the few of them that cover the
 * same.
 *
 *     struct selection s;
 *     selection_load(&s, &(struct selection_opts){.outs = outs, .n_outs = n}, &e);
 *     selection_measure(&s, "build", NULL, &e);     // only where the campaigns' builds differ
 *     selection_minimise(&s, &e);
 *     export_write(&s, "dir", &e);                  // corpus/export.h
 *     selection_free(&s);                           // also after a failure
 *
 * A campaign may be running: one moment of it is looked at. */
#ifndef CAROL_CORPUS_SELECTION_H
#define CAROL_CORPUS_SELECTION_H

#include "base/err.h"
#include "base/hash.h"
#include "corpus/finder.h"
#include "journal/journal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct selection_opts {
    const char *const *outs; /* campaigns; must outlive the selection */
    size_t n_outs;
    const struct strv *finders; /* only what these found; NULL or empty: whoever */
    int64_t since_ns;           /* only what was found at this campaign time or later */
    bool any;                   /* also what crashes or hangs the target, or was not measured yet */
};

/* One input. */
struct chosen {
    size_t campaign;
    int64_t seed;
    struct digest hash;
    size_t size;
    uint32_t cpu_us;
    int64_t found_ns;
    const char *finder;
    char *name;
    int status;  /* enum run_status; 0: not measured */
    void *edges; /* edges_encode; NULL: not measured */
    size_t edges_size;
    uint32_t n_edges, fresh; /* how many; those that no input before it has */
};

struct selection_campaign {
    struct journal j;
    struct finder finder;
    char *build_id;
    uint32_t n_edges; /* of its neutral build */
};

struct selection {
    struct selection_campaign *campaigns;
    size_t n_campaigns;
    struct chosen
        *v; /* by campaign, in the order of their numbers; minimised: in the order chosen */
    size_t n, cap;
    bool minimised;
    bool comparable;  /* all were measured on one build, so edges of different campaigns compare */
    uint32_t n_edges; /* of that build */
    uint32_t covered; /* edges of the selected inputs; 0 unless comparable */
    uint32_t covered_by_all; /* edges of everything the campaigns measured; likewise */
    size_t seen;             /* all inputs of the campaigns */
    size_t unfit, pending;   /* left out: crash or hang the target; not measured yet */
    size_t unasked;          /* left out: by somebody else, or earlier */
    size_t twice;            /* the same content in several campaigns */
};

CAROL_MUST_CHECK int selection_load(struct selection *s, const struct selection_opts *o,
                                    struct err *e);
/* Only the few that cover the same neutral edges, the small and fast ones (setcover.h).  An input costs
 * 1 + size / median size + CPU time / median CPU time, medians of what is selected, each at least 1. */
CAROL_MUST_CHECK int selection_minimise(struct selection *s, struct err *e);
/* Run all of them on the neutral build in that directory instead of believing the record, with the limits and
 * arguments of the first campaign.  any: also those stay that do not run through. */
CAROL_MUST_CHECK int selection_measure(struct selection *s, const char *build, const char *target,
                                       bool any, struct err *e);
/* The seed's row with its bytes. */
CAROL_MUST_CHECK int selection_read(struct selection *s, const struct chosen *c, store_seed_fn *fn,
                                    void *arg, struct err *e);
/* Counts n_edges and fresh of each, and covered. */
CAROL_MUST_CHECK int selection_count(struct selection *s, struct err *e);
void selection_free(struct selection *s);

#endif
