/* store_fail: stands between the store and its database, and makes one of the calls fail.
 *
 *     fail_at(3, FAIL_REFUSED);      // the third one from now
 *     rc = store_...
 *     if (!fail_off()) ...           // there were not so many
 */
#ifndef CAROL_TESTS_STORE_FAIL_H
#define CAROL_TESTS_STORE_FAIL_H

#include <stdbool.h>

enum fail_how {
    FAIL_REFUSED = 1, /* the call does nothing */
    FAIL_UNDONE, /* the database itself gives up and undoes the transaction, as with a full disk */
};

void fail_at(int n, enum fail_how how);
bool fail_off(void); /* did one fail? */

#endif
