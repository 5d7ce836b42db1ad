/* ini: files of [section] and key = value, as bench/suite/suite.ini.  Lines that begin with ; or # are
 * comments.  A key may occur once in its section, a section once in the file.
 *
 *     struct ini ini;
 *     ini_load(&ini, "suite.ini", &e);                  // usage errors name file and line
 *     const struct ini_section *s = ini_section(&ini, "suite");
 *     const char *v = ini_get(s, "trials");             // NULL: not there
 *     ini_free(&ini);
 */
#ifndef CAROL_BENCH_INI_H
#define CAROL_BENCH_INI_H

#include "base/err.h"

#include <stddef.h>

struct ini_pair {
    char *key, *value;
    int line;
};

struct ini_section {
    char *name;
    int line;
    struct ini_pair *pairs;
    size_t n, cap;
};

struct ini {
    char *path;
    struct ini_section *sections;
    size_t n, cap;
};

CAROL_MUST_CHECK int ini_load(struct ini *ini, const char *path, struct err *e);
/* The same from memory; path is for messages. */
CAROL_MUST_CHECK int ini_parse(struct ini *ini, const char *path, const char *text, struct err *e);
void ini_free(struct ini *ini);

const struct ini_section *ini_section(const struct ini *ini, const char *name);
const char *ini_get(const struct ini_section *s, const char *key);
/* A usage error for the first key of s that is not in the list, which ends with NULL. */
CAROL_MUST_CHECK int ini_only(const struct ini *ini, const struct ini_section *s,
                              const char *const *keys, struct err *e);

#endif
