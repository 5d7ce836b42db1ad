/* store_kit: what the tests of the store share: a directory with a record in it, and rows to put there.
 *
 *     TEST(name)         a test on a new record (f->s)
 *     TEST_ON_DISK(name) a test on an empty directory of a real file system; f->s is NULL
 *
 * OK() fails the test with the store's own message. */
#ifndef CAROL_TESTS_STORE_KIT_H
#define CAROL_TESTS_STORE_KIT_H

#include "base/die.h"
#include "base/fs.h"
#include "store/store.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern struct err oops;
#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, oops.msg);                                                   \
    } while (0)

struct fixture {
    char dir[64];
    struct store *s;
};

int kit_setup(void **state);
int kit_setup_on_disk(void **state);
int kit_teardown(void **state);
/* The number a query of the record in dir gives. */
int64_t kit_query(const char *dir, const char *sql);
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_setup, kit_teardown)
#define TEST_ON_DISK(name) cmocka_unit_test_setup_teardown(name, kit_setup_on_disk, kit_teardown)

void reopen(struct fixture *f);
/* A seed of these bytes, under this name; its id. */
int64_t add(struct store *s, const char *text, int64_t instance, int64_t turn, bool *fresh);
void done(struct store *s, int64_t id, bool share);
void begin_turn(struct store *s, int64_t id, int64_t instance);
/* For a struct buf: joins the bytes of the seeds it sees, "a,b,c,". */
int join(void *arg, const struct store_seed *seed, struct err *e);
void expect_seeds(struct store *s, int64_t turn, const char *want);

#endif
