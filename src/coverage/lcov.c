/* lcov: parses traces.  Knows nothing of who covered what. */
#include "coverage/lcov.h"

#include "base/die.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct lcov_file *)a)->name, ((const struct lcov_file *)b)->name);
}

static int by_line(const void *a, const void *b)
{
    uint32_t x = ((const struct lcov_line *)a)->line, y = ((const struct lcov_line *)b)->line;
    return x < y ? -1 : x > y;
}

static struct lcov_file *begin_file(struct lcov *l, const char *name)
{
    XGROW(l->files, l->n, l->cap);
    l->files[l->n] = (struct lcov_file){.name = xstrdup(name)};
    return &l->files[l->n++];
}

static int add_line(struct lcov_file *f, const char *text)
{
    char *end;
    unsigned long line = strtoul(text, &end, 10);
    if (*end != ',' || line == 0 || line > UINT32_MAX)
        return -EBADMSG;
    XGROW(f->lines, f->n, f->cap);
    f->lines[f->n++] = (struct lcov_line){(uint32_t)line, -1, strtoull(end + 1, NULL, 10)};
    return 0;
}

/* One word of the trace; those that are not about lines or numbers of functions are passed over. */
static int take(struct lcov *l, struct lcov_file **f, const char *row)
{
    if (str_starts(row, "SF:")) {
        *f = begin_file(l, row + 3);
        return 0;
    }
    if (strcmp(row, "end_of_record") == 0) {
        if (*f && (*f)->n)
            qsort((*f)->lines, (*f)->n, sizeof *(*f)->lines, by_line);
        *f = NULL;
        return 0;
    }
    if (!*f)
        return *row ? -EBADMSG : 0;
    if (str_starts(row, "FNF:"))
        (*f)->functions = strtoull(row + 4, NULL, 10);
    else if (str_starts(row, "FNH:"))
        (*f)->functions_hit = strtoull(row + 4, NULL, 10);
    return str_starts(row, "DA:") ? add_line(*f, row + 3) : 0;
}

int lcov_parse(struct lcov *l, char *text, struct err *e)
{
    struct lcov_file *f = NULL;
    int rc = 0;
    *l = (struct lcov){0};
    for (char *row = text, *next; rc == 0 && row; row = next) {
        next = strchr(row, '\n');
        if (next)
            *next++ = 0;
        rc = take(l, &f, row);
    }
    if (rc == 0 && f)
        rc = -EBADMSG;
    if (l->n)
        qsort(l->files, l->n, sizeof *l->files, by_name);
    if (rc < 0) {
        lcov_free(l);
        return err_set(e, rc, "llvm-cov printed something that is no lcov trace");
    }
    return 0;
}

struct lcov_file *lcov_find(const struct lcov *l, const char *name)
{
    struct lcov_file key = {.name = (char *)(uintptr_t)name};
    return l->n ? bsearch(&key, l->files, l->n, sizeof *l->files, by_name) : NULL;
}

struct lcov_line *lcov_line(const struct lcov_file *f, uint32_t line)
{
    struct lcov_line key = {.line = line};
    return f->n ? bsearch(&key, f->lines, f->n, sizeof *f->lines, by_line) : NULL;
}

void lcov_free(struct lcov *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->files[i].name);
        free(l->files[i].lines);
    }
    free(l->files);
    *l = (struct lcov){0};
}
