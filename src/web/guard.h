/* guard: may this request be answered?  Pure: strings in, a status code out. */
#ifndef CAROL_WEB_GUARD_H
#define CAROL_WEB_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_TOKEN 32 /* characters: 128 bits in hex */

/* What of a request says who asks.  NULL: absent. */
struct guard_request {
    const char *method, *path;
    const char *host, *origin, *authorization; /* headers */
    const char *token;                         /* the argument ?token= */
};

/* 0: it may, and *rest is the path below the token, without its slash; NULL: the slash itself is missing.  Otherwise the HTTP
 * status, and *why for people.  names: what else the host may be called; the last is NULL. */
int guard_check(const struct guard_request *r, const char token[GUARD_TOKEN + 1],
                const char *const *names, const char **rest, const char **why);

/* Is that Host header an IP address, localhost or one of the names, with or without a port? */
bool guard_host(const char *host, const char *const *names);
/* Are they the same?  Takes as long whatever they are. */
bool guard_same(const char *given, const char token[GUARD_TOKEN + 1], size_t given_len);

#endif
