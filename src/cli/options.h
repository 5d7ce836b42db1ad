/* options: the command line of a campaign, from the table of journal/settings.h. */
#ifndef CAROL_CLI_OPTIONS_H
#define CAROL_CLI_OPTIONS_H

#include "base/buf.h"
#include "journal/settings.h"

/* Defaults, then what is typed; the words after -- are the target's arguments.  *help: that was asked for, and
 * nothing else counts.  With --resume only settings that may change are taken. */
CAROL_MUST_CHECK int options_parse(struct settings *s, int argc, char **argv, bool *help,
                                   struct err *e);
/* A line or two for each. */
void options_help(struct buf *out);
/* Is one of these scheduler options the word help? */
bool options_ask_help(const char *params);

#endif
