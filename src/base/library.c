/* library: dlopen and dlsym.  Unloads nothing. */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

int library_load(const char *name, const struct library_function *f, size_t n, struct err *e)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_env(e, "%s", dlerror());
    for (size_t i = 0; i < n; i++) {
        void *p = dlsym(library, f[i].name);
        if (!p)
            return err_env(e, "%s", dlerror());
        memcpy(f[i].at, &p, sizeof p);
    }
    return 0;
}
