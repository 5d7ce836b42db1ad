/* harvest_kit: one arm's instance without its fuzzer; the directories it reads are filled by hand. */
#ifndef CAROL_TESTS_HARVEST_KIT_H
#define CAROL_TESTS_HARVEST_KIT_H

#include "base/fs.h"
#include "fuzzer/fuzzer.h"
#include "proc/loop.h"

#include <stdlib.h>
#include <string.h>

struct world {
    const char *fuzzer;
    const char *finds; /* where it keeps what it found, below dir */
    char dir[64];
    struct loop *loop;
    struct manifest m;
    struct instance *in;
};

/* As a new supervisor would, going on from the cursor. */
static inline void open_in(struct world *w, const char *cursor)
{
    struct instance_opts o = {
        .fuzzer = w->fuzzer, .dir = w->dir, .target = &w->m, .timeout_ms = 100};
    if (w->in)
        w->in->ops->free(w->in);
    assert_int_equal(fuzzer_open(&w->in, w->loop, &o, NULL), 0);
    w->in->cursor = cursor ? strdup(cursor) : NULL;
}

static inline int world_begin(void **state, const char *fuzzer, const char *finds)
{
    struct world *w = calloc(1, sizeof *w);
    w->fuzzer = fuzzer;
    w->finds = finds;
    snprintf(w->dir, sizeof w->dir, "/tmp/carol-unit-harvest.XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->loop = loop_new_virtual(0);
    w->m.kind = TARGET_LIBFUZZER;
    open_in(w, NULL);
    *state = w;
    return 0;
}

static inline int teardown(void **state)
{
    struct world *w = *state;
    w->in->ops->free(w->in);
    loop_free(w->loop);
    assert_int_equal(fs_remove_tree(w->dir, NULL), 0);
    free(w);
    return 0;
}

static inline void put(struct world *w, const char *sub, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s", w->dir, w->finds, sub);
    assert_int_equal(fs_mkdirs(path, NULL), 0);
    snprintf(path, sizeof path, "%s/%s/%s/%s", w->dir, w->finds, sub, name);
    assert_int_equal(fs_write_quick(path, text, strlen(text), NULL), 0);
}

#endif
