/* lab: where inputs are run again: the builds, their environment and limits, a symboliser, and one shot at a time.
 *
 *     lab_new(&lab, loop, &opts, &e);
 *     lab_shoot(lab, &(struct shot_spec){.family = FAMILY_ASAN, .data = d, .size = n, .cpu = -1}, on_shot, self, &e);
 *     on_shot(self, &shot);           // the shot is the lab's and gone when it returns
 *     lab_free(lab);                  // shots under way are killed
 *
 * A shot is a run (run.h), its report symbolised and parsed (report.h). */
#ifndef CAROL_TRIAGE_LAB_H
#define CAROL_TRIAGE_LAB_H

#include "base/err.h"
#include "proc/loop.h"
#include "target/manifest.h"
#include "triage/report.h"

struct lab;

struct lab_opts {
    const struct manifest *target; /* must live */
    const char *const *args;       /* of a main() program; NULL: the manifest's */
    const char *dir; /* a directory for what targets leave behind; made, and removed in the end */
    uint32_t timeout_ms;
    uint64_t mem_bytes;
};

CAROL_MUST_CHECK int lab_new(struct lab **out, struct loop *l, const struct lab_opts *o,
                             struct err *e);
void lab_free(struct lab *lab);
bool lab_has(const struct lab *lab, enum family f);
bool lab_has_symbols(const struct lab *lab);
/* The builds that results are of: a digest of those that matter and of the rules of triage. */
const char *lab_builds(const struct lab *lab);
/* CPU time of everything it ran. */
int64_t lab_cpu_us(const struct lab *lab);

struct shot_spec {
    enum family family;
    const void *data;
    size_t size;
    int cpu;          /* pinned to; -1: no */
    int times_limit;  /* CPU time in time limits of the campaign; 0: 10 */
    int64_t most_ms;  /* and no more than this; 0: no matter */
    bool show_hang;   /* past its time a sanitizer shows where it is */
    bool slow_unwind; /* stacks of allocations through libraries without frame pointers */
    bool quick;       /* only whether and how it ended: no symbols, no report */
};
struct shot {
    bool ran; /* and what it printed is known; else `why` */
    char why[256];
    bool hit;  /* it failed: killed by a signal, or a sanitizer complained */
    bool late; /* it was past its time, and is no hit for that */
    int signal;
    int64_t cpu_us;
    bool known;      /* the report below could be parsed */
    struct report r; /* moved out by whoever sets known to false */
    const char *text;
    size_t len;
};
typedef void shot_fn(void *arg, struct shot *s);
CAROL_MUST_CHECK int lab_shoot(struct lab *lab, const struct shot_spec *s, shot_fn *fn, void *arg,
                               struct err *e);
/* Shots for this arg end without a word. */
void lab_forget(struct lab *lab, void *arg);

/* How a person runs it: the environment and command line for a file, as one line for a shell.  Free it. */
char *lab_command(const struct manifest *m, const char *const *args, enum family f,
                  const char *path);

#endif
