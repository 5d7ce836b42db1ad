/* manifest: reads and writes DIR/carol-build.json.  Builds nothing and checks no binary. */
#include "target/manifest.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA 1

char *manifest_path(const char *dir)
{
    return fs_join(dir, "carol-build.json");
}

static const char *const kinds[] = {"none", "libfuzzer", "file", "stdin"};

const char *target_kind_name(enum target_kind k)
{
    return k > TARGET_NONE && k <= TARGET_STDIN ? kinds[k] : kinds[0];
}

static enum target_kind kind_of(const char *name)
{
    for (int k = TARGET_LIBFUZZER; k <= TARGET_STDIN; k++)
        if (name && strcmp(name, kinds[k]) == 0)
            return (enum target_kind)k;
    return TARGET_NONE;
}

void manifest_free(struct manifest *m)
{
    free(m->dir);
    free(m->target);
    free(m->args);
    free(m->dict);
    free(m->words);
    free(m->seeds);
    free(m->options);
    free(m->table);
    for (int f = 0; f < FAMILY_END; f++) {
        free(m->family[f].binary);
        free(m->family[f].build_id);
        free(m->family[f].compiler);
        free(m->family[f].flags);
    }
    free(m->made.in);
    strv_free(&m->made.env);
    strv_free(&m->made.words);
    *m = (struct manifest){0};
}

/* Paths are stored relative to the build directory, so that it can be moved. */
static json_t *relative(const struct manifest *m, const char *path)
{
    size_t n = strlen(m->dir);
    if (!path)
        return json_null();
    if (strncmp(path, m->dir, n) == 0 && path[n] == '/')
        return json_string(path + n + 1);
    return json_string(path);
}

static json_t *text(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *family_json(const struct manifest *m, const struct manifest_family *f)
{
    json_t *o = json_object();
    json_object_set_new(o, "binary", relative(m, f->binary));
    json_object_set_new(o, "build_id", text(f->build_id));
    json_object_set_new(o, "compiler", text(f->compiler));
    json_object_set_new(o, "flags", text(f->flags));
    json_object_set_new(o, "seconds", json_real(f->seconds));
    json_object_set_new(o, "cpu_seconds", json_real(f->cpu_seconds));
    json_object_set_new(o, "bytes", json_integer((json_int_t)f->bytes));
    if (f->map_size)
        json_object_set_new(o, "map_size", json_integer((json_int_t)f->map_size));
    return o;
}

static json_t *words_json(const struct strv *words)
{
    json_t *list = json_array();
    for (size_t i = 0; i < words->n; i++)
        json_array_append_new(list, json_string(words->v[i]));
    return list;
}

static json_t *args_json(const char *args)
{
    if (!args)
        return json_null();
    struct strv words = {0};
    strv_split(&words, args, '\n');
    json_t *list = words_json(&words);
    strv_free(&words);
    return list;
}

/* A word that is not UTF-8 cannot be told: then nothing is. */
static json_t *made_json(const struct manifest_made *made)
{
    json_t *env = words_json(&made->env), *words = words_json(&made->words);
    bool whole = json_array_size(env) == made->env.n && json_array_size(words) == made->words.n;
    json_t *in = whole && made->in ? json_string(made->in) : NULL;
    if (in)
        return json_pack("{s:o, s:o, s:o}", "in", in, "env", env, "words", words);
    json_decref(env);
    json_decref(words);
    return json_null();
}

static json_t *target_json(const struct manifest *m)
{
    json_t *o = json_object(), *families = json_object();
    json_object_set_new(o, "target", text(m->target));
    json_object_set_new(o, "kind", text(target_kind_name(m->kind)));
    json_object_set_new(o, "args", args_json(m->args));
    json_object_set_new(o, "dict", relative(m, m->dict));
    json_object_set_new(o, "words", relative(m, m->words));
    json_object_set_new(o, "seeds", relative(m, m->seeds));
    json_object_set_new(o, "options", relative(m, m->options));
    json_object_set_new(o, "table", relative(m, m->table));
    json_object_set_new(o, "edges", json_integer(m->edges));
    json_object_set_new(o, "functions", json_integer(m->functions));
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        if (m->family[f].ok)
            json_object_set_new(families, family_name((enum family)f),
                                family_json(m, &m->family[f]));
    json_object_set_new(o, "families", families);
    json_object_set_new(o, "made", made_json(&m->made));
    return o;
}

static const char *name_of(json_t *target)
{
    const char *s = json_string_value(json_object_get(target, "target"));
    return s ? s : "";
}

/* The chosen target's fields stand at the top; all of them, it included, are in `targets`. */
int manifest_save_all(const struct manifest *list, size_t n, const char *chosen, struct err *e)
{
    json_t *targets = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(targets, target_json(&list[i]));
    json_t *root = json_object(), *top = json_array_get(targets, 0);
    json_object_set_new(root, "schema", json_integer(SCHEMA));
    for (size_t i = 0; chosen && i < n; i++)
        if (strcmp(name_of(json_array_get(targets, i)), chosen) == 0)
            top = json_array_get(targets, i);
    json_object_update(root, top);
    json_object_set_new(root, "chosen", chosen || n == 1 ? json_true() : json_false());
    json_object_set_new(root, "targets", targets);
    char *body = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    char *path = manifest_path(list[0].dir), *whole = body ? str_fmt("%s\n", body) : NULL;
    int rc = whole ? fs_write_atomic(path, whole, strlen(whole), e)
                   : err_set(e, -EINVAL, "a name in the build of %s is not UTF-8", list[0].dir);
    free(whole);
    free(path);
    free(body);
    json_decref(root);
    return rc;
}

static int refuse(struct err *e, const char *dir, const char *why)
{
    return err_usage(e, "%s/carol-build.json %s; make the build again with 'carol build -o %s ...'",
                     dir, why, dir);
}

static int read_json(const char *dir, json_t **root, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    char *path = manifest_path(dir);
    json_error_t je;
    int rc = 0;
    if (!fs_exists(path))
        rc = err_usage(e,
                       "%s holds no build (no carol-build.json); make one with "
                       "'carol build -o %s ...'",
                       dir, dir);
    else
        rc = fs_read(path, &b, e);
    if (rc == 0) {
        *root = json_loadb(b.p ? b.p : "", b.len, 0, &je);
        if (!json_is_object(*root) || !json_is_array(json_object_get(*root, "targets"))) {
            json_decref(*root);
            rc = refuse(e, dir, "is damaged");
        } else if (json_integer_value(json_object_get(*root, "schema")) != SCHEMA) {
            json_decref(*root);
            rc = refuse(e, dir, "was written by another version of Carol");
        }
    }
    buf_free(&b);
    free(path);
    return rc;
}

static char *take_text(json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s ? xstrdup(s) : NULL;
}

static char *take_path(json_t *o, const char *key, const char *dir)
{
    const char *s = json_string_value(json_object_get(o, key));
    if (!s)
        return NULL;
    return s[0] == '/' ? xstrdup(s) : fs_join(dir, s);
}

static void take_families(struct manifest *m, json_t *families)
{
    const char *name;
    json_t *o;
    json_object_foreach(families, name, o)
    {
        enum family id = family_of(name);
        struct manifest_family *f = &m->family[id];
        if (id == FAMILY_NONE)
            continue;
        f->binary = take_path(o, "binary", m->dir);
        f->ok = f->binary != NULL;
        f->build_id = take_text(o, "build_id");
        f->compiler = take_text(o, "compiler");
        f->flags = take_text(o, "flags");
        f->seconds = json_number_value(json_object_get(o, "seconds"));
        f->cpu_seconds = json_number_value(json_object_get(o, "cpu_seconds"));
        f->bytes = (uint64_t)json_integer_value(json_object_get(o, "bytes"));
        f->map_size = (uint64_t)json_integer_value(json_object_get(o, "map_size"));
    }
}

static char *take_args(json_t *list)
{
    struct buf b = BUF_INIT(1 << 20);
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
        buf_printf(&b, "%s%s", i ? "\n" : "", json_is_string(word) ? json_string_value(word) : "");
    return buf_take(&b);
}

static void take_words(struct strv *l, json_t *list)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word) if (json_is_string(word))
        strv_add(l, json_string_value(word));
}

static void take_target(struct manifest *m, json_t *o)
{
    m->target = take_text(o, "target");
    m->kind = kind_of(json_string_value(json_object_get(o, "kind")));
    json_t *args = json_object_get(o, "args");
    m->args = json_is_array(args) ? take_args(args) : NULL;
    m->dict = take_path(o, "dict", m->dir);
    m->words = take_path(o, "words", m->dir);
    m->seeds = take_path(o, "seeds", m->dir);
    m->options = take_path(o, "options", m->dir);
    m->table = take_path(o, "table", m->dir);
    m->edges = (uint32_t)json_integer_value(json_object_get(o, "edges"));
    m->functions = (uint32_t)json_integer_value(json_object_get(o, "functions"));
    take_families(m, json_object_get(o, "families"));
    json_t *made = json_object_get(o, "made");
    m->made.in = take_text(made, "in");
    take_words(&m->made.env, json_object_get(made, "env"));
    take_words(&m->made.words, json_object_get(made, "words"));
}

static int no_such_target(json_t *targets, const char *dir, const char *target, struct err *e)
{
    struct buf names = BUF_INIT(4096);
    size_t i;
    json_t *t;
    json_array_foreach(targets, i, t) buf_printf(&names, "%s%s", i ? ", " : "", name_of(t));
    int rc;
    if (target)
        rc = err_usage(e, "%s has no target '%s'; it has: %s", dir, target, names.p ? names.p : "");
    else
        rc = err_usage(e, "%s has several targets; name one with --target: %s", dir,
                       names.p ? names.p : "");
    buf_free(&names);
    return rc;
}

int manifest_load(const char *dir, const char *target, struct manifest *m, struct err *e)
{
    *m = (struct manifest){0};
    json_t *root = NULL;
    int rc = read_json(dir, &root, e);
    if (rc < 0)
        return rc;
    json_t *targets = json_object_get(root, "targets"), *found = NULL;
    if (!target && json_is_true(json_object_get(root, "chosen")))
        target = name_of(root);
    for (size_t i = 0; target && i < json_array_size(targets); i++)
        if (strcmp(name_of(json_array_get(targets, i)), target) == 0)
            found = json_array_get(targets, i);
    char real[PATH_MAX];
    if (!found) {
        rc = no_such_target(targets, dir, target, e);
    } else if (!realpath(dir, real)) {
        rc = err_sys(e, "cannot open %s", dir);
    } else {
        m->dir = xstrdup(real);
        take_target(m, found);
        if (m->kind == TARGET_NONE || !m->target || !m->target[0])
            rc = refuse(e, dir, "is damaged");
    }
    json_decref(root);
    if (rc < 0)
        manifest_free(m);
    return rc;
}

int manifest_check_args(const struct manifest *m, const char *const *args, struct err *e)
{
    if (!args || !args[0])
        return 0;
    if (m->kind == TARGET_LIBFUZZER)
        return err_usage(
            e,
            "%s is a function (LLVMFuzzerTestOneInput): it takes no arguments, leave out "
            "'-- %s ...'",
            m->target, args[0]);
    bool named = false;
    for (size_t i = 0; args[i]; i++)
        named = named || strstr(args[i], "@@");
    if (m->kind == TARGET_FILE && !named)
        return err_usage(e,
                         "%s reads a file: write @@ among its arguments where the file's name goes",
                         m->target);
    return 0;
}

static void add_shell_words(struct buf *b, const struct strv *words, bool assignments)
{
    for (size_t i = 0; i < words->n; i++) {
        size_t name = assignments ? strcspn(words->v[i], "=") + 1 : 0;
        char *word = str_shell(words->v[i] + name);
        buf_printf(b, " %.*s%s", (int)name, words->v[i], word);
        free(word);
    }
}

char *manifest_add_command(const struct manifest *m, enum family f)
{
    struct buf b = BUF_INIT(1 << 20);
    char *in = m->made.in ? str_shell(m->made.in) : NULL, *dir = str_shell(m->dir);
    if (in)
        buf_printf(&b, "cd %s &&", in);
    add_shell_words(&b, &m->made.env, true);
    buf_printf(&b, "%scarol build -o %s --families %s", b.len ? " " : "", dir, family_name(f));
    if (in)
        add_shell_words(&b, &m->made.words, false);
    else
        buf_str(&b, " ... (and the rest of the command that made this build)");
    free(in);
    free(dir);
    return buf_take(&b);
}
