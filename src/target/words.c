/* words: what the compiler noted becomes a dictionary.  Knows no fuzzer. */
#include "target/words.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines come in the order in which files were compiled, which is another one each time: they are sorted. */
int words_collect(const char *raw, const char *to, struct err *e)
{
    struct buf in = BUF_INIT(BUF_TEXT_MAX), out = BUF_INIT(BUF_TEXT_MAX);
    struct strv lines = {0};
    int rc = fs_exists(raw) ? fs_read(raw, &in, e) : 0;
    if (rc == 0 && in.len)
        strv_split(&lines, in.p, '\n');
    if (lines.n)
        qsort(lines.v, lines.n, sizeof *lines.v, compare);
    for (size_t i = 0, n = 0; i < lines.n && n < WORDS_MAX; i++) {
        if (i && strcmp(lines.v[i], lines.v[i - 1]) == 0)
            continue;
        buf_printf(&out, "%s\n", lines.v[i]);
        n++;
    }
    if (rc == 0 && out.len)
        rc = fs_write_atomic(to, out.p, out.len, e);
    strv_free(&lines);
    buf_free(&in);
    buf_free(&out);
    return rc;
}
