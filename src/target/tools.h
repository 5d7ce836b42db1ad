/* tools: is a compiler, an engine, a family here, in which version, and if not, which command brings it?
 *
 * Quick (milliseconds): it looks for files and runs at most a program's --version, which also shows
 * that its libraries are there.  Which fuzzers there are and what each needs is known in src/fuzzer,
 * which asks piece by piece (fuzzer_diagnose):
 *
 *     struct tool_state s = {.ok = true};
 *     if (tools_need_engine(&engine, &s) && tools_need_part("radamsa/libradamsa.so", &s)) ...
 *     tool_state_free(&s); */
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

/* A program of somebody else that a fuzzer runs. */
struct engine {
    const char *program;     /* its path below the engines' directory (base/where.h) */
    const char *flag, *mark; /* asked with the flag, its version is the word after the mark */
};

/* True when it is there; otherwise s is no longer ok and says why. */
bool tools_need_engine(const struct engine *en, struct tool_state *s); /* starts; fills version */
bool tools_need_part(const char *file, struct tool_state *s);          /* of the engines */
bool tools_need_runtime(const char *file, struct tool_state *s);       /* of ours */

/* Overwrites s. */
void tools_check_family(enum family f, struct tool_state *s);

#endif
