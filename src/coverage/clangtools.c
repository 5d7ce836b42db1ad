/* clangtools: finds and runs llvm-profdata and llvm-cov.  Does not read what they say. */
#include "coverage/clangtools.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "target/run.h"
#include "target/tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 3600

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

/* Warnings go to a file: they would stand in the middle of the answer. */
static int run(const struct clangtools *t, struct strv *words, struct buf *out, struct err *e)
{
    char *said = fs_join(t->work, "stderr"), line[512] = "";
    struct strv argv = {0};
    struct buf own = BUF_INIT(1 << 20);
    strv_add(&argv, "/bin/sh");
    strv_add(&argv, "-c");
    strv_add(&argv, "exec \"$@\" 2>\"$0\"");
    strv_add(&argv, said);
    for (size_t i = 0; i < words->n; i++)
        strv_add(&argv, words->v[i]);
    int rc = run_capture((const char *const *)argv.v, NULL, SECONDS, out ? out : &own, e);
    if (rc == 0 && (out ? out : &own)->over)
        rc = err_set(e, -EFBIG, "%s says more than fits into memory", words->v[0]);
    else if (rc < 0 && fs_read_line(said, line, sizeof line) && *line)
        rc = err_set(e, rc, "%s: %s", words->v[0], line);
    buf_free(&own);
    free(said);
    strv_free(&argv);
    strv_free(words);
    return rc;
}

int clangtools_index(const struct clangtools *t, const char *raw, const char *indexed,
                     struct err *e)
{
    struct strv w = {0};
    strv_add(&w, t->profdata);
    strv_add(&w, "merge");
    strv_add(&w, "-sparse");
    strv_add(&w, raw);
    strv_add(&w, "-o");
    strv_add(&w, indexed);
    return run(t, &w, NULL, e);
}

int clangtools_lcov(const struct clangtools *t, const char *binary, const char *indexed,
                    struct buf *out, struct err *e)
{
    struct strv w = {0};
    strv_add(&w, t->cov);
    strv_add(&w, "export");
    strv_add(&w, "-format=lcov");
    strv_addf(&w, "-instr-profile=%s", indexed);
    strv_add(&w, binary);
    return run(t, &w, out, e);
}

int clangtools_html(const struct clangtools *t, const char *binary, const char *indexed,
                    const char *dir, struct err *e)
{
    struct strv w = {0};
    strv_add(&w, t->cov);
    strv_add(&w, "show");
    strv_add(&w, "-format=html");
    strv_add(&w, "-show-instantiations=false");
    strv_addf(&w, "-output-dir=%s", dir);
    strv_addf(&w, "-instr-profile=%s", indexed);
    strv_add(&w, binary);
    return run(t, &w, NULL, e);
}
