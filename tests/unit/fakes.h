/* fakes: fuzzers, an evaluator and a target that exist only as rules, on virtual time.
 *
 * The target is a chain of edges, every function of it calling the next; an input is a depth (two bytes) and covers edges 0..depth.  An arm can
 * go one edge deeper only where depth % arms is its own number, so no arm gets far without what the
 * others found.  Inputs whose depth is a multiple of 97 crash.  Fake instances keep their corpus in a
 * file in their directory, so a campaign can be dropped at any moment and resumed.  f0, f1 and f2 are modes of "f012"
 * where instances are fused. */
#ifndef CAROL_TESTS_FAKES_H
#define CAROL_TESTS_FAKES_H

#include "campaign/campaign.h"
#include "journal/replay.h"

#define FAKE_EDGES 3000
#define FAKE_FUNCS 150

/* What is odd about one turn, so that two campaigns can differ in nothing else. */
enum fake_odd { ODD_NONE = 0, ODD_EDGES, ODD_NOTHING, ODD_CRASH, ODD_TIME, ODD_END };

/* Arm 0 makes its finds heavy: of that many bytes (6 or more), running that long. */
enum fake_heavy {
    HEAVY_NONE = 0,
    HEAVY_TOO,
    HEAVY_ONLY
}; /* beside the light ones; instead of them */

struct fakes {
    int n_arms;
    struct table table;
    int dies;         /* this arm dies in every turn; -1: none */
    int lost_answers; /* so many deliveries arrive but report a failure, as if killed before the commit */
    bool uneven;   /* cycles of five very different lengths, some changing (fakes.c) */
    bool no_judge; /* the evaluator does not come up */
    int bad_reads; /* so many harvests with finds fail after having read them */
    uint16_t
        stray; /* whoever is stopped, or killed between two turns, saves an input of this depth, the
                     * next one of the next depth; 0: nobody does */
    enum fake_heavy heavy;
    uint32_t heavy_bytes, heavy_us;
    bool rigid;        /* a heavy one from which something is missing covers nothing */
    int hangs;         /* new ones in every harvest of an arm, ... */
    uint32_t hang_us;  /* ... each using so much CPU time */
    uint64_t odd_turn; /* this turn of the campaign, from 1, is odd */
    enum fake_odd odd;
    uint64_t resumes; /* turns begun */
    uint64_t changes; /* turns in which an instance was another fuzzer than before */
    uint64_t again;   /* starts of an instance that had run before */
    uint64_t stopped; /* instances that have come to their end */
    uint64_t imports; /* delivered to fake instances, all */
    uint64_t doubles; /* delivered to the same instance twice: must stay 0 */
};

void fakes_init(struct fakes *f, int n_arms);
void fakes_free(struct fakes *f);
/* An env on this loop. */
struct campaign_env fakes_env(struct fakes *f, struct loop *l);

/* Set-up and tear-down of a test: fakes_dir is a directory in memory, where fsync costs nothing. */
extern char fakes_dir[64];
int fakes_fresh_dir(void **state);
int fakes_remove_dir(void **state);
/* A campaign in DIR/out of arms f0, f1, ... with turns of 120 s. */
struct settings fakes_options(const char *dir, const char *scheduler, int arms, int jobs,
                              int64_t budget_s);
/* It from its start to its end on virtual time; fails the test when it fails. */
void fakes_run(struct fakes *f, struct settings o, struct tally *out);
/* The journal of DIR/out once more, under another scheduler when that is not NULL. */
void fakes_replay(struct fakes *f, const char *dir, const char *other, const struct replay_how *how,
                  struct replay *r);

#endif
