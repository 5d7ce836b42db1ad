/* task: the build of one family, from its private directory to its place.  Used by target/build.c,
 * which runs several on one loop. */
#ifndef CAROL_TARGET_TASK_H
#define CAROL_TARGET_TASK_H

#include "base/err.h"
#include "proc/cage.h"
#include "proc/loop.h"
#include "target/build.h"
#include "target/family.h"
#include "target/plan.h"
#include "target/stamp.h"

struct task {
    enum family family;
    enum build_state state;
    const struct plan *plan;
    struct family_kit kit;
    char *compiler;
    char key[65];
    char *home, *tmp, *log; /* DIR/<family>, DIR/.tmp-<family>, DIR/logs/<family>.log */
    struct stamp stamp;     /* filled when cached or done */
    struct err error;       /* when failed or skipped */
    struct cage cage;
    int64_t began_ns;
    double seconds;
    char last[160]; /* last line of the log */
};

/* Fill in kit, key and paths, and see whether DIR/<family> is current: state becomes WAITING, CACHED,
 * FAILED or SKIPPED (engine missing and not asked for by name). */
void task_prepare(struct task *t, enum family f, const struct plan *p, const struct build_opts *o);
/* Start a process that copies the sources and becomes the command.  Watch t->cage.status_fd, then call task_finish. */
CAROL_MUST_CHECK int task_start(struct task *t, int64_t now_ns, struct err *e);
/* The command ended: check what it made and put it in place; state becomes DONE or FAILED. */
void task_finish(struct task *t, int64_t now_ns);
static inline bool task_runs(const struct task *t)
{
    return t->state == BUILD_COPYING || t->state == BUILD_RUNNING;
}
/* Kill the command and remove what it made. */
void task_abort(struct task *t);
/* See how far it is: the last line of its log, and whether the copy is made. */
void task_look(struct task *t);
void task_free(struct task *t);

#endif
