/* export: the inputs of a selection as files, named by their SHA-1 as libFuzzer names them.
 *
 * A file that is there with the right content is left as it is, so an export that was cut off is finished by the
 * next one, and one into the same directory brings what is new.  Nothing in the directory is ever removed.  A
 * file appears whole or not at all; all of them are on disk when it returns. */
#ifndef CAROL_CORPUS_EXPORT_H
#define CAROL_CORPUS_EXPORT_H

#include "corpus/selection.h"

struct export_result {
    char (*names)[41]; /* SHA-1 of each input of the selection */
    size_t written, present;
    uint64_t bytes; /* of all of them */
    size_t others;  /* files in the directory that are not of this selection */
};

/* dir: NULL writes nothing, only the names are computed.  Free with export_free, also after a failure. */
CAROL_MUST_CHECK int export_write(struct selection *s, const char *dir, struct export_result *r,
                                  struct err *e);
void export_free(struct export_result *r);

#endif
