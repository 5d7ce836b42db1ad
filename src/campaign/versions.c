/* versions: which Carol, compiler and engines this life of a campaign has, in its record.  Compares them with those of the
 * life before, and judges nothing: a campaign goes on with what is here. */
#include "campaign/state.h"

#include "base/die.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static int take(struct campaign *c, struct facts *f, const char *what, char *version, struct err *e)
{
    char *key = str_fmt("version.%s", what), *old = NULL;
    int rc = version ? store_get(c->store, key, &old, e) : 0;
    if (rc == 0 && old && strcmp(old, version) != 0)
        campaign_note(c, "version", "%s is %s now; it was %s", what, version, old);
    if (rc == 0 && version)
        facts_add(f, key, version);
    else
        free(version);
    free(old);
    free(key);
    return rc;
}

int versions_record(struct campaign *c, struct err *e)
{
    struct facts f = {0};
    const char *compiler = c->target ? c->target->family[FAMILY_NEUTRAL].compiler : NULL;
    int rc = take(c, &f, "carol", xstrdup(CAROL_VERSION), e);
    if (rc == 0)
        rc = take(c, &f, "compiler", compiler ? xstrdup(compiler) : NULL, e);
    for (size_t i = 0; rc == 0 && c->env.version && i < c->o.fuzzers.n; i++)
        rc = take(c, &f, c->o.fuzzers.v[i], c->env.version(c->o.fuzzers.v[i]), e);
    if (rc == 0)
        rc = store_put(c->store, f.v, f.n, e);
    facts_free(&f);
    return rc;
}
