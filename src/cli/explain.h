/* explain: what the two halves of `carol explain` share: one decision is printed by explain_turn.c. */
#ifndef CAROL_CLI_EXPLAIN_H
#define CAROL_CLI_EXPLAIN_H

#include "journal/explain.h"
#include "journal/journal.h"

void explain_turn_text(const struct journal *j, const struct explained *x, const char *why);

#endif
