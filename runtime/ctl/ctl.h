/* ctl: the library's side of the control page: attach, park, take imports, report.
 *
 * Loaded into a fuzzer by LD_PRELOAD; ctl.c's constructor maps the page named by CAROL_CTL, takes both
 * variables out of the environment (the target must not inherit them) and marks the eventfd
 * close-on-exec.  Without the variable everything here does nothing, so the library is harmless in
 * any other process.
 *
 *     ctl_safe_point();                 // between two executions: parks while no turn is open
 *     if ((r = ctl_import_next()))      // r->size bytes follow it; valid until the next call
 *         ... execute them ...
 *     ctl_import_done();                // what is executed from here on is the fuzzer's own again
 *
 * One thread calls these; the virtual clock may be read by all. */
#ifndef CAROL_CTL_CTL_H
#define CAROL_CTL_CTL_H

#include "page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTL_EXPORTED __attribute__((visibility("default")))

extern struct ctl_page *ctl_page; /* NULL: not under control */
extern char ctl_dir[];            /* the instance's directory, "" when not under control */

void ctl_safe_point(void);
bool ctl_parking_wanted(void); /* would the next safe point park? */
void ctl_add_exec(void);
void ctl_add_cycle(void);  /* one ends here and the next begins; the first began at a safe point */
void ctl_drop_cycle(void); /* the one under way will not be completed; the next begins */

bool ctl_import_pending(void);
const struct ctl_record *ctl_import_next(void);
void ctl_import_done(void);
int64_t ctl_import_id(void); /* of the execution under way; -1: not an import */

/* One line for DIR/export: a new entry of the fuzzer's corpus; import: ctl_import_id() or -1. */
void ctl_export(const char *name, int64_t import);
/* Something that should not happen: counted, the text goes to DIR/fault, the supervisor is told. */
void ctl_fault(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The real monotonic clock in ns, past our own virtual clock. */
int64_t ctl_real_ns(void);
/* When the pause under way began (ctl_real_ns); 0: not parked. */
int64_t ctl_parked_since(void);

#endif
