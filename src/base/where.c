/* where: finds Carol's own files from /proc/self/exe and CAROL_ENGINES.  Does not check them. */
#include "base/where.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *engines_dir;

void where_set_engines(const char *dir)
{
    free(engines_dir);
    engines_dir = dir ? xstrdup(dir) : NULL;
}

/* The running carol binary. */
char *where_self(void)
{
    char exe[PATH_MAX];
    const char *link = getenv("CAROL_SELF"); /* tests that are not the carol binary itself */
    if (link && realpath(link, exe))
        return xstrdup(exe);
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        return xstrdup("carol");
    exe[n] = 0;
    return xstrdup(exe);
}

/* The directory that holds `runtime` and `engines`. */
static char *home_dir(void)
{
    char *self = where_self(), *slash = strrchr(self, '/');
    if (slash)
        *slash = 0;
    char *probe = fs_join(self, "runtime"), *home;
    home = fs_is_dir(probe) ? xstrdup(self) : str_fmt("%s/../lib/carol", self);
    free(probe);
    free(self);
    return home;
}

char *where_runtime(const char *name)
{
    char *home = home_dir(), *path = str_fmt("%s/runtime/%s", home, name);
    free(home);
    return path;
}

char *where_engine(const char *name)
{
    const char *own = engines_dir ? engines_dir : getenv("CAROL_ENGINES");
    char real[PATH_MAX];
    if (own && *own) /* absolute: what runs there has another working directory */
        return fs_join(own[0] != '/' && realpath(own, real) ? real : own, name);
    char *home = home_dir(), *path = str_fmt("%s/engines/%s", home, name);
    free(home);
    return path;
}
