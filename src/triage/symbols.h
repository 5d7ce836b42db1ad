/* symbols: puts functions and lines into a sanitizer's report that has only addresses.
 *
 * A sanitizer that symbolises its own report starts llvm-symbolizer anew each time, which reads the program's debug
 * information again.  Here one such process serves all reports, and each address is asked for once.
 *
 *     struct symbols *s = symbols_new(loop, dir);           // NULL: there is no llvm-symbolizer that runs
 *     symbols_fill(s, text, len, on_done, self);            // on_done(self, text, len), from the loop or at once
 *     symbols_free(s);                                      // what waits is dropped
 *
 * When the process ends or does not answer, another takes its place and is asked again, once for each report.  A report
 * for which that one ends, too, comes back as NULL: without functions it would be another defect. */
#ifndef CAROL_TRIAGE_SYMBOLS_H
#define CAROL_TRIAGE_SYMBOLS_H

#include "proc/loop.h"

#include <stddef.h>

struct symbols;

typedef void symbols_done_fn(void *arg, const char *text, size_t len);

/* The program: $ASAN_SYMBOLIZER_PATH, and where that is not set llvm-symbolizer-19 or llvm-symbolizer; NULL: none.
 * Free it. */
char *symbols_program(void);
struct symbols *symbols_new(struct loop *l, const char *cwd);
/* s may be NULL: the text comes back as it is.  SIGPIPE must be ignored. */
void symbols_fill(struct symbols *s, const char *text, size_t len, symbols_done_fn *done,
                  void *arg);
/* What it used so far; 0 for NULL. */
int64_t symbols_cpu_us(const struct symbols *s);
/* Drop what waits for this arg. */
void symbols_forget(struct symbols *s, void *arg);
void symbols_free(struct symbols *s);

#endif
