/* crew: one job for each of many numbers, dealt to several processes.  Only our own code runs in them: no cages, no
 * event loop.
 *
 *     struct crew c = {.jobs = n, .processes = 2, .size = n * sizeof *results, .job = work, .arg = &mine};
 *     rc = crew_run(&c, results, &e);
 *
 * Every process sees what the caller had in memory when it began; what it writes there is lost.  Results go to
 * `shared`, `size` bytes of zeros that all of them share and that are copied to the caller at the end.  They must not
 * hold pointers.  Which process does which job is left to chance, so a job depends on its number alone. */
#ifndef CAROL_PROC_CREW_H
#define CAROL_PROC_CREW_H

#include "base/err.h"

#include <stddef.h>

struct crew {
    size_t jobs;
    int processes; /* 1: everything runs in this one */
    size_t size;   /* bytes of all results */
    int (*job)(void *arg, size_t job, void *shared, struct err *e);
    void *arg;
};

/* 0, or the error of the first job that failed; no new job begins after it. */
CAROL_MUST_CHECK int crew_run(const struct crew *c, void *results, struct err *e);

#endif
