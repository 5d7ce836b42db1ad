/* exchange: who is given what under `--share worth` (METHOD R19a to R19d).  Under `all` there is none.
 *
 * It knows what is shared (a few bytes each), the medians of that (worth.h), and for every instance the neutral
 * edges it has: those of its own finds and of what it was given.  All of it comes from the record, so a resumed
 * campaign goes on as it would have.
 *
 *     x = exchange_new(n_edges);
 *     exchange_load(x, store, &e);                        // what was recorded so far
 *     exchange_judge(x, &ledger, inputs, n);              // which of a turn's inputs are to be shared
 *     exchange_missed(x, &ledger, inputs, n, keep);       // what would be lost to the others that way
 *     exchange_add(x, instance, inputs, n);               // they are recorded
 *     exchange_offer(x, store, instance, &p, &list, &e);  // what that instance is given now
 *     exchange_given(x, row->instance);                   // that is recorded
 *
 * An instance not in the record yet has number 0 until exchange_given names it. */
#ifndef CAROL_JOURNAL_EXCHANGE_H
#define CAROL_JOURNAL_EXCHANGE_H

#include "base/err.h"
#include "eval/edges.h"
#include "reward/ledger.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

struct exchange *exchange_new(uint32_t n_edges);
void exchange_free(struct exchange *x);
CAROL_MUST_CHECK int exchange_load(struct exchange *x, struct store *s, struct err *e);

/* An input that was measured. */
struct exchange_input {
    int64_t seed;
    uint32_t cpu_us, size;
    const struct edges *edges;
    bool share; /* may it be shared?  The answer of exchange_judge */
};
/* l: the ledger without them. */
void exchange_judge(const struct exchange *x, const struct ledger *l, struct exchange_input *v,
                    size_t n);
/* After exchange_judge: for each input that runs through and is not shared, the edges that neither the campaign nor a shared
 * one of these covers, nor a lighter one that is named before it; empty for all others.  good[i]: it runs through.
 * keep: n of them, to be freed one by one. */
void exchange_missed(const struct exchange *x, const struct ledger *l,
                     const struct exchange_input *v, const bool *good, size_t n,
                     struct edges *keep);
/* Would something like that be shared whatever it covers? */
bool exchange_is_light(const struct exchange *x, uint32_t cpu_us, size_t size);
/* instance: who found them; 0: initial seeds. */
void exchange_add(struct exchange *x, int64_t instance, const struct exchange_input *v, size_t n);

struct exchange_portion {
    size_t max_inputs, max_bytes;
    int64_t turn_ns; /* how long the turn is */
    bool start;      /* it is the corpus a new instance starts with */
};
struct exchange_list {
    int64_t *seeds; /* in the order to be given; to be freed */
    size_t n, cap;
};
/* What it offers counts as given: whoever does not record that must not go on. */
CAROL_MUST_CHECK int exchange_offer(struct exchange *x, struct store *s, int64_t instance,
                                    const struct exchange_portion *p, struct exchange_list *out,
                                    struct err *e);
void exchange_given(struct exchange *x, int64_t instance);

#endif
