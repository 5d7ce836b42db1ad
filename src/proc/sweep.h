/* sweep: what processes that can no longer clean up after themselves left behind.
 *
 * Inside namespaces the kernel leaves nothing.  Without them a supervisor and an init killed at the same
 * instant can leave a stopped target and its SysV segments; whoever comes next finds them by a mark in
 * their environment. */
#ifndef CAROL_PROC_SWEEP_H
#define CAROL_PROC_SWEEP_H

#include <sys/types.h>

/* Kill every process but ourselves whose environment at exec held the word `mark` ("NAME=value"), and
 * remove its segments.  Returns how many there were; by then they are gone, or two seconds have passed: what
 * they write is written. */
int sweep_processes(const char *mark);
/* Remove the SysV segments that this process, which must be dead, created. */
void sweep_segments(pid_t creator);

#endif
