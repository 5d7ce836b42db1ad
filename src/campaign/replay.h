/* replay: the state of a campaign from its journal alone, and whether every logged decision and reward
 * comes out again, bit for bit. */
#ifndef CAROL_CAMPAIGN_REPLAY_H
#define CAROL_CAMPAIGN_REPLAY_H

#include "campaign/fold.h"

/* A turn that was dispatched and never completed. */
struct replay_open {
    struct store_turn row;
    struct decision d;
};

struct replay {
    struct fold fold;
    uint64_t decisions, matched;
    struct {
        int64_t turn; /* 0: none */
        char what[64], logged[64], computed[64];
    } mismatch; /* the first one */
    struct replay_open *open;
    size_t n_open, cap_open;
    bool state_equal; /* the scheduler's state equals the one stored with the last commit */
};

CAROL_MUST_CHECK int replay_journal(struct replay *r, struct store *s,
                                    const struct fold_settings *st, struct err *e);
void replay_free(struct replay *r); /* also the fold, unless it was moved out (zeroed) */

#endif
