/* real: puts the real parts behind the campaign's env.  Decides nothing about turns. */
#include "campaign/real.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "eval/executor.h"
#include "fuzzer/dict.h"
#include "fuzzer/selftest.h"
#include "journal/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int stored_options(struct settings *o, struct err *e)
{
    struct store *s;
    int64_t budget = o->budget_ns;
    int rc = store_open(&s, o->out, STORE_READ, e);
    if (rc < 0)
        return rc;
    bool simulated = false;
    rc = journal_is_simulated(s, &simulated, e);
    if (rc == 0 && simulated)
        rc = err_usage(
            e, "%s is a simulated campaign ('carol sim'): there is nothing to go on with", o->out);
    if (rc == 0)
        rc = settings_read(o, s, e);
    if (o->budget_given)
        o->budget_ns = budget;
    store_close(s);
    return rc;
}

/* Who was asked for and has what it needs takes part; a missing one is named with its reason. */
static int choose_roster(struct real *r, struct settings *o, struct err *e)
{
    struct strv want = {0};
    const char *usual = o->paper ? "paper" : "default";
    if (str_starts(o->scheduler, "single:")) /* nobody else would ever run */
        usual = o->scheduler + strlen("single:");
    int rc = o->fuzzers.n ? 0 : fuzzer_roster(usual, &want, e);
    for (size_t i = 0; rc == 0 && i < o->fuzzers.n; i++)
        rc = fuzzer_roster(o->fuzzers.v[i], &want, e);
    strv_free(&o->fuzzers);
    for (size_t i = 0; rc == 0 && i < want.n; i++) {
        struct instance_opts io = {.fuzzer = want.v[i], .target = &r->target, .dir = o->out};
        struct err why = {0};
        if (fuzzer_check(&io, &why) == 0)
            strv_add(&o->fuzzers, want.v[i]);
        else
            log_warn("%s does not take part: %s", want.v[i], why.msg);
    }
    if (rc == 0 && !o->fuzzers.n)
        rc = err_env(e, "none of the fuzzers can run on %s; 'carol doctor' says what is missing",
                     o->build);
    strv_free(&want);
    return rc;
}

static int check_hosts(const struct settings *o, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && o->instances == INSTANCES_FUSED && i < o->fuzzers.n; i++)
        rc = fuzzer_check_host(o->fuzzers.v[i], e);
    return rc;
}

/* Nobody asked for it, so a bad one is no error. */
static void try_dictionary(struct settings *o, const char *path, const char *what)
{
    struct err e = {0};
    if (!path || o->dict)
        return;
    if (dict_check(path, &e) < 0) {
        log_warn("going on without %s: %s", what, e.msg);
        return;
    }
    log_info("the fuzzers get %s, %s", what, path);
    o->dict = xstrdup(path);
}

/* The build's own, or else what it noted. */
static void choose_dictionary(const struct real *r, struct settings *o)
{
    try_dictionary(o, r->target.dict, "the build's own dictionary");
    if (o->words != WORDS_TARGET)
        return;
    try_dictionary(o, r->target.words, "the words of the target as a dictionary");
    if (!o->dict && !r->target.words)
        log_info(
            "there is no dictionary, and the build has no words of the target: it found none, "
            "or was made without clang-19 or by an older Carol ('carol build' makes it again)");
}

static void fill_from_build(struct real *r, struct settings *o)
{
    if (!o->args.n && r->target.args)
        strv_split(&o->args, r->target.args, '\n');
    if (!o->dict)
        choose_dictionary(r, o);
    if (!o->target)
        o->target = xstrdup(r->target.target);
    if (!o->seeds.n && r->target.seeds) {
        strv_add(&o->seeds, r->target.seeds);
        log_info("the seeds are the build's own, %s", r->target.seeds);
    }
}

int real_open(struct real *r, struct settings *o, struct err *e)
{
    *r = (struct real){0};
    int rc = fuzzer_check_path(o->out, e);
    if (rc == 0 && o->resume)
        rc = stored_options(o, e);
    if (rc == 0)
        rc = manifest_load(o->build, o->target, &r->target, e);
    if (rc == 0 && !r->target.table)
        rc = err_usage(
            e,
            "%s has no neutral build, without which nothing can be measured: run carol build "
            "again with the family 'neutral'",
            o->build);
    if (rc == 0)
        rc = table_load(r->target.table, &r->table, e);
    if (rc == 0 && !o->resume)
        rc = choose_roster(r, o, e);
    if (rc == 0)
        rc = check_hosts(o, e);
    if (rc == 0 && !o->resume && o->dict)
        rc = dict_check(o->dict, e);
    if (rc == 0 && !o->resume)
        fill_from_build(r, o);
    if (rc == 0)
        rc = loop_new(&r->loop, e);
    r->o = o;
    return rc;
}

struct real_test {
    struct real *r;
    struct selftest *st;
    void (*done)(void *arg, const char *why);
    void *arg;
    struct real_test *next;
};

void real_close(struct real *r)
{
    while (r->tests) { /* stopped in the middle of them */
        struct real_test *t = r->tests;
        r->tests = t->next;
        selftest_cancel(t->st);
        free(t->arg);
        free(t);
    }
    strv_free(&r->args);
    free(r->out);
    manifest_free(&r->target);
    table_free(&r->table);
    loop_free(r->loop);
}

static int open_instance(void *arg, struct instance **out, const struct instance_opts *o,
                         struct err *e)
{
    struct real *r = arg;
    return fuzzer_open(out, r->loop, o, e);
}

static int open_evaluator(void *arg, struct evaluator **out, int slot, int cpu, struct err *e)
{
    (void)slot;
    struct real *r = arg;
    struct executor_opts x = {.target = &r->target,
                              .args = r->args.n ? (const char *const *)r->args.v : NULL,
                              .mem_bytes = r->mem_bytes,
                              .timeout_ms = r->timeout_ms,
                              .cpu = cpu};
    return executor_new(out, r->loop, &x, e);
}

static void on_selftest(void *arg, const struct selftest_result *res)
{
    struct real_test *t = arg;
    for (struct real_test **p = &t->r->tests; *p; p = &(*p)->next)
        if (*p == t) {
            *p = t->next;
            break;
        }
    t->done(t->arg, res->ok ? NULL : res->why);
    free(t);
}

static int selftest(void *arg, const struct instance_opts *o, const struct input *seeds, size_t n,
                    void (*done)(void *done_arg, const char *why), void *done_arg, struct err *e)
{
    struct real *r = arg;
    struct real_test *t = xcalloc(1, sizeof *t);
    *t = (struct real_test){.r = r, .done = done, .arg = done_arg, .next = r->tests};
    int rc = fs_remove_tree(o->dir, e); /* of a campaign killed in its self-test */
    if (rc == 0)
        rc = selftest_start(&t->st, r->loop, o, seeds, n, on_selftest, t, e);
    if (rc < 0)
        free(t);
    else
        r->tests = t;
    return rc;
}

/* Without an asan build there is nothing to see while it runs, and `carol triage` says so. */
static int open_live(void *arg, struct live **out, struct store *s, struct live_opts *o,
                     struct err *e)
{
    struct real *r = arg;
    char *dir = str_fmt("%s/triage/.run-%d", r->out, (int)getpid());
    o->lab = (struct lab_opts){.target = &r->target,
                               .args = r->args.n ? (const char *const *)r->args.v : NULL,
                               .dir = dir,
                               .timeout_ms = r->timeout_ms,
                               .mem_bytes = r->mem_bytes};
    int rc = live_new(out, r->loop, s, o, e);
    free(dir);
    if (rc == -ENOENT) {
        log_info("%s has no asan build: crashes are not told apart while it runs", r->target.dir);
        rc = 0;
    }
    return rc;
}

struct campaign_env real_env(struct real *r)
{
    for (size_t i = 0; i < r->o->args.n; i++)
        strv_add(&r->args, r->o->args.v[i]);
    r->mem_bytes = r->o->mem_bytes;
    r->out = xstrdup(r->o->out);
    r->timeout_ms = r->o->timeout_ms;
    return (struct campaign_env){.loop = r->loop,
                                 .table = &r->table,
                                 .arg = r,
                                 .open_instance = open_instance,
                                 .open_evaluator = open_evaluator,
                                 .host = fuzzer_host,
                                 .version = fuzzer_version,
                                 .selftest = selftest,
                                 .open_live = open_live};
}
