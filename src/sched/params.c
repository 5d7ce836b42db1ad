/* params: reads, checks and prints a scheduler's options by its table.  Knows no scheduler. */
#include "sched/params.h"

#include "base/die.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_number(const struct param *p, void *opts, double v)
{
    void *at = (char *)opts + p->at;
    switch (p->kind) {
    case PARAM_REAL: *(double *)at = v; return;
    case PARAM_TIME: *(int64_t *)at = (int64_t)llround(v * 1e9); return;
    case PARAM_COUNT:
    case PARAM_CHOICE: *(int *)at = (int)v; return;
    }
    BUG("unknown kind of parameter");
}

static int set_value(const struct param *p, void *opts, const char *value, struct err *e)
{
    double v = 0;
    char *what = str_fmt("--sched-opt %s", p->key);
    int rc = 0;
    if (p->kind == PARAM_CHOICE) {
        struct strv words = {0};
        size_t i = 0;
        strv_split(&words, p->choices, '|');
        while (i < words.n && strcmp(words.v[i], value) != 0)
            i++;
        if (i < words.n)
            set_number(p, opts, (double)i);
        else
            rc = err_usage(e, "%s=%s: it can be %s", what, value, p->choices);
        strv_free(&words);
    } else if (p->kind == PARAM_TIME) {
        int64_t ns = 0;
        rc = str_to_time(value, what, &ns, e);
        v = (double)ns / 1e9;
        if (rc == 0 && (v < p->lo || v > p->hi))
            rc = err_usage(e, "%s=%s: it must be from %gs to %gs", what, value, p->lo, p->hi);
        if (rc == 0)
            *(int64_t *)(void *)((char *)opts + p->at) = ns;
    } else {
        rc = str_to_double(value, what, p->lo, p->hi, &v, e);
        if (rc == 0 && p->kind == PARAM_COUNT && v != floor(v))
            rc = err_usage(e, "%s=%s: it must be a whole number", what, value);
        if (rc == 0)
            set_number(p, opts, v);
    }
    free(what);
    return rc;
}

static int unknown(const struct param *params, const char *scheduler, const char *key,
                   struct err *e)
{
    struct buf b = BUF_INIT(4096);
    for (const struct param *p = params; p && p->key; p++)
        buf_printf(&b, "%s%s", p == params ? "" : ", ", p->key);
    int rc =
        b.len ? err_usage(e, "--sched-opt %s: the scheduler %s has no such option; it has: %s", key,
                          scheduler, b.p)
              : err_usage(e, "--sched-opt %s: the scheduler %s takes no options", key, scheduler);
    buf_free(&b);
    return rc;
}

static int set_one(const struct param *params, void *opts, const char *scheduler, char *text,
                   struct err *e)
{
    size_t len = strlen(scheduler);
    if (strncmp(text, scheduler, len) == 0 && text[len] == '.')
        text += len + 1;
    char *eq = strchr(text, '=');
    if (eq)
        *eq = '\0';
    const struct param *p = params;
    while (p && p->key && strcmp(p->key, text) != 0)
        p++;
    if (!p || !p->key)
        return unknown(params, scheduler, text, e);
    if (!eq)
        return err_usage(e, "--sched-opt %s: give it a value, as in %s=...", text, text);
    return set_value(p, opts, eq + 1, e);
}

int params_read(const struct param *params, void *opts, const char *scheduler,
                const struct sched_settings *st, struct err *e)
{
    struct strv given = {0};
    int rc = 0;
    double scale = st->turn_ns ? (double)st->turn_ns / (SCHED_TURN_S * 1e9) : 1;
    for (const struct param *p = params; p && p->key; p++)
        set_number(p, opts, p->kind == PARAM_TIME ? p->def * scale : p->def);
    strv_split(&given, st->params ? st->params : "", ',');
    for (size_t i = 0; rc == 0 && i < given.n; i++)
        rc = set_one(params, opts, scheduler, given.v[i], e);
    strv_free(&given);
    return rc;
}

static void print_choice(const struct param *p, int n, struct buf *out)
{
    struct strv words = {0};
    strv_split(&words, p->choices, '|');
    buf_str(out, words.v[n]);
    strv_free(&words);
}

void params_print(const struct param *params, const void *opts, struct buf *out)
{
    for (const struct param *p = params; p->key; p++) {
        const void *at = (const char *)opts + p->at;
        buf_printf(out, "%s%s=", p == params ? "" : ",", p->key);
        if (p->kind == PARAM_REAL)
            buf_printf(out, "%.17g", *(const double *)at);
        else if (p->kind == PARAM_COUNT)
            buf_printf(out, "%d", *(const int *)at);
        else if (p->kind == PARAM_CHOICE)
            print_choice(p, *(const int *)at, out);
        else
            buf_printf(out, "%lld.%09llds", (long long)(*(const int64_t *)at / 1000000000),
                       (long long)(*(const int64_t *)at % 1000000000));
    }
}

void params_help(const struct param *params, struct buf *out)
{
    bool times = false;
    for (const struct param *p = params; p && p->key; p++) {
        const char *unit = p->kind == PARAM_TIME ? "s" : "";
        buf_printf(out, "  %-12s ", p->key);
        if (p->kind == PARAM_CHOICE) {
            print_choice(p, (int)p->def, out);
            buf_printf(out, " (%s)", p->choices);
        } else {
            buf_printf(out, "%g%s (%g%s to %g%s)", p->def, unit, p->lo, unit, p->hi, unit);
        }
        buf_printf(out, "  %s\n", p->what);
        times |= p->kind == PARAM_TIME;
    }
    if (times)
        buf_str(out,
                "  (default times are for turns of 120 s and scale with the length of a turn)\n");
}
