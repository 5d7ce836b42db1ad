/* die: BUG() and allocation that ends the process rather than return NULL. */
#include "base/die.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "carol: BUG at %s:%d: %s\n", file, line, what);
    abort();
}

void die_oom(void)
{
    fprintf(stderr, "carol: out of memory; what was acknowledged is on disk, resume when there is "
                    "more\n");
    exit(4);
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        die_oom();
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        die_oom();
    return p;
}

void *xrealloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p)
        die_oom();
    return p;
}

void *xmemdup(const void *p, size_t n)
{
    void *copy = xmalloc(n);
    if (n)
        memcpy(copy, p, n);
    return copy;
}

char *xstrdup(const char *s)
{
    return xmemdup(s, strlen(s) + 1);
}
