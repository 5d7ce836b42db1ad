/* inbox: writes import files and keeps the hashes of what was given.  The reader of the files is
 * runtime/ctl/ctl_inbox.c, inside the fuzzer. */
#include "fuzzer/inbox.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"
#include "fuzzer/ctlpage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

static void add_record(struct buf *b, const struct input *in)
{
    struct ctl_record r = {.id = (uint64_t)in->id, .size = (uint32_t)in->size};
    buf_add(b, &r, sizeof r);
    buf_add(b, in->data, in->size);
}

int inbox_deliver(const char *dir, struct ctl_page *page, uint64_t batch,
                  const struct input *inputs, size_t n, struct err *e)
{
    if (batch <= ctl_get64(&page->gen))
        return 0;
    char *box = fs_join(dir, "inbox"), *path = str_fmt("%s/%llu", box, (unsigned long long)batch);
    struct buf b = BUF_INIT((size_t)1 << 40);
    for (size_t i = 0; i < n; i++)
        add_record(&b, &inputs[i]);
    int rc = fs_mkdirs(box, e);
    if (rc == 0)
        rc = inbox_known_add(dir, inputs, n, e);
    if (rc == 0)
        rc = fs_write_quick(path, b.p, b.len, e);
    if (rc == 0)
        ctl_set64(&page->gen, batch);
    buf_free(&b);
    free(path);
    free(box);
    return rc;
}

int inbox_known_add(const char *dir, const struct input *inputs, size_t n, struct err *e)
{
    char *path = fs_join(dir, "known");
    struct buf b = BUF_INIT((size_t)1 << 30);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = XXH3_64bits(inputs[i].data, inputs[i].size);
        buf_add(&b, &h, sizeof h);
    }
    int rc = 0, fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0)
        rc = err_sys(e, "cannot open %s", path);
    else
        rc = fs_write_fd(fd, b.p, b.len, e);
    if (fd >= 0)
        close(fd);
    buf_free(&b);
    free(path);
    return rc;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int inbox_known_load(const char *dir, struct inbox_known *k, struct err *e)
{
    char *path = fs_join(dir, "known");
    struct buf b = BUF_INIT((size_t)1 << 30);
    *k = (struct inbox_known){0};
    int rc = fs_exists(path) ? fs_read(path, &b, e) : 0;
    if (rc == 0 && b.len >= sizeof(uint64_t)) {
        k->n = b.len / sizeof(uint64_t);
        k->v = (uint64_t *)(void *)buf_take(&b);
        qsort(k->v, k->n, sizeof *k->v, by_value);
    }
    buf_free(&b);
    free(path);
    return rc;
}

bool inbox_known(const struct inbox_known *k, const void *data, size_t size)
{
    uint64_t h = XXH3_64bits(data, size);
    return k->n && bsearch(&h, k->v, k->n, sizeof h, by_value);
}

void inbox_known_free(struct inbox_known *k)
{
    free(k->v);
    *k = (struct inbox_known){0};
}
