/* dict: checks the lines of a dictionary.  Gives no entry to anybody: the fuzzers read the file. */
#include "fuzzer/dict.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/log.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* The end of the value that begins at p, its closing quote; NULL: it has none, or holds something else. */
static const char *value_end(const char *p)
{
    while (*p && *p != '"') {
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
            return NULL;
        if (*p != '\\')
            p++;
        else if (p[1] == '\\' || p[1] == '"')
            p += 2;
        else if (p[1] == 'x' && isxdigit((unsigned char)p[2]) && isxdigit((unsigned char)p[3]))
            p += 4;
        else
            return NULL;
    }
    return *p ? p : NULL;
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r");
}

/* 1: an entry; 0: nothing, a comment; -1: neither. */
static int look_at(const char *line)
{
    const char *p = skip_blanks(line);
    if (!*p || *p == '#')
        return 0;
    if (*p != '"') {
        while (isalnum((unsigned char)*p) || *p == '_')
            p++;
        if (*p == '@')
            p += 1 + strspn(p + 1, "0123456789");
        p = skip_blanks(p);
        if (*p++ != '=')
            return -1;
        p = skip_blanks(p);
    }
    const char *end = *p == '"' ? value_end(p + 1) : NULL;
    return end && end > p + 1 && !*skip_blanks(end + 1) ? 1 : -1;
}

static void warn(const char *path, size_t number, const char *line, size_t wrong, size_t entries)
{
    log_warn("dictionary %s, line %zu is no entry and will be left out: %.60s%s   (an entry is "
             "name=\"value\", with letters, digits and _ in the name, \\xNN for bytes; %zu %s "
             "wrong, %zu can be used)",
             path, number, line, strlen(line) > 60 ? "..." : "", wrong,
             wrong == 1 ? "line is" : "lines are", entries);
}

int dict_check(const char *path, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    size_t number = 0, wrong = 0, entries = 0, first = 0;
    const char *text = NULL;
    int rc = fs_read(path, &b, e);
    for (char *line = rc == 0 && b.len ? b.p : NULL, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        number++;
        int is = look_at(line);
        entries += is > 0;
        wrong += is < 0;
        if (is < 0 && !text) {
            text = line;
            first = number;
        }
    }
    if (rc == 0 && wrong && !entries)
        rc = err_usage(
            e,
            "the dictionary %s has no entry that can be used; its line %zu is '%.60s', "
            "and an entry is name=\"value\", with letters, digits and _ in the name, \\xNN "
            "for bytes",
            path, first, text);
    else if (rc == 0 && wrong)
        warn(path, first, text, wrong, entries);
    buf_free(&b);
    return rc;
}
