/* bugfile: the file in which targets note bugs, from the runner's side: ours (runtime/oracle/oracle.h) or that of Magma's
 * canaries (bench/magma.h).
 *
 *     bugfile_create(&f, path, ORACLE_CAROL, bugs, n, &e);     // its clock starts
 *     ... targets run with bugfile_variable(kind)=path in their environment
 *     bugfile_tick(f, cpu_ns);                // again and again: what is noted has this time
 *     bugfile_read(f, &end);                  // what counts
 *     bugfile_close(f);
 */
#ifndef CAROL_BENCH_BUGFILE_H
#define CAROL_BENCH_BUGFILE_H

#include "base/err.h"
#include "bench/bugs.h"
#include "runtime/oracle/oracle.h"

#include <stdbool.h>
#include <stdint.h>

enum oracle_kind {
    ORACLE_NONE = 0,
    ORACLE_CAROL,
    ORACLE_MAGMA,
};
enum oracle_kind oracle_of(const char *name); /* "carol", "magma"; ORACLE_NONE: there is none */
/* How targets learn the file's name. */
const char *bugfile_variable(enum oracle_kind kind);

struct bugfile;

/* The list of bugs must outlive it. */
CAROL_MUST_CHECK int bugfile_create(struct bugfile **out, const char *path, enum oracle_kind kind,
                                    const struct bug *bugs, size_t n, struct err *e);
void bugfile_tick(struct bugfile *f, int64_t cpu_ns);
void bugfile_read(const struct bugfile *f, struct carol_oracle *out);
/* Did any target note anything?  If not, "no bug" means nothing. */
bool bugfile_used(const struct bugfile *f);
void bugfile_close(struct bugfile *f); /* NULL is fine */

#endif
