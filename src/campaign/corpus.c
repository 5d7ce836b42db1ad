/* corpus: reads inputs from wherever a user has them.  Does not judge them. */
#include "campaign/corpus.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"
#include "campaign/archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int read_file(const char *path, struct corpus_sink *sink, struct err *e)
{
    struct buf b = BUF_INIT(CORPUS_MAX_INPUT);
    const char *slash = strrchr(path, '/');
    int rc = fs_read(path, &b, e);
    if (rc == -EFBIG) {
        sink->too_large++;
        rc = 0;
    } else if (rc < 0) {
        e->exit = ERR_EXIT_USAGE;
        rc = err_wrap(e, "cannot take this seed; make it readable or leave it out");
    } else {
        rc = sink->input(sink->arg, slash ? slash + 1 : path, b.p ? b.p : "", b.len, e);
    }
    buf_free(&b);
    return rc;
}

static int read_dir(const char *dir, struct corpus_sink *sink, struct err *e);

/* An AFL output directory: queue/ in it, or in its fuzzers' directories.  Returns how many queues. */
static int read_queues(const char *dir, struct corpus_sink *sink, int depth, struct err *e)
{
    struct strv names = {0};
    int found = 0, rc = fs_list(dir, &names, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        char *sub = fs_join(dir, names.v[i]), *stats = fs_join(dir, "fuzzer_setup");
        bool is_queue = strcmp(names.v[i], "queue") == 0 && fs_is_dir(sub) && fs_exists(stats);
        if (is_queue) {
            rc = read_dir(sub, sink, e);
            found++;
        } else if (depth == 0 && fs_is_dir(sub)) {
            int n = read_queues(sub, sink, 1, e);
            found += n > 0 ? n : 0;
            rc = n < 0 ? n : 0;
        }
        free(sub);
        free(stats);
    }
    strv_free(&names);
    return rc < 0 ? rc : found;
}

/* Links to directories may lead round in a circle, a pipe would never end: neither is a seed. */
static int read_dir(const char *dir, struct corpus_sink *sink, struct err *e)
{
    struct strv names = {0};
    int rc = fs_list(dir, &names, e);
    if (rc < 0)
        e->exit = ERR_EXIT_USAGE;
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct stat st;
        char *sub = fs_join(dir, names.v[i]);
        if (names.v[i][0] == '.')
            ; /* .state and other bookkeeping */
        else if (lstat(sub, &st) == 0 && S_ISDIR(st.st_mode))
            rc = read_dir(sub, sink, e);
        else if (stat(sub, &st) == 0 && S_ISREG(st.st_mode))
            rc = read_file(sub, sink, e);
        free(sub);
    }
    strv_free(&names);
    return rc;
}

int corpus_read(const char *path, struct corpus_sink *sink, struct err *e)
{
    if (!fs_exists(path))
        return err_usage(e, "there are no seeds at %s: give a file, a directory or a zip with -i",
                         path);
    if (str_ends(path, ".zip") || str_ends(path, ".tar") || str_ends(path, ".tar.gz"))
        return archive_read(path, sink, e);
    if (!fs_is_dir(path))
        return read_file(path, sink, e);
    int queues = read_queues(path, sink, 0, e);
    return queues != 0 ? (queues < 0 ? queues : 0) : read_dir(path, sink, e);
}
