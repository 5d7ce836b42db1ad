/* archive: the regular files of a zip or tar archive, through libarchive.
 *
 * The library is loaded when the first archive is read.  It brings a dozen others with it, a third of the
 * time that carol takes to start, and most runs of carol read no archive. */
#include "campaign/archive.h"

#include "base/buf.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libarchive.so.13"

/* Its functions that we use, by their names. */
#define FUNCTIONS(F)                                                                               \
    F(archive_read_new)                                                                            \
    F(archive_read_support_format_zip)                                                             \
    F(archive_read_support_format_tar)                                                             \
    F(archive_read_support_filter_all)                                                             \
    F(archive_read_open_filename)                                                                  \
    F(archive_read_next_header)                                                                    \
    F(archive_read_data)                                                                           \
    F(archive_read_free)                                                                           \
    F(archive_error_string)                                                                        \
    F(archive_entry_pathname)                                                                      \
    F(archive_entry_filetype)

#define DECLARE(name) static __typeof__(name) *lib_##name;
FUNCTIONS(DECLARE)

static bool find(void *library, const char *name, void *function)
{
    void *p = dlsym(library, name);
    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static int load(struct err *e)
{
    static bool done;
    if (done)
        return 0;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
#define FIND(name) all = all && find(library, #name, &lib_##name);
    FUNCTIONS(FIND)
    if (!all)
        return err_env(e,
                       "cannot read archives of seeds: %s; install libarchive (Debian: "
                       "libarchive13), or unpack them into a directory",
                       dlerror());
    done = true; /* and stays loaded */
    return 0;
}

static int damaged(struct archive *a, const char *path, struct err *e)
{
    return err_usage(e,
                     "the seed archive %s is damaged (%s); get it again, or unpack what can be "
                     "unpacked and give the directory with -i",
                     path, lib_archive_error_string(a));
}

static int read_entry(struct archive *a, const char *path, struct archive_entry *en,
                      struct corpus_sink *sink, struct err *e)
{
    struct buf b = BUF_INIT(CORPUS_MAX_INPUT);
    int rc = 0;
    char chunk[65536];
    for (la_ssize_t n; (n = lib_archive_read_data(a, chunk, sizeof chunk)) != 0;) {
        if (n < 0) {
            rc = damaged(a, path, e);
            break;
        }
        buf_add(&b, chunk, (size_t)n);
    }
    if (b.over)
        sink->too_large++;
    else if (rc == 0)
        rc = sink->input(sink->arg, lib_archive_entry_pathname(en), b.p ? b.p : "", b.len, e);
    buf_free(&b);
    return rc;
}

int archive_read(const char *path, struct corpus_sink *sink, struct err *e)
{
    int rc = load(e), st;
    if (rc < 0)
        return rc;
    struct archive *a = lib_archive_read_new();
    struct archive_entry *en;
    lib_archive_read_support_format_zip(a);
    lib_archive_read_support_format_tar(a);
    lib_archive_read_support_filter_all(a);
    if (lib_archive_read_open_filename(a, path, 65536) != ARCHIVE_OK) {
        rc = err_usage(e, "cannot read the seed archive %s: %s", path, lib_archive_error_string(a));
        goto out;
    }
    while (rc == 0 && (st = lib_archive_read_next_header(a, &en)) != ARCHIVE_EOF) {
        if (st != ARCHIVE_OK && st != ARCHIVE_WARN)
            rc = damaged(a, path, e);
        else if (lib_archive_entry_filetype(en) == AE_IFREG)
            rc = read_entry(a, path, en, sink, e);
    }
out:
    lib_archive_read_free(a);
    return rc;
}
