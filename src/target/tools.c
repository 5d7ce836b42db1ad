/* tools: finds compilers and engines and says what is missing.  Installs nothing, builds nothing, knows no
 * fuzzer by name. */
#include "target/tools.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "base/where.h"
#include "target/family.h"
#include "target/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ASK_SECONDS 5

void tool_state_free(struct tool_state *s)
{
    free(s->version);
    free(s->why);
    free(s->fix);
    *s = (struct tool_state){0};
}

/* The word after mark in what the program prints; it may well end with an error code. */
static char *ask(const char *program, const char *flag, const char *mark)
{
    struct buf out = BUF_INIT(1 << 16);
    const char *argv[] = {program, flag, NULL};
    struct err ignored = {0};
    int rc = run_capture(argv, NULL, ASK_SECONDS, &out, &ignored);
    char *at = out.p && (rc == 0 || rc == -ECHILD) ? strstr(out.p, mark) : NULL, *word = NULL;
    if (at)
        word = str_fmt("%.*s", (int)strcspn(at + strlen(mark), " \n\t(\033"), at + strlen(mark));
    buf_free(&out);
    return word;
}

int tools_find_clang(char **path, int *major, struct err *e)
{
    const char *own = getenv("CAROL_CLANG");
    char *found = own && *own ? run_find(own) : run_find("clang-19");
    if (!found && !(own && *own))
        found = run_find("clang-16");
    if (!found)
        return err_env(e,
                       "%s is not installed, and every family is compiled with it; install it "
                       "with 'sudo apt-get install clang-19 lld-19' or tools/setup.sh",
                       own && *own ? own : "clang-19");
    char *version = ask(found, "--version", "clang version ");
    if (!version) {
        int rc = err_env(e, "%s does not tell its version; is it a clang?", found);
        free(found);
        return rc;
    }
    *major = (int)strtol(version, NULL, 10);
    *path = found;
    free(version);
    return 0;
}

static void missing(struct tool_state *s, char *why, const char *fix)
{
    s->ok = false;
    free(s->why);
    free(s->fix);
    s->why = why;
    s->fix = xstrdup(fix);
}

static const char fix_engines[] =
    "make engines   (in Carol's source tree; or name a directory with "
    "--engines or CAROL_ENGINES)";

/* True when the file is there; otherwise s says that it is not. */
static bool have(struct tool_state *s, char *path, const char *fix)
{
    bool there = fs_exists(path);
    if (!there)
        missing(s, str_fmt("%s is not there", path), fix);
    free(path);
    return there;
}

bool tools_need_engine(const struct engine *en, struct tool_state *s)
{
    if (!have(s, where_engine(en->program), fix_engines))
        return false;
    char *program = where_engine(en->program);
    free(s->version);
    s->version = ask(program, en->flag, en->mark);
    if (!s->version)
        missing(s,
                str_fmt("%s does not start (a library it needs is missing, or it is not ours)",
                        program),
                "tools/setup.sh && make engines");
    free(program);
    return s->ok;
}

bool tools_need_part(const char *file, struct tool_state *s)
{
    return have(s, where_engine(file), fix_engines);
}

bool tools_need_runtime(const char *file, struct tool_state *s)
{
    return have(s, where_runtime(file), "make   (in Carol's source tree)");
}

/* The families are checked by the code that builds them, so the two cannot disagree. */
void tools_check_family(enum family f, struct tool_state *s)
{
    *s = (struct tool_state){.ok = true};
    struct family_kit kit;
    struct err e = {0};
    if (family_kit_init(&kit, f, &e) < 0) {
        bool engine = strstr(e.msg, "engine") != NULL, clang = strstr(e.msg, "clang-") != NULL;
        missing(s, xstrdup(e.msg), engine ? fix_engines : clang ? "tools/setup.sh" : "make");
        return;
    }
    s->version = family_compiler(&kit);
    family_kit_free(&kit);
}
