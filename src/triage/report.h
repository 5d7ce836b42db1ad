/* report: what a sanitizer, or a crash without one, says of a fault: a pure parser of outside text.
 *
 *     struct report r;
 *     if (report_parse(&r, text, len, signal)) ...      // false: nothing in it is a fault
 *     report_bucket(&r, id);                            // crashes with the same id are one defect
 *     report_free(&r);
 *
 * The place of a fault is the first frame of the target's own code, inlined ones included: frames of sanitizers, of
 * the C and C++ libraries and of our driver are skipped.  The entry point is the own function that the harness
 * (LLVMFuzzerTestOneInput, else main) called.  Recursion is folded: its place is the function that is on the stack most
 * often.  A text that ends in the middle of a report gives what there is of it. */
#ifndef CAROL_TRIAGE_REPORT_H
#define CAROL_TRIAGE_REPORT_H

#include "triage/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report {
    const struct fault *kind;
    char *fault;           /* its name, with read or write: "heap-buffer-overflow read" */
    char *function, *file; /* "" unknown */
    int line;              /* 0 unknown */
    char *entry;           /* "" unknown */
    const char *access;    /* read, write, jump, "" */
    int64_t bytes;         /* 0 unknown */
    char address[24];      /* "" unknown */
    int cwe;
    bool withheld;
};

/* signal: what killed it, 0 for none. */
bool report_parse(struct report *r, const char *text, size_t len, int signal);
/* A hang: the place is the function that all stacks (texts of a sanitizer on SIGABRT) have in common, the innermost. */
void report_hang(struct report *r, const char *const *texts, size_t n);
void report_free(struct report *r);

#define BUCKET_LEN 17
void report_bucket(const struct report *r, char id[BUCKET_LEN]);

#endif
