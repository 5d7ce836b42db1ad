/* defect: the defects of a campaign, from its record alone.
 *
 *     struct defects d;
 *     if (defects_load(&d, store, &e) == 0)           // also of a campaign that runs
 *         for (size_t i = 0; i < d.n; i++) show(&d.v[i]);
 *     defects_free(&d);
 *
 * Triage runs each crash again and leaves a row about it in the store (store_triage_put).  A defect is what the rows
 * with the same bucket say together: the worst of their outcomes, the first who found it.  Nothing here runs
 * anything. */
#ifndef CAROL_TRIAGE_DEFECT_H
#define CAROL_TRIAGE_DEFECT_H

#include "context/context.h"
#include "store/store.h"

#include <jansson.h>

#define CONFIRM_RUNS 5 /* so many on the plain build, and all of them must fail */

/* Do these runs of the plain build confirm it?  Of a hang one does, which takes ten times the limit. */
bool is_confirmed(enum triage_outcome outcome, int plain_runs, int plain_hits);

struct defect {
    char id[17]; /* the same in every campaign: a hash of function, file, line, fault and entry */
    enum triage_outcome outcome; /* crash, hang or out of memory */
    char *function, *file;       /* where; "" where no frame of the target's own is known */
    int line;
    char *fault, *entry;
    char *access, *address; /* of the worst run; "" unknown */
    int64_t bytes;
    int cwe;       /* 0: none */
    bool withheld; /* memory corruption or disclosure of information; else the class is "crash" */
    bool confirmed;
    int asan_runs, asan_hits, plain_runs, plain_hits,
        plain_signal;              /* of the input that counts most */
    char *why;                     /* it is not confirmed; "" */
    char found_by[32];             /* who was first; "seed": an input of the user's */
    int64_t first_seen_ns;         /* campaign time */
    uint64_t inputs;               /* crashes in this bucket */
    uint32_t by[CONTEXT_MAX_ARMS]; /* and how many by each fuzzer of the roster */
    int64_t first;                 /* the crash that was first */
    int64_t worst; /* the crash whose report shows the worst (store_triage_report) */
    int64_t best;  /* the crash to reproduce it with: confirmed, then small */
    size_t best_size;
    bool minimised;        /* there is a smaller one (store_minimised), */
    size_t minimised_size; /* so small */
    bool known;            /* a baseline has it; only triage with --baseline sets this */
};

struct defects {
    struct defect *v; /* confirmed ones first, then by the time they were first seen */
    size_t n, confirmed;
    uint64_t rows, waiting;       /* crashes with a row of these builds, and those without */
    uint64_t slow, clean, broken; /* rows that are no defect */
};

CAROL_MUST_CHECK int defects_load(struct defects *d, struct store *s, struct err *e);
void defects_free(struct defects *d);
const struct defect *defects_find(const struct defects *d, const char *id);

const char *defect_class(const struct defect *d); /* crash, withheld */
/* How a confirmed one fails, in words: "fails in 5 of 5 runs without a sanitizer". */
const char *defect_sure(const struct defect *d);
/* "CWE-125 out-of-bounds read"; free it. */
char *defect_weakness(const struct defect *d);
const char *cwe_name(int cwe); /* "out-of-bounds read"; "" for one that triage does not give */

/* {defects: [...], unconfirmed: [...], ...} with the names of METHOD §18.  out: the directory of the campaign, for
 * the paths; NULL: none are given. */
json_t *defects_json(const struct defects *d, const char *out);

#endif
