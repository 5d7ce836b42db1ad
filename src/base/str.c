/* str: formatting, lists, number parsing.  No knowledge of options or files. */
#include "base/str.h"

#include "base/die.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *vfmt(const char *fmt, va_list ap)
{
    char *s = NULL;
    if (vasprintf(&s, fmt, ap) < 0)
        die_oom();
    return s;
}

char *str_fmt(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = vfmt(fmt, ap);
    va_end(ap);
    return s;
}

char *str_shell(const char *s)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789_@%+=:,./-";
    if (*s && s[strspn(s, plain)] == 0)
        return xstrdup(s);
    size_t n = 3;
    for (const char *c = s; *c; c++)
        n += *c == '\'' ? 4 : 1;
    char *word = xmalloc(n), *to = word;
    *to++ = '\'';
    for (; *s; s++) {
        if (*s == '\'') { /* leave the quotes for an escaped one */
            memcpy(to, "'\\'", 3);
            to += 3;
        }
        *to++ = *s;
    }
    memcpy(to, "'", 2);
    return word;
}

bool str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

size_t str_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4 || (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

void strv_take(struct strv *l, char *s)
{
    if (l->n + 2 > l->cap) {
        l->cap = l->cap ? l->cap * 2 : 16;
        l->v = xrealloc(l->v, l->cap * sizeof *l->v);
    }
    l->v[l->n++] = s;
    l->v[l->n] = NULL;
}

void strv_add(struct strv *l, const char *s)
{
    strv_take(l, xstrdup(s));
}

void strv_addf(struct strv *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    strv_take(l, vfmt(fmt, ap));
    va_end(ap);
}

void strv_split(struct strv *l, const char *s, char sep)
{
    while (*s) {
        const char *end = strchrnul(s, sep);
        if (end > s)
            strv_addf(l, "%.*s", (int)(end - s), s);
        s = *end ? end + 1 : end;
    }
}

bool strv_has(const struct strv *l, const char *s)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i], s) == 0)
            return true;
    return false;
}

char *strv_join(const struct strv *l, const char *between)
{
    char *all = xstrdup("");
    for (size_t i = 0; i < l->n; i++) {
        char *more = str_fmt("%s%s%s", all, i ? between : "", l->v[i]);
        free(all);
        all = more;
    }
    return all;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_sort(struct strv *l)
{
    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, by_text);
}

void strv_free(struct strv *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->v[i]);
    free(l->v);
    *l = (struct strv){0};
}

int str_to_u64(const char *s, const char *what, uint64_t lo, uint64_t hi, uint64_t *out,
               struct err *e)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = s[0] >= '0' && s[0] <= '9' ? strtoull(s, &end, 10) : 0;
    if (!end || *end || errno || v < lo || v > hi)
        return err_usage(e, "%s: '%s' is not a whole number from %llu to %llu", what, s,
                         (unsigned long long)lo, (unsigned long long)hi);
    *out = v;
    return 0;
}

int str_to_double(const char *s, const char *what, double lo, double hi, double *out, struct err *e)
{
    char *end = NULL;
    double v = strtod(s, &end);
    if (end == s || *end || !isfinite(v) || v < lo || v > hi)
        return err_usage(e, "%s: '%s' is not a number from %g to %g", what, s, lo, hi);
    *out = v;
    return 0;
}

/* A non-negative number followed by at most one of the units; returns the unit or -1. */
static int number_with_unit(const char *s, const char *units, double *v)
{
    char *end = NULL;
    if (!(s[0] >= '0' && s[0] <= '9') && s[0] != '.')
        return -1;
    *v = strtod(s, &end);
    if (end == s || !isfinite(*v) || *v < 0)
        return -1;
    if (*end == 0)
        return ' ';
    if (end[1] != 0 || !strchr(units, *end))
        return -1;
    return *end;
}

int str_to_time(const char *s, const char *what, int64_t *ns, struct err *e)
{
    double v = 0, unit = 0;
    switch (number_with_unit(s, "smhd", &v)) {
    case ' ':
    case 's': unit = 1; break;
    case 'm': unit = 60; break;
    case 'h': unit = 3600; break;
    case 'd': unit = 86400; break;
    default: break;
    }
    if (unit == 0 || v * unit > 3e9)
        return err_usage(e, "%s: '%s' is not a time; write 90, 90s, 15m, 2h or 1d", what, s);
    *ns = (int64_t)llround(v * unit * 1e9);
    return 0;
}

int str_to_mem(const char *s, const char *what, uint64_t *bytes, struct err *e)
{
    double v = 0, unit = 0;
    switch (number_with_unit(s, "kKmMgG", &v)) {
    case 'k':
    case 'K': unit = 1024.0; break;
    case ' ':
    case 'm':
    case 'M': unit = 1048576.0; break;
    case 'g':
    case 'G': unit = 1073741824.0; break;
    default: break;
    }
    if (unit == 0 || v * unit > 1e15)
        return err_usage(e, "%s: '%s' is not a size; write 512 (MiB), 512M or 2G", what, s);
    *bytes = (uint64_t)(v * unit);
    return 0;
}
