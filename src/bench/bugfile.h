/* bugfile: the oracle's file (runtime/oracle/oracle.h) from the runner's side.
 *
 *     struct carol_oracle *o;
 *     bugfile_create(path, &o, &e);      // its clock starts
 *     bugfile_cpu(o, ns);                // again and again: targets note this time
 *     struct carol_oracle end = *o;      // what counts
 *     bugfile_close(o);
 */
#ifndef CAROL_BENCH_BUGFILE_H
#define CAROL_BENCH_BUGFILE_H

#include "base/err.h"
#include "runtime/oracle/oracle.h"

#include <stdint.h>

CAROL_MUST_CHECK int bugfile_create(const char *path, struct carol_oracle **out, struct err *e);
void bugfile_cpu(struct carol_oracle *o, int64_t ns);
void bugfile_close(struct carol_oracle *o); /* NULL is fine */

#endif
