/* settings: the options of a campaign in its store: written once at the start, read by --resume,
 * `carol status` and `carol replay`. */
#ifndef CAROL_CAMPAIGN_SETTINGS_H
#define CAROL_CAMPAIGN_SETTINGS_H

#include "campaign/campaign.h"
#include "campaign/fold.h"

CAROL_MUST_CHECK int settings_write(const struct campaign_opts *o, struct store *s, struct err *e);
/* Check the scheduler and its options, and put the values in force into o->params, so that the journal
 * names every constant it was decided with. */
CAROL_MUST_CHECK int settings_resolve(struct campaign_opts *o, const struct table *t,
                                      struct err *e);
/* Overwrites every stored field of o. */
CAROL_MUST_CHECK int settings_read(struct campaign_opts *o, struct store *s, struct err *e);
/* What the machine was: settings under "host.". */
CAROL_MUST_CHECK int settings_host(struct store *s, struct err *e);
/* A budget changed by a resume: in force from decision number t on.  Replay asks for it again. */
CAROL_MUST_CHECK int settings_set_budget(struct store *s, int64_t t, int64_t ns, struct err *e);
bool settings_budget_at(struct store *s, int64_t t, int64_t *ns);
/* Edge numbers mean nothing on another build than the one the campaign was begun on. */
CAROL_MUST_CHECK int settings_check_build(struct store *s, const struct table *t, const char *build,
                                          struct err *e);
void settings_fold(const struct campaign_opts *o, const struct table *t, struct fold_settings *s);

#endif
