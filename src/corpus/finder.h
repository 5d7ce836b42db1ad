/* finder: who found a seed: the fuzzer whose turn it was, the user's seeds, or an import by the user.
 *
 * An instance that several fuzzers share does not tell (METHOD R19e), the turn does. */
#ifndef CAROL_CORPUS_FINDER_H
#define CAROL_CORPUS_FINDER_H

#include "base/err.h"
#include "base/str.h"
#include "store/store.h"

#define FINDER_SEEDS "seeds"       /* the user's, at the start */
#define FINDER_IMPORTED "imported" /* `carol corpus OUT import` */

struct finder {
    const struct strv *fuzzers; /* roster */
    struct finder_arms {
        int *arm;
        size_t n, cap;
    } turns, late; /* turn i, late turn -i: whose; from 1 */
};

/* fuzzers must outlive it. */
CAROL_MUST_CHECK int finder_load(struct finder *f, struct store *s, const struct strv *fuzzers,
                                 struct err *e);
const char *finder_name(const struct finder *f, int64_t turn);
void finder_free(struct finder *f);

#endif
