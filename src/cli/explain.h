/* explain: what the two halves of `carol explain` share: one decision is printed by explain_turn.c. */
#ifndef CAROL_CLI_EXPLAIN_H
#define CAROL_CLI_EXPLAIN_H

#include "campaign/campaign.h"
#include "campaign/explain.h"

#include <jansson.h>

/* What is asked about, and the words for it. */
struct subject {
    const char *out;
    const struct campaign_opts *o;
    const struct sched_ops *ops;
    const char *const *arms;
    bool simulated; /* a journal of carol sim: said with every answer */
};

json_t *explain_turn_json(const struct subject *s, const struct explained *x, const char *why);
void explain_turn_text(const struct subject *s, const struct explained *x, const char *why);

#endif
