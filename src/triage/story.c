/* story: the report of one defect, ready to file, and the ancestors of its input. */
#include "triage/output.h"

#include "base/die.h"
#include "base/str.h"
#include "eval/edges.h"
#include "triage/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANCESTORS 200

/* --- ancestors ---------------------------------------------------------------------------------- */

struct ancestor {
    int64_t id, parent, instance, turn;
    int64_t found_ns;
    size_t size;
    char name[64];
    struct edges edges;
};

static void copy_name(char out[64], const char *name)
{
    snprintf(out, 64, "%.63s", name ? name : "");
    for (char *p = out; *p; p++)
        if (*p < 0x20 || *p == '|' || *p == '`')
            *p = '?';
}

static int take_seed(void *arg, const struct store_seed *s, struct err *e)
{
    struct ancestor *a = arg;
    (void)e;
    *a = (struct ancestor){.id = s->id,
                           .parent = s->parent,
                           .instance = s->instance,
                           .turn = s->turn,
                           .found_ns = s->found_ns,
                           .size = s->size};
    copy_name(a->name, s->name);
    if (s->edges && edges_decode(s->edges, s->edges_size, UINT32_MAX, &a->edges, NULL) < 0)
        a->edges = (struct edges){0};
    return 0;
}

static int take_crash(void *arg, const struct store_crash *c, struct err *e)
{
    struct ancestor *a = arg;
    (void)e;
    *a = (struct ancestor){.parent = c->parent,
                           .instance = c->instance,
                           .turn = c->turn,
                           .found_ns = c->found_ns,
                           .size = c->size};
    copy_name(a->name, c->name);
    return 0;
}

/* How many edges x has that y has not. */
static uint32_t more_edges(const struct edges *x, const struct edges *y)
{
    uint32_t n = 0, j = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        while (j < y->n && y->ids[j] < x->ids[i])
            j++;
        n += j == y->n || y->ids[j] != x->ids[i];
    }
    return n;
}

static const char *fuzzer_of(const struct store_instance *all, size_t n, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].id == id)
            return all[i].fuzzer;
    return id ? "?" : "seed";
}

static void add_step(struct buf *out, const struct ancestor *a, const struct ancestor *parent,
                     const char *fuzzer, bool last)
{
    buf_printf(out, "| %s | %.1f s | %s | %zu |",
               last    ? "this crash"
               : a->id ? ""
                       : "?",
               (double)a->found_ns / 1e9, fuzzer, a->size);
    if (last)
        buf_str(out, " the crash |");
    else if (!parent)
        buf_printf(out, " %u edges |", a->edges.n);
    else
        buf_printf(out, " +%u edges |", more_edges(&a->edges, &parent->edges));
    buf_printf(out, " `%s` |\n", a->name);
}

int output_lineage(const struct output *o, int64_t crash, struct buf *out, struct err *e)
{
    struct err why = {0};
    struct ancestor *chain = xcalloc(ANCESTORS, sizeof *chain);
    struct store_instance *all = NULL;
    size_t n = 0, n_all = 0;
    int rc = store_instances(o->store, &all, &n_all, e);
    if (rc == 0 && store_crash_get(o->store, crash, take_crash, &chain[n], &why) < 0)
        buf_printf(out, "The input is lost: %s\n", why.msg);
    else
        n++;
    while (rc == 0 && n && chain[n - 1].parent && n < ANCESTORS) {
        rc = store_seed_results(o->store, chain[n - 1].parent, take_seed, &chain[n], e);
        n += rc == 0;
    }
    if (n)
        buf_str(out, "| | found | by | bytes | added | name |\n|---|---|---|---|---|---|\n");
    for (size_t i = n; rc == 0 && i-- > 0;)
        add_step(out, &chain[i], i + 1 < n ? &chain[i + 1] : NULL,
                 fuzzer_of(all, n_all, chain[i].instance), i == 0);
    for (size_t i = 0; i < n; i++)
        edges_free(&chain[i].edges);
    free(chain);
    store_instances_free(all, n_all);
    return rc;
}

/* --- the report --------------------------------------------------------------------------------- */

static void add_row(struct buf *b, const char *key, const char *value)
{
    if (*value)
        buf_printf(b, "| %s | %s |\n", key, value);
}

static void add_facts(const struct output *o, const struct defect *d, struct buf *b)
{
    char *weakness = defect_weakness(d), *at = str_fmt("%s:%d", d->file, d->line);
    char *access = str_fmt("%s%s%s", d->access, d->bytes ? " of " : "", d->bytes ? "" : "");
    char *bytes = d->bytes ? str_fmt("%s%lld bytes", access, (long long)d->bytes) : xstrdup(access);
    char *sure = d->confirmed ? str_fmt("yes: %s", defect_sure(d))
                              : str_fmt("no: %s", *d->why ? d->why : "not tried yet");
    char *seen =
        str_fmt("%.0f s after the start, by %s; %llu inputs since", (double)d->first_seen_ns / 1e9,
                d->found_by, (unsigned long long)d->inputs);
    char *line = d->outcome == TRIAGE_HANG ? xstrdup(d->file) : xstrdup(at);
    buf_str(b, "| | |\n|---|---|\n");
    add_row(b, "target", o->target->target);
    add_row(b, "fault", d->fault);
    add_row(b, "weakness", weakness);
    add_row(b, "function", d->function);
    add_row(b, "place", *d->file ? line : "");
    add_row(b, "entered through", d->entry);
    add_row(b, "access", bytes);
    add_row(b, "address", d->address);
    add_row(b, "confirmed", sure);
    add_row(b, "disclosure",
            d->withheld
                ? "withheld: memory corruption or disclosure of information; report it privately"
                : "crash");
    add_row(b, "first seen", seen);
    add_row(b, "id", d->id);
    free(weakness);
    free(at);
    free(access);
    free(bytes);
    free(sure);
    free(seen);
    free(line);
}

static void add_commands(const struct output *o, const struct defect *d, struct buf *b)
{
    static const enum family used[] = {FAMILY_ASAN, FAMILY_PLAIN};
    const char *const *args = o->o->args.n ? (const char *const *)o->o->args.v : NULL;
    char *folder = str_fmt("%s/%s", o->dir, d->id), *word = str_shell(folder);
    buf_printf(b, "\n## Reproduce\n\n    cd %s\n", word);
    for (size_t i = 0; i < 2; i++) {
        if (!o->target->family[used[i]].ok)
            continue;
        char *command =
            lab_command(o->target, args, used[i], d->minimised ? "minimised" : "original");
        buf_printf(b, "    %s%s\n",
                   used[i] == FAMILY_ASAN
                       ? "ASAN_OPTIONS=handle_abort=1:allocator_may_return_null=1 "
                       : "",
                   command);
        free(command);
    }
    buf_printf(b, "\n`original` has %zu bytes", d->best_size);
    if (d->minimised)
        buf_printf(b, ", `minimised` has %zu", d->minimised_size);
    buf_str(b, ".\n");
    free(folder);
    free(word);
}

static void add_builds(const struct output *o, struct buf *b)
{
    static const enum family used[] = {FAMILY_ASAN, FAMILY_PLAIN};
    buf_str(b, "\n## Builds\n\n| build | compiler | flags added | SHA-256 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < 2; i++) {
        const struct manifest_family *f = &o->target->family[used[i]];
        if (f->ok)
            buf_printf(b, "| %s | %s | `%s` | %.16s |\n", family_name(used[i]), f->compiler,
                       f->flags, f->build_id ? f->build_id : "");
    }
}

int output_report(const struct output *o, const struct defect *d, const char *stack, struct buf *b,
                  struct err *e)
{
    buf_printf(b, "# %s in %s\n\n", d->fault, *d->function ? d->function : "unknown code");
    add_facts(o, d, b);
    add_commands(o, d, b);
    if (stack)
        buf_str(b, "\n## What the sanitizer says\n\n");
    if (stack && d->worst != d->best)
        buf_printf(b,
                   "In the worst run, which is of another input than `original`: crash %lld of the "
                   "record.\n\n",
                   (long long)d->worst);
    if (stack)
        buf_printf(b, "```\n%.*s\n```\n", (int)(strlen(stack) < 6000 ? strlen(stack) : 6000),
                   stack);
    add_builds(o, b);
    buf_str(b, "\n## Where the input comes from\n\n");
    return output_lineage(o, d->best, b, e);
}
