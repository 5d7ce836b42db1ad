/* dict: the dictionary of a user, looked at before the fuzzers read it: they leave out what they do not
 * understand, each its own way, and say so where nobody looks. */
#ifndef CAROL_FUZZER_DICT_H
#define CAROL_FUZZER_DICT_H

#include "base/err.h"

/* What every fuzzer understands: lines `name="value"` or `"value"`, name perhaps with @LEVEL, bytes that
 * cannot be printed as \xNN, \\ and \"; empty lines, and comments that begin with #.  A warning names the
 * first line that is none of these and counts the others.  An error when the file cannot be read or holds
 * lines but no entry at all. */
CAROL_MUST_CHECK int dict_check(const char *path, struct err *e);

#endif
