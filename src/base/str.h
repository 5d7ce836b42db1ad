/* str: strings from people and files: formatting to the heap, splitting, numbers with ranges. */
#ifndef CAROL_BASE_STR_H
#define CAROL_BASE_STR_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* printf to a new string; the caller frees. */
char *str_fmt(const char *fmt, ...) CAROL_PRINTF(1, 2);
/* s as one word of a shell's command line: quoted where it must be; the caller frees. */
char *str_shell(const char *s);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Bytes of the UTF-8 character at s; 0: it is none. */
size_t str_utf8(const char *s);

/* A list of strings that owns its items and is always NULL-terminated (usable as argv). */
struct strv {
    char **v;
    size_t n, cap;
};
void strv_add(struct strv *l, const char *s); /* copies */
void strv_addf(struct strv *l, const char *fmt, ...) CAROL_PRINTF(2, 3);
void strv_take(struct strv *l, char *s);                  /* takes ownership */
void strv_split(struct strv *l, const char *s, char sep); /* adds every non-empty part */
bool strv_has(const struct strv *l, const char *s);
void strv_sort(struct strv *l);
char *strv_join(const struct strv *l, const char *between); /* the caller frees */
void strv_free(struct strv *l);

/* Numbers: the whole string must be one, in [lo, hi]; `what` names it in the message. */
CAROL_MUST_CHECK int str_to_u64(const char *s, const char *what, uint64_t lo, uint64_t hi,
                                uint64_t *out, struct err *e);
CAROL_MUST_CHECK int str_to_double(const char *s, const char *what, double lo, double hi,
                                   double *out, struct err *e);
/* "90", "90s", "15m", "2h", "1d", "1.5h" -> nanoseconds. */
CAROL_MUST_CHECK int str_to_time(const char *s, const char *what, int64_t *ns, struct err *e);
/* "2048", "512M", "2G" -> bytes (a bare number is MiB, as in afl-fuzz -m). */
CAROL_MUST_CHECK int str_to_mem(const char *s, const char *what, uint64_t *bytes, struct err *e);

#endif
