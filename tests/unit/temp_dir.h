/* temp_dir: a directory of the test's own: temp_dir, made and removed as set-up and tear-down of a test or of the
 * whole group. */
#ifndef CAROL_TESTS_TEMP_DIR_H
#define CAROL_TESTS_TEMP_DIR_H

#include "base/fs.h"

#include <stdlib.h>
#include <string.h>

static char temp_dir[] = "/tmp/carol-unit-XXXXXX";

static int temp_dir_make(void **state)
{
    (void)state;
    memset(temp_dir + sizeof temp_dir - 7, 'X', 6); /* also the next time */
    return mkdtemp(temp_dir) ? 0 : -1;
}

static int temp_dir_remove(void **state)
{
    (void)state;
    return fs_remove_tree(temp_dir, NULL);
}

#endif
