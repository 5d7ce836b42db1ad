/* output: what triage leaves for people and programs, in one directory:
 *
 *     ID/report.md      a defect, ready to file       ID/stack.txt    what the sanitizer said
 *     ID/original       the input as it was found     ID/minimised    the smallest one
 *     defects.json      all of them (METHOD §18)      defects.sarif, junit.xml
 *
 * Files are written anew each time.  What is in a folder and is not so any more, of a defect that is none now too, is
 * moved to earlier/ID, inputs with their hash in the name: nothing here deletes an input.
 * With `public`, the withheld have no folder, no trace and no input, and of them only class, weakness and place are
 * told; what was public before is removed, its inputs are in the store. */
#ifndef CAROL_TRIAGE_OUTPUT_H
#define CAROL_TRIAGE_OUTPUT_H

#include "base/buf.h"
#include "base/err.h"
#include "journal/settings.h"
#include "target/manifest.h"
#include "triage/defect.h"

struct output {
    struct store *store;
    const struct settings *o; /* of the campaign */
    const struct manifest *target;
    const struct defects *d;
    const char *dir; /* made when it is missing */
    bool public;
    bool baseline; /* known ones are told apart */
};

#define OUTPUT_EARLIER "earlier" /* the folder of what is not so any more */

bool output_tells(const struct output *o, const struct defect *d);
CAROL_MUST_CHECK int output_write(const struct output *o, struct err *e);
/* What is given to programs: as written to defects.json. */
json_t *output_json(const struct output *o);
/* Where the input of a defect to reproduce it with lies: ID/minimised or ID/original below the directory.  Free it. */
char *output_input(const struct output *o, const struct defect *d);
/* The command that runs it on the asan build, or on the plain one if only that fails.  Free it. */
char *output_command(const struct output *o, const struct defect *d);

/* What does not belong into the directory any more.  earlier.c */
CAROL_MUST_CHECK int output_clear(const struct output *o, struct err *e);

/* The parts of it: sarif.c, junit.c, story.c */
json_t *output_sarif(const struct output *o);
void output_junit(const struct output *o, struct buf *out);
CAROL_MUST_CHECK int output_report(const struct output *o, const struct defect *d,
                                   const char *stack, struct buf *out, struct err *e);
/* The ancestors of a crash, from the seed on, and what each step added. */
CAROL_MUST_CHECK int output_lineage(const struct output *o, int64_t crash, struct buf *out,
                                    struct err *e);

#endif
