/* coverage: runs every input, finds the steps, asks llvm-cov about each.  Writes no report. */
#include "coverage/coverage.h"

#include "base/die.h"
#include "base/fs.h"
#include "coverage/first.h"
#include "coverage/rawprofile.h"
#include "coverage/runner.h"
#include "coverage/steps.h"
#include "proc/cpus.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORK ".work-"
#define TRACE_MAX ((size_t)1 << 32)

/* --- what is needed ------------------------------------------------------------------------------ */

static int no_source(const struct manifest *m, struct err *e)
{
    char *command = manifest_add_command(m, FAMILY_SOURCE);
    int rc = err_usage(e,
                       "%s has no build with source coverage, which is made only when asked for; "
                       "add it with\n    %s",
                       m->dir, command);
    free(command);
    return rc;
}

static int open_campaign(struct coverage *c, struct err *e)
{
    int rc = journal_open(&c->j, c->o.out, JOURNAL_RECORD, e);
    if (rc == 0 && c->j.simulated)
        rc = err_usage(e, "%s is a simulated campaign ('carol sim'): it has no inputs", c->o.out);
    if (rc == 0)
        rc = manifest_load(c->o.build ? c->o.build : c->j.o.build, c->j.o.target, &c->target, e);
    if (rc == 0 && !c->target.family[FAMILY_SOURCE].ok)
        rc = no_source(&c->target, e);
    return rc < 0 ? rc : found_load(&c->found, &c->j, e);
}

/* Of runs that were killed. */
static int remove_stale(const char *dir, struct err *e)
{
    struct strv names = {0};
    int rc = fs_list(dir, &names, e);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        pid_t pid =
            str_starts(names.v[i], WORK) ? (pid_t)strtol(names.v[i] + strlen(WORK), NULL, 10) : 0;
        bool alive = pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH); /* or another user's */
        if (pid <= 0 || (alive && pid != getpid()))
            continue;
        char *path = fs_join(dir, names.v[i]);
        rc = fs_remove_tree(path, e);
        free(path);
    }
    strv_free(&names);
    return rc;
}

static int open_work(struct coverage *c, struct err *e)
{
    int rc = fs_mkdirs(c->o.dir, e);
    if (rc == 0)
        rc = remove_stale(c->o.dir, e);
    char *dir = rc == 0 ? realpath(c->o.dir, NULL) : NULL;
    if (rc == 0 && !dir)
        rc = err_sys(e, "cannot use %s", c->o.dir);
    if (rc == 0) {
        c->work = str_fmt("%s/" WORK "%d", dir, (int)getpid());
        rc = fs_mkdirs(c->work, e);
    }
    free(dir);
    if (rc < 0)
        e->exit = ERR_EXIT_USAGE;
    return rc < 0 ? rc : clangtools_find(&c->tools, c->work, e);
}

/* --- running every input ------------------------------------------------------------------------- */

struct pass {
    struct coverage *c;
    struct steps steps;
    struct buf sample; /* the first profile: the frame in which sums are written */
};

static char *step_path(const struct coverage *c, size_t step)
{
    return str_fmt("%s/step-%zu.profraw", c->work, step);
}

static void tell(const struct coverage *c, const char *doing, size_t done, size_t of)
{
    if (c->o.progress)
        c->o.progress(c->o.arg, doing, done, of);
}

static int read_input(void *arg, size_t i, struct buf *bytes, struct err *e)
{
    struct pass *p = arg;
    return found_read(&p->c->found, i, bytes, e);
}

static int keep_step(struct coverage *c, size_t input, enum run_status status,
                     const struct buf *raw, struct err *e)
{
    struct buf bytes = BUF_INIT(SIZE_MAX / 2);
    char *path = step_path(c, c->n_steps);
    int rc = fs_write_quick(path, raw->p, raw->len, e);
    if (rc == 0)
        rc = found_read(&c->found, input, &bytes, e);
    if (rc == 0) {
        XGROW(c->steps, c->n_steps, c->cap_steps);
        c->steps[c->n_steps] = (struct coverage_step){.input = input, .status = status};
        hash_sha1_hex(bytes.p ? bytes.p : "", bytes.len, c->steps[c->n_steps++].sha1);
    }
    buf_free(&bytes);
    free(path);
    return rc;
}

static int take_profile(void *arg, size_t i, enum run_status status, struct buf *raw, struct err *e)
{
    struct pass *p = arg;
    struct coverage *c = p->c;
    struct rawprofile profile;
    struct err bad = {0};
    c->ended[status]++;
    tell(c, "inputs run on the source build", i + 1, c->found.n);
    int rc = rawprofile_parse(&profile, raw->p, raw->len, &bad);
    if (rc < 0 && bad.exit == ERR_EXIT_ENV) {
        *e = bad;
        return rc;
    }
    if (rc < 0) {
        c->without_profile++;
        return 0;
    }
    if (!p->sample.len)
        buf_add(&p->sample, raw->p, raw->len);
    rc = steps_add(&p->steps, &profile, e);
    rawprofile_free(&profile);
    return rc > 0 ? keep_step(c, i, status, raw, e) : rc;
}

static int run_all(struct pass *p, struct err *e)
{
    struct coverage *c = p->c;
    const struct settings *o = &c->j.o;
    int rc = steps_open(&p->steps, c->target.family[FAMILY_SOURCE].binary, e);
    struct runner_opts r = {.target = &c->target,
                            .args = o->args.n ? (const char *const *)o->args.v : NULL,
                            .work = c->work,
                            .mem_bytes = o->mem_bytes,
                            .timeout_ms = o->timeout_ms,
                            .lanes = c->o.jobs,
                            .n = c->found.n,
                            .read = read_input,
                            .done = take_profile,
                            .arg = p};
    if (rc == 0)
        rc = runner_run(&r, e);
    if (rc == 0 && !p->sample.len)
        rc = err_usage(e, "no input left a profile: %s may end before it begins to count",
                       c->target.family[FAMILY_SOURCE].binary);
    return rc;
}

/* --- asking llvm-cov ----------------------------------------------------------------------------- */

static int look_at_all(struct coverage *c, struct pass *p, struct err *e)
{
    struct rawprofile frame;
    struct buf text = BUF_INIT(TRACE_MAX);
    char *raw = fs_join(c->work, COVERAGE_ALL), *kept = fs_join(c->work, "lcov.info");
    int rc = rawprofile_parse(&frame, p->sample.p, p->sample.len, e);
    if (rc == 0) {
        memcpy(frame.counters, p->steps.total, frame.n_counters * sizeof *frame.counters);
        rawprofile_free(&frame);
        rc = fs_write_quick(raw, p->sample.p, p->sample.len, e);
    }
    if (rc == 0)
        rc = clangtools_lcov(&c->tools, c->target.family[FAMILY_SOURCE].binary, &raw, 1, &text, e);
    if (rc == 0)
        rc = fs_write_quick(kept, text.p ? text.p : "", text.len, e);
    if (rc == 0)
        rc = lcov_parse(&c->lines, text.p ? text.p : (char[]){""}, e);
    buf_free(&text);
    free(raw);
    free(kept);
    return rc;
}

static int claim(struct coverage *c, size_t step, char *text, struct err *e)
{
    struct lcov l;
    int rc = lcov_parse(&l, text ? text : (char[]){""}, e);
    if (rc < 0)
        return rc;
    c->steps[step].lines = first_claim(&c->lines, &l, (int32_t)step);
    lcov_free(&l);
    return 0;
}

/* Several are asked side by side, and claim their lines in order. */
static int look_at_steps(struct coverage *c, size_t from, size_t n, struct err *e)
{
    char *raws[CLANGTOOLS_MOST] = {0};
    struct buf texts[CLANGTOOLS_MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        raws[i] = step_path(c, from + i);
        texts[i] = (struct buf)BUF_INIT(TRACE_MAX);
    }
    int rc = clangtools_lcov(&c->tools, c->target.family[FAMILY_SOURCE].binary, raws, n, texts, e);
    for (size_t i = 0; i < n; i++) {
        if (rc == 0)
            rc = claim(c, from + i, texts[i].p, e);
        buf_free(&texts[i]);
        free(raws[i]);
    }
    return rc;
}

static int look_at_all_steps(struct coverage *c, struct err *e)
{
    size_t together = c->o.jobs < CLANGTOOLS_MOST ? c->o.jobs : CLANGTOOLS_MOST;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < c->n_steps; i += together) {
        size_t n = c->n_steps - i < together ? c->n_steps - i : together;
        rc = look_at_steps(c, i, n, e);
        tell(c, "inputs with something new asked line by line", i + n, c->n_steps);
    }
    return rc;
}

int coverage_run(struct coverage *c, const struct coverage_opts *o, struct err *e)
{
    struct pass p = {.c = c, .sample = BUF_INIT(SIZE_MAX / 2)};
    *c = (struct coverage){.o = *o};
    if (!c->o.jobs)
        c->o.jobs = (unsigned)cpus_count();
    int rc = open_campaign(c, e);
    if (rc == 0)
        rc = open_work(c, e);
    if (rc == 0)
        rc = run_all(&p, e);
    if (rc == 0)
        rc = look_at_all(c, &p, e);
    if (rc == 0)
        rc = look_at_all_steps(c, e);
    if (rc == 0)
        first_count(c);
    steps_free(&p.steps);
    buf_free(&p.sample);
    return rc;
}

void coverage_free(struct coverage *c)
{
    struct err ignored = {0};
    int left = c->work ? fs_remove_tree(c->work, &ignored) : 0;
    (void)left; /* the next run removes it */
    free(c->work);
    free(c->steps);
    free(c->finders);
    lcov_free(&c->lines);
    clangtools_free(&c->tools);
    found_free(&c->found);
    manifest_free(&c->target);
    journal_close(&c->j);
    *c = (struct coverage){0};
}
