/* where: the places Carol's own files are found, in the source tree and when installed.
 *
 * In the tree: ./carol -> build/carol, runtimes in build/runtime/..., engines in build/engines (a
 * link to the cache).  Installed: PREFIX/bin/carol, PREFIX/lib/carol/{runtime,engines}. */
#ifndef CAROL_BASE_WHERE_H
#define CAROL_BASE_WHERE_H

/* Use this engines directory instead of the one found (--engines); NULL: back to the default. */
void where_set_engines(const char *dir);

/* Absolute paths, to be freed by the caller.  They are returned whether or not they exist. */
char *where_self(void);                /* the running carol binary */
char *where_runtime(const char *name); /* libcarolcov.a, libcarolctl.so, carol-cc, ... */
char *where_engine(const char *name);  /* afl/afl-fuzz, honggfuzz/honggfuzz, radamsa/... */

#endif
