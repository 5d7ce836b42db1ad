/* state: the inside of a campaign, shared by the files of this folder and nobody else. */
#ifndef CAROL_CAMPAIGN_STATE_H
#define CAROL_CAMPAIGN_STATE_H

#include "campaign/campaign.h"
#include "campaign/fold.h"
#include "store/store.h"

struct slot;
struct round0;

/* One instance in the pool. */
struct member {
    struct campaign *c;
    struct instance *in;
    int64_t row; /* its number in the store */
    int arm, number;
    bool started;      /* it has a directory of its own to go on from */
    struct slot *slot; /* NULL: idle */
    int64_t idle_since;
    int64_t shared; /* imported up to this share number */
    struct member *next;
};

/* One decision on its way through the loop: dispatched -> parked -> evaluated -> committed. */
struct turn {
    struct store_turn row;
    struct decision d;
    struct member *m;
    struct harvest found;
    struct eval_job job;
    struct eval_input *inputs; /* what is measured */
    int64_t *ids;              /* and its seed numbers */
    void **owned;              /* bytes to free when they came from the store */
    int64_t eval_from;
};

struct slot {
    struct campaign *c;
    int n, cpu, claim; /* claim: a descriptor that keeps the place on the cpu, or -1 */
    struct evaluator *ev;
    struct turn *turn; /* NULL: idle */
    bool evaluating;
    struct store_slot used;
    struct timer next; /* asks for the next decision from the loop, never recursively */
};

struct campaign {
    struct campaign_opts o;
    struct campaign_env env;
    const struct manifest *target;
    struct loop *loop;
    struct store *store;

    struct fold f; /* everything learned, a fold over the journal */

    int n_slots;
    struct slot *slots;
    struct member *members;
    int deaths_in_row[SCHED_MAX_ARMS];

    struct round0 *round0; /* the initial seeds while they are measured */
    struct turn **recover; /* turns a killed supervisor left behind, finished before anything new */
    size_t n_recover, next_recover;
    struct member *late; /* whose directory is looked at next for finds made outside its turns */
    void (*after_late)(struct campaign *c);

    int64_t new_budget_ns; /* -d given with --resume; -1: none */

    /* the clock: campaign time = before + (now - since) */
    int64_t before_ns, since_ns;
    struct timer tick;
    struct timer deadline;

    int stopping;     /* 0 no, 1 finishing turns, 2 at once */
    bool interrupted; /* asked to end once already */
    bool started;     /* decisions are being served */
    bool found_crash;
    bool plateau_told;
    const char *reason;
    int failed;
    struct err error;
    int waiting_tests; /* arms whose self-test runs */
    int waiting_stop;  /* instances asked to stop that have not yet */
    bool leaving;      /* they have; what they saved while they ended is gathered */
};

/* loop.c */
void slot_free(struct slot *s);
void turn_done(struct turn *t);
void turn_evaluated(void *arg, struct eval_job *job);

/* turn.c: beginning and running one */
int turn_begin(struct campaign *c, struct slot *s, const struct decision *d, struct turn **out,
               struct err *e);
int turn_run(struct turn *t, struct err *e);
void turn_free(struct turn *t);

/* finds.c: what it found */
int turn_store_finds(struct turn *t, struct err *e);
int turn_store_late(struct turn *t, struct err *e);
void turn_measure_later(struct turn *t, int64_t id, void *data, size_t size, bool own);
int turn_measure(struct turn *t, struct err *e);

/* commit.c: what it was worth */
int turn_commit(struct turn *t, struct err *e);

/* pool.c */
struct member *pool_take(struct campaign *c, int arm, struct err *e);
struct member *pool_add(struct campaign *c, const struct store_instance *row, struct err *e);
void pool_idle(struct campaign *c, struct member *m);
void pool_suspend(struct campaign *c);
void pool_stop(struct campaign *c);
void pool_free(struct campaign *c);

/* late.c: finds made outside turns */
void late_begin(struct campaign *c, void (*after)(struct campaign *c));
void late_next(struct campaign *c);

/* seeds.c: round 0 */
int seeds_begin(struct campaign *c, struct err *e);
void seeds_free(struct campaign *c);

/* recover.c: folds from the journal, leftovers of a killed supervisor */
int recover_load(struct campaign *c, struct err *e);
void recover_next(struct campaign *c);

/* selftests.c: then campaign_begin_turns */
void selftests_begin(struct campaign *c);
void instance_opts_of(const struct campaign *c, int arm, int number, struct instance_opts *o);

/* findings.c */
void finding_write(struct campaign *c, const struct store_crash *k);
int findings_restore(struct campaign *c, struct err *e);

/* end.c: budgets, plateaus, signals, failure */
int64_t campaign_now(const struct campaign *c);
bool campaign_over(struct campaign *c);
bool campaign_spent(const struct campaign *c); /* no time is left for another turn */
void campaign_finish(struct campaign *c, const char *reason);
void campaign_fail(struct campaign *c, const struct err *e);
void campaign_start_clock(struct campaign *c);
void campaign_maybe_done(struct campaign *c);
void campaign_begin_turns(struct campaign *c);
void campaign_note(struct campaign *c, const char *kind, const char *fmt, ...) CAROL_PRINTF(3, 4);
int arm_index(const struct campaign *c, const char *name);
void arm_drop(struct campaign *c, int arm, const char *why);
uint64_t arms_dropped(const struct campaign *c); /* bit per arm */

#endif
