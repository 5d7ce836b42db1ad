/* mhd: finds the functions of libmicrohttpd.  Calls none of them. */
#define MHD_NAMES_ARE_THE_LIBRARYS
#include "web/mhd.h"

#include "base/library.h"

#define LIBRARY "libmicrohttpd.so.12"

#define MHD_DEFINE(name) __typeof__(name) *lib_##name;
MHD_FUNCTIONS(MHD_DEFINE)

int mhd_load(struct err *e)
{
#define MHD_FIND(name) {#name, &lib_##name},
    static const struct library_function functions[] = {MHD_FUNCTIONS(MHD_FIND)};
    int rc = library_load(LIBRARY, functions, sizeof functions / sizeof *functions, e);
    if (rc < 0)
        err_wrap(e, "no page can be served without libmicrohttpd (Debian: libmicrohttpd12)");
    return rc;
}
