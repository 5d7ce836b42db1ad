/* host: what about this machine helps or hurts fuzzing, each with its fix.  Reads and tries things
 * that leave no trace; changes nothing. */
#ifndef CAROL_CLI_HOST_H
#define CAROL_CLI_HOST_H

#include <stdbool.h>
#include <stddef.h>

struct host_item {
    const char *id; /* stable name */
    bool ok;
    char *what;
    char *fix; /* NULL when ok */
};

struct host_list {
    struct host_item *v;
    size_t n;
};

void host_check(struct host_list *l); /* overwrites l */
void host_list_free(struct host_list *l);

#endif
