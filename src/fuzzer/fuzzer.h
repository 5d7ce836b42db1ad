/* fuzzer: one instance of one fuzzer, under control: start, resume, suspend, deliver, harvest, stop.
 *
 * This is what the campaign sees; the real arms (fuzzer/arm.h) and the fake ones of the unit tests
 * are behind the same struct.  An instance is one process group of one fuzzer, started lazily, alive
 * until the campaign ends, parked between turns.  Nothing here blocks; what happens later is told
 * through `on_event`, from the loop, never from inside a call.
 *
 *     struct instance *in;
 *     fuzzer_open(&in, loop, &opts, &e);        // no process yet
 *     in->on_event = ...; in->arg = ...;
 *     instance_start(in, seeds, n, again, &e);  // first time; or with again=true: from its own directory
 *     instance_deliver(in, batch, inputs, n, &e); // only while parked or before the first resume; a batch
 *                                                 // number not above the last one is ignored (after a crash
 *                                                 // the supervisor offers the last batch again)
 *     instance_resume(in, &quota, cpu, &e);     // -> INSTANCE_PARKED or INSTANCE_DIED, in->report is filled
 *     instance_suspend(in);                     // asks for it earlier
 *     instance_harvest(in, &h, &e);             // while parked, dead or not started yet (a directory left
 *                                               // by a killed supervisor); repeatable until harvested
 *     instance_harvested(in, &h);               // the store has it: the cursor moves
 *     instance_stop(in);                        // -> INSTANCE_STOPPED; never fails, kills if it must
 *     instance_free(in);
 *
 * (instance_x(in, ...) above stands for in->ops->x(in, ...).)
 */
#ifndef CAROL_FUZZER_FUZZER_H
#define CAROL_FUZZER_FUZZER_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "fuzzer/input.h"
#include "proc/loop.h"
#include "proc/tree.h"
#include "target/manifest.h"
#include "target/tools.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instance;

enum instance_event {
    INSTANCE_NONE = 0,
    INSTANCE_READY,   /* started and parked at its first safe point (only when no turn was asked) */
    INSTANCE_PARKED,  /* the turn ended; report is filled */
    INSTANCE_DIED,    /* the process ended by itself; report is filled, report.why says how */
    INSTANCE_STOPPED, /* after instance_stop */
};

enum instance_state {
    INST_NEW = 0,  /* no process */
    INST_STARTING, /* before its first safe point */
    INST_PARKED,
    INST_RUNNING,
    INST_DEAD, /* died; start with again=true */
    INST_STOPPING,
    INST_STOPPED,
};

struct turn_quota {
    uint64_t cycles;  /* 0: no limit but the time */
    int64_t least_ns; /* its cycles do not end the turn before this */
    int64_t cap_ns;   /* the turn ends after this at the latest, counted from when it is ready */
    const char *as;   /* whose turn it is, in an instance that several share; may be NULL */
};

struct turn_report {
    uint64_t execs, cycles;  /* in this turn; execs: of a start-up in it too */
    uint64_t offered, taken; /* imports: delivered before it, executed in it */
    int64_t active_ns;       /* resume, or ready if that was later -> parked */
    /* What its `cycles` took, each whole: the part that earlier turns had of one is in it, pauses are not.
     * May be more than active_ns. */
    int64_t cycle_ns;
    /* In the turn for which it was started: start -> ready, no part of active_ns; 0 in every other. */
    int64_t startup_ns;
    int64_t park_ns;               /* request (quota or cap reached by the supervisor) -> parked */
    int64_t cpu_ns, cpu_parked_ns; /* of the process tree, in the turn and in the pause before it */
    bool died;
    char why[256]; /* how it died */
};

enum find_kind {
    FIND_NONE = 0,
    FIND_SEED, /* interesting by the fuzzer's own measure */
    FIND_CRASH,
    FIND_HANG,
    FIND_IMPORTED, /* no bytes: entry `entry` of its corpus is our seed number `seed` */
    FIND_ECHO      /* it crashed on bytes we gave it: a crash to keep, not its find */
};

struct find {
    enum find_kind kind;
    void *data;
    size_t size;
    int64_t entry;        /* the fuzzer's own number of it; -1: it has none */
    int64_t parent_entry; /* entry it was made from; -1: unknown */
    int64_t seed;         /* FIND_IMPORTED */
    int signal;           /* FIND_CRASH; 0: unknown */
    char *name;           /* the fuzzer's own file name: the lineage text */
};

struct harvest {
    struct find *finds;
    size_t n, cap;
    char *cursor; /* opaque: everything up to here is in `finds` or was harvested before */
};
void harvest_add(struct harvest *h, struct find f); /* takes data and name */
void harvest_free(struct harvest *h);

struct instance_ops {
    int (*start)(struct instance *in, const struct input *seeds, size_t n, bool again,
                 struct err *e);
    int (*deliver)(struct instance *in, uint64_t batch, const struct input *inputs, size_t n,
                   struct err *e);
    int (*resume)(struct instance *in, const struct turn_quota *q, int cpu, struct err *e);
    void (*suspend)(struct instance *in);
    int (*harvest)(struct instance *in, struct harvest *h, struct err *e);
    void (*harvested)(struct instance *in, const struct harvest *h);
    void (*usage)(struct instance *in, struct tree_usage *u);
    void (*stop)(struct instance *in);
    void (*free)(struct instance *in);
};

struct instance {
    const struct instance_ops *ops;
    const char *fuzzer; /* "aflpp", ..., or the host of several: "afl" */
    int number;         /* which instance of that fuzzer, from 0 */
    enum instance_state state;
    struct turn_report report;
    char *cursor; /* of the last harvest that was committed; set it before start when resuming */
    void (*on_event)(void *arg, struct instance *in, enum instance_event ev);
    void *arg;
};

/* What an instance needs to know.  Everything pointed to must outlive the instance. */
struct instance_opts {
    const char *fuzzer; /* a name of fuzzer_names(), or of a host */
    const char *as; /* what it is tested as (fuzzer/selftest.h), if not as `fuzzer`; may be NULL */
    int number;
    const char *dir; /* its own directory, created when missing */
    const struct manifest *target;
    const char *const *args; /* of a main() program: words with @@; NULL: none */
    const char *dict;        /* dictionary file or NULL */
    uint32_t timeout_ms;     /* per input, the same for all arms; what takes longer is a hang */
    uint32_t exec_ms;   /* a run is given up after this long, where a fuzzer can; 0: timeout_ms */
    uint64_t mem_bytes; /* address space of a target; 0: no limit */
    uint64_t seed;      /* of its random numbers */
    bool varied; /* further instances of a fuzzer differ from its first one, where they can */
};

/* The table of fuzzers (fuzzer/arms.def) by name: all of them in its order, NULL at the end, and what is known
 * of each.  FAMILY_NONE or NULL: there is no such fuzzer. */
const char *const *fuzzer_names(void);
enum family fuzzer_family(const char *name);
void fuzzer_families(const char *name, bool on[FAMILY_END]); /* sets those it needs: one or two */
const char *fuzzer_cycle(const char *name); /* one internal cycle of it, in words */
/* A text that the names of all its finds contain; NULL: there is none. */
const char *fuzzer_find_mark(const char *name);
/* Fuzzers with the same host can be modes of one instance, which goes by the host's name; NULL: it has none. */
const char *fuzzer_host(const char *name);
/* Can it be one here?  Checks the host's files; 0 without a host. */
CAROL_MUST_CHECK int fuzzer_check_host(const char *name, struct err *e);
/* Can it run on this machine?  The name must be one of them; s is overwritten; free it with tool_state_free. */
void fuzzer_diagnose(const char *name, struct tool_state *s);
/* Its engine and the engine's version, "afl-fuzz 4.40c", or the compiler; free it.  NULL: nobody knows. */
char *fuzzer_version(const char *name);

/* fuzzer/roster.c: adds to `out` what `text` names, without those that are there already: fuzzers or rosters,
 * separated by commas: "paper" (the six of the paper), "default", "all", "paper,x".  Wrong usage: nothing is
 * named, a fuzzer is named twice, or there is none of that name; the message then lists what there is. */
CAROL_MUST_CHECK int fuzzer_roster(const char *text, struct strv *out, struct err *e);
/* For help texts and messages: the names of those that run on a family (FAMILY_NONE: of all), separated by
 * sep; and all fuzzers and rosters, a line each. */
void fuzzer_list(enum family f, const char *sep, struct buf *out);
void fuzzer_help(struct buf *out);

CAROL_MUST_CHECK int fuzzer_open(struct instance **out, struct loop *l,
                                 const struct instance_opts *o, struct err *e);
/* Can it run here on this target?  Checks files only; the self-test proves the rest. */
CAROL_MUST_CHECK int fuzzer_check(const struct instance_opts *o, struct err *e);
/* A campaign directory whose path a fuzzer could not digest is refused at once with the reason. */
CAROL_MUST_CHECK int fuzzer_check_path(const char *dir, struct err *e);

#endif
