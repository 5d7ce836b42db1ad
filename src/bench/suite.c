/* suite: reads a suite and checks every name in it.  Builds and runs nothing. */
#include "bench/suite.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "bench/ini.h"
#include "fuzzer/fuzzer.h"
#include "journal/fold.h"
#include "journal/settings.h"
#include "sched/sched.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const role_names[] = {"none",     "ours",   "ablation", "reward",
                                         "baseline", "single", "rival"};

const char *role_name(enum role r)
{
    return role_names[r < ROLE_END ? r : ROLE_NONE];
}

enum role role_of(const char *name)
{
    for (int r = ROLE_OURS; r < ROLE_END; r++)
        if (strcmp(name, role_names[r]) == 0)
            return (enum role)r;
    return ROLE_NONE;
}

/* An absolute path; a relative one is meant from the suite's directory. */
static char *path_from(const struct suite *s, const char *path)
{
    const char *slash = strrchr(s->path, '/');
    return path[0] == '/' ? xstrdup(path)
                          : str_fmt("%.*s/%s", (int)(slash - s->path), s->path, path);
}

/* --- targets ------------------------------------------------------------------------------------- */

static int own_target(struct suite *s, const struct ini *ini, const struct ini_section *x,
                      struct bench_target *t, struct err *e)
{
    static const char *const keys[] = {"build", "seeds", "dict", "bugs", "oracle", NULL};
    const char *build = ini_get(x, "build"), *seeds = ini_get(x, "seeds"),
               *dict = ini_get(x, "dict"), *bugs = ini_get(x, "bugs"),
               *oracle = ini_get(x, "oracle");
    int rc = ini_only(ini, x, keys, e);
    if (rc < 0)
        return rc;
    if (!build || !seeds || !bugs)
        return err_usage(e, "%s:%d: [%s] needs build, seeds and bugs", ini->path, x->line, x->name);
    if (oracle && !(t->oracle = oracle_of(oracle)))
        return err_usage(e, "%s:%d: an oracle is carol or magma, not '%s'", ini->path, x->line,
                         oracle);
    t->build = path_from(s, build);
    t->seeds = path_from(s, seeds);
    t->dict = dict ? path_from(s, dict) : NULL;
    char *list = path_from(s, bugs);
    if (!fs_is_dir(t->build))
        rc = err_usage(e, "%s:%d: there is no build %s", ini->path, x->line, t->build);
    else if (!fs_is_dir(t->seeds) || (t->dict && !fs_exists(t->dict)))
        rc = err_usage(e, "%s:%d: there is no %s", ini->path, x->line,
                       fs_is_dir(t->seeds) ? t->dict : t->seeds);
    else
        rc = bugs_load(list, t->oracle == ORACLE_MAGMA, &t->bugs, &t->n_bugs, e);
    free(list);
    return rc;
}

/* A directory beside the suite, with stage.sh beside both. */
static int suite_target(struct suite *s, struct bench_target *t, struct err *e)
{
    char *file = str_fmt("%s/bugs.csv", t->name), *bugs = path_from(s, file);
    t->stage = path_from(s, "stage.sh");
    t->source = str_fmt("%s/%s-src", s->builds, t->name);
    t->build = str_fmt("%s/%s", s->builds, t->name);
    t->seeds = fs_join(t->source, "seeds");
    int rc = strchr(t->name, '/') || !fs_exists(bugs) || !fs_exists(t->stage)
                 ? err_usage(e,
                             "there is no target '%s': neither a directory of that name with "
                             "bugs.csv beside %s, nor a section [target %s] in it",
                             t->name, s->path, t->name)
                 : bugs_load(bugs, false, &t->bugs, &t->n_bugs, e);
    free(file);
    free(bugs);
    return rc;
}

static int add_targets(struct suite *s, const struct ini *ini, const char *list, struct err *e)
{
    struct strv names = {0};
    strv_split(&names, list, ' ');
    s->targets = xrealloc(s->targets, (s->n_targets + names.n + 1) * sizeof *s->targets);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        struct bench_target *t = &s->targets[s->n_targets++];
        *t = (struct bench_target){.name = xstrdup(names.v[i]), .oracle = ORACLE_CAROL};
        for (size_t k = 0; rc == 0 && k + 1 < s->n_targets; k++)
            if (strcmp(s->targets[k].name, t->name) == 0)
                rc = err_usage(e, "%s names the target %s twice", s->path, t->name);
        char *section = str_fmt("target %s", t->name);
        const struct ini_section *x = ini_section(ini, section);
        if (rc == 0)
            rc = x ? own_target(s, ini, x, t, e) : suite_target(s, t, e);
        free(section);
    }
    strv_free(&names);
    return rc;
}

/* --- contenders ---------------------------------------------------------------------------------- */

static enum role usual_role(const char *scheduler)
{
    static const char *const others[] = {"bandfuzz", "autofz", "legion", "equal", "random"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(scheduler, others[i]) == 0)
            return ROLE_BASELINE;
    return str_starts(scheduler, "single:") ? ROLE_SINGLE : ROLE_OURS;
}

/* What the suite decides itself, the same for everybody. */
static bool reserved(const char *flag)
{
    static const char *const own[] = {"build",    "target", "seeds",   "out",    "resume",
                                      "jobs",     "seed",   "dict",    "memory", "timeout",
                                      "duration", "quiet",  "engines", NULL};
    for (size_t i = 0; own[i]; i++)
        if (strcmp(flag, own[i]) == 0)
            return true;
    return false;
}

static const struct setting *option_named(const char *name)
{
    for (size_t i = 0; i < settings_count; i++)
        if (settings_table[i].flag && strcmp(settings_table[i].flag, name) == 0)
            return reserved(name) ? NULL : &settings_table[i];
    return NULL;
}

/* key = value as words of `carol fuzz`; an option that may be repeated takes several. */
static int add_option(const struct ini *ini, const struct ini_pair *p, struct contender *c,
                      struct err *e)
{
    const struct setting *o = option_named(p->key);
    struct strv values = {0};
    if (!o)
        return err_usage(e, "%s:%d: a contender has no '%s'", ini->path, p->line, p->key);
    if (!o->arg && strcmp(p->value, "yes") != 0 && strcmp(p->value, "no") != 0)
        return err_usage(e, "%s:%d: '%s' is yes or no", ini->path, p->line, p->key);
    if (!o->arg && strcmp(p->value, "yes") == 0)
        strv_addf(&c->options, "--%s", p->key);
    if (o->arg)
        strv_split(&values, p->value, o->kind == SET_PARAMS ? ' ' : '\n');
    for (size_t i = 0; i < values.n; i++) {
        strv_addf(&c->options, "--%s", p->key);
        strv_add(&c->options, values.v[i]);
    }
    strv_free(&values);
    return 0;
}

/* Its fuzzers, as `carol fuzz` will choose them. */
static const char *roster_of(const struct contender *c)
{
    return c->fuzzers ? c->fuzzers : strv_has(&c->options, "--paper") ? "paper" : "default";
}

/* The options together, as `carol fuzz` will take them. */
static int check_options(const struct suite *s, const struct contender *c, struct err *e)
{
    struct settings o = {0};
    struct sched *sched = NULL;
    int rc = settings_defaults(&o, e);
    for (size_t i = 0; rc == 0 && i < c->options.n; i++) {
        const struct setting *st = option_named(c->options.v[i] + 2);
        rc = settings_set(&o, st, st->arg ? c->options.v[++i] : NULL, e);
    }
    if (rc == 0 && !o.fuzzers.n)
        rc = fuzzer_roster(roster_of(c), &o.fuzzers, e);
    if (rc == 0)
        rc = fold_sched(&(struct fold_settings){.fuzzers = &o.fuzzers,
                                                .scheduler = o.scheduler,
                                                .params = o.params,
                                                .workers = s->cores,
                                                .turn_ns = s->turn_ns},
                        &sched, e);
    sched_free(sched);
    settings_free(&o);
    return rc < 0 ? err_wrap(e, "contender %s", c->name) : 0;
}

static int take_rival(const struct ini *ini, const struct ini_section *x, struct contender *c,
                      struct err *e)
{
    static const char *const keys[] = {"rival", "role", NULL};
    const char *name = ini_get(x, "rival");
    int rc = ini_only(ini, x, keys, e);
    if (rc < 0)
        return rc;
    c->rival = rival_find(name);
    c->role = ROLE_RIVAL;
    if (c->rival)
        return 0;
    char *list = rival_list();
    rc =
        err_usage(e, "%s:%d: there is no rival '%s'; there are %s", ini->path, x->line, name, list);
    free(list);
    return rc;
}

static int take_scheduler(struct suite *s, const struct ini *ini, const struct ini_section *x,
                          struct contender *c, struct err *e)
{
    const char *scheduler = ini_get(x, "scheduler"), *fuzzers = ini_get(x, "fuzzers");
    int rc = 0;
    if (!scheduler)
        return err_usage(e, "%s:%d: [%s] needs a scheduler or a rival", ini->path, x->line,
                         x->name);
    c->role = usual_role(scheduler);
    if (fuzzers || c->role == ROLE_SINGLE)
        c->fuzzers = xstrdup(fuzzers ? fuzzers : scheduler + strlen("single:"));
    if (c->role == ROLE_SINGLE && !fuzzers) {
        strv_add(&c->options, "--fuzzers");
        strv_add(&c->options, c->fuzzers);
    }
    for (size_t i = 0; rc == 0 && i < x->n; i++)
        if (strcmp(x->pairs[i].key, "role") != 0)
            rc = add_option(ini, &x->pairs[i], c, e);
    return rc < 0 ? rc : check_options(s, c, e);
}

static int add_contender(struct suite *s, const struct ini *ini, const char *name, struct err *e)
{
    char *section = str_fmt("contender %s", name);
    const struct ini_section *x = ini_section(ini, section);
    struct contender *c = &s->contenders[s->n_contenders++];
    free(section);
    *c = (struct contender){.name = xstrdup(name)};
    if (!x)
        return err_usage(e, "%s: there is no section [contender %s]", s->path, name);
    for (size_t k = 0; k + 1 < s->n_contenders; k++)
        if (strcmp(s->contenders[k].name, name) == 0)
            return err_usage(e, "%s names the contender %s twice", s->path, name);
    int rc = ini_get(x, "rival") ? take_rival(ini, x, c, e) : take_scheduler(s, ini, x, c, e);
    const char *role = ini_get(x, "role");
    if (rc == 0 && role && !(c->role = role_of(role)))
        rc = err_usage(e, "%s:%d: a role is ours, ablation, reward, baseline, single or rival",
                       ini->path, x->line);
    return rc;
}

static int add_contenders(struct suite *s, const struct ini *ini, const char *list, struct err *e)
{
    struct strv names = {0};
    int rc = 0;
    strv_split(&names, list, ' ');
    s->contenders = xcalloc(names.n + 1, sizeof *s->contenders);
    for (size_t i = 0; rc == 0 && i < names.n; i++)
        rc = add_contender(s, ini, names.v[i], e);
    strv_free(&names);
    return rc;
}

/* --- the whole ----------------------------------------------------------------------------------- */

static int number(const struct ini *ini, const struct ini_section *x, const char *key, uint64_t lo,
                  uint64_t hi, uint64_t preset, uint64_t *out, struct err *e)
{
    const char *text = ini_get(x, key);
    *out = preset;
    int rc = text ? str_to_u64(text, key, lo, hi, out, e) : 0;
    return rc < 0 ? err_wrap(e, "%s", ini->path) : 0;
}

static int take_numbers(struct suite *s, const struct ini *ini, const struct ini_section *x,
                        struct err *e)
{
    uint64_t trials, cores, parallel, cpu, turn, timeout;
    int rc = number(ini, x, "trials", 1, 1000, 10, &trials, e);
    rc = rc < 0 ? rc : number(ini, x, "cores", 1, 64, 1, &cores, e);
    rc = rc < 0 ? rc : number(ini, x, "parallel", 1, 256, 0, &parallel, e);
    rc = rc < 0 ? rc : number(ini, x, "cpu", 1, 10000000, 300, &cpu, e);
    rc = rc < 0 ? rc : number(ini, x, "turn", 1, 86400, 2, &turn, e);
    rc = rc < 0 ? rc : number(ini, x, "timeout_ms", 1, 3600000, 1000, &timeout, e);
    rc = rc < 0 ? rc : number(ini, x, "memory_mb", 16, 1 << 20, 2048, &s->memory_mb, e);
    rc = rc < 0 ? rc : number(ini, x, "seed", 0, INT64_MAX / 2, 1, &s->seed, e);
    const char *ratio = ini_get(x, "least_ratio");
    s->least_ratio = 0.5;
    if (rc == 0 && ratio)
        rc = str_to_double(ratio, "least_ratio", 0, 1, &s->least_ratio, e);
    if (rc < 0)
        return rc;
    s->trials = (int)trials;
    s->cores = (int)cores;
    s->parallel = (int)parallel;
    s->cpu_ns = (int64_t)cpu * 1000000000;
    s->turn_ns = (int64_t)turn * 1000000000;
    s->timeout_ms = (uint32_t)timeout;
    return 0;
}

static int take(struct suite *s, const struct ini *ini, const char *out, bool holdout,
                struct err *e)
{
    static const char *const keys[] = {
        "targets",    "holdout",   "contenders", "trials",      "cpu", "cores",  "parallel", "turn",
        "timeout_ms", "memory_mb", "seed",       "least_ratio", "out", "builds", NULL};
    const struct ini_section *x = ini_section(ini, "suite");
    const char *targets = ini_get(x, "targets"), *more = ini_get(x, "holdout"),
               *contenders = ini_get(x, "contenders"), *builds = ini_get(x, "builds");
    if (!targets || !contenders)
        return err_usage(e, "%s: a suite needs a section [suite] with targets and contenders",
                         ini->path);
    int rc = ini_only(ini, x, keys, e);
    rc = rc < 0 ? rc : take_numbers(s, ini, x, e);
    if (rc < 0)
        return rc;
    if (!out && !ini_get(x, "out"))
        return err_usage(e, "where shall the results go? Give -o DIR, or out = DIR in %s",
                         ini->path);
    s->out = out ? xstrdup(out) : path_from(s, ini_get(x, "out"));
    s->builds = builds ? path_from(s, builds) : fs_join(s->out, "targets");
    rc = add_targets(s, ini, targets, e);
    if (rc == 0 && holdout)
        rc = more ? add_targets(s, ini, more, e)
                  : err_usage(e, "%s has no hold-out targets", ini->path);
    return rc < 0 ? rc : add_contenders(s, ini, contenders, e);
}

static char *absolute(const char *path)
{
    char cwd[PATH_MAX];
    return path[0] == '/' || !getcwd(cwd, sizeof cwd) ? xstrdup(path) : fs_join(cwd, path);
}

int suite_load(struct suite *s, const char *path, const char *out, bool holdout, struct err *e)
{
    struct ini ini;
    *s = (struct suite){.path = absolute(path)};
    char *to = out ? absolute(out) : NULL;
    int rc = ini_load(&ini, path, e);
    rc = rc < 0 ? rc : take(s, &ini, to, holdout, e);
    ini_free(&ini);
    free(to);
    if (rc < 0)
        suite_free(s);
    return rc;
}

static void target_free(struct bench_target *t)
{
    char *own[] = {t->name, t->stage, t->source, t->build, t->seeds, t->dict};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        free(own[k]);
    free(t->bugs);
}

static void contender_free(struct contender *c)
{
    free(c->name);
    free(c->fuzzers);
    strv_free(&c->options);
}

/* Every one of these is a name in the suite. */
static int check_names(const struct suite *s, const char *what, const struct strv *only,
                       const struct strv *there, struct err *e)
{
    int rc = only->n ? 0 : err_usage(e, "which %ss?", what);
    for (size_t i = 0; rc == 0 && i < only->n; i++)
        if (!strv_has(there, only->v[i])) {
            char *all = strv_join(there, ", ");
            rc = err_usage(e, "%s has no %s '%s': it has %s", s->path, what, only->v[i], all);
            free(all);
        }
    return rc;
}

static int only_targets(struct suite *s, const char *list, struct err *e)
{
    struct strv only = {0}, there = {0};
    strv_split(&only, list, ',');
    for (size_t i = 0; i < s->n_targets; i++)
        strv_add(&there, s->targets[i].name);
    int rc = check_names(s, "target", &only, &there, e);
    size_t kept = 0;
    for (size_t i = 0; rc == 0 && i < s->n_targets; i++)
        if (strv_has(&only, s->targets[i].name))
            s->targets[kept++] = s->targets[i];
        else
            target_free(&s->targets[i]);
    s->n_targets = rc == 0 ? kept : s->n_targets;
    strv_free(&only);
    strv_free(&there);
    return rc;
}

static int only_contenders(struct suite *s, const char *list, struct err *e)
{
    struct strv only = {0}, there = {0};
    strv_split(&only, list, ',');
    for (size_t i = 0; i < s->n_contenders; i++)
        strv_add(&there, s->contenders[i].name);
    int rc = check_names(s, "contender", &only, &there, e);
    size_t kept = 0;
    for (size_t i = 0; rc == 0 && i < s->n_contenders; i++)
        if (strv_has(&only, s->contenders[i].name))
            s->contenders[kept++] = s->contenders[i];
        else
            contender_free(&s->contenders[i]);
    s->n_contenders = rc == 0 ? kept : s->n_contenders;
    strv_free(&only);
    strv_free(&there);
    return rc;
}

int suite_only(struct suite *s, const char *targets, const char *contenders, struct err *e)
{
    int rc = targets ? only_targets(s, targets, e) : 0;
    return rc == 0 && contenders ? only_contenders(s, contenders, e) : rc;
}

void suite_free(struct suite *s)
{
    for (size_t i = 0; i < s->n_targets; i++)
        target_free(&s->targets[i]);
    for (size_t i = 0; i < s->n_contenders; i++)
        contender_free(&s->contenders[i]);
    free(s->targets);
    free(s->contenders);
    free(s->path);
    free(s->out);
    free(s->builds);
    *s = (struct suite){0};
}

void suite_families(const struct suite *s, bool on[FAMILY_END])
{
    for (int f = 0; f < FAMILY_END; f++)
        on[f] = f == FAMILY_NEUTRAL;
    for (size_t i = 0; i < s->n_contenders; i++) {
        const struct contender *c = &s->contenders[i];
        struct strv names = {0};
        struct err e = {0};
        if (c->rival) {
            on[c->rival->family] = true;
            on[c->rival->more] = c->rival->more != FAMILY_NONE;
        } else if (fuzzer_roster(roster_of(c), &names, &e) == 0) {
            for (size_t k = 0; k < names.n; k++)
                fuzzer_families(names.v[k], on);
        }
        strv_free(&names);
    }
}

char *suite_definition(const struct suite *s, const struct contender *c)
{
    struct buf b = BUF_INIT(1 << 16);
    buf_printf(&b, "%s", c->rival ? c->rival->name : "carol fuzz");
    for (size_t i = 0; i < c->options.n; i++)
        buf_printf(&b, " %s", c->options.v[i]);
    buf_printf(&b, "; %.9g CPU s on %d core%s", (double)s->cpu_ns / 1e9, s->cores,
               s->cores == 1 ? "" : "s");
    if (!c->rival)
        buf_printf(&b, ", turns of %.9g s", (double)s->turn_ns / 1e9);
    buf_printf(&b, ", %u ms and %llu MB per input, seed %llu", s->timeout_ms,
               (unsigned long long)s->memory_mb, (unsigned long long)s->seed);
    return buf_take(&b);
}
