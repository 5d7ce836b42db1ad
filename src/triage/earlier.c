/* earlier: puts away what earlier runs of triage wrote and what is not so any more.  Writes nothing new. */
#include "triage/output.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_id(const char *name)
{
    return strlen(name) == 16 && strspn(name, "0123456789abcdef") == 16;
}

static bool is_input(const char *name)
{
    return strcmp(name, "original") == 0 || strcmp(name, "minimised") == 0;
}

/* One file of a folder, under a name that no other input has. */
static int move(const char *dir, const char *id, const char *name, struct err *e)
{
    char *from = str_fmt("%s/%s/%s", dir, id, name), *to = NULL, hex[65];
    char *folder = str_fmt("%s/" OUTPUT_EARLIER "/%s", dir, id);
    struct digest hash;
    int rc = fs_mkdirs(folder, e);
    if (rc == 0 && is_input(name))
        rc = hash_file(from, &hash, e);
    if (rc == 0 && is_input(name)) {
        digest_hex(&hash, hex);
        to = str_fmt("%s/%s-%.16s", folder, name, hex);
    } else if (rc == 0) {
        to = fs_join(folder, name);
    }
    if (rc == 0 && rename(from, to) < 0)
        rc = err_sys(e, "cannot move %s to %s", from, to);
    free(from);
    free(folder);
    free(to);
    return rc;
}

/* Does a folder of this defect have a file of that name? */
static bool belongs(const struct output *o, const struct defect *d, const char *name)
{
    return d && output_tells(o, d) && (d->minimised || strcmp(name, "minimised") != 0);
}

static int clear_folder(const struct output *o, const char *id, struct err *e)
{
    const struct defect *d = defects_find(o->d, id);
    char *folder = fs_join(o->dir, id);
    struct strv names = {0};
    int rc = 0;
    if (o->public && !(d && output_tells(o, d))) {
        rc = fs_remove_tree(folder, e);
    } else {
        rc = fs_list(folder, &names, e);
        for (size_t i = 0; rc == 0 && i < names.n; i++)
            if (!belongs(o, d, names.v[i]))
                rc = move(o->dir, id, names.v[i], e);
        if (rc == 0 && !d && rmdir(folder) < 0)
            rc = err_sys(e, "cannot remove %s", folder);
    }
    strv_free(&names);
    free(folder);
    return rc;
}

int output_clear(const struct output *o, struct err *e)
{
    struct strv names = {0};
    int rc = fs_list(o->dir, &names, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        if (is_id(names.v[i]))
            rc = clear_folder(o, names.v[i], e);
    strv_free(&names);
    return rc;
}
