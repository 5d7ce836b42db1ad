/* settings: the options of a campaign in its store: written once at the start, read by --resume,
 * `carol status` and `carol replay`. */
#ifndef CAROL_CAMPAIGN_SETTINGS_H
#define CAROL_CAMPAIGN_SETTINGS_H

#include "campaign/campaign.h"
#include "campaign/fold.h"

CAROL_MUST_CHECK int settings_write(const struct campaign_opts *o, struct store *s, struct err *e);
/* Overwrites every stored field of o. */
CAROL_MUST_CHECK int settings_read(struct campaign_opts *o, struct store *s, struct err *e);
/* What the machine was: settings under "host.". */
CAROL_MUST_CHECK int settings_host(struct store *s, struct err *e);
void settings_fold(const struct campaign_opts *o, const struct table *t, struct fold_settings *s);

#endif
