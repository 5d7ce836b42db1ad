/* paths: which sets of edges were seen before: two inputs with the same set took the same path.
 *
 *     struct paths p = {0};
 *     fresh += paths_add(&p, &set);     // 1: nobody took it before
 *     paths_free(&p);
 *
 * A path is kept as a hash of 64 bits, in 11 to 22 bytes of the table.  Two of a million paths collide once in
 * 40 million campaigns.  Beyond PATHS_MAX no path counts as new, for any fuzzer (METHOD R70). */
#ifndef CAROL_REWARD_PATHS_H
#define CAROL_REWARD_PATHS_H

#include "eval/edges.h"

#define PATHS_MAX ((size_t)3 << 20) /* at most 32 MiB */

struct paths {
    uint64_t *slots; /* 0: free */
    size_t n, cap;   /* cap is a power of two */
};

/* 1: a path nobody took before.  0: known, or the set is empty (the input was never run to its end). */
int paths_add(struct paths *p, const struct edges *set);
void paths_free(struct paths *p);

#endif
