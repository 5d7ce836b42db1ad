/* guard: method, host, origin, token, in this order.  Knows nothing of connections. */
#include "web/guard.h"

#include "base/str.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool guard_same(const char *given, const char token[GUARD_TOKEN + 1], size_t given_len)
{
    unsigned differ = given_len != GUARD_TOKEN;
    for (size_t i = 0; i < GUARD_TOKEN; i++)
        differ |= (unsigned char)token[i] ^ (unsigned char)(i < given_len ? given[i] : 0);
    return differ == 0;
}

static bool is_port(const char *s)
{
    size_t n = strspn(s, "0123456789");
    return n <= 5 && s[n] == '\0';
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcasecmp(name, *names) != 0)
        names++;
    return *names;
}

bool guard_host(const char *host, const char *const *names)
{
    char name[256];
    unsigned char ip[16];
    bool bracket = host[0] == '[';
    const char *end = bracket ? strchr(host, ']') : host + strcspn(host, ":");
    size_t n = end ? (size_t)(end - host) - bracket : 0;
    if (n == 0 || n >= sizeof name)
        return false;
    const char *after = end + bracket;
    if (*after && !(*after == ':' && is_port(after + 1)))
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, host + bracket);
    if (bracket)
        return inet_pton(AF_INET6, name, ip) == 1;
    return inet_pton(AF_INET, name, ip) == 1 || strcasecmp(name, "localhost") == 0 ||
           is_among(name, names);
}

/* From a page of ours, or from no page. */
static bool origin_is_ours(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return !origin ||
           (str_starts(origin, scheme) && strcasecmp(origin + strlen(scheme), host) == 0);
}

static bool knows_token(const struct guard_request *r, const char *token)
{
    static const char bearer[] = "Bearer ";
    const char *said = r->authorization;
    if (said && strncasecmp(said, bearer, strlen(bearer)) == 0)
        return guard_same(said + strlen(bearer), token, strlen(said + strlen(bearer)));
    return r->token && guard_same(r->token, token, strlen(r->token));
}

int guard_check(const struct guard_request *r, const char token[GUARD_TOKEN + 1],
                const char *const *names, const char **rest, const char **why)
{
    const char *path = r->path[0] == '/' ? r->path + 1 : r->path;
    size_t first = strcspn(path, "/");
    *why = NULL;
    if (strcmp(r->method, "GET") != 0) {
        *why = "only GET is answered here: nothing can be changed over the web";
        return 405;
    }
    if (!r->host) {
        *why = "the request names no Host";
        return 400;
    }
    if (!guard_host(r->host, names)) {
        *why = "this server answers to its address, localhost, the machine's own name and the one "
               "it was given";
        return 421;
    }
    if (!origin_is_ours(r->origin, r->host)) {
        *why = "a page from elsewhere may not ask";
        return 403;
    }
    if (guard_same(path, token, first)) {
        *rest = path[first] ? path + first + 1 : NULL;
        return 0;
    }
    if (knows_token(r, token)) {
        *rest = path;
        return 0;
    }
    *why = "the address lacks the token: open the whole line that carol printed";
    return 403;
}
