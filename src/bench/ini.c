/* ini: reads sections of key = value.  Does not know what they mean. */
#include "bench/ini.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 20)

static char *trimmed(const char *from, const char *to)
{
    while (from < to && strchr(" \t\r", *from))
        from++;
    while (to > from && strchr(" \t\r", to[-1]))
        to--;
    return str_fmt("%.*s", (int)(to - from), from);
}

static int begin_section(struct ini *ini, const char *from, const char *to, int line, struct err *e)
{
    const char *close = memchr(from, ']', (size_t)(to - from));
    char *rest = close ? trimmed(close + 1, to) : NULL;
    bool whole = rest && !*rest;
    free(rest);
    if (!whole)
        return err_usage(e, "%s:%d: a section is [NAME] alone on its line", ini->path, line);
    char *name = trimmed(from + 1, close);
    if (ini_section(ini, name)) {
        int rc = err_usage(e, "%s:%d: there are two sections [%s]", ini->path, line, name);
        free(name);
        return rc;
    }
    XGROW(ini->sections, ini->n, ini->cap);
    ini->sections[ini->n++] = (struct ini_section){.name = name, .line = line};
    return 0;
}

static int add_pair(struct ini *ini, const char *from, const char *to, int line, struct err *e)
{
    const char *eq = memchr(from, '=', (size_t)(to - from));
    if (!eq || !ini->n)
        return err_usage(e, "%s:%d: %s", ini->path, line,
                         eq ? "a key must stand below a [section]"
                            : "expected [section], key = value, or a comment after ;");
    struct ini_section *s = &ini->sections[ini->n - 1];
    char *key = trimmed(from, eq);
    if (!*key || ini_get(s, key)) {
        int rc = err_usage(e, "%s:%d: %s '%s'", ini->path, line,
                           *key ? "a second" : "there is no key before =", key);
        free(key);
        return rc;
    }
    XGROW(s->pairs, s->n, s->cap);
    s->pairs[s->n++] = (struct ini_pair){key, trimmed(eq + 1, to), line};
    return 0;
}

int ini_parse(struct ini *ini, const char *path, const char *text, struct err *e)
{
    *ini = (struct ini){.path = xstrdup(path)};
    int line = 1, rc = 0;
    for (const char *at = text; *at && rc == 0; line++) {
        const char *end = at + strcspn(at, "\n");
        const char *first = at + strspn(at, " \t\r");
        if (first < end && *first == '[')
            rc = begin_section(ini, first, end, line, e);
        else if (first < end && *first != ';' && *first != '#')
            rc = add_pair(ini, first, end, line, e);
        at = end + (*end == '\n');
    }
    if (rc < 0)
        ini_free(ini);
    return rc;
}

int ini_load(struct ini *ini, const char *path, struct err *e)
{
    struct buf b = BUF_INIT(FILE_MAX);
    *ini = (struct ini){0};
    int rc = fs_read(path, &b, e);
    if (rc < 0) {
        e->exit = ERR_EXIT_USAGE;
        rc = err_wrap(e, "cannot read the suite %s", path);
    } else if (b.p && strlen(b.p) != b.len) {
        rc = err_usage(e, "%s is no text", path);
    } else {
        rc = ini_parse(ini, path, b.p ? b.p : "", e);
    }
    buf_free(&b);
    return rc;
}

void ini_free(struct ini *ini)
{
    for (size_t i = 0; i < ini->n; i++) {
        struct ini_section *s = &ini->sections[i];
        for (size_t k = 0; k < s->n; k++) {
            free(s->pairs[k].key);
            free(s->pairs[k].value);
        }
        free(s->pairs);
        free(s->name);
    }
    free(ini->sections);
    free(ini->path);
    *ini = (struct ini){0};
}

const struct ini_section *ini_section(const struct ini *ini, const char *name)
{
    for (size_t i = 0; i < ini->n; i++)
        if (strcmp(ini->sections[i].name, name) == 0)
            return &ini->sections[i];
    return NULL;
}

const char *ini_get(const struct ini_section *s, const char *key)
{
    for (size_t i = 0; s && i < s->n; i++)
        if (strcmp(s->pairs[i].key, key) == 0)
            return s->pairs[i].value;
    return NULL;
}

int ini_only(const struct ini *ini, const struct ini_section *s, const char *const *keys,
             struct err *e)
{
    for (size_t i = 0; s && i < s->n; i++) {
        bool known = false;
        for (size_t k = 0; keys[k]; k++)
            known = known || strcmp(s->pairs[i].key, keys[k]) == 0;
        if (!known)
            return err_usage(e, "%s:%d: [%s] has no key '%s'", ini->path, s->pairs[i].line, s->name,
                             s->pairs[i].key);
    }
    return 0;
}
