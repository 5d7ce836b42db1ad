/* minimise: makes the input of one defect smaller on the builds, for so long.
 *
 *     struct minimise *m;
 *     minimise_start(&m, lab, loop, &spec, on_smallest, self);  // the bytes must live until then
 *     on_smallest(self, &smallest, NULL);                       // m and smallest are gone when it returns
 *     minimise_cancel(m);
 *
 * A candidate stands for the input if the asan build puts it into the same bucket.  Of a confirmed defect it is asked
 * on the plain build first, the quicker of the two, and what comes out must fail in five of five runs there; else the
 * input itself comes out.  The rules by which candidates are made are in shrink.h. */
#ifndef CAROL_TRIAGE_MINIMISE_H
#define CAROL_TRIAGE_MINIMISE_H

#include "triage/lab.h"

struct minimise;

struct minimise_spec {
    const void *data;
    size_t size;
    const char *bucket; /* must live */
    bool confirmed;
    int64_t until; /* of the loop's clock */
};
struct smallest {
    const void *data;
    size_t size;
    int64_t runs;
    bool complete; /* it cannot be made smaller by the rules; else the time was up */
};

/* s is NULL when it could not go on, with the reason in e.  It may be called before minimise_start returns, which has
 * set *out by then. */
typedef void minimise_fn(void *arg, const struct smallest *s, const struct err *e);
void minimise_start(struct minimise **out, struct lab *lab, struct loop *l,
                    const struct minimise_spec *s, minimise_fn *fn, void *arg);
void minimise_cancel(struct minimise *m);

#endif
