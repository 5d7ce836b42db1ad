/* plan: a build request made definite: absolute places, the command, its environment, and the key
 * that changes whenever the outcome might.  Used by target/build.c only. */
#ifndef CAROL_TARGET_PLAN_H
#define CAROL_TARGET_PLAN_H

#include "base/err.h"
#include "base/str.h"
#include "target/build.h"
#include "target/family.h"

struct plan {
    char *dir, *src, *cwd; /* absolute, resolved */
    bool copy;             /* each family gets its own copy of src (script form) */
    bool large;            /* ... and that takes a while */
    struct strv command;   /* argv of the script form; of the short form /bin/sh and a script */
    struct strv named;     /* files named on the command line outside src: part of the key */
    char source_key[65];   /* digest of command, sources and the environment that counts */
};

CAROL_MUST_CHECK int plan_init(struct plan *p, const struct build_opts *o, struct err *e);
void plan_free(struct plan *p);

/* The key of one family: source_key, compiler, flags, and the content of every archive used. */
CAROL_MUST_CHECK int plan_key(const struct plan *p, const struct family_kit *k,
                              const char *compiler, char hex[65], struct err *e);
/* The command and the directory it runs in, for a family whose private directory is tmp. */
void plan_command(const struct plan *p, const char *tmp, struct strv *argv, char **cwd);
/* NAME=value of what in our environment a build depends on. */
void plan_env_counts(struct strv *env);
/* The environment of the script; tmp/{src,work,out} are SRC, WORK and OUT.  With ccache, if it is installed, the user
 * does not switch it off (CCACHE_DISABLE) and the family notes no words. */
void plan_env(const struct plan *p, const struct family_kit *k, const char *compiler,
              const char *tmp, struct strv *env);

#endif
