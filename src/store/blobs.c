/* blobs: where the bytes of an input live: in its row, or, above 1 MB, in OUT/blobs/<sha256>.
 * The file is written and flushed before the row exists: a file without a row is harmless, a row
 * without its file is an error. */
#include "base/fs.h"
#include "store/db.h"

#include <errno.h>
#include <stdlib.h>

static char *blob_path(struct store *s, const struct digest *hash)
{
    char hex[65];
    digest_hex(hash, hex);
    return str_fmt("%s/blobs/%s", s->dir, hex);
}

static int put_file(struct store *s, const struct digest *hash, const void *data, size_t n,
                    struct err *e)
{
    char *path = blob_path(s, hash);
    int rc = fs_write_atomic(path, data, n, e);
    if (rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG) {
        err_env(e,
                "the disk is full: cannot write %s; everything acknowledged so far is safe: free "
                "space, then carol fuzz --resume %s",
                path, s->dir);
        if (e)
            e->code = -ENOSPC;
        rc = -ENOSPC;
    }
    free(path);
    return rc;
}

int blob_bind(struct query *q, const struct digest *hash, const void *data, size_t n, struct err *e)
{
    if (n <= DB_INLINE_MAX) {
        db_bind_blob(q, data, n);
        return 0;
    }
    db_bind_null(q);
    return put_file(q->s, hash, data, n, e);
}

int blob_column(struct query *q, const struct digest *hash, size_t size, struct blob *b,
                struct err *e)
{
    size_t n;
    *b = (struct blob){.file = BUF_INIT(size)};
    b->data = db_blob(q, &n);
    if (b->data && n != size)
        return err_set(e, -EUCLEAN, "%s is damaged: an input has %zu bytes where its row says %zu",
                       q->s->path, n, size);
    if (b->data)
        return 0;
    char *path = blob_path(q->s, hash);
    int rc = fs_read(path, &b->file, e);
    if (rc == 0 && b->file.len != size)
        rc =
            err_set(e, -EIO, "%s has %zu bytes where the record says %zu", path, b->file.len, size);
    b->data = b->file.p;
    free(path);
    return rc < 0 ? err_wrap(e, "an input of the campaign is lost") : 0;
}
