/* cpus: a processor for every slot.  While there are processors that no campaign on this machine uses, a slot
 * gets one of those; then one with the fewest slots, counting all campaigns.
 *
 *     int cpu[n], claim[n];
 *     cpus_take("carol-cpu", n, cpu, claim);
 *     ... pin slot i to cpu[i] ...
 *     close(claim[i]);               // when it is not -1; the kernel does it for a killed process
 *
 * A claim is a name in the kernel (an abstract socket), so nothing is left in any file system and no daemon
 * is needed.  Claims bind only programs that use this module. */
#ifndef CAROL_PROC_CPUS_H
#define CAROL_PROC_CPUS_H

/* Of the processors this process may use, takes first the free ones in order, then those with one slot, and so
 * on.  Where there are more slots than can be counted, it takes those that this call took least, and claim is
 * -1.  cpu is -1 when the processors are not known. */
void cpus_take(const char *name, int n, int *cpu, int *claim);
/* How many processors this process may use (taskset and containers count), at least 1. */
int cpus_count(void);

#endif
