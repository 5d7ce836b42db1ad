/* layout: writes directories and the start corpus.  Starts nothing, and knows no fuzzer. */
#include "fuzzer/layout.h"

#include "base/fs.h"
#include "base/str.h"
#include "fuzzer/inbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SIZE_MIN ((size_t)32 << 10)

int layout_dirs(struct live *lv, const char *const *subs, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && subs[i]; i++) {
        char *path = fs_join(lv->o.dir, subs[i]);
        rc = fs_mkdirs(path, e);
        free(path);
    }
    return rc;
}

int layout_write(struct live *lv, const char *sub, const char *name, const void *data, size_t n,
                 struct err *e)
{
    char *path = str_fmt("%s/%s/%s", lv->o.dir, sub, name);
    int rc = fs_write_quick(path, data, n, e);
    free(path);
    return rc;
}

int layout_seeds(struct live *lv, const struct input *seeds, size_t n, struct err *e)
{
    size_t usable = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        char name[32];
        if (seeds[i].size == 0)
            continue;
        snprintf(name, sizeof name, "s%012lld", (long long)seeds[i].id);
        rc = layout_write(lv, "in", name, seeds[i].data,
                          seeds[i].size < LAYOUT_SIZE_MAX ? seeds[i].size : LAYOUT_SIZE_MAX, e);
        usable++;
    }
    if (rc == 0 && usable == 0) /* without any file honggfuzz would never end its dry run */
        rc = layout_write(lv, "in", "fallback", "0", 1, e);
    return rc < 0 ? rc : inbox_known_add(lv->o.dir, seeds, n, e);
}

size_t layout_survey(struct live *lv, const char *sub, size_t *largest)
{
    char *dir = fs_join(lv->o.dir, sub);
    struct strv names = {0};
    size_t n = fs_is_dir(dir) && fs_list(dir, &names, NULL) == 0 ? names.n : 0;
    for (size_t i = 0; i < names.n; i++) {
        struct stat st;
        char *path = fs_join(dir, names.v[i]);
        if (stat(path, &st) == 0 && (size_t)st.st_size > *largest)
            *largest = (size_t)st.st_size;
        free(path);
    }
    strv_free(&names);
    free(dir);
    return n;
}

size_t layout_size_limit(struct live *lv)
{
    size_t largest = 0;
    layout_survey(lv, "in", &largest);
    size_t want = 4 * largest;
    return want < SIZE_MIN ? SIZE_MIN : want > LAYOUT_SIZE_MAX ? LAYOUT_SIZE_MAX : want;
}
