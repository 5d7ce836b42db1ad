/* text: machine code that tests a flag and sets it if it is clear, rewritten to set it at once.
 * Knows no process: the unit tests use it on bytes of their own. */
#ifndef CAROL_RUNTIME_COV_TEXT_H
#define CAROL_RUNTIME_COV_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The next place in [p, end) that tests one of the flags; NULL: none.  *flag: which one. */
unsigned char *carol_cov_text_find(unsigned char *p, unsigned char *end, const unsigned char *flags,
                                   size_t n_flags, uint32_t *flag);

/* Rewrites the code at such a place to set the flag at once.  0: it has an unknown form and stays. */
size_t carol_cov_text_set(unsigned char *p, const unsigned char *end);

#endif
