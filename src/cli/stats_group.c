/* stats_group: groups of numbers from the command line, files and columns of CSV files.  Computes nothing. */
#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "cli/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e100 /* so that no square or sum overflows */
#define SHOWN 40      /* characters of something wrong */

void stats_group_free(struct stats_group *g)
{
    free(g->v);
    free(g->longer);
    *g = (struct stats_group){0};
}

static void add(struct stats_group *g, double v, bool longer)
{
    XGROW(g->v, g->n, g->cap);
    XGROW(g->longer, g->n, g->longer_cap);
    g->v[g->n] = v;
    g->longer[g->n++] = longer;
}

static char *trim(char *s)
{
    s += strspn(s, " \t\r");
    for (size_t n = strlen(s); n > 0 && strchr(" \t\r", s[n - 1]); n--)
        s[n - 1] = 0;
    return s;
}

/* Cut out of a text that still has to be looked at: ends with a NUL put there. */
static int add_number(struct stats_group *g, char *word, bool lifetimes, const char *where,
                      struct err *e)
{
    char *s = trim(word), *end = NULL;
    size_t n = strlen(s);
    bool longer = lifetimes && n > 1 && s[n - 1] == '+';
    if (n == 0)
        return err_usage(e, "%s: a number is missing", where);
    if (longer)
        s[n - 1] = 0;
    double v = strtod(s, &end);
    if (end == s || *end)
        return err_usage(e, "%s: '%.*s' is not a number", where, SHOWN, s);
    if (!isfinite(v) || fabs(v) > LARGEST)
        return err_usage(e, "%s: '%.*s' is not a number from -1e100 to 1e100", where, SHOWN, s);
    if (lifetimes && v < 0)
        return err_usage(e, "%s: a time of '%.*s' is before the start", where, SHOWN, s);
    add(g, v, longer);
    return 0;
}

/* "1,2,3": every part between commas is a number. */
static int add_list(struct stats_group *g, char *list, bool lifetimes, const char *where,
                    struct err *e)
{
    int rc = 0;
    for (char *next; rc == 0 && list; list = next) {
        next = strchr(list, ',');
        if (next)
            *next++ = 0;
        rc = add_number(g, list, lifetimes, where, e);
    }
    return rc;
}

static int add_lines(struct stats_group *g, char *text, const char *path, bool lifetimes,
                     struct err *e)
{
    int rc = 0;
    size_t number = 0;
    for (char *next; rc == 0 && text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = 0;
        number++;
        char *line = trim(text);
        if (!*line)
            continue;
        char where[SHOWN * 4];
        snprintf(where, sizeof where, "%.*s, line %zu", SHOWN * 2, path, number);
        rc = add_list(g, line, lifetimes, where, e);
    }
    return rc;
}

/* The next field of a CSV text, without its quotes; *last: it ends its line.  NULL at the end of the text. */
static char *next_field(char **at, bool *last)
{
    char *from = *at, *to = *at, *field = *at;
    if (!*from)
        return NULL;
    bool quoted = *from == '"';
    from += quoted;
    for (; *from; from++) {
        if (quoted && from[0] == '"' && from[1] == '"')
            from++;
        else if (quoted && from[0] == '"') {
            quoted = false;
            continue;
        } else if (!quoted && (*from == ',' || *from == '\n'))
            break;
        *to++ = *from;
    }
    *last = *from != ',';
    *at = *from ? from + 1 : from;
    *to = 0;
    return trim(field);
}

static bool is_number(const char *s)
{
    char *end = NULL;
    strtod(s, &end);
    return end != s && (*end == 0 || strcmp(end, "+") == 0);
}

/* Which field of the first line the column is: by name, else by number, the first being 1.  A line of nothing but
 * numbers has no names: *head is what it has there. */
static int find_column(char **at, const char *path, const char *column, size_t *index, char **head,
                       struct err *e)
{
    struct buf names = BUF_INIT(SHOWN * 8);
    uint64_t number = 0;
    size_t i = 0, named = SIZE_MAX;
    bool last = false, numbers = true;
    char *there = NULL;
    if (str_to_u64(column, "", 1, UINT32_MAX, &number, NULL) < 0)
        number = 0;
    for (char *f; !last && (f = next_field(at, &last)); i++) {
        buf_printf(&names, "%s%s", i ? ", " : "", f);
        numbers = numbers && is_number(f);
        if (named == SIZE_MAX && strcmp(f, column) == 0)
            named = i;
        if (i + 1 == number)
            there = f;
    }
    int rc = 0;
    if (named != SIZE_MAX && !numbers)
        *index = named;
    else if (there)
        *index = (size_t)number - 1;
    else
        rc = err_usage(e, "%.*s has no column '%.*s'; it has %s%s", SHOWN * 2, path, SHOWN, column,
                       names.len ? names.p : "none", names.over ? "..." : "");
    *head = numbers ? there : NULL;
    buf_free(&names);
    return rc;
}

static int add_column(struct stats_group *g, char *text, const char *path, const char *column,
                      bool lifetimes, struct err *e)
{
    size_t index = 0, at = 0, line = 2;
    char *head = NULL, where[SHOWN * 4];
    bool last = false;
    int rc = find_column(&text, path, column, &index, &head, e);
    if (rc == 0 && head)
        rc = add_number(g, head, lifetimes, path, e);
    for (char *f; rc == 0 && (f = next_field(&text, &last));) {
        bool blank = at == 0 && last && !*f;
        snprintf(where, sizeof where, "%.*s, record %zu", SHOWN * 2, path, line);
        if (at == index && !blank)
            rc = add_number(g, f, lifetimes, where, e);
        else if (last && at < index && !blank)
            rc = err_usage(e, "%s has no column '%.*s'", where, SHOWN, column);
        at = last ? 0 : at + 1;
        line += last;
    }
    if (rc == 0 && at > 0 && at <= index) /* the text ends with a comma */
        rc = err_usage(e, "%s has no column '%.*s'", where, SHOWN, column);
    return rc;
}

/* The file that s names, and the column after its last colon; the whole of s when that is a file. */
static char *split_column(const char *s, const char **column)
{
    const char *colon = strrchr(s, ':');
    *column = colon && !fs_exists(s) ? colon + 1 : NULL;
    return *column ? str_fmt("%.*s", (int)(colon - s), s) : xstrdup(s);
}

/* Spreadsheets put a byte order mark first. */
static char *past_mark(char *text)
{
    return str_starts(text, "\xef\xbb\xbf") ? text + 3 : text;
}

static int add_file(struct stats_group *g, const char *s, bool lifetimes, struct err *e)
{
    const char *column;
    char *path = split_column(s, &column);
    struct buf text = BUF_INIT(BUF_TEXT_MAX);
    struct err inner = {0};
    int rc = fs_read(path, &text, e);
    if (rc < 0)
        e->exit = ERR_EXIT_USAGE;
    else if (text.len && strlen(text.p) != text.len)
        rc = err_usage(e, "%.*s is not a text", SHOWN * 2, path);
    else if (text.len && column)
        rc = add_column(g, past_mark(text.p), path, column, lifetimes, e);
    else if (text.len && (rc = add_lines(g, past_mark(text.p), path, lifetimes, &inner)) < 0)
        err_usage(e, "%s (a column of a CSV file is @FILE:COLUMN)", inner.msg);
    buf_free(&text);
    free(path);
    return rc;
}

int stats_group_read(const char *arg, bool lifetimes, struct stats_group *g, struct err *e)
{
    *g = (struct stats_group){.name = arg};
    int rc = 0;
    if (arg[0] == '@') {
        rc = add_file(g, arg + 1, lifetimes, e);
    } else if (*arg) {
        char where[SHOWN * 2], *copy = xstrdup(arg);
        snprintf(where, sizeof where, "group '%.*s%s'", SHOWN, arg,
                 strlen(arg) > SHOWN ? "..." : "");
        rc = add_list(g, copy, lifetimes, where, e);
        free(copy);
    }
    if (rc == 0 && g->n == 0)
        rc = err_usage(e, "group '%.*s' has no numbers", SHOWN, arg);
    if (rc < 0)
        stats_group_free(g);
    return rc;
}
