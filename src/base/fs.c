/* fs: files and directories.  Knows paths and bytes, not what they mean. */
#include "base/fs.h"

#include "base/die.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

char *fs_join(const char *dir, const char *name)
{
    size_t n = strlen(dir), size = strlen(name) + 1;
    char *path = xmalloc(n + 1 + size);
    memcpy(path, dir, n);
    if (!n || dir[n - 1] != '/')
        path[n++] = '/';
    memcpy(path + n, name, size);
    return path;
}

bool fs_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int fs_read(const char *path, struct buf *b, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot read %s", path);
    struct stat st = {0};
    size_t step = fstat(fd, &st) == 0 && st.st_size > 0 ? (size_t)st.st_size + 1 : 65536;
    int rc = 0;
    for (;;) {
        size_t room = b->max - b->len;
        if (room > step)
            room = step;
        char extra;
        char *at = room ? buf_room(b, room) : &extra;
        ssize_t n = read(fd, at, room ? room : 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            rc = err_sys(e, "cannot read %s", path);
        } else if (n > 0 && !room) {
            rc = err_set(e, -EFBIG, "%s is larger than %zu bytes", path, b->max);
        } else if (n > 0) {
            b->len += (size_t)n;
            b->p[b->len] = 0;
            /* A short read is the end of the file, and asking again costs a call.  Files that the kernel
             * makes up (/proc) have no size and come in pieces. */
            if ((size_t)n < room && S_ISREG(st.st_mode) && st.st_size > 0)
                break;
            step = 65536;
            continue;
        }
        break;
    }
    close(fd);
    return rc;
}

bool fs_read_line(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, out, size - 1);
    close(fd);
    if (n < 0)
        return false;
    out[n] = 0;
    out[strcspn(out, "\n")] = 0;
    return true;
}

int fs_write_fd(int fd, const void *data, size_t n, struct err *e)
{
    const char *p = data;
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(e, "write");
        p += k;
        n -= (size_t)k;
    }
    return 0;
}

int fs_memory(const void *data, size_t n, int *fd, struct err *e)
{
    *fd = memfd_create("carol-input", MFD_CLOEXEC);
    if (*fd < 0)
        return err_sys(e, "cannot make a file in memory");
    int rc = fs_write_fd(*fd, data, n, e);
    if (rc == 0 && lseek(*fd, 0, SEEK_SET) < 0)
        rc = err_sys(e, "cannot rewind a file in memory");
    if (rc < 0) {
        close(*fd);
        *fd = -1;
    }
    return rc;
}

static int sync_dir_of(const char *path, struct err *e)
{
    char *dir = xstrdup(path);
    char *slash = strrchr(dir, '/');
    if (slash && slash != dir)
        *slash = 0;
    int fd = open(slash ? (slash == dir ? "/" : dir) : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = 0;
    if (fd < 0 || fsync(fd) < 0)
        rc = err_sys(e, "cannot sync directory %s", dir);
    if (fd >= 0)
        close(fd);
    free(dir);
    return rc;
}

static int write_renamed(const char *path, const void *data, size_t n, bool durable, struct err *e)
{
    char *tmp = str_fmt("%s.tmp-%d", path, (int)getpid());
    int rc = 0, fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        rc = err_sys(e, "cannot create %s", tmp);
        goto out;
    }
    rc = fs_write_fd(fd, data, n, e);
    if (rc == 0 && durable && fsync(fd) < 0)
        rc = err_sys(e, "cannot sync %s", tmp);
    if (close(fd) < 0 && rc == 0)
        rc = err_sys(e, "cannot close %s", tmp);
    if (rc == 0 && rename(tmp, path) < 0)
        rc = err_sys(e, "cannot rename to %s", path);
    if (rc < 0)
        unlink(tmp);
    else if (durable)
        rc = sync_dir_of(path, e);
out:
    free(tmp);
    return rc;
}

int fs_write_atomic(const char *path, const void *data, size_t n, struct err *e)
{
    return write_renamed(path, data, n, true, e);
}

int fs_write_quick(const char *path, const void *data, size_t n, struct err *e)
{
    return write_renamed(path, data, n, false, e);
}

static int make_dirs(const char *path, bool durable, struct err *e)
{
    if (!*path)
        return err_set(e, -ENOENT, "cannot create a directory without a name");
    char *p = xstrdup(path);
    int rc = 0;
    for (char *s = p + 1; rc == 0; s++) {
        if (*s && *s != '/')
            continue;
        char was = *s;
        *s = 0;
        if (mkdir(p, 0755) == 0)
            rc = durable ? sync_dir_of(p, e) : 0;
        else if (errno != EEXIST)
            rc = err_sys(e, "cannot create directory %s", p);
        *s = was;
        if (!was)
            break;
    }
    if (rc == 0 && !fs_is_dir(path))
        rc = err_set(e, -ENOTDIR, "%s exists and is not a directory", path);
    free(p);
    return rc;
}

int fs_mkdirs(const char *path, struct err *e)
{
    return make_dirs(path, false, e);
}

int fs_mkdirs_durable(const char *path, struct err *e)
{
    return make_dirs(path, true, e);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    (void)f;
    (void)type;
    return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

int fs_remove_tree(const char *path, struct err *e)
{
    if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
        return err_sys(e, "cannot remove %s", path);
    return 0;
}

int fs_list(const char *dir, struct strv *names, struct err *e)
{
    DIR *d = opendir(dir);
    if (!d)
        return err_sys(e, "cannot list %s", dir);
    errno = 0; /* readdir reports an error through it alone */
    for (struct dirent *de; (de = readdir(d)); errno = 0)
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            strv_add(names, de->d_name);
    int rc = errno ? err_sys(e, "cannot list %s", dir) : 0;
    closedir(d);
    strv_sort(names);
    return rc;
}

struct found {
    char *name;
    unsigned char type; /* DT_UNKNOWN: ask */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct found *)a)->name, ((const struct found *)b)->name);
}

/* What a directory holds, in order.  Usually the directory tells the types as well, so that a corpus is
 * read without a stat of every file. */
static int list_typed(const char *dir, struct found **v, size_t *n, struct err *e)
{
    DIR *d = opendir(dir);
    size_t cap = 0;
    if (!d)
        return err_sys(e, "cannot list %s", dir);
    for (struct dirent *de; (de = readdir(d));) {
        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
            continue;
        XGROW(*v, *n, cap);
        (*v)[(*n)++] = (struct found){xstrdup(de->d_name), de->d_type};
    }
    closedir(d);
    if (*n)
        qsort(*v, *n, sizeof **v, by_name);
    return 0;
}

static unsigned char type_of(const char *path, unsigned char type)
{
    struct stat st;
    if (type == DT_UNKNOWN)
        type = lstat(path, &st) == 0 ? (unsigned char)IFTODT(st.st_mode) : DT_UNKNOWN;
    if (type == DT_LNK && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return DT_REG;
    return type;
}

int fs_walk(const char *path, struct strv *files, struct err *e)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_sys(e, "cannot open %s", path);
    if (!S_ISDIR(st.st_mode)) {
        strv_add(files, path);
        return 0;
    }
    struct found *v = NULL;
    size_t n = 0;
    int rc = list_typed(path, &v, &n, e);
    for (size_t i = 0; i < n; i++) {
        char *sub = fs_join(path, v[i].name);
        unsigned char type = rc == 0 ? type_of(sub, v[i].type) : DT_UNKNOWN;
        if (type == DT_DIR)
            rc = fs_walk(sub, files, e);
        else if (type == DT_REG)
            strv_add(files, sub);
        free(sub);
        free(v[i].name);
    }
    free(v);
    return rc;
}

/* Shares the blocks where the file system can, else copies inside the kernel. */
static int copy_bytes(int in, int out, const char *to, struct err *e)
{
    for (bool share = true;;) {
        ssize_t n = share ? copy_file_range(in, NULL, out, NULL, 1 << 30, 0)
                          : sendfile(out, in, NULL, 1 << 20);
        if (n > 0 || (n < 0 && errno == EINTR))
            continue;
        if (!share)
            return n < 0 ? err_sys(e, "cannot copy to %s", to) : 0;
        share = false; /* continue where that stopped: at the end, or where it is impossible */
    }
}

int fs_copy(const char *from, const char *to, struct err *e)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, rc = 0;
    struct stat st;
    if (in < 0 || fstat(in, &st) < 0) {
        rc = err_sys(e, "cannot read %s", from);
        goto done;
    }
    unlink(to);
    out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (st.st_mode & 0777) | 0200);
    if (out < 0) {
        rc = err_sys(e, "cannot create %s", to);
        goto done;
    }
    rc = copy_bytes(in, out, to, e);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    futimens(out, times);
done:
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) < 0 && rc == 0)
        rc = err_sys(e, "cannot copy to %s", to);
    return rc;
}
