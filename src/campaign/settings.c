/* settings: what the user asked for, written into the store at the start and read back by --resume,
 * status and replay.  One table drives both directions. */
#include "campaign/settings.h"

#include "base/die.h"
#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum kind { TEXT, LIST, LINES, INT, I64, U64, U32, FLAG };

#define SETTINGS(X)                                                                                \
    X("build", TEXT, build)                                                                        \
    X("target", TEXT, target)                                                                      \
    X("seeds", LINES, seeds)                                                                       \
    X("dict", TEXT, dict)                                                                          \
    X("fuzzers", LIST, fuzzers)                                                                    \
    X("scheduler", TEXT, scheduler)                                                                \
    X("params", TEXT, params)                                                                      \
    X("jobs", INT, jobs)                                                                           \
    X("budget_ns", I64, budget_ns)                                                                 \
    X("turn_ns", I64, turn_ns)                                                                     \
    X("seed", U64, seed)                                                                           \
    X("mem_bytes", U64, mem_bytes)                                                                 \
    X("timeout_ms", U32, timeout_ms)                                                               \
    X("args", LINES, args)                                                                         \
    X("reward", U32, reward)                                                                       \
    X("neutral_filter", FLAG, neutral_filter)

struct setting {
    const char *key;
    enum kind kind;
    size_t at;
};

static const struct setting table[] = {
#define ROW(key, kind, field) {key, kind, offsetof(struct campaign_opts, field)},
    SETTINGS(ROW)
#undef ROW
};

static char *join(const struct strv *l, char sep)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            buf_add(&b, &sep, 1);
        buf_str(&b, l->v[i]);
    }
    return buf_take(&b);
}

/* A line per word.  An empty word is written \-, a line break in one \n, a backslash twice. */
static char *to_lines(const struct strv *l)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    for (size_t i = 0; i < l->n; i++) {
        if (i)
            buf_str(&b, "\n");
        if (!*l->v[i])
            buf_str(&b, "\\-");
        for (const char *c = l->v[i]; *c; c++)
            if (*c == '\n')
                buf_str(&b, "\\n");
            else
                buf_printf(&b, *c == '\\' ? "\\%c" : "%c", *c);
    }
    return buf_take(&b);
}

static void from_lines(struct strv *l, const char *text)
{
    strv_split(l, text, '\n');
    for (size_t i = 0; i < l->n; i++) {
        char *to = l->v[i];
        for (const char *c = l->v[i]; *c; c++) {
            bool escape = *c == '\\' && c[1] && strchr("-n\\", c[1]);
            c += escape;
            if (!escape || *c != '-')
                *to++ = escape && *c == 'n' ? '\n' : *c;
        }
        *to = '\0';
    }
}

static char *to_text(const struct setting *st, const struct campaign_opts *o)
{
    const void *p = (const char *)o + st->at;
    switch (st->kind) {
    case TEXT: return xstrdup(*(char *const *)p ? *(char *const *)p : "");
    case LIST: return join(p, ',');
    case LINES: return to_lines(p);
    case INT: return str_fmt("%d", *(const int *)p);
    case I64: return str_fmt("%lld", (long long)*(const int64_t *)p);
    case U64: return str_fmt("%llu", (unsigned long long)*(const uint64_t *)p);
    case U32: return str_fmt("%u", *(const uint32_t *)p);
    case FLAG: return xstrdup(*(const bool *)p ? "1" : "0");
    }
    BUG("unknown kind of setting");
}

static void from_text(const struct setting *st, struct campaign_opts *o, const char *text)
{
    void *p = (char *)o + st->at;
    switch (st->kind) {
    case TEXT:
        free(*(char **)p);
        *(char **)p = *text ? xstrdup(text) : NULL;
        break;
    case LIST:
        strv_free(p);
        strv_split(p, text, ',');
        break;
    case LINES:
        strv_free(p);
        from_lines(p, text);
        break;
    case INT: *(int *)p = (int)strtol(text, NULL, 10); break;
    case I64: *(int64_t *)p = strtoll(text, NULL, 10); break;
    case U64: *(uint64_t *)p = strtoull(text, NULL, 10); break;
    case U32: *(uint32_t *)p = (uint32_t)strtoul(text, NULL, 10); break;
    case FLAG: *(bool *)p = *text == '1'; break;
    }
}

int settings_write(const struct campaign_opts *o, struct store *s, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof table / sizeof *table; i++) {
        char *text = to_text(&table[i], o);
        rc = store_set(s, table[i].key, text, e);
        free(text);
    }
    return rc;
}

int settings_read(struct campaign_opts *o, struct store *s, struct err *e)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *text = store_get(s, table[i].key);
        if (!text)
            return err_usage(e,
                             "the campaign database lacks the setting '%s': it was not begun by "
                             "this version of carol, or its start was cut off before anything "
                             "was stored; start a new one",
                             table[i].key);
        from_text(&table[i], o, text);
        free(text);
    }
    return 0;
}

int settings_set_budget(struct store *s, int64_t t, int64_t ns, struct err *e)
{
    char *key = str_fmt("budget@%lld", (long long)t), *text = str_fmt("%lld", (long long)ns);
    int rc = store_set(s, key, text, e);
    if (rc == 0)
        rc = store_set(s, "budget_now", text, e);
    free(key);
    free(text);
    return rc;
}

bool settings_budget_at(struct store *s, int64_t t, int64_t *ns)
{
    char *key = str_fmt("budget@%lld", (long long)t), *text = store_get(s, key);
    bool found = text != NULL;
    if (found)
        *ns = strtoll(text, NULL, 10);
    free(key);
    free(text);
    return found;
}

int settings_check_build(struct store *s, const struct table *t, const char *build, struct err *e)
{
    char *was = store_get(s, "build_id");
    int rc = 0;
    if (was && strcmp(was, t->build_id) != 0)
        rc = err_usage(
            e,
            "the neutral build in %s is not the one this campaign was begun on, so its edges "
            "have other numbers: restore that build, or start a new campaign with another -o",
            build);
    free(was);
    return rc;
}

void settings_fold(const struct campaign_opts *o, const struct table *t, struct fold_settings *s)
{
    *s = (struct fold_settings){.table = t,
                                .fuzzers = &o->fuzzers,
                                .scheduler = o->scheduler,
                                .params = o->params,
                                .workers = o->jobs,
                                .seed = o->seed,
                                .turn_ns = o->turn_ns,
                                .budget_ns = o->budget_ns,
                                .reward = o->reward};
}

int settings_resolve(struct campaign_opts *o, const struct table *t, struct err *e)
{
    struct fold_settings st;
    struct sched *s = NULL;
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    settings_fold(o, t, &st);
    int rc = fold_sched(&st, &s, e);
    if (rc < 0)
        return rc;
    sched_describe(s, &b);
    sched_free(s);
    free(o->params);
    o->params = buf_take(&b);
    return 0;
}

int settings_host(struct store *s, struct err *e)
{
    struct utsname u;
    char line[256], cpus[32];
    uname(&u);
    snprintf(line, sizeof line, "%s %s %s", u.sysname, u.release, u.machine);
    snprintf(cpus, sizeof cpus, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    int rc = store_set(s, "host.kernel", line, e);
    if (rc == 0)
        rc = store_set(s, "host.name", u.nodename, e);
    if (rc == 0)
        rc = store_set(s, "host.cpus", cpus, e);
    if (rc == 0 && fs_read_line("/proc/sys/kernel/core_pattern", line, sizeof line))
        rc = store_set(s, "host.core_pattern", line, e);
    if (rc == 0 && fs_read_line("/proc/loadavg", line, sizeof line))
        rc = store_set(s, "host.loadavg", line, e);
    return rc;
}

void campaign_opts_free(struct campaign_opts *o)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        void *p = (char *)o + table[i].at;
        if (table[i].kind == TEXT)
            free(*(char **)p);
        else if (table[i].kind == LIST || table[i].kind == LINES)
            strv_free(p);
    }
    free(o->out);
    *o = (struct campaign_opts){0};
}
