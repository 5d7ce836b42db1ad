/* surroundings: what a fuzzer's process finds when it starts: its environment, an empty TMPDIR, links to the
 * files it needs.  Starts nothing. */
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/where.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/live_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file name /proc/self/exe will show in the fuzzer itself. */
static char *executable_name(const char *argv0)
{
    char *real = realpath(argv0, NULL), *slash = real ? strrchr(real, '/') : NULL;
    char *name = xstrdup(slash ? slash + 1 : argv0);
    free(real);
    return name;
}

/* Ours without what would steer a fuzzer behind our back, then the arm's. */
void live_environment(struct live *lv, const char *argv0, const struct strv *extra,
                      struct strv *out)
{
    static const char *const drop[] = {"AFL_",        "__AFL",   "HFUZZ_", "HONGGFUZZ",
                                       "LD_PRELOAD=", "TMPDIR=", CTL_ENV,  NULL};
    for (char **s = environ; *s; s++) {
        bool keep = true;
        for (size_t i = 0; drop[i]; i++)
            keep = keep && !str_starts(*s, drop[i]);
        for (size_t i = 0; keep && i < extra->n; i++) {
            size_t n = strcspn(extra->v[i], "=") + 1;
            keep = strncmp(*s, extra->v[i], n) != 0;
        }
        if (keep)
            strv_add(out, *s);
    }
    bool tuned = getenv("GLIBC_TUNABLES") != NULL;
    for (size_t i = 0; i < extra->n; i++)
        tuned = tuned || str_starts(extra->v[i], "GLIBC_TUNABLES=");
    if (!tuned)
        strv_add(out, LIVE_TUNABLES);
    strv_addf(out, "TMPDIR=%s/tmp", lv->o.dir);
    strv_addf(out, "%s=%s/ctl", CTL_ENV, lv->o.dir);
    char *exe = executable_name(argv0);
    strv_addf(out, "%s=%s", CTL_EXE_ENV, exe);
    free(exe);
    for (size_t i = 0; i < extra->n; i++)
        strv_add(out, extra->v[i]);
}

int live_fresh_tmp(struct live *lv, struct err *e)
{
    char *tmp = fs_join(lv->o.dir, "tmp");
    int rc = fs_remove_tree(tmp, e);
    if (rc == 0)
        rc = fs_mkdirs(tmp, e);
    free(tmp);
    return rc;
}

int live_need_file(char *path, const char *what, struct err *e)
{
    int rc = 0;
    if (access(path, R_OK) < 0)
        rc = err_env(e, "%s is missing: %s; run `make` in the source tree, or give --engines DIR",
                     what, path);
    free(path);
    return rc;
}

static int link_as(struct live *lv, const char *file, const char *name, struct err *e)
{
    char *real = realpath(file, NULL), *link = fs_join(lv->o.dir, name);
    unlink(link);
    int rc = 0;
    if (!real || symlink(real, link) < 0)
        rc = err_sys(e, "cannot link %s as %s", file, link);
    free(real);
    free(link);
    return rc;
}

int live_link_files(struct live *lv, const char *library, struct err *e)
{
    char *lib = where_runtime(library);
    int rc = link_as(lv, lib, "ctl.so", e);
    if (rc == 0 && lv->o.dict)
        rc = link_as(lv, lv->o.dict, "dict", e);
    free(lib);
    return rc;
}

void live_begin_again(struct live *lv)
{
    log_warn("%s #%d: its files are gone, as after a power cut; what it finds from now on is new",
             lv->in.fuzzer, lv->in.number);
    free(lv->in.cursor);
    lv->in.cursor = NULL;
}
