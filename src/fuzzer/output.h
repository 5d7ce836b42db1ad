/* output: what a fuzzer prints: drained from a pipe on the loop into a log file of bounded size.
 *
 *     output_open(&o, loop, "DIR/log", &e);   // o.child_fd goes to the child as 1 and 2
 *     output_started(&o);                     // our copy of the child's end is closed
 *     output_close(&o);                       // takes what is still in the pipe first
 *
 * Lines come without colours and without their newline.  The log keeps the last 64 to 128 KB; the
 * older half is in DIR/log.1. */
#ifndef CAROL_FUZZER_OUTPUT_H
#define CAROL_FUZZER_OUTPUT_H

#include "base/err.h"
#include "proc/loop.h"

#include <stdbool.h>
#include <stddef.h>

struct output {
    struct loop *loop;
    char *path;
    int fd, child_fd, file; /* -1: closed */
    size_t written;
    char line[1024];
    size_t len;
    bool escape;       /* inside an escape sequence */
    const char *noise; /* lines with this in them are not written; NULL: all are */
    char last[256];    /* the last line that looks like the reason of an end */
    bool last_bad;
    void (*on_line)(void *arg, const char *line);
    void *arg;
};

CAROL_MUST_CHECK int output_open(struct output *o, struct loop *l, const char *path, struct err *e);
void output_started(struct output *o);
void output_close(struct output *o);

#endif
