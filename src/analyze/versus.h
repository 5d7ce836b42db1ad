/* versus: several models against a first one by their errors on the same campaigns: a table per target and model, and a
 * summary over the targets. */
#ifndef CAROL_ANALYZE_VERSUS_H
#define CAROL_ANALYZE_VERSUS_H

#include "analyze/contrast.h"
#include "analyze/study.h"

struct versus {
    const struct study *s;
    const char *name; /* of the table */
    const char *title;
    const char *base;         /* what the first one is, in words */
    const char *const *names; /* of the models */
    size_t models;            /* with the first one */
    bool within;   /* Holm over the models of a target; else over the targets, for each model */
    double *error; /* [model][camp]; NaN: none */
    void *arg;     /* of whoever computes the errors */
};

void versus_init(struct versus *v); /* error: room for all, NaN */
void versus_free(struct versus *v);
double *versus_at(const struct versus *v, size_t model, size_t camp);
/* How model m does on a target; Holm's correction as the table has it. */
void versus_contrasts(const struct versus *v, struct contrast *c); /* [model][target] */
/* Both tables. */
void versus_put(const struct versus *v, struct grids *out);

#endif
