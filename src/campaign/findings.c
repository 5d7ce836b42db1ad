/* findings: crashing and hanging inputs as files a person can pick up: OUT/crashes, OUT/hangs.  The store
 * is the truth; a file that is missing is written again from it. */
#include "campaign/state.h"

#include "base/fs.h"
#include "base/log.h"

#include <stdlib.h>
#include <unistd.h>

char *finding_path(const struct campaign *c, const struct store_crash *k)
{
    char hex[65];
    digest_hex(&k->hash, hex);
    const char *who =
        k->arm >= 0 && k->arm < c->f.tally.n_arms ? c->f.tally.arm[k->arm].name : "seed";
    return k->hang ? str_fmt("%s/hangs/%s-%.16s", c->o.out, who, hex)
                   : str_fmt("%s/crashes/%s-sig%d-%.16s", c->o.out, who, k->signal, hex);
}

void finding_write(struct campaign *c, const struct store_crash *k)
{
    struct store_crash with = *k;
    hash_bytes(k->data, k->size, &with.hash);
    char *dir = fs_join(c->o.out, k->hang ? "hangs" : "crashes"), *path = finding_path(c, &with);
    struct err e = {0};
    if (!fs_exists(path) &&
        (fs_mkdirs(dir, &e) < 0 || fs_write_quick(path, k->data, k->size, &e) < 0))
        log_warn("%s (the input is safe in the database)", e.msg);
    free(dir);
    free(path);
}

static int write_again(void *arg, const struct store_crash *k, struct err *e)
{
    (void)e;
    finding_write(arg, k);
    return 0;
}

int findings_restore(struct campaign *c, struct err *e)
{
    return store_crashes(c->store, 0, write_again, c, e);
}
