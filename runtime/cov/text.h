/* text: machine code that asks for a flag and sets it when it is clear, and how to make it set it at once.
 * Knows no process: the unit tests use it on bytes of their own. */
#ifndef CAROL_RUNTIME_COV_TEXT_H
#define CAROL_RUNTIME_COV_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The next place in [p, end) that asks for one of the flags; NULL: none.  *flag: which one. */
unsigned char *carol_cov_text_find(unsigned char *p, unsigned char *end, const unsigned char *flags,
                                   size_t n_flags, uint32_t *flag);

/* What is at such a place becomes the same with the flag set.  0: it is not what we know, and stays. */
size_t carol_cov_text_set(unsigned char *p, const unsigned char *end);

#endif
