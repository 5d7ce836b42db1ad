/* die: the only ways out of the process besides main's return.  BUG() is for broken invariants of
 * our own, never for bad data from outside; it stays on in release builds. */
#ifndef CAROL_BASE_DIE_H
#define CAROL_BASE_DIE_H

#include <stddef.h>

_Noreturn void die_bug(const char *file, int line, const char *what);
_Noreturn void die_oom(void);

#define BUG(what) die_bug(__FILE__, __LINE__, what)
#define BUG_ON(cond)                                                                               \
    do {                                                                                           \
        if (cond)                                                                                  \
            BUG(#cond);                                                                            \
    } while (0)

/* Allocation that cannot fail: a supervisor without memory has nothing better to do than stop, and
 * everything acknowledged is already on disk. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
void *xmemdup(const void *p, size_t n); /* a copy; n may be 0 */
char *xstrdup(const char *s);

/* Room for one more in an array of n that has room for cap. */
#define XGROW(array, n, cap)                                                                       \
    do {                                                                                           \
        if ((n) == (cap)) {                                                                        \
            (cap) = (cap) ? (cap) * 2 : 64;                                                        \
            (array) = xrealloc((array), (cap) * sizeof *(array));                                  \
        }                                                                                          \
    } while (0)

#endif
