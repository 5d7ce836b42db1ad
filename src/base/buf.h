/* buf: a growable run of bytes with a maximum, always followed by a NUL that is not counted.
 *
 *     struct buf b = BUF_INIT(1 << 20);
 *     buf_printf(&b, "%s,", name);       // never fails before the maximum; past it sets b.over
 *     ...
 *     buf_free(&b);
 *
 * Past the maximum nothing more is appended and `over` stays set; check it once at the end. */
#ifndef CAROL_BASE_BUF_H
#define CAROL_BASE_BUF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
    char *p;
    size_t len, cap, max;
    bool over;
};

#define BUF_INIT(maximum) {.max = (maximum)}
#define BUF_TEXT_MAX ((size_t)64 << 20)

void buf_free(struct buf *b);  /* frees, back to empty with the same maximum */
void buf_clear(struct buf *b); /* empties, keeps the memory */
void buf_add(struct buf *b, const void *data, size_t n);
void buf_str(struct buf *b, const char *s);
/* A field of a CSV file: in quotes where it must be. */
void buf_csv(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) CAROL_PRINTF(2, 3);
/* Room for n more bytes at the end, or NULL past the maximum; commit with b->len += used. */
char *buf_room(struct buf *b, size_t n);
/* The NUL-terminated content, to be freed by the caller; b becomes empty. */
char *buf_take(struct buf *b);

#endif
