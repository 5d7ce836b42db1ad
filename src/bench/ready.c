/* ready: stages and builds targets by the same commands that a user would type. */
#include "bench/ready.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/where.h"
#include "bench/rival.h"
#include "target/family.h"
#include "target/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUILD_SECONDS 14400
#define STAGE_SECONDS 1800

/* Runs it; what it printed becomes the message when it fails.  -ENOPKG: it says that something is missing here. */
static int command(const char *const *argv, int seconds, const char *what, struct err *e)
{
    struct buf out = BUF_INIT(BUF_TEXT_MAX);
    int rc = run_capture(argv, NULL, seconds, &out, e);
    if (rc < 0) {
        const char *text = out.p ? out.p : "";
        size_t n = strlen(text), from = n > 700 ? n - 700 : 0;
        bool missing = rc == -ENOPKG;
        rc = err_env(e, "%s failed:\n%s", what, text + from);
        rc = missing ? -ENOPKG : rc;
    }
    buf_free(&out);
    return rc;
}

static char *family_words(const bool on[FAMILY_END])
{
    struct buf b = BUF_INIT(4096);
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        if (on[f])
            buf_printf(&b, "%s%s", b.len ? "," : "", family_name((enum family)f));
    return buf_take(&b);
}

/* The first family that it lacks; FAMILY_NONE: it has all. */
static enum family lacks(const struct manifest *m, const bool on[FAMILY_END])
{
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        if (on[f] && !m->family[f].ok)
            return (enum family)f;
    return FAMILY_NONE;
}

/* Is it built in these families, from the sources that the suite has now? */
static bool is_ready(const struct bench_target *t, const bool on[FAMILY_END])
{
    struct manifest m = {0};
    struct err e = {0};
    char *list = fs_join(t->source, "bugs.csv");
    struct bug *bugs = NULL;
    size_t n = 0;
    bool same = bugs_load(list, false, &bugs, &n, &e) == 0 && n == t->n_bugs &&
                (n == 0 || memcmp(bugs, t->bugs, n * sizeof *bugs) == 0);
    bool yes = same && fs_is_dir(t->seeds) && manifest_load(t->build, NULL, &m, &e) == 0 &&
               lacks(&m, on) == FAMILY_NONE;
    manifest_free(&m);
    free(bugs);
    free(list);
    return yes;
}

/* 1: its source cannot be had here. */
static int lay_out(const struct suite *s, const struct bench_target *t, struct err *e)
{
    char *what = str_fmt("the sources of %s", t->name);
    const char *argv[] = {t->stage, t->name, t->source, NULL};
    int rc = fs_mkdirs(s->builds, e);
    rc = rc < 0 ? rc : command(argv, STAGE_SECONDS, what, e);
    free(what);
    return rc == -ENOPKG ? 1 : rc;
}

static int build(const struct bench_target *t, const bool on[FAMILY_END], struct err *e)
{
    char *self = where_self(), *families = family_words(on),
         *script = fs_join(t->source, "build.sh"), *what = str_fmt("the build of %s", t->name);
    const char *argv[] = {self,    "build",   "-o", t->build, "--families", families,
                          "--src", t->source, "--", script,   NULL};
    log_info("%s: building %s", t->name, families);
    int rc = command(argv, BUILD_SECONDS, what, e);
    free(self);
    free(families);
    free(script);
    free(what);
    return rc;
}

static int check(const struct bench_target *t, const bool on[FAMILY_END], struct manifest *m,
                 struct err *e)
{
    int rc = manifest_load(t->build, NULL, m, e);
    enum family f = rc == 0 ? lacks(m, on) : FAMILY_NONE;
    if (f != FAMILY_NONE)
        rc = err_usage(e,
                       "the build %s of the target %s has no family %s, which a contender needs: "
                       "build it with --families",
                       t->build, t->name, family_name(f));
    return rc;
}

static int check_rivals(const struct suite *s, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < s->n_contenders; i++) {
        const struct rival *r = s->contenders[i].rival;
        char *program = r && r->engine ? where_engine(r->engine) : NULL;
        if (program && access(program, X_OK) < 0)
            rc =
                err_env(e, "the rival %s needs %s, which is missing: run `make` in the source tree",
                        r->name, program);
        free(program);
    }
    return rc;
}

/* 1: its source cannot be had here. */
static int ready_target(const struct suite *s, const struct bench_target *t,
                        const bool on[FAMILY_END], struct manifest *m, struct err *e)
{
    if (t->stage && !is_ready(t, on)) {
        int rc = lay_out(s, t, e);
        rc = rc ? rc : build(t, on, e);
        if (rc)
            return rc;
    }
    return check(t, on, m, e);
}

int ready_targets(const struct suite *s, const bool *wanted, struct manifest **targets,
                  bool *absent, struct err *e)
{
    bool on[FAMILY_END];
    size_t there = 0;
    int rc = check_rivals(s, e);
    suite_families(s, on);
    *targets = xcalloc(s->n_targets + 1, sizeof **targets);
    for (size_t i = 0; rc >= 0 && i < s->n_targets; i++) {
        if (!wanted[i]) {
            there++;
            continue;
        }
        rc = ready_target(s, &s->targets[i], on, &(*targets)[i], e);
        absent[i] = rc == 1;
        there += rc == 0;
        if (absent[i])
            log_warn("%s is left out: %s", s->targets[i].name, e->msg);
    }
    rc = rc >= 0 && !there ? -ENOPKG : rc < 0 ? rc : 0; /* e tells of the last one */
    if (rc < 0) {
        ready_free(*targets, s->n_targets);
        *targets = NULL;
    }
    return rc;
}

void ready_free(struct manifest *targets, size_t n)
{
    for (size_t i = 0; targets && i < n; i++)
        manifest_free(&targets[i]);
    free(targets);
}
