/* fault: what a sanitizer's words mean: the name of the fault, its weakness (CWE) and its disclosure class.
 *
 * The class of a fault is *withheld* when memory is corrupted or disclosed, else *crash*: a fault below 0x10000, an
 * arithmetic one, an assertion, an exception, recursion, an allocation. */
#ifndef CAROL_TRIAGE_FAULT_H
#define CAROL_TRIAGE_FAULT_H

#include "store/store.h"

#include <stdbool.h>

#define FAULT_NULL_END 0x10000 /* below, nothing can be mapped */

struct fault {
    const char *name; /* "heap-buffer-overflow" */
    enum triage_outcome outcome;
    int cwe_read,
        cwe_write; /* the second where it writes; the same where that makes no difference */
    bool withheld;
    bool no_line; /* the place within the function is chance: recursion, memory, time */
    bool access;  /* read or write belongs to its name */
};

/* By what follows "ERROR: AddressSanitizer: "; NULL: no such words. */
const struct fault *fault_of_asan(const char *text);
/* By what follows "runtime error: " of UndefinedBehaviorSanitizer; there is always one. */
const struct fault *fault_of_ubsan(const char *text);
/* By what the C library or the C++ runtime said before it aborted; NULL: nothing known. */
const struct fault *fault_of_abort(const char *text, const char **at);
/* Of a program killed by a signal, with nothing else known. */
const struct fault *fault_of_signal(int signo);
/* By name, of those that are told apart by more than words. */
const struct fault *fault_named(const char *name);

#endif
