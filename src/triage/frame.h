/* frame: one line of a stack as sanitizers print it, and whose code it is.
 *
 *     struct frame f;
 *     if (frame_parse(&f, line, len)) ...       // "    #3 0x55ed in parse /src/p.c:12:5"
 *     frame_free(&f);
 *
 * Pure: looks at text only. */
#ifndef CAROL_TRIAGE_FRAME_H
#define CAROL_TRIAGE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame {
    int n;
    uint64_t pc;
    char *function; /* normalised (frame_function); "" unknown */
    char *file;     /* "" unknown */
    int line;
    char *module; /* of a frame without a source line; "" unknown */
    uint64_t offset;
};

bool frame_parse(struct frame *f, const char *line, size_t len);
void frame_free(struct frame *f);

/* A function's name without its return type, parameters, template arguments and the compiler's suffixes: the same
 * whatever it is instantiated with.  Free it. */
char *frame_function(const char *name);

/* Whose code is it? */
enum frame_owner {
    FRAME_RUNTIME = 0, /* C and C++ libraries, sanitizers, our driver, a fuzzer's */
    FRAME_UNKNOWN,     /* no source line is known: perhaps a library's */
    FRAME_OWN,         /* the target's, its harness included */
};
enum frame_owner frame_owner(const struct frame *f);
/* The harness, or main: what calls the entry point. */
bool frame_is_harness(const struct frame *f);

#endif
