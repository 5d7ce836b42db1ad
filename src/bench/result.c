/* result: a campaign's outcome as JSON, and the figures that follow from it. */
#include "bench/result.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/where.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FILE_MAX ((size_t)8 << 20)

static struct first first_of(const struct carol_first *f)
{
    return (struct first){f->exec || f->wall_ns, f->exec, (double)f->cpu_ns / 1e9,
                          (double)f->wall_ns / 1e9};
}

void result_bugs(struct result *r, const struct bug *bugs, size_t n, const struct carol_oracle *o)
{
    r->n_bugs = n;
    r->bugs = xcalloc(n + 1, sizeof *r->bugs);
    r->execs = o->execs;
    for (size_t i = 0; i < n; i++) {
        const struct carol_bug_record *b = &o->bug[bugs[i].number];
        snprintf(r->bugs[i].id, sizeof r->bugs[i].id, "%s", bugs[i].id);
        r->bugs[i].reached = first_of(&b->first_reached);
        r->bugs[i].triggered = first_of(&b->first_triggered);
    }
}

char *result_host(void)
{
    struct utsname u;
    struct buf b = BUF_INIT(1 << 22);
    const char *at =
        fs_read("/proc/cpuinfo", &b, NULL) == 0 && b.p ? strstr(b.p, "model name") : NULL;
    at = at ? strchr(at, ':') : NULL;
    char *model =
        at ? str_fmt("%.*s", (int)strcspn(at + 1, "\n"), at + 1) : xstrdup(" unknown processor");
    bool known = uname(&u) == 0;
    char *host = str_fmt("%s %s,%s, %ld cores", known ? u.sysname : "?", known ? u.release : "?",
                         model, sysconf(_SC_NPROCESSORS_ONLN));
    free(model);
    buf_free(&b);
    return host;
}

/* "afl 4.40c, honggfuzz 2.6, ...", as tools/engines.py noted them; "" when it did not. */
static char *engine_versions(void)
{
    static const char *const names[] = {"afl", "honggfuzz", "radamsa"};
    char *path = where_engine("engines.json");
    json_t *o = json_load_file(path, 0, NULL);
    struct buf b = BUF_INIT(4096);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = json_string_value(json_object_get(json_object_get(o, names[i]), "version"));
        if (v)
            buf_printf(&b, ", %s %s", names[i], v);
    }
    const char *key = json_string_value(json_object_get(o, "key"));
    if (key)
        buf_printf(&b, ", engines %s", key);
    json_decref(o);
    free(path);
    return buf_take(&b);
}

char *result_version(void)
{
    struct digest d;
    char hex[65] = "?", *self = where_self(), *engines = engine_versions();
    if (hash_file(self, &d, NULL) == 0)
        digest_hex(&d, hex);
    char *text = str_fmt("carol %s (program %.16s)%s", CAROL_VERSION, hex, engines);
    free(engines);
    free(self);
    return text;
}

size_t result_triggered(const struct result *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_bugs; i++)
        n += r->bugs[i].triggered.seen;
    return n;
}

size_t result_reached(const struct result *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_bugs; i++)
        n += r->bugs[i].reached.seen;
    return n;
}

double result_area(const struct result *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n_bugs; i++)
        if (r->bugs[i].triggered.seen && r->bugs[i].triggered.cpu_s < r->budget_s)
            sum += 1 - r->bugs[i].triggered.cpu_s / r->budget_s;
    return sum;
}

static json_t *first_json(const struct first *f)
{
    return f->seen ? json_pack("{s:I,s:f,s:f}", "exec", (json_int_t)f->exec, "cpu_s", f->cpu_s,
                               "wall_s", f->wall_s)
                   : json_null();
}

static json_t *to_json(const struct result *r)
{
    json_t *bugs = json_array(), *edges = json_array(), *wall = json_array(), *top = json_array();
    json_t *fuzzers = r->fuzzers.n ? json_array() : json_null();
    for (size_t i = 0; i < r->fuzzers.n; i++)
        json_array_append_new(fuzzers, json_string(r->fuzzers.v[i]));
    for (size_t i = 0; i < r->n_bugs; i++)
        json_array_append_new(bugs, json_pack("{s:s,s:o,s:o}", "id", r->bugs[i].id, "reached",
                                              first_json(&r->bugs[i].reached), "triggered",
                                              first_json(&r->bugs[i].triggered)));
    for (int i = 0; i <= RESULT_MOMENTS; i++) {
        json_array_append_new(edges, json_integer(r->edges[i]));
        json_array_append_new(wall, json_real(r->wall_at[i]));
    }
    for (int i = 0; i < GROWTH_QUARTERS; i++)
        json_array_append_new(top, r->top_share[i] < 0 ? json_null() : json_real(r->top_share[i]));
    json_t *o = json_pack("{s:i,s:s,s:s,s:s,s:i,s:I,s:i,s:s,s:o}", "schema", 1, "target", r->target,
                          "contender", r->contender, "role", role_name(r->role), "trial", r->trial,
                          "seed", (json_int_t)r->seed, "cores", r->cores, "definition",
                          r->definition, "fuzzers", fuzzers);
    json_t *more = json_pack(
        "{s:f,s:f,s:f,s:f,s:i,s:f,s:I,s:I,s:i,s:i,s:f,s:o,s:o,s:o,s:I,s:o,s:s,s:s,s:s,s:s,s:s}",
        "budget_s", r->budget_s, "cpu_s", r->cpu_s, "wall_s", r->wall_s, "ratio", r->ratio,
        "attempts", r->attempts, "first_ratio", r->first_ratio, "execs", (json_int_t)r->execs,
        "inputs", (json_int_t)r->inputs, "triggered", (int)result_triggered(r), "reached",
        (int)result_reached(r), "area", result_area(r), "edges", edges, "wall_at_s", wall,
        "top_share", top, "edges_total", (json_int_t)r->edges_total, "bugs", bugs, "command",
        r->command, "version", r->version, "build_id", r->build_id ? r->build_id : "", "began",
        r->began, "host", r->host);
    json_object_update(o, more);
    json_decref(more);
    return o;
}

int result_write(const struct result *r, const char *path, struct err *e)
{
    json_t *o = to_json(r);
    char *text = json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    BUG_ON(!text);
    int rc = fs_write_atomic(path, text, strlen(text), e);
    if (rc < 0 && e)
        e->exit = ERR_EXIT_ENV;
    free(text);
    json_decref(o);
    return rc;
}

static void take_first(json_t *o, struct first *f)
{
    if (json_is_object(o))
        *f = (struct first){true, (uint64_t)json_integer_value(json_object_get(o, "exec")),
                            json_number_value(json_object_get(o, "cpu_s")),
                            json_number_value(json_object_get(o, "wall_s"))};
}

static char *text_of(json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return xstrdup(s ? s : "");
}

static double real_of(json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static int64_t whole_of(json_t *o, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(o, key));
}

static void take_lists(struct result *r, json_t *o)
{
    json_t *bugs = json_object_get(o, "bugs"), *edges = json_object_get(o, "edges"),
           *wall = json_object_get(o, "wall_at_s"), *top = json_object_get(o, "top_share"),
           *fuzzers = json_object_get(o, "fuzzers");
    for (size_t i = 0; i < json_array_size(fuzzers); i++)
        if (json_is_string(json_array_get(fuzzers, i)))
            strv_add(&r->fuzzers, json_string_value(json_array_get(fuzzers, i)));
    r->n_bugs = json_array_size(bugs);
    r->bugs = xcalloc(r->n_bugs + 1, sizeof *r->bugs);
    for (size_t i = 0; i < r->n_bugs; i++) {
        json_t *b = json_array_get(bugs, i);
        const char *id = json_string_value(json_object_get(b, "id"));
        snprintf(r->bugs[i].id, sizeof r->bugs[i].id, "%s", id ? id : "");
        take_first(json_object_get(b, "reached"), &r->bugs[i].reached);
        take_first(json_object_get(b, "triggered"), &r->bugs[i].triggered);
    }
    for (int i = 0; i <= RESULT_MOMENTS; i++) {
        r->edges[i] = (uint32_t)json_integer_value(json_array_get(edges, (size_t)i));
        r->wall_at[i] = json_number_value(json_array_get(wall, (size_t)i));
    }
    for (int i = 0; i < GROWTH_QUARTERS; i++) {
        json_t *v = json_array_get(top, (size_t)i);
        r->top_share[i] = json_is_number(v) ? json_number_value(v) : -1;
    }
}

static void from_json(struct result *r, json_t *o)
{
    json_t *role = json_object_get(o, "role");
    *r = (struct result){
        .target = text_of(o, "target"),
        .contender = text_of(o, "contender"),
        .definition = text_of(o, "definition"),
        .role = json_is_string(role) ? role_of(json_string_value(role)) : ROLE_NONE,
        .trial = (int)whole_of(o, "trial"),
        .cores = (int)whole_of(o, "cores"),
        .attempts = (int)whole_of(o, "attempts"),
        .seed = (uint64_t)whole_of(o, "seed"),
        .budget_s = real_of(o, "budget_s"),
        .cpu_s = real_of(o, "cpu_s"),
        .wall_s = real_of(o, "wall_s"),
        .ratio = real_of(o, "ratio"),
        .first_ratio = real_of(o, "first_ratio"),
        .execs = (uint64_t)whole_of(o, "execs"),
        .inputs = (uint64_t)whole_of(o, "inputs"),
        .edges_total = (uint32_t)whole_of(o, "edges_total"),
        .command = text_of(o, "command"),
        .version = text_of(o, "version"),
        .build_id = text_of(o, "build_id"),
        .began = text_of(o, "began"),
        .host = text_of(o, "host"),
    };
    take_lists(r, o);
}

int result_read(struct result *r, const char *path, struct err *e)
{
    struct buf b = BUF_INIT(FILE_MAX);
    *r = (struct result){0};
    int rc = fs_read(path, &b, e);
    json_t *o = rc == 0 ? json_loadb(b.p ? b.p : "", b.len, 0, NULL) : NULL;
    buf_free(&b);
    if (rc < 0)
        return rc;
    if (whole_of(o, "schema") == 1)
        from_json(r, o);
    json_decref(o);
    if (!r->target || !*r->target || !*r->contender || r->trial < 1 || r->budget_s <= 0 ||
        r->role == ROLE_NONE) {
        result_free(r);
        return err_usage(e, "%s is not the result of a campaign", path);
    }
    return 0;
}

void result_free(struct result *r)
{
    char *own[] = {r->target,  r->contender, r->definition, r->command,
                   r->version, r->build_id,  r->began,      r->host};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free(own[i]);
    strv_free(&r->fuzzers);
    free(r->bugs);
    *r = (struct result){0};
}
