/* triage_hooks: defects of a triaged campaign to --exec and --webhook.  How they are told, is in src/triage/hook.c. */
#include "cli/triage.h"

#include "base/fs.h"
#include "triage/hook.h"

#include <stdlib.h>
#include <string.h>

static void on_idle(void *arg)
{
    loop_stop(arg);
}

static int tell(struct triaged *t, struct hook *h, json_t *list, struct err *e)
{
    size_t i;
    json_t *x;
    int rc = 0;
    json_array_foreach(list, i, x)
    {
        const char *id = json_string_value(json_object_get(x, "id"));
        const struct defect *d = defects_find(&t->d, id);
        char *folder = fs_join(t->dir, id);
        if (rc == 0 && d && !d->known)
            rc = hook_tell(h, id, folder, x, e);
        free(folder);
    }
    return rc;
}

int triage_hooks(struct triaged *t, const struct triage_args *a, struct err *e)
{
    struct loop *l;
    struct hook *h;
    struct hook_opts o = {
        .command = a->exec, .url = a->webhook, .campaign = a->out, .idle = on_idle};
    if (!a->exec && !a->webhook)
        return 0;
    int rc = loop_new(&l, e);
    if (rc < 0)
        return rc;
    o.arg = l;
    hook_new(&h, l, t->store, &o);
    json_t *all = output_json(&t->out);
    rc = tell(t, h, json_object_get(all, "defects"), e);
    if (rc == 0)
        rc = tell(t, h, json_object_get(all, "unconfirmed"), e);
    if (rc == 0 && !hook_idle(h))
        loop_run(l);
    json_decref(all);
    hook_free(h);
    loop_free(l);
    return rc;
}
