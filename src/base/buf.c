/* buf: growable bytes.  Knows nothing of what the bytes mean. */
#include "base/buf.h"

#include "base/die.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->over = false;
    if (b->p)
        b->p[0] = 0;
}

char *buf_room(struct buf *b, size_t n)
{
    if (b->over || n > b->max || b->len > b->max - n) {
        b->over = true;
        return NULL;
    }
    if (b->len + n + 1 > b->cap) {
        size_t cap = b->cap ? b->cap * 2 : 64;
        while (cap < b->len + n + 1)
            cap *= 2;
        b->p = xrealloc(b->p, cap);
        b->cap = cap;
    }
    return b->p + b->len;
}

void buf_add(struct buf *b, const void *data, size_t n)
{
    char *at = buf_room(b, n);
    if (!at)
        return;
    if (n)
        memcpy(at, data, n);
    b->len += n;
    b->p[b->len] = 0;
}

void buf_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_csv(struct buf *b, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        buf_str(b, s);
        return;
    }
    buf_str(b, "\"");
    for (; *s; s++)
        buf_add(b, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    buf_str(b, "\"");
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *at = n < 0 ? NULL : buf_room(b, (size_t)n);
    if (!at)
        return;
    va_start(ap, fmt);
    vsnprintf(at, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

char *buf_take(struct buf *b)
{
    char *p = b->p ? b->p : xstrdup("");
    *b = (struct buf){.max = b->max};
    return p;
}
