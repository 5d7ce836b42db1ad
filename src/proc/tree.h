/* tree: look at and act on a process and all its descendants, through /proc.  No cgroups, no root. */
#ifndef CAROL_PROC_TREE_H
#define CAROL_PROC_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_usage {
    int64_t cpu_ns;  /* user + system of the live tree, with its reaped children */
    uint64_t rss_kb; /* resident, summed over processes (shared pages count in each) */
    int processes;
};

/* Pids of root and everything below it, parents first; returns the number, at most max. */
size_t tree_pids(pid_t root, pid_t *out, size_t max);
/* The children of one process; returns the number, at most max. */
size_t tree_children(pid_t pid, pid_t *out, size_t max);
void tree_usage(pid_t root, struct tree_usage *u);
/* Pin every thread of the tree to one cpu, parents first, so that what they fork later follows. */
void tree_pin(pid_t root, int cpu);
/* SIGKILL everything below root (and root itself if self) until nothing below it is left. */
void tree_kill(pid_t root, int self);

#endif
