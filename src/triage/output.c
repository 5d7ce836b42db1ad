/* output: the files of triage.  What is in a report is in story.c, in SARIF in sarif.c, in JUnit in junit.c. */
#include "triage/output.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "triage/lab.h"

#include <stdlib.h>
#include <string.h>

bool output_tells(const struct output *o, const struct defect *d)
{
    return !o->public || !d->withheld;
}

char *output_input(const struct output *o, const struct defect *d)
{
    return str_fmt("%s/%s/%s", o->dir, d->id, d->minimised ? "minimised" : "original");
}

char *output_command(const struct output *o, const struct defect *d)
{
    char *path = output_input(o, d);
    bool asan = o->target->family[FAMILY_ASAN].ok && (d->asan_hits || d->outcome == TRIAGE_HANG);
    const char *const *args = o->o->args.n ? (const char *const *)o->o->args.v : NULL;
    char *command = lab_command(o->target, args, asan ? FAMILY_ASAN : FAMILY_PLAIN, path);
    free(path);
    return command;
}

/* --- one defect --------------------------------------------------------------------------------- */

struct file {
    const char *path;
    const char *defect; /* of minimised inputs: whose; NULL: every */
};

/* One whose bytes are lost is said; the rest of the report is worth having. */
static int write_original(const struct output *o, const struct defect *d, const char *path,
                          struct err *e)
{
    struct buf b = BUF_INIT(1);
    struct err why = {0};
    int rc = 0;
    if (store_crash_bytes(o->store, d->best, &b, &why) < 0)
        log_warn("defect %s has no input: %s", d->id, why.msg);
    else
        rc = fs_write_quick(path, b.p ? b.p : "", b.len, e);
    buf_free(&b);
    return rc;
}

static int write_minimised(void *arg, const struct store_minimised *m, struct err *e)
{
    const struct file *f = arg;
    return strcmp(m->defect, f->defect) == 0 ? fs_write_quick(f->path, m->data, m->size, e) : 0;
}

static int write_inputs(const struct output *o, const struct defect *d, const char *folder,
                        struct err *e)
{
    char *original = fs_join(folder, "original"), *small = fs_join(folder, "minimised");
    struct file f = {.path = small, .defect = d->id};
    int rc = write_original(o, d, original, e);
    if (rc == 0 && d->minimised)
        rc = store_minimised(o->store, write_minimised, &f, e);
    free(original);
    free(small);
    return rc;
}

static int write_text(const char *folder, const char *name, const char *text, size_t n,
                      struct err *e)
{
    char *path = fs_join(folder, name);
    int rc = fs_write_quick(path, text, n, e);
    free(path);
    return rc;
}

/* One of before would be of another run. */
static int write_stack(const char *folder, const char *stack, struct err *e)
{
    if (stack)
        return write_text(folder, "stack.txt", stack, strlen(stack), e);
    char *path = fs_join(folder, "stack.txt");
    int rc = fs_remove_tree(path, e);
    free(path);
    return rc;
}

static int write_defect(const struct output *o, const struct defect *d, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    char *folder = fs_join(o->dir, d->id), *stack = NULL;
    int rc = fs_mkdirs(folder, e);
    if (rc == 0)
        rc = write_inputs(o, d, folder, e);
    if (rc == 0)
        rc = store_triage_report(o->store, d->worst, &stack, e);
    if (rc == 0)
        rc = write_stack(folder, stack, e);
    if (rc == 0)
        rc = output_report(o, d, stack, &b, e);
    if (rc == 0)
        rc = write_text(folder, "report.md", b.p, b.len, e);
    buf_free(&b);
    free(folder);
    free(stack);
    return rc;
}

/* --- all ---------------------------------------------------------------------------------------- */

/* Paths in it are below this directory, and there are none of what is not told. */
static void set_paths(const struct output *o, json_t *list)
{
    size_t i;
    json_t *x;
    json_array_foreach(list, i, x)
    {
        const struct defect *d = defects_find(o->d, json_string_value(json_object_get(x, "id")));
        char *path = output_input(o, d);
        bool told = output_tells(o, d);
        json_object_set_new(x, "minimised", told && d->minimised ? json_string(path) : json_null());
        json_object_set_new(x, "input", told ? json_string(path) : json_null());
        if (!told)
            json_object_del(x, "address");
        free(path);
    }
}

json_t *output_json(const struct output *o)
{
    json_t *all = defects_json(o->d, NULL);
    set_paths(o, json_object_get(all, "defects"));
    set_paths(o, json_object_get(all, "unconfirmed"));
    json_object_set_new(all, "target", json_string(o->target->target));
    json_object_set_new(all, "public", json_boolean(o->public));
    return all;
}

static int write_json(const struct output *o, const char *name, json_t *json, struct err *e)
{
    char *path = fs_join(o->dir, name),
         *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    int rc = text ? fs_write_atomic(path, text, strlen(text), e)
                  : err_set(e, -1, "cannot write %s: a text in it is not UTF-8", path);
    free(path);
    free(text);
    json_decref(json);
    return rc;
}

int output_write(const struct output *o, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int rc = fs_mkdirs(o->dir, e);
    if (rc == 0)
        rc = output_clear(o, e);
    for (size_t i = 0; rc == 0 && i < o->d->n; i++)
        if (output_tells(o, &o->d->v[i]))
            rc = write_defect(o, &o->d->v[i], e);
    if (rc == 0)
        rc = write_json(o, "defects.sarif", output_sarif(o), e);
    if (rc == 0) {
        output_junit(o, &b);
        rc = write_text(o->dir, "junit.xml", b.p, b.len, e);
    }
    if (rc == 0) /* last: who sees it finds the rest */
        rc = write_json(o, "defects.json", output_json(o), e);
    buf_free(&b);
    return rc;
}
