/* words: what the compiler noted becomes a dictionary.  Knows no fuzzer. */
#include "target/words.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static void remove_repeats(struct strv *sorted)
{
    size_t n = 0;
    for (size_t i = 0; i < sorted->n; i++)
        if (n && strcmp(sorted->v[n - 1], sorted->v[i]) == 0)
            free(sorted->v[i]);
        else
            sorted->v[n++] = sorted->v[i];
    sorted->n = n;
}

/* The lines come in the order in which files were compiled, which is another one each time: they are sorted. */
int words_collect(const char *raw, const char *to, struct err *e)
{
    struct buf in = BUF_INIT(BUF_TEXT_MAX), out = BUF_INIT(BUF_TEXT_MAX);
    struct strv lines = {0};
    int rc = fs_exists(raw) ? fs_read(raw, &in, e) : 0;
    if (rc == 0 && in.len)
        strv_split(&lines, in.p, '\n');
    strv_sort(&lines);
    remove_repeats(&lines);
    size_t n = lines.n < WORDS_MAX ? lines.n : WORDS_MAX;
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s\n", lines.v[i * lines.n / n]);
    if (rc == 0 && out.len)
        rc = fs_write_atomic(to, out.p, out.len, e);
    strv_free(&lines);
    buf_free(&in);
    buf_free(&out);
    return rc;
}
