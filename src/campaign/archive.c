/* archive: the regular files of a zip or tar archive, through libarchive.
 *
 * The library is loaded when the first archive is read.  It brings a dozen others with it, a third of the
 * time that carol takes to start, and most runs of carol read no archive. */
#include "campaign/archive.h"

#include "base/buf.h"
#include "base/library.h"

#include <archive.h>
#include <archive_entry.h>
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

static int load(struct err *e)
{
#define FIND(name) {#name, &lib_##name},
    static const struct library_function functions[] = {FUNCTIONS(FIND)};
    static bool done;
    int rc = done ? 0 : library_load(LIBRARY, functions, sizeof functions / sizeof *functions, e);
    if (rc < 0)
        err_wrap(e, "cannot read archives of seeds; install libarchive (Debian: libarchive13), or "
                    "unpack them into a "
                    "directory");
    done = rc == 0;
    return rc;
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
