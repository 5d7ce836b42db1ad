/* data: what the sections of a page are written from: a campaign's record, read once and in order.  Only data.c,
 * crashes.c, lineage.c and open.c change it; only this module sees it. */
#ifndef CAROL_REPORT_DATA_H
#define CAROL_REPORT_DATA_H

#include "journal/explain.h"
#include "journal/journal.h"
#include "journal/status.h"
#include "report/report.h"
#include "triage/defect.h"

#define NO_ARM (-1)    /* initial seeds and imports, or nobody knows */
#define DATA_WHYS 5000 /* turns whose reason is kept, the newest */
#define DATA_FULL 24   /* turns whose whole decision is kept, the newest */
#define DATA_SAMPLES                                                                               \
    240 /* decisions whose signals are kept, spread over time: thinned by half when full */
#define DATA_CRASHES                                                                               \
    20000 /* crashes and hangs that are read, the first; of every defect its first one, too */

/* One decision and what came of it. */
struct data_turn {
    int64_t id, start_ns, end_ns, active_ns, turn_ns;
    uint64_t execs;
    double mean; /* the scheduler's first column for the one it chose */
    double reward;
    uint32_t round, new_edges, inputs, crashes, hangs;
    int16_t arm, slot;
    uint8_t state; /* enum turn_state */
    bool warmup, explored, died;
    char *why; /* NULL: thinned */
};

/* A completed turn, or a late one, that covered something first. */
struct data_gain {
    int64_t at_ns;
    uint32_t added;
    int16_t arm;
};

/* First cover of an edge. */
struct data_edge {
    uint64_t found_by; /* a bit per fuzzer that has an input of its own with it */
    int64_t seed;      /* the first such input */
    int64_t at_ns;
    int16_t arm; /* NO_ARM: the initial seeds, or imports */
    bool covered;
};

/* What is kept of every seed. */
struct data_seed {
    int64_t parent; /* 0: unknown, or none */
    uint32_t added; /* edges it covered first */
    int16_t arm;
    bool known; /* there is one of this number */
    bool step;  /* it has a struct data_step */
};

/* How an input differs from the one it was made from: between equal ends. */
struct data_diff {
    uint32_t at, was, now; /* offset, and how many bytes became how many */
    uint8_t old[16], new[16];
    bool known;
};

/* A link in a lineage: an input that covered something first, crashed, or led to one that did. */
struct data_step {
    int64_t seed, parent, turn, at_ns;
    uint32_t size, added;
    int16_t arm;
    struct data_diff diff; /* without a parent: its first bytes */
    bool lost;             /* its bytes; then its size, time, turn and name are not known */
    char name[96];
};

struct data_crash {
    int64_t id, at_ns, parent, turn;
    uint32_t size;
    int16_t arm;
    int signal;
    bool hang, by_eval;
    bool looked_at; /* for its lineage */
    char hash[17];
    struct data_diff diff;
};

struct data_sample {
    int64_t at_ns;
    int choice;
    float *signals; /* SIGNAL_COUNT of each fuzzer */
};

/* What the campaign was asked to do, what did it, and where. */
enum fact_kind { FACT_NONE = 0, FACT_SETTING, FACT_VERSION, FACT_HOST };
struct data_fact {
    enum fact_kind kind;
    const struct setting *setting; /* NULL: not one of them */
    char *key, *value;             /* value: NULL: not recorded */
};

struct report {
    char *dir,
        *prefix; /* prefix: before the ids of its elements, "" for the only campaign of a page */
    struct journal j;   /* without its store, which is open during a refresh only */
    bool can_reproduce; /* the builds of j.manifest that show a defect are there */
    const char *arm_names[SCHED_MAX_ARMS];
    int n_arms;
    struct status st;
    uint64_t decisions;      /* that the record has */
    struct data_turn *turns; /* by number */
    size_t n_turns, cap_turns;
    struct {
        int64_t turn; /* 0: none */
        int arm;
        bool measuring;
    } now[GAUGE_SLOTS];
    struct decision *full[DATA_FULL]; /* of turn t at t % DATA_FULL */
    uint32_t round;                   /* turns up to this one are folded in */
    bool whole;                       /* all that the record had was read at least once */
    bool seeds_in;                    /* so are the initial seeds */
    struct data_gain *gains;          /* in order of completion */
    size_t n_gains, cap_gains;
    struct data_edge *edges;
    uint32_t n_edges;
    struct data_seed *seeds; /* by number */
    size_t n_seeds;
    int64_t *fresh; /* seeds that covered something first, without a step yet */
    size_t n_fresh, cap_fresh;
    struct data_step *steps; /* by seed */
    size_t n_steps, cap_steps;
    struct data_crash *crashes;
    size_t n_crashes, cap_crashes;
    struct defects defects; /* as triage left them */
    int64_t last_crash;
    size_t next_crash; /* the first whose lineage was not looked at */
    uint64_t
        built_on[SCHED_MAX_ARMS + 1]
                [SCHED_MAX_ARMS + 2]; /* inputs of a fuzzer whose parent is of another; the last
                                              columns: of the initial seeds and imports, unknown */
    struct data_sample *samples;
    size_t n_samples, sample_every;
    struct influence influence;
    bool has_influence;
    size_t asked_turns;     /* when it was asked */
    char no_influence[512]; /* why not */
    struct data_fact *facts;
    size_t n_facts, cap_facts;
};

/* The turn of that number; NULL: there is none. */
const struct data_turn *data_turn(const struct report *r, int64_t id);
/* Its name; "initial seeds" of NO_ARM. */
const char *data_arm(const struct report *r, int arm);
/* Who found an input of that turn: its fuzzer; without one "initial seeds" (turn 0), or "imported". */
const char *data_finder(const struct report *r, int arm, int64_t turn);
/* "f3 a15": its colour, of twelve, and its number; "fx" of NO_ARM. */
const char *data_class(int arm);
/* The step of that seed; NULL: it has none. */
const struct data_step *data_step(const struct report *r, int64_t seed);
/* The crash of that number; NULL: it is not read. */
const struct data_crash *data_crash(const struct report *r, int64_t id);
/* The value of a setting or a fact of the host; NULL: not recorded. */
const char *data_fact(const struct report *r, const char *key);

/* What the record has beyond what r has: at most that many decisions, and all that was completed of those it has.  1: there
 * are more. */
CAROL_MUST_CHECK int data_read(struct report *r, struct store *s, int max_turns, struct err *e);
/* crashes.c: what crashed since, and what triage says now. */
CAROL_MUST_CHECK int crashes_read(struct report *r, struct store *s, struct err *e);
/* lineage.c: reads the bytes of new steps and crashes; s is open. */
CAROL_MUST_CHECK int lineage_update(struct report *r, struct store *s, struct err *e);

#endif
