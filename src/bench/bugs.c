/* bugs: reads the list of a target's bugs. */
#include "bench/bugs.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUG_NUMBERS 127 /* runtime/oracle/oracle.h */

/* Column i of a line without quotes; "" when there are fewer. */
static void column(const char *line, int i, char *out, size_t size)
{
    for (; i > 0 && line; i--) {
        line = strchr(line, ',');
        line = line ? line + 1 : NULL;
    }
    snprintf(out, size, "%.*s", line ? (int)strcspn(line, ",\r") : 0, line ? line : "");
}

static int column_of(const char *head, const char *name)
{
    char word[64];
    for (int i = 0; i < 32; i++) {
        column(head, i, word, sizeof word);
        if (strcmp(word, name) == 0)
            return i;
    }
    return -1;
}

static int take_bugs(const char *path, const struct strv *lines, bool named, struct bug **bugs,
                     size_t *n, struct err *e)
{
    const char *head = lines->n ? lines->v[0] : "";
    int id = column_of(head, "id"), number = column_of(head, "number"),
        grade = column_of(head, "grade"), rc = 0;
    if (id < 0 || (number < 0 && !named))
        return err_usage(e, "%s: its first line must name the columns, %s among them", path,
                         named ? "id" : "id and number");
    *bugs = xcalloc(lines->n, sizeof **bugs);
    for (size_t i = 1; rc == 0 && i < lines->n; i++) {
        struct bug *b = &(*bugs)[*n];
        char text[32];
        uint64_t v = 0;
        column(lines->v[i], id, b->id, sizeof b->id);
        column(lines->v[i], grade < 0 ? 99 : grade, b->grade, sizeof b->grade);
        if (number < 0)
            snprintf(text, sizeof text, "%zu", i);
        else
            column(lines->v[i], number, text, sizeof text);
        rc = str_to_u64(text, "number of a bug", 1, BUG_NUMBERS, &v, e);
        if (rc < 0 || !b->id[0])
            return rc < 0 ? err_wrap(e, "%s, line %zu", path, i + 1)
                          : err_usage(e, "%s, line %zu: a bug without an id", path, i + 1);
        b->number = (unsigned)v;
        for (size_t k = 0; k < *n; k++)
            if (strcmp((*bugs)[k].id, b->id) == 0 || (*bugs)[k].number == b->number)
                return err_usage(e, "%s, line %zu: %s (%u) is there twice", path, i + 1, b->id,
                                 b->number);
        (*n)++;
    }
    return rc;
}

int bugs_load(const char *path, bool named, struct bug **bugs, size_t *n, struct err *e)
{
    struct buf b = BUF_INIT(1 << 20);
    struct strv lines = {0};
    *bugs = NULL;
    *n = 0;
    int rc = fs_read(path, &b, e);
    if (rc < 0) {
        e->exit = ERR_EXIT_USAGE;
        rc = err_wrap(e, "cannot read the list of bugs");
    } else {
        strv_split(&lines, b.p ? b.p : "", '\n');
        rc = take_bugs(path, &lines, named, bugs, n, e);
    }
    if (rc < 0) {
        free(*bugs);
        *bugs = NULL;
        *n = 0;
    }
    strv_free(&lines);
    buf_free(&b);
    return rc;
}
