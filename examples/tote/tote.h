/* tote: a small container format, and a parser of it with six planted bugs (see tote.c).
 *
 *     "TOTE" version(1)  then chunks:  type(4 letters) length(2, big endian) payload
 */
#ifndef TOTE_H
#define TOTE_H

#include <stddef.h>
#include <stdint.h>

/* The number of chunks understood, or -1 when the file is not one of ours. */
int tote_parse(const uint8_t *data, size_t size);

#endif
