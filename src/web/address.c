/* address: reads ADDR:PORT and listens there.  Accepts nobody. */
#include "web/address.h"

#include "base/str.h"
#include "web/web.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 64

static int split(const char *text, struct address *a, struct err *e)
{
    const char *host = text, *port = NULL, *colon = strrchr(text, ':');
    size_t n = strlen(text);
    if (text[0] == '[') {
        const char *end = strchr(text, ']');
        if (!end || (end[1] && end[1] != ':'))
            return err_usage(e, "--web: '%s' is not ADDR:PORT", text);
        host = text + 1;
        n = (size_t)(end - host);
        port = end[1] ? end + 2 : NULL;
    } else if (n && strspn(text, "0123456789") == n) {
        port = text;
        n = 0;
    } else if (colon && strchr(text, ':') == colon) {
        port = colon + 1;
        n = (size_t)(colon - text);
    } /* several colons without brackets: an IPv6 address alone */
    if (n >= sizeof a->host)
        return err_usage(e, "--web: '%s' is too long for an address", text);
    if (n)
        snprintf(a->host, sizeof a->host, "%.*s", (int)n, host);
    if (port && *port)
        snprintf(a->port, sizeof a->port, "%.7s", port);
    return 0;
}

int address_parse(const char *text, struct address *a, struct err *e)
{
    uint64_t port;
    *a = (struct address){{0}, {0}};
    int rc = split(WEB_ADDRESS, a, e);
    if (rc == 0 && text)
        rc = split(text, a, e);
    return rc < 0 ? rc : str_to_u64(a->port, "--web: the port", 0, 65535, &port, e);
}

static bool is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)sa;
        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *in = (const void *)sa;
    return IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
}

static int listen_on(const struct addrinfo *ai, const struct address *a, int *fd, struct err *e)
{
    int s = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0)
        return err_sys(e, "--web: socket");
    /* a server that just ended leaves its port behind for a minute; two at once it does not permit */
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(s, ai->ai_addr, ai->ai_addrlen) < 0 || listen(s, BACKLOG) < 0) {
        bool taken = errno == EADDRINUSE;
        int rc = err_sys(e, "--web: cannot listen on %s, port %s", a->host, a->port);
        bool six = strchr(a->host, ':') != NULL;
        if (taken)
            err_usage(
                e, "port %s of %s is taken by another program; --web %s%s%s:0 takes any free port",
                a->port, a->host, six ? "[" : "", a->host, six ? "]" : "");
        else if (e)
            e->exit = ERR_EXIT_USAGE;
        close(s);
        return rc;
    }
    *fd = s;
    return 0;
}

/* The address as browsers take it. */
static int shown_address(int fd, char **shown, struct err *e)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;
    char host[INET6_ADDRSTRLEN], port[8];
    if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
        return err_sys(e, "--web: getsockname");
    if (getnameinfo((struct sockaddr *)&sa, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return err_set(e, -EINVAL, "--web: the address of the socket cannot be shown");
    if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0) /* all addresses: this one, too */
        snprintf(host, sizeof host, "%s", sa.ss_family == AF_INET6 ? "::1" : "127.0.0.1");
    *shown = str_fmt(sa.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return 0;
}

int address_listen(const struct address *a, int *fd, char **shown, bool *loopback, struct err *e)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    int why = getaddrinfo(a->host, a->port, &hints, &list);
    if (why != 0)
        return err_usage(e, "--web: there is no address '%s' (%s); the default is %s", a->host,
                         gai_strerror(why), WEB_ADDRESS);
    int rc = listen_on(list, a, fd, e);
    if (rc == 0) {
        *loopback = is_loopback(list->ai_addr);
        rc = shown_address(*fd, shown, e); /* the caller closes it, whatever this says */
    }
    freeaddrinfo(list);
    return rc;
}
