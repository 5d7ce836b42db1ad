/* rawprofile: reads clang's raw profiles and checks every offset.  Knows nothing of source files. */
#include "coverage/rawprofile.h"

#include "base/die.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 10
#define VARIANTS UINT64_C(0xffffffff00000000)
static const uint64_t magic = UINT64_C(0xff6c70726f667281); /* "\xfflprofr\x81" from the top */

struct header {
    uint64_t magic, version, ids_size, n_data, before_counters, n_counters, after_counters,
        n_bitmap, after_bitmap, names_size, counters_delta, bitmap_delta, names_delta, n_vtables,
        vnames_size, last_kind;
};

struct data {
    uint64_t name, hash, counters, bitmap, function, values;
    uint32_t n_counters;
    uint16_t value_sites[3];
    uint32_t n_bitmap;
};

static int damaged(struct err *e)
{
    return err_set(e, -EBADMSG, "the profile is damaged or was not written to its end");
}

static int check_header(const struct header *h, size_t size, struct err *e)
{
    if (size < sizeof *h || h->magic != magic)
        return damaged(e);
    if ((h->version & ~VARIANTS) != VERSION || h->version & VARIANTS)
        return err_env(e,
                       "the source build writes profiles of version %llu, Carol reads version %d "
                       "(clang 19): build the family 'source' again with clang-19",
                       (unsigned long long)(h->version & ~VARIANTS), VERSION);
    uint64_t room = size - sizeof *h;
    if (h->ids_size > room || h->ids_size % 8 || h->n_data > room / sizeof(struct data) ||
        h->before_counters > room || h->before_counters % 8 || h->n_counters > room / 8 ||
        h->ids_size + h->n_data * sizeof(struct data) + h->before_counters + h->n_counters * 8 >
            room)
        return damaged(e);
    return 0;
}

/* A record says where its counters are, seen from itself. */
static int take_function(struct rawprofile_function *f, const struct header *h,
                         const struct data *d, size_t i, struct err *e)
{
    uint64_t at = d->counters - (h->counters_delta - i * sizeof *d);
    if (at % 8 || at / 8 > h->n_counters || d->n_counters > h->n_counters - at / 8)
        return damaged(e);
    *f = (struct rawprofile_function){d->name, d->hash, (size_t)(at / 8), d->n_counters};
    return 0;
}

int rawprofile_parse(struct rawprofile *p, void *bytes, size_t size, struct err *e)
{
    const struct header *h = bytes;
    *p = (struct rawprofile){0};
    int rc = check_header(h, size, e);
    if (rc < 0)
        return rc;
    char *at = (char *)bytes + sizeof *h + h->ids_size;
    const struct data *data = (const void *)at;
    p->n_functions = (size_t)h->n_data;
    p->functions = xcalloc(p->n_functions, sizeof *p->functions);
    for (size_t i = 0; rc == 0 && i < p->n_functions; i++)
        rc = take_function(&p->functions[i], h, &data[i], i, e);
    p->counters = (void *)(at + h->n_data * sizeof *data + h->before_counters);
    p->n_counters = (size_t)h->n_counters;
    if (rc < 0)
        rawprofile_free(p);
    return rc;
}

void rawprofile_free(struct rawprofile *p)
{
    free(p->functions);
    *p = (struct rawprofile){0};
}
