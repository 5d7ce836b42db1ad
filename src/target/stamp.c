/* stamp: reads, writes and checks the stamp of one family's build.  Does not compute keys. */
#include "target/stamp.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "target/source.h"
#include "target/table.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void stamp_free(struct stamp *s)
{
    strv_free(&s->deps);
    free(s->compiler);
    free(s->flags);
    out_free(&s->targets);
    *s = (struct stamp){0};
}

void stamp_digest_deps(const struct strv *deps, char hex[65])
{
    struct hasher *h = hash_begin();
    struct digest d;
    source_digest_files(deps, h);
    hash_end(h, &d);
    digest_hex(&d, hex);
}

int stamp_write(const char *dir, const struct stamp *s, struct err *e)
{
    json_t *deps = json_array(), *targets = json_array();
    for (size_t i = 0; i < s->deps.n; i++)
        json_array_append_new(deps, json_string(s->deps.v[i]));
    for (size_t i = 0; i < s->targets.n; i++) {
        const struct out_target *t = &s->targets.v[i];
        json_array_append_new(
            targets, json_pack("{s:s, s:b, s:s, s:I, s:I, s:I, s:I}", "name", t->name, "harness",
                               t->harness, "build_id", t->build_id, "bytes", (json_int_t)t->bytes,
                               "map_size", (json_int_t)t->map_size, "edges", (json_int_t)t->edges,
                               "functions", (json_int_t)t->functions));
    }
    json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:s, s:f, s:f, s:o, s:o}", "schema", 1, "key",
                          s->key, "deps_digest", s->deps_digest, "compiler", s->compiler, "flags",
                          s->flags, "seconds", s->seconds, "cpu_seconds", s->cpu_seconds, "deps",
                          deps, "targets", targets);
    char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL, *path = fs_join(dir, STAMP_NAME);
    int rc = text ? fs_write_atomic(path, text, strlen(text), e)
                  : err_set(e, -EINVAL, "a file name in this build is not UTF-8");
    free(path);
    free(text);
    json_decref(o);
    return rc;
}

static void copy_hex(char to[65], json_t *s)
{
    const char *text = json_string_value(s);
    snprintf(to, 65, "%s", text ? text : "");
}

static void take_target(struct out_list *l, json_t *o)
{
    const char *name = json_string_value(json_object_get(o, "name"));
    struct out_target t = {.name = xstrdup(name ? name : ""),
                           .harness = json_is_true(json_object_get(o, "harness"))};
    copy_hex(t.build_id, json_object_get(o, "build_id"));
    t.bytes = (uint64_t)json_integer_value(json_object_get(o, "bytes"));
    t.map_size = (uint64_t)json_integer_value(json_object_get(o, "map_size"));
    t.edges = (uint32_t)json_integer_value(json_object_get(o, "edges"));
    t.functions = (uint32_t)json_integer_value(json_object_get(o, "functions"));
    l->v = xrealloc(l->v, (l->n + 1) * sizeof *l->v);
    l->v[l->n++] = t;
}

/* False: there is none, or it is damaged. */
static bool read_stamp(const char *dir, struct stamp *s)
{
    *s = (struct stamp){0};
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    char *path = fs_join(dir, STAMP_NAME);
    json_t *o = fs_read(path, &b, NULL) == 0 ? json_loadb(b.p ? b.p : "", b.len, 0, NULL) : NULL,
           *v;
    bool good = json_is_object(o) && json_integer_value(json_object_get(o, "schema")) == 1;
    if (good) {
        const char *compiler = json_string_value(json_object_get(o, "compiler"));
        const char *flags = json_string_value(json_object_get(o, "flags"));
        size_t i;
        copy_hex(s->key, json_object_get(o, "key"));
        copy_hex(s->deps_digest, json_object_get(o, "deps_digest"));
        s->compiler = xstrdup(compiler ? compiler : "");
        s->flags = xstrdup(flags ? flags : "");
        s->seconds = json_number_value(json_object_get(o, "seconds"));
        s->cpu_seconds = json_number_value(json_object_get(o, "cpu_seconds"));
        json_array_foreach(json_object_get(o, "deps"), i, v) if (json_is_string(v))
            strv_add(&s->deps, json_string_value(v));
        json_array_foreach(json_object_get(o, "targets"), i, v) take_target(&s->targets, v);
    }
    json_decref(o);
    free(path);
    buf_free(&b);
    return good;
}

/* Is the table beside a neutral program complete, and that of this very program? */
static bool table_is_whole(const char *program, const char *build_id)
{
    char *path = str_fmt("%s.edges", program);
    struct table t;
    bool whole = table_load(path, &t, NULL) == 0;
    if (whole) {
        whole = strcmp(t.build_id, build_id) == 0;
        table_free(&t);
    }
    free(path);
    return whole;
}

static bool files_unchanged(const char *dir, const struct stamp *s)
{
    bool same = s->targets.n > 0;
    for (size_t i = 0; i < s->targets.n && same; i++) {
        char hex[65] = "", *path = fs_join(dir, s->targets.v[i].name);
        same = outdir_digest(path, hex, NULL) == 0 && strcmp(hex, s->targets.v[i].build_id) == 0;
        if (same && s->targets.v[i].edges)
            same = table_is_whole(path, hex);
        free(path);
    }
    return same;
}

bool stamp_current(const char *dir, const char *key, struct stamp *s)
{
    char hex[65];
    if (!read_stamp(dir, s))
        return false;
    stamp_digest_deps(&s->deps, hex);
    if (strcmp(s->key, key) == 0 && strcmp(hex, s->deps_digest) == 0 && files_unchanged(dir, s))
        return true;
    stamp_free(s);
    return false;
}
