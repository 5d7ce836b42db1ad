/* address: where to listen: from the user's words to a socket. */
#ifndef CAROL_WEB_ADDRESS_H
#define CAROL_WEB_ADDRESS_H

#include "base/err.h"

#include <stdbool.h>

struct address {
    char host[256]; /* without brackets */
    char port[8];
};

/* ADDR:PORT, [ADDR]:PORT, ADDR, PORT or :PORT; what is left out is that of WEB_ADDRESS. */
CAROL_MUST_CHECK int address_parse(const char *text, struct address *a, struct err *e);
/* A listening socket, -1 if there is none.  *shown: ADDR:PORT as it goes into a URL, with the port that was given; the caller frees. */
CAROL_MUST_CHECK int address_listen(const struct address *a, int *fd, char **shown, bool *loopback,
                                    struct err *e);

#endif
