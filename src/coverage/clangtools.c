/* clangtools: finds and runs llvm-profdata and llvm-cov.  Does not read what they say. */
#include "coverage/clangtools.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "proc/cage.h"
#include "target/run.h"
#include "target/tools.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* NAME-19 in $PATH, NAME beside the compiler, else NAME. */
static char *find(const char *name, const char *clang, int major)
{
    char *versioned = str_fmt("%s-%d", name, major), *found = run_find(versioned);
    char *real = found ? NULL : realpath(clang, NULL), *slash = real ? strrchr(real, '/') : NULL;
    if (!found && slash) {
        char *beside = str_fmt("%.*s/%s", (int)(slash - real), real, name);
        found = run_find(beside);
        free(beside);
    }
    free(versioned);
    free(real);
    return found ? found : run_find(name);
}

int clangtools_find(struct clangtools *t, const char *work, struct err *e)
{
    char *clang = NULL;
    int major = 0, rc = tools_find_clang(&clang, &major, e);
    *t = (struct clangtools){.work = work};
    if (rc < 0)
        return rc;
    t->profdata = find("llvm-profdata", clang, major);
    t->cov = find("llvm-cov", clang, major);
    if (!t->profdata || !t->cov)
        rc = err_env(e,
                     "%s is not installed, without which there is no source coverage: sudo apt-get "
                     "install llvm-%d",
                     t->profdata ? "llvm-cov" : "llvm-profdata", major);
    free(clang);
    return rc;
}

void clangtools_free(struct clangtools *t)
{
    free(t->profdata);
    free(t->cov);
    *t = (struct clangtools){0};
}

/* --- running them -------------------------------------------------------------------------------- */

/* One command under way.  What it prints goes to files: warnings would stand in the middle of the answer. */
struct job {
    struct cage cage;
    bool runs;
    char *out, *said;
};

static int start(struct job *j, const char *script, const char *const *words, struct err *e)
{
    struct strv argv = {0};
    strv_add(&argv, "/bin/sh");
    strv_add(&argv, "-euc");
    strv_addf(&argv, "exec >\"$0\" 2>\"$1\"; shift; %s", script);
    strv_add(&argv, j->out);
    strv_add(&argv, j->said);
    for (; *words; words++)
        strv_add(&argv, *words);
    int rc = cage_start(&j->cage,
                        &(struct cage_opts){.argv = (const char *const *)argv.v, .cpu = -1}, e);
    j->runs = rc == 0;
    strv_free(&argv);
    return rc;
}

static int finish(struct job *j, struct err *e)
{
    struct pollfd p = {.fd = j->cage.status_fd, .events = POLLIN};
    struct cage_end end;
    char line[512] = "";
    while (poll(&p, 1, -1) < 0 && errno == EINTR)
        ;
    cage_reap(&j->cage, &end);
    j->runs = false;
    if (end.exited && !end.code && !end.exec_errno)
        return 0;
    fs_read_line(j->said, line, sizeof line);
    return err_env(e,
                   "llvm-profdata or llvm-cov failed (code %d, signal %d)%s%s; do they fit to the "
                   "clang of the source build?",
                   end.code, end.signal, *line ? ": " : "", line);
}

static void job_name(struct job *j, const char *work, size_t i)
{
    j->out = str_fmt("%s/tool-%zu.out", work, i);
    j->said = str_fmt("%s/tool-%zu.err", work, i);
}

static void job_free(struct job *j)
{
    struct cage_end end;
    if (j->runs) {
        cage_kill(&j->cage);
        cage_reap(&j->cage, &end);
    }
    free(j->out);
    free(j->said);
}

static int start_trace(const struct clangtools *t, struct job *j, const char *binary,
                       const char *raw, struct err *e)
{
    char *indexed = str_fmt("%s.profdata", raw);
    const char *const words[] = {t->profdata, t->cov, raw, indexed, binary, NULL};
    int rc = start(j,
                   "\"$1\" merge -sparse \"$3\" -o \"$4\"; "
                   "exec \"$2\" export -format=lcov -instr-profile=\"$4\" \"$5\"",
                   words, e);
    free(indexed);
    return rc;
}

int clangtools_lcov(const struct clangtools *t, const char *binary, char *const *raws, size_t n,
                    struct buf *texts, struct err *e)
{
    struct job jobs[CLANGTOOLS_MOST] = {0};
    int rc = 0;
    BUG_ON(n > CLANGTOOLS_MOST);
    for (size_t i = 0; i < n; i++)
        job_name(&jobs[i], t->work, i);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = start_trace(t, &jobs[i], binary, raws[i], e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = finish(&jobs[i], e);
        if (rc == 0)
            rc = fs_read(jobs[i].out, &texts[i], e);
    }
    for (size_t i = 0; i < n; i++)
        job_free(&jobs[i]);
    return rc;
}

int clangtools_html(const struct clangtools *t, const char *binary, const char *indexed,
                    const char *dir, struct err *e)
{
    const char *const words[] = {t->cov, binary, indexed, dir, NULL};
    struct job j = {0};
    job_name(&j, t->work, 0);
    int rc = start(&j,
                   "exec \"$1\" show -format=html -show-instantiations=false -output-dir=\"$4\" "
                   "-instr-profile=\"$3\" \"$2\"",
                   words, e);
    if (rc == 0)
        rc = finish(&j, e);
    job_free(&j);
    return rc;
}
