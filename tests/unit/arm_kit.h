/* arm_kit: the fuzzers without any program: engines, libraries and the target are empty files in a directory of the test's. */
#ifndef CAROL_TESTS_ARM_KIT_H
#define CAROL_TESTS_ARM_KIT_H

#include "fuzzer/live_private.h"

#include <stdbool.h>

extern char home[64]; /* the directory; its names in what follows are below it */
extern struct loop *loop;
extern struct manifest m; /* a target in all families */

int arm_kit_make(void **state);
int arm_kit_drop(void **state);

void put(const char *name, const char *text);
bool there(const char *name);
const char *content(const char *name); /* of a short file, until the next call */
/* In the directory "i"; a time limit of 1500 ms unless it has another. */
struct live *open_arm(struct instance_opts o);

/* How it would be called (again): fills line and given. */
void command(struct live *lv, bool again);
extern char line[4096];      /* the last command, a space behind each word */
extern char given[4096];     /* the environment it asks for, likewise */
void says(const char *what); /* line has it */

#define ARM_TEST(name) cmocka_unit_test_setup_teardown(name, arm_kit_make, arm_kit_drop)

#endif
