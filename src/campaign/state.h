/* state: the inside of a campaign, shared by the files of this folder and nobody else. */
#ifndef CAROL_CAMPAIGN_STATE_H
#define CAROL_CAMPAIGN_STATE_H

#include "campaign/campaign.h"
#include "fuzzer/idle.h"
#include "journal/exchange.h"
#include "journal/fold.h"
#include "journal/status.h"
#include "store/store.h"
#include "triage/hook.h"

/* The life of a campaign, in this order (phase.c). */
enum phase {
    PHASE_SEEDS = 0, /* the user's inputs are stored and measured */
    PHASE_RECOVER,   /* turns that a killed supervisor left open are finished */
    PHASE_LATE,      /* what instances saved outside turns is gathered */
    PHASE_SELFTESTS, /* every fuzzer proves that it obeys here */
    PHASE_RUN,       /* decisions are served; campaign time runs from here on */
    PHASE_STOP,      /* the fuzzers are asked to stop */
    PHASE_LATE_LAST, /* what they saved while they stopped is gathered */
    PHASE_OVER,
};

enum ending {
    ENDING_NOT = 0,
    ENDING_CLEANLY, /* running turns are finished */
    ENDING_AT_ONCE, /* the loop is left; --resume finishes them */
};

struct slot;
struct given_round;
struct trim;

/* One instance in the pool. */
struct member {
    struct campaign *c;
    struct instance *in;
    int64_t row; /* its number in the store; 0: not there yet */
    int arm;     /* whose turn was its last */
    int host;    /* the first arm of those that share it */
    int number;
    bool started;      /* it has a directory of its own to go on from */
    bool owed;         /* the store may have claims for it whose delivery nobody noted */
    struct slot *slot; /* NULL: idle */
    enum phase looked; /* the phase in which it was last looked at for late finds */
    struct member *next;
};

/* One decision on its way through the loop: dispatched -> parked -> measured -> committed. */
struct turn {
    struct store_turn row;
    struct decision d;
    struct member *m;
    struct inputs imports; /* claimed for it, until they are delivered */
    struct harvest found;
    struct eval_job job;
    int64_t *ids; /* seed numbers of what is measured */
    struct eval_input *inputs;
    size_t n, cap;
    struct inputs stored; /* owns what of that came from the store */
    int64_t measure_ns;   /* campaign time when that began */
    struct trim *trim;    /* NULL: nothing was trimmed yet, or there is no time for it */
};

struct slot {
    struct campaign *c;
    int n, cpu, claim; /* claim: a descriptor that keeps the place on the cpu, or -1 */
    struct evaluator *ev;
    struct turn *turn; /* NULL: idle */
    bool measuring;
    struct timer next; /* asks for the next decision from the loop, never recursively */
};

struct watcher {
    campaign_watch_fn *fn;
    void *arg;
};

struct campaign {
    struct settings o;
    struct campaign_env env;
    const struct manifest *target;
    struct loop *loop;
    struct store *store;

    struct fold f; /* everything learned, a fold over the journal: written by the fold alone */
    struct exchange *exchange; /* who is worth what; NULL: everybody gets everything */
    struct gauges gauges;      /* what people want to see that is no fold */
    struct live *live;         /* triage of crashes; NULL: none */
    struct hook *hook;         /* told of new defects; NULL: none */
    struct {                   /* at the defects of the record, for those who ask */
        int64_t at_ns, cost_ns;
        bool stale; /* there is more since */
    } look;

    enum phase phase;
    enum ending ending;
    const char *reason; /* why it ends; NULL: it goes on */
    int failed;
    struct err error;

    uint32_t exec_ms; /* METHOD R22a; settled when the seeds are measured */
    int n_slots;
    struct slot *slots;
    struct member *members;
    int n_members[SCHED_MAX_ARMS]; /* this and the next by host */
    struct idle idle[SCHED_MAX_ARMS];
    int deaths_in_row[SCHED_MAX_ARMS];

    struct given_round *given; /* the user's inputs while they are measured */
    struct turn **recover;     /* turns a killed supervisor left behind */
    size_t n_recover, next_recover;
    bool tested;       /* the self-tests have been begun */
    int waiting_tests; /* arms whose self-test runs */
    bool told_to_stop; /* the instances */
    int waiting_stop;  /* those that have not yet */

    int64_t new_budget_ns; /* -d given with --resume; -1: none */

    /* the clock: campaign time = before + (now - since) */
    int64_t before_ns, since_ns;
    int64_t quiet_ns; /* campaign time when this life began: a plateau is not older */
    struct timer tick, deadline, next;

    int64_t hangs_ns; /* what measuring hangs took in this life */
    int64_t trim_ns;  /* and what trimming did */
    bool interrupted; /* asked to end once already */
    bool found_crash;
    bool plateau_told;
    struct watcher watcher[CAMPAIGN_WATCHERS];
    int n_watchers;
};

/* loop.c */
void on_slot_free(struct slot *s);
void on_turn_done(struct turn *t);
void on_turn_measured(void *arg, struct eval_job *job);

/* versions.c: of Carol, the compiler and the engines; an event for what changed since the last life */
int versions_record(struct campaign *c, struct err *e);

/* phase.c: goes on with the phase at hand, and to the next one when nothing of it is left.  May be called at any
 * time, except from inside a step. */
void campaign_next(struct campaign *c);
/* A step of a phase.  1: something of it is under way and calls campaign_next when it is done; 0: nothing is left. */
int seeds_step(struct campaign *c, struct err *e);     /* seeds.c */
int recover_step(struct campaign *c, struct err *e);   /* recover.c */
int late_step(struct campaign *c, struct err *e);      /* late.c */
int imports_step(struct campaign *c, struct err *e);   /* seeds.c, a part of late_step */
int selftests_step(struct campaign *c, struct err *e); /* selftests.c */

/* turn.c: beginning, running and ending one */
int turn_begin(struct campaign *c, struct slot *s, const struct decision *d, struct turn **out,
               struct err *e);
int turn_run(struct turn *t, struct err *e); /* 1: its fuzzer could not, and it is over */
void turn_end(struct turn *t);  /* its slot and its instance are free again, deaths are counted */
void turn_free(struct turn *t); /* memory only */

/* finds.c: what it found */
int turn_park(struct turn *t, struct err *e);
int turn_park_late(struct turn *t, struct err *e); /* 1: there was something */
void turn_measure_later(struct turn *t, int64_t id, const void *data, size_t size);
int turn_measure(struct turn *t, struct err *e);

/* trim.c: what is too heavy to be shared.  1: under way, on_turn_measured is called again; 0: nothing is left */
int turn_trim(struct turn *t, struct err *e);
void trim_free(struct trim *r); /* NULL is fine */

/* commit.c: what it was worth */
int turn_commit(struct turn *t, struct err *e);

/* pool.c */
/* The first of the arms that have the same instances as this one; itself unless they are fused. */
int arm_host(const struct campaign *c, int arm);
const char *arm_instances(const struct campaign *c, int arm); /* the name these go by */
struct member *pool_take(struct campaign *c, int arm, struct err *e);
struct member *pool_add(struct campaign *c, const struct store_instance *row, struct err *e);
void pool_give_back(struct campaign *c, struct member *m);
void pool_ready(struct campaign *c); /* all are idle, those made last on top */
void pool_suspend(struct campaign *c);
void pool_stop(struct campaign *c);
void pool_free(struct campaign *c);
void instance_opts_of(const struct campaign *c, int arm, int number, struct instance_opts *o);

/* seeds.c, recover.c */
void seeds_free(struct campaign *c);
int recover_load(struct campaign *c, struct err *e);

/* findings.c */
void finding_write(struct campaign *c, const struct store_crash *k);
/* Where its file is, of a row with its hash.  Free it. */
char *finding_path(const struct campaign *c, const struct store_crash *k);
int findings_restore(struct campaign *c, struct err *e);

/* defects.c: triage while it runs */
int defects_watch(struct campaign *c, struct err *e);

/* end.c: time, budgets, plateaus, signals, failure */
int64_t campaign_now(const struct campaign *c);
uint32_t campaign_eval_ms(const struct campaign *c); /* CPU time to measure one find of a turn */
bool campaign_goes_on(struct campaign *c);           /* may another turn begin? */
void campaign_fail(struct campaign *c, const struct err *e);
void campaign_start_clock(struct campaign *c);
void campaign_note(struct campaign *c, const char *kind, const char *fmt, ...) CAROL_PRINTF(3, 4);
bool slots_idle(const struct campaign *c);
void arm_drop(struct campaign *c, int arm, const char *why);

#endif
