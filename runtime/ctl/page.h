/* page: the control page: the shared memory through which the supervisor and the library of ours that
 * lives inside a fuzzer talk.  One page per instance, a file in the instance's directory, mapped by
 * both; it outlives both, so what was counted is not lost by kill -9.
 *
 * Turns.  The supervisor starts turn n by `quota` = ..., `turn` = n, futex wake on `turn`.  The library
 * runs while done != turn.  At a safe point (between two executions) it looks: if stop == turn, or the
 * quota of cycles is used up, it sets `done` = turn, writes 8 bytes to the eventfd CTL_EVENT_FD and
 * waits on `turn` (futex, 1 s timeout, checking that its parent is still the one it was born with).
 * At the first safe point of all it sets `ready` = 1 and waits likewise if turn == done.
 *
 * Cycles.  Each completed one adds 1 to `cycles` and its active time to `cycles_ns`: from the end of the
 * one before, or from the first safe point, without the time in between in which the fuzzer was parked or, by SIGSTOP,
 * stopped.  A cycle that a death cuts adds nothing, and neither does start-up.
 *
 * Imports.  The supervisor writes DIR/inbox/<gen> whole (renamed into place), then sets `gen`; numbers
 * rise, not necessarily by one.  A file is a run of records {u64 id, u32 size, u32 0, bytes}.  The library takes records in order, each exactly
 * once: `gen_at` is the file it is in, `gen_taken` how many records of that file it has taken; both
 * are updated before the record's execution starts, so a kill -9 can lose at most that one execution and
 * repeats none.  A finished file is unlinked.
 *
 * Modes.  Several fuzzers may be modes of one instance.  The supervisor sets `mode` before it starts a turn, while the
 * library is parked, stopped or not ready yet.  The library puts off what another mode had begun and takes the new one up
 * at the fuzzer's next queue entry.
 *
 * All words are accessed with __atomic builtins.  Both sides check magic and version.  Version 1 had zeros
 * where version 2 has `cycles_ns` and `stopped_ns`; `mode` is zero in instances of one fuzzer.  A fuzzer whose process
 * begins again within a turn (lf.h) finds `steps` and `cycle_at` here, with `ready` set. */
#ifndef CAROL_CTL_PAGE_H
#define CAROL_CTL_PAGE_H

#include <stdint.h>

#define CTL_MAGIC UINT32_C(0x6c726163) /* "carl" */
#define CTL_VERSION 2u
#define CTL_SIZE 4096u
#define CTL_EVENT_FD 196 /* eventfd in the fuzzer process: written at ready, at park, at a fault */
#define CTL_ENV "CAROL_CTL" /* environment variable: absolute path of the page file */
/* Another: file name of the fuzzer's executable; the library stays passive in any other program, such as
 * the shell of a wrapper script. */
#define CTL_EXE_ENV "CAROL_CTL_EXE"

struct ctl_page {
    uint32_t magic, version;
    /* written by the supervisor */
    uint32_t turn;    /* futex word */
    uint32_t stop;    /* == turn: park at the next safe point */
    uint64_t quota;   /* park when `cycles` reaches this; 0: no cycle quota */
    uint64_t gen;     /* newest import file offered */
    uint64_t batch;   /* newest batch delivered (fuzzer.h): the same one is never delivered twice */
    uint32_t started; /* arms that cannot see it themselves: start-up is over (MOpt) */
    uint32_t quit;    /* leave in an orderly way at the next safe point */
    /* written by the library */
    uint32_t attached; /* the library is loaded and mapped this page */
    uint32_t ready;    /* first safe point reached: calibration of the start corpus is over */
    uint32_t done;     /* last turn finished; parked while done == turn */
    uint32_t faults;   /* things that should not happen; text in DIR/fault */
    uint64_t execs;    /* target executions, all of them */
    uint64_t cycles;
    uint64_t taken;     /* imports executed, all generations */
    uint64_t gen_at;    /* import file being read */
    uint64_t gen_taken; /* records taken of it */
    uint64_t entries;   /* new entries in the fuzzer's own corpus */
    int64_t paused_ns;  /* time spent parked so far: the virtual clock lags by this */
    uint64_t inflight;  /* id + 1 of the import whose execution is under way; 0: none */
    int32_t pid;        /* of the fuzzer, as it sees itself */
    uint32_t zero;
    int64_t cycles_ns;  /* active time of all completed cycles */
    int64_t stopped_ns; /* written by the supervisor: time spent stopped by SIGSTOP so far */
    uint32_t mode;      /* written by the supervisor: enum ctl_mode */
    uint32_t steps;     /* executions of the cycle under way, where a cycle is a number of them */
    int64_t cycle_at;   /* active time at which the cycle under way began */
    uint32_t reserved[4];
};

enum ctl_mode {
    CTL_MODE_NONE = 0, /* an instance of one fuzzer, or no turn so far */
    CTL_MODE_AFLPP,
    CTL_MODE_HAVOC,
    CTL_MODE_MOPT,
    CTL_MODE_DARWIN,
    CTL_MODE_RADAMSA,
};

struct __attribute__((packed)) ctl_record { /* anywhere in the file: not aligned */
    uint64_t id;
    uint32_t size, zero;
};

#endif
