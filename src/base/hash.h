/* hash: SHA-256, the identity of every input, and SHA-1, its name among other fuzzers (libcrypto). */
#ifndef CAROL_BASE_HASH_H
#define CAROL_BASE_HASH_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct digest {
    uint8_t b[32];
};

void hash_bytes(const void *data, size_t n, struct digest *d);
/* Of a file, read piece by piece. */
CAROL_MUST_CHECK int hash_file(const char *path, struct digest *d, struct err *e);
bool digest_equal(const struct digest *a, const struct digest *b);
void digest_hex(const struct digest *d, char out[65]);

/* As libFuzzer names an input's file. */
void hash_sha1_hex(const void *data, size_t n, char out[41]);

/* Incremental, for keys over many things; hash_end frees. */
struct hasher;
struct hasher *hash_begin(void);
void hash_add(struct hasher *h, const void *data, size_t n);
void hash_add_str(struct hasher *h, const char *s); /* with its NUL, so that "ab","c" != "a","bc" */
void hash_end(struct hasher *h, struct digest *d);

#endif
