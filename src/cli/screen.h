/* screen: a person watching a campaign: one calm screen on a terminal, plain lines otherwise. */
#ifndef CAROL_CLI_SCREEN_H
#define CAROL_CLI_SCREEN_H

#include "campaign/campaign.h"

struct screen;

/* fd: where to draw; a terminal gets the screen, anything else a line now and then. */
struct screen *screen_new(int fd, bool quiet);
/* Where the campaign's page is served, to be shown; lives as long as the screen. */
void screen_address(struct screen *s, const char *url);
void screen_draw(void *screen, const struct campaign *c); /* a campaign_watch_fn */
void screen_free(struct screen *s); /* leaves the last picture; log lines go to stderr again */

#endif
