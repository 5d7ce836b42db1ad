/* contextual: its words, which contextual.c and contextual_why.c share. */
#ifndef CAROL_SCHED_CONTEXTUAL_H
#define CAROL_SCHED_CONTEXTUAL_H

#include "sched/sched.h"

/* Nothing was drawn for d: it was a warm-up turn, or nothing could run. */
bool contextual_undrawn(const struct decision *d);
void contextual_why(const struct decision *d, const char *const *arms, struct buf *out);

#endif
