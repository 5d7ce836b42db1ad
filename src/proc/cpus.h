/* cpus: a processor for every slot, one that no other campaign on this machine has, as long as there are such.
 *
 *     int claim, cpu = cpus_take("carol-cpu", slot, &claim);
 *     ... pin to cpu ...
 *     close(claim);                  // when it is not -1; the kernel does it for who is killed
 *
 * Who takes one claims a name in the kernel (an abstract socket), so nothing is left in any file system and
 * nobody has to be asked.  Claims bind only those who take theirs here too. */
#ifndef CAROL_PROC_CPUS_H
#define CAROL_PROC_CPUS_H

/* The first free one of those this process may use; when all are taken, the slot-th, counted round, and *claim
 * is -1.  -1: not known. */
int cpus_take(const char *name, int slot, int *claim);

#endif
