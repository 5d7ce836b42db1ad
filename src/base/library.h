/* library: shared libraries that few runs of carol need, loaded when they are used first, because each brings others
 * with it, and all of them would be loaded at every start.
 *
 *     static __typeof__(archive_read_new) *lib_archive_read_new;
 *     static const struct library_function functions[] = {{"archive_read_new", &lib_archive_read_new}, ...};
 *     library_load("libarchive.so.13", functions, n, &e);
 */
#ifndef CAROL_BASE_LIBRARY_H
#define CAROL_BASE_LIBRARY_H

#include "base/err.h"

#include <stddef.h>

struct library_function {
    const char *name;
    void *at; /* the pointer to a function that gets its address */
};

/* All of them or an error; the library stays loaded. */
CAROL_MUST_CHECK int library_load(const char *name, const struct library_function *f, size_t n,
                                  struct err *e);

#endif
