/* magma: the storage file of Magma's canaries (the MAGMA_STORAGE of its targets), read while a campaign runs.
 *
 * The file has 2,048 bytes: a flag that takes eight, then twice 31 slots of a name of up to 16 bytes and two counts,
 * reached and triggered.  The first 31 are the targets' own and always up to date; the others are a copy for Magma's
 * monitor, made when the flag is set, which nobody does here.  A slot is taken when a canary is reached first, and the
 * first empty one ends the list.  There are no times in it and no number of inputs. */
#ifndef CAROL_BENCH_MAGMA_H
#define CAROL_BENCH_MAGMA_H

#include "bench/bugs.h"
#include "runtime/oracle/oracle.h"

#include <stdbool.h>
#include <stdint.h>

#define MAGMA_VARIABLE "MAGMA_STORAGE"
#define MAGMA_BYTES 2048

/* Takes the counts over into o, by name.  What was not there the last time has the time now_ns (CLOCK_MONOTONIC, less
 * o->start_ns) and o->cpu_ns as its first; input numbers stay 0.  Returns a name of 16 bytes that is not among the bugs;
 * NULL: there is none. */
const char *magma_note(const void *file, const struct bug *bugs, size_t n, uint64_t now_ns,
                       struct carol_oracle *o);
/* Was any canary reached? */
bool magma_used(const void *file);

#endif
