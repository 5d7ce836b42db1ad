/* store_kit: what the tests of the store share: a directory with a record in it, rows to put there, and the only
 * way around the store to what is in the record.
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_setup, kit_teardown)
#define TEST_ON_DISK(name) cmocka_unit_test_setup_teardown(name, kit_setup_on_disk, kit_teardown)

/* The number a query of the record in dir gives. */
int64_t kit_query(const char *dir, const char *sql);
/* All rows that it gives, as text: a|b| in a line each. */
void kit_rows(const char *dir, const char *sql, struct buf *out);
/* Changes the record behind the store's back; how many rows. */
int kit_exec(const char *dir, const char *sql);
/* Keeps the record locked for writing, as another program would: says so on fd, for so long. */
void kit_hold(const char *dir, int fd, unsigned us);
/* Of all that is in the record: equal when nothing changed. */
struct digest kit_digest(const char *dir);
/* The test fails unless fn, given the record newly opened in this mode, stops with a BUG. */
void kit_expect_bug(struct fixture *f, enum store_mode mode, void (*fn)(struct store *s));

void reopen(struct fixture *f);
/* An initial seed of these bytes, under this name; its number. */
int64_t add(struct store *s, const char *text);
/* A result of its measurement, in round 0. */
void measure(struct store *s, int64_t seed, bool share);
/* The steps that need the order, with it. */
int begin(struct store *s, struct store_turn *t, const struct store_claim *c, struct inputs *in,
          struct err *e);
int commit(struct store *s, const struct store_turn *t, const struct store_commit *c,
           struct err *e);
/* Turn `id` of this instance (0: a new one, number `id` of aflpp), begun at id * 100 without imports. */
struct store_turn begun(struct store *s, int64_t id, int64_t instance);
/* A seed as a fuzzer finds it. */
struct store_find find(const char *text);
/* For a struct buf: joins the bytes of the seeds it sees, "a,b,c,". */
int join(void *arg, const struct store_seed *seed, struct err *e);
void expect_seeds(struct store *s, int64_t turn, const char *want);
/* Likewise for a list; empties it. */
void expect_inputs(struct inputs *in, const char *want);
/* All crashes and hangs: "crash DATA arm A sig S turn T parent P NAME BY_EVAL;". */
void expect_crashes(struct store *s, int64_t after, const char *want);

#endif
