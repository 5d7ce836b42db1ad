/* fuzzer: the table of the fuzzers and what is asked about them by name.  Runs nothing but an engine's
 * --version. */
#include "fuzzer/fuzzer.h"

#include "base/die.h"
#include "base/str.h"
#include "base/where.h"
#include "fuzzer/arm.h"
#include "fuzzer/live_private.h"

#include <limits.h>
#include <string.h>

#define ARM(name) &arm_##name,
const struct arm *const arm_table[] = {
#include "fuzzer/arms.def"
    NULL};
#undef ARM

const struct arm *arm_find(const char *name)
{
    for (size_t i = 0; name && arm_table[i]; i++)
        if (strcmp(arm_table[i]->name, name) == 0)
            return arm_table[i];
    return NULL;
}

/* Of a fuzzer or of a host. */
static const struct arm *find_any(const char *name)
{
    for (size_t i = 0; arm_table[i]; i++)
        if (arm_table[i]->host && strcmp(arm_table[i]->host->name, name) == 0)
            return arm_table[i]->host;
    return arm_find(name);
}

const char *const *fuzzer_names(void)
{
    static const char *names[sizeof arm_table / sizeof *arm_table];
    for (size_t i = 0; arm_table[i]; i++)
        names[i] = arm_table[i]->name;
    return names;
}

enum family fuzzer_family(const char *name)
{
    const struct arm *a = arm_find(name);
    return a ? a->family : FAMILY_NONE;
}

void fuzzer_families(const char *name, bool on[FAMILY_END])
{
    const struct arm *a = arm_find(name);
    if (a)
        on[a->family] = true;
    if (a && a->also != FAMILY_NONE)
        on[a->also] = true;
}

const char *fuzzer_cycle(const char *name)
{
    const struct arm *a = arm_find(name);
    return a ? a->cycle : NULL;
}

const char *fuzzer_find_mark(const char *name)
{
    const struct arm *a = arm_find(name);
    return a ? a->find_mark : NULL;
}

const char *fuzzer_host(const char *name)
{
    const struct arm *a = arm_find(name);
    return a && a->host ? a->host->name : NULL;
}

/* Can it be built?  The version stays that of the engine. */
static void need_family(enum family f, struct tool_state *s)
{
    struct tool_state built;
    tools_check_family(f, &built);
    if (!built.ok) {
        tool_state_free(s);
        *s = built;
    } else {
        tool_state_free(&built);
    }
}

void fuzzer_diagnose(const char *name, struct tool_state *s)
{
    const struct arm *a = arm_find(name);
    BUG_ON(!a);
    *s = (struct tool_state){.ok = true};
    if (a->engine)
        tools_need_engine(a->engine, s);
    else /* the target is the fuzzer: its version is that of the compiler */
        tools_check_family(a->family, s);
    if (s->ok && a->part)
        tools_need_part(a->part, s);
    if (s->ok && a->library)
        tools_need_runtime(a->library, s);
    if (s->ok && a->also != FAMILY_NONE)
        need_family(a->also, s);
}

char *fuzzer_version(const char *name)
{
    struct tool_state s;
    const struct arm *a = arm_find(name);
    if (!a)
        return NULL;
    fuzzer_diagnose(name, &s);
    const char *slash = a->engine ? strrchr(a->engine->program, '/') : NULL;
    char *version = NULL;
    if (s.version && slash)
        version = str_fmt("%s %s", slash + 1, s.version);
    else if (s.version)
        version = xstrdup(s.version);
    tool_state_free(&s);
    return version;
}

int fuzzer_check_path(const char *dir, struct err *e)
{
    for (const char *s = dir; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return err_usage(e, "the path of the campaign directory contains a control character, "
                                "which the fuzzers' logs and file lists cannot carry: choose "
                                "another directory");
    /* afl-fuzz builds names of up to NAME_MAX below it in buffers of PATH_MAX. */
    if (strlen(dir) > PATH_MAX / 2)
        return err_usage(e,
                         "the path of the campaign directory is longer than %d bytes, too long "
                         "for the fuzzers' own buffers: choose a shorter one",
                         PATH_MAX / 2);
    return 0;
}

static int check_files(const struct arm *a, struct err *e)
{
    int rc = 0;
    if (a->engine)
        rc = live_need_file(where_engine(a->engine->program), a->engine->program, e);
    if (rc == 0 && a->part)
        rc = live_need_file(where_engine(a->part), a->part, e);
    if (rc == 0 && a->library)
        rc = live_need_file(where_runtime(a->library), "the control library", e);
    return rc;
}

static int check_build(const struct arm *a, enum family f, const struct manifest *m, struct err *e)
{
    if (m->family[f].ok && m->family[f].binary)
        return 0;
    return err_env(e,
                   "%s needs the %s build of the target, which %s does not have: run `carol "
                   "build` again with --families %s",
                   a->name, family_name(f), m->dir, family_name(f));
}

int fuzzer_check_host(const char *name, struct err *e)
{
    const struct arm *a = arm_find(name);
    int rc = a && a->host ? check_files(a->host, e) : 0;
    return rc < 0 || !a || !a->host ? rc : a->host->check(NULL, e);
}

int fuzzer_check(const struct instance_opts *o, struct err *e)
{
    const char *name = o->as ? o->as : o->fuzzer;
    const struct arm *a = arm_find(name);
    if (!a)
        return arm_unknown(name, e);
    int rc = check_build(a, a->family, o->target, e);
    if (rc == 0 && a->also != FAMILY_NONE)
        rc = check_build(a, a->also, o->target, e);
    if (rc == 0)
        rc = check_files(a, e);
    return rc < 0 || !a->check ? rc : a->check(o, e);
}

int fuzzer_open(struct instance **out, struct loop *l, const struct instance_opts *o, struct err *e)
{
    const struct arm *a = find_any(o->fuzzer);
    if (!a)
        return arm_unknown(o->fuzzer, e);
    int rc = fuzzer_check_path(o->dir, e);
    return rc < 0 ? rc : live_open(out, l, a, o, e);
}
