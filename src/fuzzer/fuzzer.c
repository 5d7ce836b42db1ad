/* fuzzer: the table of the fuzzers and what is asked about them by name.  Runs nothing. */
#include "fuzzer/fuzzer.h"

#include "fuzzer/arm.h"
#include "fuzzer/live_private.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Roster order. */
static const struct arm *const arms[] = {&arm_aflpp, &arm_darwin,   &arm_honggfuzz,
                                         &arm_mopt,  &arm_lafintel, &arm_radamsa};
#define N_ARMS (sizeof arms / sizeof arms[0])

static const struct arm *find_arm(const char *name)
{
    for (size_t i = 0; name && i < N_ARMS; i++)
        if (strcmp(arms[i]->name, name) == 0)
            return arms[i];
    return NULL;
}

const char *const *fuzzer_names(void)
{
    static const char *names[N_ARMS + 1];
    for (size_t i = 0; i < N_ARMS; i++)
        names[i] = arms[i]->name;
    return names;
}

enum family fuzzer_family(const char *name)
{
    const struct arm *a = find_arm(name);
    return a ? a->family : FAMILY_NONE;
}

const char *fuzzer_cycle(const char *name)
{
    const struct arm *a = find_arm(name);
    return a ? a->cycle : NULL;
}

static int unknown(const char *name, struct err *e)
{
    return err_usage(e, "there is no fuzzer called \"%s\"; `carol doctor` lists the six", name);
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

int fuzzer_check(const struct instance_opts *o, struct err *e)
{
    const struct arm *a = find_arm(o->fuzzer);
    if (!a)
        return unknown(o->fuzzer, e);
    const struct manifest_family *f = &o->target->family[a->family];
    if (!f->ok || !f->binary)
        return err_env(e,
                       "%s needs the %s build of the target, which %s does not have: run `carol "
                       "build` again with --families %s",
                       a->name, family_name(a->family), o->target->dir, family_name(a->family));
    return a->check(o, e);
}

int fuzzer_open(struct instance **out, struct loop *l, const struct instance_opts *o, struct err *e)
{
    const struct arm *a = find_arm(o->fuzzer);
    if (!a)
        return unknown(o->fuzzer, e);
    int rc = fuzzer_check_path(o->dir, e);
    return rc < 0 ? rc : live_open(out, l, a, o, e);
}
