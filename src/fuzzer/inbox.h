/* inbox: the import files of DIR/inbox (runtime/ctl/page.h), and the hashes of all we ever gave.
 *
 *     inbox_deliver(dir, page, batch, inputs, n, &e);   // one file, then page->gen
 *     inbox_known_load(dir, &k, &e); ... inbox_known(&k, data, size); ... inbox_known_free(&k);
 *
 * DIR/known has 8 bytes per input ever given to the fuzzer (start corpus and imports), so that a crash
 * or hang that is only the echo of an import can be told apart. */
#ifndef CAROL_FUZZER_INBOX_H
#define CAROL_FUZZER_INBOX_H

#include "base/err.h"
#include "fuzzer/fuzzer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctl_page;

/* Batch numbers rise; one that is not above page->gen is in place already and is left alone. */
CAROL_MUST_CHECK int inbox_deliver(const char *dir, struct ctl_page *page, uint64_t batch,
                                   const struct input *inputs, size_t n, struct err *e);

struct inbox_known {
    uint64_t *v;
    size_t n;
};
CAROL_MUST_CHECK int inbox_known_add(const char *dir, const struct input *inputs, size_t n,
                                     struct err *e);
CAROL_MUST_CHECK int inbox_known_load(const char *dir, struct inbox_known *k, struct err *e);
bool inbox_known(const struct inbox_known *k, const void *data, size_t size);
void inbox_known_free(struct inbox_known *k);

#endif
