/* clients: who is connected, and for how long they may take.  Answers nobody. */
#include "web/server.h"

#include "base/die.h"

#include <stdlib.h>
#include <sys/socket.h>

#define HELLO_NS (10 * NS_PER_S) /* to send a request, or the next one */
#define CROWDED (WEB_CLIENTS * 3 / 4)

void client_limit(struct client *c, int64_t within_ns)
{
    c->deadline_ns = within_ns == INT64_MAX ? INT64_MAX : loop_now(c->w->loop) + within_ns;
}

struct client *client_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return i ? i->socket_context : NULL;
}

/* The library sees the end of the connection and cleans up. */
static void disconnect(struct client *c)
{
    c->deadline_ns = INT64_MAX;
    shutdown(c->fd, SHUT_RDWR);
}

/* When it gets crowded, whoever has been here longest without a token makes room. */
void clients_make_room(struct web *w)
{
    struct client *c = w->last_client;
    while (c && (c->known || c->deadline_ns == INT64_MAX))
        c = c->prev;
    if (w->n_clients + w->n_guests > CROWDED && c)
        disconnect(c);
}

static void arrive(struct web *w, struct MHD_Connection *connection, void **slot)
{
    const union MHD_ConnectionInfo *i =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct client *c = xcalloc(1, sizeof *c);
    *c = (struct client){
        .w = w, .connection = connection, .fd = i ? i->connect_fd : -1, .next = w->clients};
    client_limit(c, HELLO_NS);
    if (w->clients)
        w->clients->prev = c;
    else
        w->last_client = c;
    w->clients = *slot = c;
    w->n_clients++;
    web_tick_on(w);
}

static void leave(struct web *w, struct client *c)
{
    *(c->prev ? &c->prev->next : &w->clients) = c->next;
    *(c->next ? &c->next->prev : &w->last_client) = c->prev;
    w->n_clients--;
    free(c);
}

void client_notify(void *web, struct MHD_Connection *connection, void **slot,
                   enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        arrive(web, connection, slot);
    else if (*slot)
        leave(web, *slot);
}

void clients_sweep(struct web *w)
{
    int64_t now = loop_now(w->loop);
    for (struct client *c = w->clients; c; c = c->next)
        if (c->deadline_ns < now)
            disconnect(c);
}
