/* serve: the live page, for the verbs that serve it: opened, and its address printed. */
#ifndef CAROL_CLI_SERVE_H
#define CAROL_CLI_SERVE_H

#include "web/web.h"

/* Prints the URL on a line of its own on standard output; what it means that others can reach it, on standard error. */
CAROL_MUST_CHECK int serve_open(struct web **out, const struct web_opts *o, struct err *e);

#endif
