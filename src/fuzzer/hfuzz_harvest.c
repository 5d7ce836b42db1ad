/* hfuzz_harvest: reads what honggfuzz found: each file of new and crash exactly once (fuzzer/seen.h).
 *
 * honggfuzz tells crashes apart by the faulting address too, which for a wild pointer gives a new file at
 * nearly every crash: of one place (signal, program counter, stack) only the first few are kept. */
#include "base/str.h"
#include "fuzzer/hfuzz.h"
#include "fuzzer/seen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORPUS_SUFFIX ".honggfuzz.cov"
#define PER_PLACE 3

/* A corpus file carries its size in its name; another size means that a kill cut it.  An empty crash may be
 * filled yet: honggfuzz can be stopped by a signal between open and write. */
static bool is_whole(const char *dir, const char *path, const struct stat *st)
{
    const char *name = strrchr(path, '/') + 1, *dot = strchr(name, '.');
    bool corpus = str_ends(name, CORPUS_SUFFIX);
    if (corpus != (strcmp(dir, "new") == 0))
        return false;
    if (!corpus || !dot)
        return st->st_size > 0;
    return strtoull(dot + 1, NULL, 16) == (unsigned long long)st->st_size;
}

/* Of this crash's place, "SIGSEGV.PC.x.STACK.y", there are enough. */
static bool is_surplus(const struct seen *s, const char *name)
{
    const char *code = strstr(name, ".CODE.");
    if (!code || str_ends(name, CORPUS_SUFFIX))
        return false;
    char *place = str_fmt("%.*s.CODE.", (int)(code - name), name);
    bool enough = seen_beginning(s, place, PER_PLACE) >= PER_PLACE;
    free(place);
    return enough;
}

static enum find_kind kind_of(const char *name, int *signal)
{
    if (str_ends(name, CORPUS_SUFFIX))
        return FIND_SEED;
    *signal = seen_signal(name);
    return *signal == SIGVTALRM ? FIND_HANG : FIND_CRASH;
}

int hfuzz_harvest(struct live *lv, struct harvest *h, struct err *e)
{
    static const char *const dirs[] = {"new", "crash", NULL};
    static const struct seen_way way = {dirs, is_whole, is_surplus, kind_of};
    return seen_harvest(lv, &way, h, e);
}

void hfuzz_harvested(struct live *lv, const struct harvest *h)
{
    const struct strv *names = seen_names(lv);
    uint64_t end = seen_cursor(h->cursor);
    for (uint64_t i = seen_cursor(lv->in.cursor); names && i < end && i < names->n; i++)
        if (str_ends(names->v[i], CORPUS_SUFFIX)) {
            char *path = str_fmt("%s/new/%s", lv->o.dir, names->v[i]);
            unlink(path);
            free(path);
        }
}
