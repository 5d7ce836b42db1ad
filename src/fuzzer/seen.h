/* seen: every file that a fuzzer saves is harvested exactly once, for fuzzers whose files have no numbers.
 *
 * Every file seen gets a line in DIR/finds; the cursor is the number of lines that the store has.  That list
 * grows for ever, so it is kept in memory (lv->own) and only its new part is read.
 *
 *     seen_harvest(lv, &way, h, e);       // the whole of arm->harvest
 *     names = seen_names(lv);             // in arm->harvested: from seen_cursor(lv->in.cursor) on
 *     seen_close(lv);                     // in arm->close
 */
#ifndef CAROL_FUZZER_SEEN_H
#define CAROL_FUZZER_SEEN_H

#include "base/err.h"
#include "base/str.h"
#include "fuzzer/live.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct seen; /* the list in memory */

/* What differs from fuzzer to fuzzer.  A name is that of one find, in whichever of the directories its file is. */
struct seen_way {
    const char *const *dirs; /* below DIR, NULL at the end */
    /* Is this regular file a find of this directory, and whole?  Asked once, or until it is. */
    bool (*whole)(const char *dir, const char *path, const struct stat *st);
    /* Are there enough like it?  Then its file is removed.  May be NULL. */
    bool (*surplus)(const struct seen *s, const char *name);
    /* FIND_SEED, FIND_CRASH or FIND_HANG, and by which signal. */
    enum find_kind (*kind)(const char *name, int *signal);
};

CAROL_MUST_CHECK int seen_harvest(struct live *lv, const struct seen_way *way, struct harvest *h,
                                  struct err *e);
const struct strv *seen_names(struct live *lv); /* NULL: the list cannot be read */
uint64_t seen_cursor(const char *cursor);       /* as a number of names; NULL: 0 */
void seen_close(struct live *lv);

/* How many names begin so; does not count beyond `most`. */
size_t seen_beginning(const struct seen *s, const char *start, size_t most);
/* "SIGSEGV.PC..." -> SIGSEGV; 0: unknown. */
int seen_signal(const char *name);

#endif
