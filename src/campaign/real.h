/* real: the env of a real campaign: real fuzzers, the neutral executor, self-tests, on a real loop. */
#ifndef CAROL_CAMPAIGN_REAL_H
#define CAROL_CAMPAIGN_REAL_H

#include "campaign/campaign.h"

struct real {
    struct loop *loop;
    struct manifest target;
    struct table table;
    struct settings *o; /* while the campaign is being made */
    struct strv
        args; /* a copy: a resumed campaign reads its options, and so the originals, again */
    uint64_t mem_bytes;
    char *out;
    uint32_t timeout_ms;
    struct real_test *tests; /* self-tests under way */
};

/* Load the target of o (on resume: of the stored campaign), check the roster against it, fill in what
 * the user left open (roster, arguments, dictionary from the build).  The table must be of this build. */
CAROL_MUST_CHECK int real_open(struct real *r, struct settings *o, struct err *e);
void real_close(struct real *r);
struct campaign_env real_env(struct real *r);

#endif
