/* oracle: which planted bugs an input reached and triggered, noted while fuzzers run.
 *
 * A target of bench/suite calls, in its harness and at each bug:
 *
 *     carol_input("pack");                                  // a new input begins
 *     CAROL_BUG(7, CAROL_GT(at + len, size));               // reached; triggered when all terms hold
 *     CAROL_BUG(9);                                         // triggered when reached
 *     CAROL_FAULT(3, CAROL_EQ(n, 0), CAROL_LT(a, b));       // what follows in this input is corrupt
 *
 * Only operands are handed over; the comparison is made in oracle.c, which build scripts compile with
 * a plain compiler.  So a bug has no branch, no comparison and no edge that a fuzzer could see.  After
 * a fault that held, nothing else is noted until the next input.
 *
 * Nothing happens without CAROL_ORACLE=FILE (absolute).  With it, all processes of a campaign note
 * into that file, which is one struct carol_oracle, all zero at first; whoever runs the campaign may
 * set start_ns and keep cpu_ns up to date.  bench/suite/ORACLE.md has the details.
 * With CAROL_NO_ORACLE the calls vanish: the neutral build is made so. */
#ifndef CAROL_ORACLE_H
#define CAROL_ORACLE_H

#include <stdint.h>

#define CAROL_ORACLE_ENV "CAROL_ORACLE"
#define CAROL_ORACLE_MAGIC "CAROLBUG" /* 8 bytes, no NUL in the file */
#define CAROL_ORACLE_VERSION 1
#define CAROL_ORACLE_BUGS 128 /* ids are 1..127 */

struct carol_first {
    uint64_t exec;    /* number of the input over all processes, from 1; 0: never */
    uint64_t wall_ns; /* since start_ns */
    uint64_t cpu_ns;  /* cpu_ns of the file at that moment */
};

struct carol_bug_record {
    uint64_t reached, triggered; /* inputs that did */
    struct carol_first first_reached, first_triggered;
};

struct carol_oracle {
    char magic[8];
    uint32_t version;
    uint32_t bugs;     /* records that follow */
    char target[32];   /* what carol_input() was told */
    uint64_t execs;    /* inputs so far */
    uint64_t start_ns; /* CLOCK_MONOTONIC; set by the runner, else by the first process */
    uint64_t cpu_ns;   /* CPU time of the campaign so far; the runner's */
    uint64_t reserved;
    struct carol_bug_record bug[CAROL_ORACLE_BUGS];
};

enum carol_op {
    CAROL_OP_NONE = 0,
    CAROL_OP_EQ,
    CAROL_OP_NE,
    CAROL_OP_LT,
    CAROL_OP_GT,
    CAROL_OP_SLT, /* signed */
    CAROL_OP_SGT,
    CAROL_OP_BITS /* all bits of b are in a */
};

struct carol_term {
    uint64_t op, a, b;
};

#ifdef __cplusplus
extern "C" {
#endif
void carol_oracle_input(const char *target);
void carol_oracle_bug(unsigned id, int fault, unsigned n, const struct carol_term *terms);
#ifdef __cplusplus
}
#endif

#define CAROL_TERM(op, a, b) {op, (uint64_t)(a), (uint64_t)(b)}
#define CAROL_EQ(a, b) CAROL_TERM(CAROL_OP_EQ, a, b)
#define CAROL_NE(a, b) CAROL_TERM(CAROL_OP_NE, a, b)
#define CAROL_LT(a, b) CAROL_TERM(CAROL_OP_LT, a, b)
#define CAROL_GT(a, b) CAROL_TERM(CAROL_OP_GT, a, b)
#define CAROL_SLT(a, b) CAROL_TERM(CAROL_OP_SLT, (int64_t)(a), (int64_t)(b))
#define CAROL_SGT(a, b) CAROL_TERM(CAROL_OP_SGT, (int64_t)(a), (int64_t)(b))
#define CAROL_BITS(a, b) CAROL_TERM(CAROL_OP_BITS, a, b)

#ifdef CAROL_NO_ORACLE
#define carol_input(target) ((void)0)
#define CAROL_BUG(...) ((void)0)
#define CAROL_FAULT(...) ((void)0)
#else
#define carol_input(target) carol_oracle_input(target)
#define CAROL_BUG(...) CAROL_NOTE(0, __VA_ARGS__)
#define CAROL_FAULT(...) CAROL_NOTE(1, __VA_ARGS__)
/* The first term is a filler, so that there may be none. */
#define CAROL_NOTE(fault, id, ...)                                                                 \
    do {                                                                                           \
        const struct carol_term carol_terms[] = {{0, 0, 0}, ##__VA_ARGS__};                        \
        carol_oracle_bug(id, fault, sizeof carol_terms / sizeof *carol_terms - 1,                  \
                         carol_terms + 1);                                                         \
    } while (0)
#endif

#endif
