/* tools: finds compilers and fuzzers and says what is missing.  Installs nothing, builds nothing. */
#include "target/tools.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "base/where.h"
#include "target/family.h"
#include "target/run.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define ASK_SECONDS 5

const char *const tools_fuzzers[] = {"aflpp",    "darwin",  "honggfuzz", "mopt",
                                     "lafintel", "radamsa", NULL};

/* What each fuzzer consists of; runtime is ours, a file of where_runtime. */
static const struct parts {
    const char *name, *engine, *library, *runtime;
} parts[] = {
    {"aflpp", "afl", NULL, "ctl/libcarolctl.so"},
    {"darwin", "afl", NULL, "ctl/libcaroldarwin.so"},
    {"honggfuzz", "honggfuzz", NULL, "ctl/libcarolhf.so"},
    {"mopt", "afl", NULL, "ctl/libcarolctl.so"},
    {"lafintel", "afl", NULL, "ctl/libcarolctl.so"},
    {"radamsa", "afl", "radamsa/libradamsa.so", "ctl/libcarolradamsa.so"},
};

/* How an engine is asked for its version, and what stands before it in the answer. */
static const struct question {
    const char *engine, *program, *flag, *mark;
} questions[] = {
    {"afl", "afl/afl-fuzz", "--version", "afl-fuzz++"},
    {"honggfuzz", "honggfuzz/honggfuzz", "--version", "honggfuzz "},
};

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

/* What tools/engines.py wrote when it built them. */
static char *recorded_version(const char *engine)
{
    char *path = where_engine("engines.json"), *version = NULL;
    json_t *facts = json_load_file(path, 0, NULL);
    const char *text =
        json_string_value(json_object_get(json_object_get(facts, engine), "version"));
    if (text)
        version = xstrdup(text);
    json_decref(facts);
    free(path);
    return version;
}

char *tools_engine_version(const char *engine)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const struct question *q = &questions[i];
        if (strcmp(q->engine, engine) != 0)
            continue;
        char *program = where_engine(q->program);
        char *version = fs_exists(program) ? ask(program, q->flag, q->mark) : NULL;
        free(program);
        return version;
    }
    return recorded_version(engine);
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

static bool engine_starts(struct tool_state *s, const char *engine)
{
    const char *program = strcmp(engine, "afl") == 0 ? "afl/afl-fuzz" : "honggfuzz/honggfuzz";
    if (!have(s, where_engine(program), fix_engines))
        return false;
    s->version = tools_engine_version(engine);
    if (s->version)
        return true;
    char *path = where_engine(program);
    missing(s,
            str_fmt("%s does not start (a library it needs is missing, or it is not ours)", path),
            "tools/setup.sh && make engines");
    free(path);
    return false;
}

void tools_check_fuzzer(const char *name, struct tool_state *s)
{
    *s = (struct tool_state){.ok = true};
    const struct parts *p = NULL;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, name) == 0)
            p = &parts[i];
    if (!p) {
        missing(s, str_fmt("there is no fuzzer '%s'", name), "carol doctor");
        return;
    }
    if (!engine_starts(s, p->engine))
        return;
    if (p->library && !have(s, where_engine(p->library), fix_engines))
        return;
    have(s, where_runtime(p->runtime), "make   (in Carol's source tree)");
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
