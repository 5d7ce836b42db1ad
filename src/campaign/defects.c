/* defects: what a campaign hears of triage while it runs, and whom it tells.  How a crash gets its bucket is in
 * src/triage/live.c. */
#include "campaign/state.h"

#include "base/fs.h"
#include "base/log.h"
#include "triage/defect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the user's hook ------------------------------------------------------------------------------- */

static json_t *find_json(json_t *all, const char *id)
{
    static const char *const lists[] = {"defects", "unconfirmed"};
    size_t k;
    json_t *x;
    for (size_t i = 0; i < 2; i++)
        json_array_foreach(json_object_get(all, lists[i]), k,
                           x) if (strcmp(json_string_value(json_object_get(x, "id")), id) ==
                                  0) return x;
    return NULL;
}

struct file_of {
    const struct campaign *c;
    json_t *defect;
};

static int set_input(void *arg, const struct store_crash *k, struct err *e)
{
    struct file_of *f = arg;
    (void)e;
    char *path = finding_path(f->c, k);
    json_object_set_new(f->defect, "input", json_string(path));
    free(path);
    return 0;
}

/* As in defects.json, with the file of the crash: the folder is written at the end. */
static int tell(struct campaign *c, const struct store_triage *row, struct err *e)
{
    struct defects d;
    int rc = defects_load(&d, c->store, e);
    if (rc < 0)
        return rc;
    json_t *all = defects_json(&d, NULL), *x = find_json(all, row->defect);
    char *folder = str_fmt("%s/triage/%s", c->o.out, row->defect);
    struct file_of f = {c, x};
    if (x)
        rc = store_crash_get(c->store, row->crash, set_input, &f, e);
    if (x && rc == 0)
        rc = hook_tell(c->hook, row->defect, folder, x, e);
    free(folder);
    json_decref(all);
    defects_free(&d);
    return rc;
}

/* --- what triage says ------------------------------------------------------------------------------ */

static void on_bucketed(void *arg, const struct store_triage *row, bool fresh)
{
    struct campaign *c = arg;
    struct gauges *g = &c->gauges;
    const char *slash = strrchr(row->file, '/');
    struct err e = {0};
    c->look.stale = true;
    g->triaged++;
    if (!fresh)
        return;
    if (g->defects < live_defects(c->live))
        g->defects = live_defects(c->live);
    snprintf(g->last_defect, sizeof g->last_defect, "%s in %s%s%.60s", row->fault,
             *row->function ? row->function : "unknown code", *row->file ? ", " : "",
             slash ? slash + 1 : row->file);
    campaign_note(c, "defect", "defect %llu: %s", (unsigned long long)g->defects, g->last_defect);
    if (c->hook && tell(c, row, &e) < 0)
        log_warn("a new defect is not told: %s", e.msg);
}

static void on_failed(void *arg, const struct err *e)
{
    campaign_fail(arg, e);
}

/* A seed of the user's has no slot: the first one sees to it. */
static int core_of(void *arg, int slot)
{
    const struct campaign *c = arg;
    return c->slots[slot >= 0 && slot < c->n_slots ? slot : 0].cpu;
}

int defects_watch(struct campaign *c, struct err *e)
{
    struct hook_opts h = {.command = c->o.exec, .url = c->o.webhook, .campaign = c->o.out};
    struct live_opts o = {.slots = c->n_slots,
                          .budget_ns = c->f.tally.budget_ns,
                          .arg = c,
                          .core = core_of,
                          .bucketed = on_bucketed,
                          .failed = on_failed};
    if (c->o.no_triage || !c->env.open_live)
        return 0;
    int rc = c->env.open_live(c->env.arg, &c->live, c->store, &o, e);
    if (rc < 0)
        return rc;
    c->gauges.defects = live_defects(c->live);
    if (h.command || h.url)
        hook_new(&c->hook, c->loop, c->store, &h);
    return 0;
}
