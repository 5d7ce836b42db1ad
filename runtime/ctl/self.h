/* self: what every control library must know of the process it was loaded into: whether that is the fuzzer
 * at all, and what time it is.  Needs no page, keeps no state but the wall clock's beginning. */
#ifndef CAROL_CTL_SELF_H
#define CAROL_CTL_SELF_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SELF_HIDDEN __attribute__((visibility("hidden"))) /* not for the fuzzer to find */

/* Is this the program CTL_EXE_ENV names, or does it name none?  Otherwise it is a script on the way to the
 * fuzzer, which must pass everything on. */
SELF_HIDDEN bool self_is_fuzzer(void);

/* clock_gettime of libc, past one that the library itself defines. */
SELF_HIDDEN int self_clock(clockid_t id, struct timespec *ts);
/* The same in ns; 0: no such clock. */
SELF_HIDDEN int64_t self_clock_ns(clockid_t id);

/* The wall clock in ns as it was when the library was loaded, moved on by the monotonic clock: somebody who
 * sets the clock of the machine makes no execution of the fuzzer an hour long, or one that never ends. */
SELF_HIDDEN int64_t self_wall_ns(void);

#endif
