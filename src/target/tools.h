/* tools: which compilers and fuzzers are here, in which version, and what is missing for each fuzzer
 * and family, with the command that brings it.
 *
 * Quick (milliseconds): it looks for files and runs at most a program's --version, which also shows
 * that its libraries are there.  Whether a fuzzer obeys is the self-test's job (carol engine). */
#ifndef CAROL_TARGET_TOOLS_H
#define CAROL_TARGET_TOOLS_H

#include "base/err.h"
#include "target/manifest.h"

#include <stdbool.h>

struct tool_state {
    bool ok;
    char *version; /* NULL: unknown */
    char *why;     /* what is missing and what it matters; NULL when ok */
    char *fix;     /* what to type; NULL when ok */
};
void tool_state_free(struct tool_state *s);

/* The clang the families are compiled with: $CAROL_CLANG, clang-19, else clang-16.  The caller frees
 * path.  Exit 3 with the fix when there is none. */
CAROL_MUST_CHECK int tools_find_clang(char **path, int *major, struct err *e);

/* The version of "afl", "honggfuzz" or "radamsa" as it says itself (radamsa: as its build recorded),
 * to be freed; NULL when it is not there or does not start. */
char *tools_engine_version(const char *engine);

extern const char *const tools_fuzzers[]; /* the six names of SPEC 1, then NULL */

/* Fill s (which is overwritten); free it with tool_state_free. */
void tools_check_fuzzer(const char *name, struct tool_state *s);
void tools_check_family(enum family f, struct tool_state *s);

#endif
