/* source: digests and copies of a source tree.  Knows nothing of compilers. */
#include "target/source.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_content(const char *path, struct hasher *h)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        hash_add_str(h, "unreadable");
        return;
    }
    char *chunk = xmalloc(1 << 16);
    uint64_t total = 0;
    ssize_t n;
    while ((n = read(fd, chunk, 1 << 16)) > 0) {
        hash_add(h, chunk, (size_t)n);
        total += (uint64_t)n;
    }
    hash_add(h, &total, sizeof total); /* so that bytes cannot move from one file to the next */
    free(chunk);
    close(fd);
}

static int digest_below(const char *dir, const char *rel, const char *skip, struct hasher *h,
                        struct err *e);

static int digest_entry(const char *path, const char *rel, const char *skip, struct hasher *h,
                        struct err *e)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return err_sys(e, "cannot read %s", path);
    hash_add_str(h, rel);
    if (S_ISDIR(st.st_mode))
        return digest_below(path, rel, skip, h, e);
    if (S_ISLNK(st.st_mode)) {
        char to[4096];
        ssize_t n = readlink(path, to, sizeof to);
        hash_add(h, to, n > 0 ? (size_t)n : 0);
    } else if (S_ISREG(st.st_mode)) {
        hash_add_str(h, st.st_mode & 0100 ? "x" : "-");
        add_content(path, h);
    }
    return 0;
}

static int digest_below(const char *dir, const char *rel, const char *skip, struct hasher *h,
                        struct err *e)
{
    struct strv names = {0};
    int rc = fs_list(dir, &names, e);
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        char *path = fs_join(dir, names.v[i]), *sub = str_fmt("%s/%s", rel, names.v[i]);
        if (strcmp(names.v[i], ".git") != 0 && !(skip && strcmp(path, skip) == 0))
            rc = digest_entry(path, sub, skip, h, e);
        free(sub);
        free(path);
    }
    strv_free(&names);
    return rc;
}

int source_digest(const char *dir, const char *skip, struct hasher *h, struct err *e)
{
    return digest_below(dir, "", skip, h, e);
}

int source_measure(const char *dir, const char *skip, struct source_size *size, struct err *e)
{
    struct strv names = {0};
    struct stat st;
    int rc = fs_list(dir, &names, e);
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        char *path = fs_join(dir, names.v[i]);
        bool counts = !(skip && strcmp(path, skip) == 0) && lstat(path, &st) == 0;
        if (counts && S_ISDIR(st.st_mode)) {
            rc = source_measure(path, skip, size, e);
        } else if (counts) {
            size->files++;
            size->bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        }
        free(path);
    }
    strv_free(&names);
    return rc;
}

/* --- copies --- */

/* Git never changes a file of its object store, which is often larger than all the rest.  So we link those
 * files, like `git clone --local`.  It does change the logs of a branch that is called "objects". */
enum place { PLACE_TREE = 0, PLACE_GIT, PLACE_OBJECTS };

static enum place step_down(enum place now, const char *name)
{
    if (now == PLACE_TREE)
        return strcmp(name, ".git") == 0 ? PLACE_GIT : PLACE_TREE;
    if (now == PLACE_GIT && strcmp(name, "logs") == 0)
        return PLACE_TREE;
    return now == PLACE_OBJECTS || strcmp(name, "objects") == 0 ? PLACE_OBJECTS : PLACE_GIT;
}

static int copy_below(const char *from, const char *to, const char *skip, enum place place,
                      struct err *e);

static int copy_entry(const char *from, const char *to, const char *skip, enum place place,
                      struct err *e)
{
    struct stat st;
    if (skip && strcmp(from, skip) == 0)
        return 0;
    if (lstat(from, &st) < 0)
        return err_sys(e, "cannot read %s", from);
    if (S_ISLNK(st.st_mode)) {
        char target[4096];
        ssize_t n = readlink(from, target, sizeof target - 1);
        if (n < 0)
            return err_sys(e, "cannot read link %s", from);
        target[n] = 0;
        unlink(to);
        return symlink(target, to) < 0 ? err_sys(e, "cannot create link %s", to) : 0;
    }
    if (S_ISDIR(st.st_mode))
        return copy_below(from, to, skip, place, e);
    if (!S_ISREG(st.st_mode) || (place == PLACE_OBJECTS && link(from, to) == 0))
        return 0;
    return fs_copy(from, to, e);
}

static int copy_below(const char *from, const char *to, const char *skip, enum place place,
                      struct err *e)
{
    struct strv names = {0};
    int rc = fs_mkdirs(to, e);
    if (rc == 0)
        rc = fs_list(from, &names, e);
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        char *a = fs_join(from, names.v[i]), *b = fs_join(to, names.v[i]);
        rc = copy_entry(a, b, skip, step_down(place, names.v[i]), e);
        free(a);
        free(b);
    }
    strv_free(&names);
    return rc;
}

int source_copy(const char *from, const char *to, const char *skip, struct err *e)
{
    return copy_below(from, to, skip, PLACE_TREE, e);
}

void source_digest_files(const struct strv *files, struct hasher *h)
{
    for (size_t i = 0; i < files->n; i++) {
        hash_add_str(h, files->v[i]);
        add_content(files->v[i], h);
    }
}

/* "x.o: a.c \<newline> b\ c.h": words after the first colon; `\ ` is a blank, $$ a dollar. */
int source_read_deps(const char *path, struct strv *files, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX), word = BUF_INIT(1 << 16);
    int rc = fs_read(path, &b, e);
    const char *p = rc == 0 && b.p ? strstr(b.p, ": ") : NULL;
    for (p = p ? p + 2 : ""; rc == 0; p++) {
        bool blank = *p == ' ' || *p == '\n' || *p == '\t' || *p == 0;
        if (blank && word.len) {
            if (!strv_has(files, word.p))
                strv_add(files, word.p);
            buf_clear(&word);
        }
        if (*p == 0)
            break;
        if (blank || (p[0] == '\\' && p[1] == '\n'))
            continue;
        if ((p[0] == '\\' && (p[1] == ' ' || p[1] == '#')) || (p[0] == '$' && p[1] == '$'))
            p++;
        buf_add(&word, p, 1);
    }
    buf_free(&word);
    buf_free(&b);
    return rc;
}
