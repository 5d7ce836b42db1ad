/* journal: opens what `carol replay` and `carol explain` read.  Writes nothing. */
#include "cli/journal.h"

#include "campaign/settings.h"

#include <stdlib.h>

static int load_table(struct journal *j, struct err *e)
{
    int rc = manifest_load(j->o.build, j->o.target, &j->manifest, e);
    if (rc == 0 && !j->manifest.table)
        rc = err_usage(e, "%s has no neutral build any more, and edges mean nothing without it",
                       j->o.build);
    if (rc == 0)
        rc = table_load(j->manifest.table, &j->table, e);
    return rc < 0 ? rc : settings_check_build(j->store, &j->table, j->o.build, e);
}

int journal_open(struct journal *j, const char *out, bool edges, struct err *e)
{
    *j = (struct journal){0};
    int rc = store_open(&j->store, out, STORE_READ, e);
    if (rc == 0)
        rc = store_begin(j->store, e);
    if (rc == 0)
        rc = settings_read(&j->o, j->store, e);
    if (rc == 0 && edges)
        rc = load_table(j, e);
    char *simulated = rc == 0 ? store_get(j->store, "simulated") : NULL;
    j->simulated = simulated != NULL;
    free(simulated);
    settings_fold(&j->o, edges ? &j->table : NULL, &j->fold);
    return rc;
}

void journal_close(struct journal *j)
{
    table_free(&j->table);
    manifest_free(&j->manifest);
    campaign_opts_free(&j->o);
    store_close(j->store);
}
