/* hash: SHA-256 and SHA-1 through libcrypto's EVP. */
#include "base/hash.h"

#include "base/die.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hasher {
    EVP_MD_CTX *ctx;
};

/* Sets up this one hash and nothing else of the library: initialising all of it takes longer than hashing a
 * program. */
static void set_up(void)
{
    static bool done;
    if (!done)
        OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ADD_ALL_CIPHERS |
                                OPENSSL_INIT_NO_ADD_ALL_DIGESTS |
                                OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS,
                            NULL);
    done = true;
}

static const EVP_MD *sha256(void)
{
    set_up();
    return EVP_sha256();
}

void hash_bytes(const void *data, size_t n, struct digest *d)
{
    if (EVP_Digest(data, n, d->b, NULL, sha256(), NULL) != 1)
        BUG("EVP_Digest failed");
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}

static void to_hex(const uint8_t *b, size_t n, char *out)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = hex[b[i] >> 4];
        out[2 * i + 1] = hex[b[i] & 15];
    }
    out[2 * n] = 0;
}

void digest_hex(const struct digest *d, char out[65])
{
    to_hex(d->b, sizeof d->b, out);
}

void hash_sha1_hex(const void *data, size_t n, char out[41])
{
    uint8_t b[20];
    set_up();
    if (EVP_Digest(data, n, b, NULL, EVP_sha1(), NULL) != 1)
        BUG("EVP_Digest failed");
    to_hex(b, sizeof b, out);
}

struct hasher *hash_begin(void)
{
    struct hasher *h = xcalloc(1, sizeof *h);
    h->ctx = EVP_MD_CTX_new();
    if (!h->ctx || EVP_DigestInit_ex(h->ctx, sha256(), NULL) != 1)
        BUG("EVP_DigestInit failed");
    return h;
}

void hash_add(struct hasher *h, const void *data, size_t n)
{
    if (EVP_DigestUpdate(h->ctx, data, n) != 1)
        BUG("EVP_DigestUpdate failed");
}

void hash_add_str(struct hasher *h, const char *s)
{
    hash_add(h, s, strlen(s) + 1);
}

void hash_end(struct hasher *h, struct digest *d)
{
    if (EVP_DigestFinal_ex(h->ctx, d->b, NULL) != 1)
        BUG("EVP_DigestFinal failed");
    EVP_MD_CTX_free(h->ctx);
    free(h);
}

/* Programs are large, and reading one at once costs more than hashing it. */
int hash_file(const char *path, struct digest *d, struct err *e)
{
    static char piece[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
    if (fd < 0)
        return err_sys(e, "cannot read %s", path);
    struct hasher *h = hash_begin();
    for (ssize_t n; (n = read(fd, piece, sizeof piece)) != 0;) {
        if (n > 0)
            hash_add(h, piece, (size_t)n);
        else if (errno != EINTR) {
            rc = err_sys(e, "cannot read %s", path);
            break;
        }
    }
    hash_end(h, d);
    close(fd);
    return rc;
}
