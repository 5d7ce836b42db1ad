/* cpus: a processor for every slot, one that no other campaign on this machine has, as long as there are such;
 * then one with the fewest slots, whosever they are.
 *
 *     int cpu[n], claim[n];
 *     cpus_take("carol-cpu", n, cpu, claim);
 *     ... pin slot i to cpu[i] ...
 *     close(claim[i]);               // when it is not -1; the kernel does it for who is killed
 *
 * Who takes one claims a place on it by a name in the kernel (an abstract socket), so nothing is left in any
 * file system and nobody has to be asked.  Claims bind only those who take theirs here too. */
#ifndef CAROL_PROC_CPUS_H
#define CAROL_PROC_CPUS_H

/* In order, first the free ones of those this process may use, then those with one slot, and so on.  Where there
 * are more slots than can be counted, those that this call took least, and claim is -1.  cpu is -1 when they are
 * not known. */
void cpus_take(const char *name, int n, int *cpu, int *claim);

#endif
