/* host: what about this machine helps or hurts fuzzing, each with its fix.  Reads and tries things
 * that leave no trace; changes nothing but the soft limit of open files of this process. */
#ifndef CAROL_CLI_HOST_H
#define CAROL_CLI_HOST_H

#include "base/err.h"

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

/* Before anything is begun.  So many files must be allowed to be open (ulimit -n); the soft limit is raised
 * where it can be, and ERR_EXIT_ENV says what to type where it cannot. */
#define HOST_FILES_BUILD 64
#define HOST_FILES_RUN 256   /* the numbers of a fork server's pipes are near 200 */
#define HOST_FILES_WORKER 24 /* more for each worker of a campaign: its fuzzers and its evaluator */
CAROL_MUST_CHECK int host_need_files(unsigned least, struct err *e);
/* A warning for each other limit that is too low. */
void host_warn_limits(void);

#endif
