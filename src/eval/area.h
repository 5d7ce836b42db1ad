/* area: the memory an executor shares with the neutral runtime (runtime/cov/protocol.h), from our side.
 *
 * The layout is ours: every offset is taken from our private copy of the header, and whatever is read
 * back is checked, because the code under test can write to the same pages. */
#ifndef CAROL_EVAL_AREA_H
#define CAROL_EVAL_AREA_H

#include "base/err.h"
#include "eval/eval.h"
#include "runtime/cov/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct area {
    int fd; /* -1: not made */
    unsigned char *base;
    struct cov_hdr h; /* the layout */
    uint32_t n;       /* inputs in it now */
    uint64_t used;    /* bytes of them */
};

CAROL_MUST_CHECK int area_make(struct area *a, uint32_t n_edges, uint32_t n_modules,
                               uint64_t data_len, struct err *e);
void area_free(struct area *a);

/* Fill it: empty it, then add inputs until one does not fit. */
void area_empty(struct area *a);
bool area_add(struct area *a, const struct eval_input *in);

/* Before each request: nothing is running yet, and these edges are known. */
void area_arm(struct area *a, const uint64_t *known);
bool area_is_final(const struct area *a, uint32_t i);
void area_set_final(struct area *a, uint32_t i, enum run_status s);
uint32_t area_current(const struct area *a); /* the input being run; area.n or more: none */
uint32_t area_beat(const struct area *a);    /* changes while the server lives */
/* The result of input i, without a list of its edges if only their number is wanted; they are also added
 * to `known`. */
void area_take(struct area *a, uint32_t i, bool list, struct eval_result *r, uint64_t *known);
/* Call number i of the ring; false: not between two blocks we know. */
bool area_call(const struct area *a, uint32_t i, struct eval_call *c);

#endif
