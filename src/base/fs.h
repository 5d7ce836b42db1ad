/* fs: files and directories.
 *
 * There is one way to write a file that anyone else may read: fs_write_atomic (temporary in the same
 * directory, write all, fsync, rename, fsync of the directory).  Paths are plain strings; join them
 * with fs_join or str_fmt. */
#ifndef CAROL_BASE_FS_H
#define CAROL_BASE_FS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

char *fs_join(const char *dir, const char *name); /* caller frees */
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);

/* Read a whole file, at most b->max bytes; -EFBIG past that. */
CAROL_MUST_CHECK int fs_read(const char *path, struct buf *b, struct err *e);
/* The first line or word of a small file such as /proc/sys/...; false when it cannot be read. */
bool fs_read_line(const char *path, char *out, size_t size);
/* Atomic and durable. */
CAROL_MUST_CHECK int fs_write_atomic(const char *path, const void *data, size_t n, struct err *e);
/* Atomic (rename) but not flushed: for files that a fuzzer reads and a restart makes again. */
CAROL_MUST_CHECK int fs_write_quick(const char *path, const void *data, size_t n, struct err *e);
/* The whole of it on fd, through short writes and EINTR. */
CAROL_MUST_CHECK int fs_write_fd(int fd, const void *data, size_t n, struct err *e);

/* A file in memory with these bytes, to be read from its start; the caller closes it.  -1 in *fd when it fails. */
CAROL_MUST_CHECK int fs_memory(const void *data, size_t n, int *fd, struct err *e);

CAROL_MUST_CHECK int fs_mkdirs(const char *path, struct err *e); /* like mkdir -p */
/* The same; what it made is there after a power cut, too. */
CAROL_MUST_CHECK int fs_mkdirs_durable(const char *path, struct err *e);
/* Remove a tree; a path that does not exist is success. Never follows links. */
CAROL_MUST_CHECK int fs_remove_tree(const char *path, struct err *e);
/* Names (not paths) in a directory, sorted, without . and .. */
CAROL_MUST_CHECK int fs_list(const char *dir, struct strv *names, struct err *e);
/* Paths of all regular files below a directory (or the file itself), sorted. */
CAROL_MUST_CHECK int fs_walk(const char *path, struct strv *files, struct err *e);
/* Copy one regular file; mode and times kept. */
CAROL_MUST_CHECK int fs_copy(const char *from, const char *to, struct err *e);

#endif
