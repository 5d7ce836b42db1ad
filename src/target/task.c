/* task: builds one family in a private directory and moves the result into place whole.  Does not
 * know of the other families. */
#include "target/task.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "target/outdir.h"
#include "target/run.h"
#include "target/source.h"
#include "target/table.h"
#include "target/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(struct task *t)
{
    t->state = BUILD_FAILED;
    if (!t->error.exit)
        t->error.exit = ERR_EXIT_USAGE;
}

void task_prepare(struct task *t, enum family f, const struct plan *p, const struct build_opts *o)
{
    *t = (struct task){.family = f, .plan = p, .state = BUILD_WAITING, .cage.init = -1};
    t->home = fs_join(p->dir, family_name(f));
    t->tmp = str_fmt("%s/.tmp-%s", p->dir, family_name(f)); /* each time the same, for ccache */
    t->log = str_fmt("%s/logs/%s.log", p->dir, family_name(f));
    if (family_kit_init(&t->kit, f, &t->error) < 0) {
        t->state = !family_use(f) && !o->families_named ? BUILD_SKIPPED : BUILD_FAILED;
        return;
    }
    t->compiler = family_compiler(&t->kit);
    if (plan_key(p, &t->kit, t->compiler, t->key, &t->error) < 0)
        fail(t);
    else if (!o->force && stamp_current(t->home, t->key, &t->stamp))
        t->state = BUILD_CACHED;
}

static int make_dirs(struct task *t, struct err *e)
{
    static const char *const sub[] = {"work", "out"};
    int rc = fs_remove_tree(t->tmp, e);
    for (size_t i = 0; i < 2 && rc == 0; i++) {
        char *dir = fs_join(t->tmp, sub[i]);
        rc = fs_mkdirs(dir, e);
        free(dir);
    }
    return rc;
}

/* A whole copy has this name. */
static bool copied(const struct task *t)
{
    char *src = fs_join(t->tmp, "src");
    bool there = fs_exists(src);
    free(src);
    return there;
}

struct copying {
    const struct task *t;
    int log;
};

/* In the process that becomes the command: we stay free for Ctrl-C and for the other families. */
static int copy_sources(void *arg)
{
    const struct copying *c = arg;
    struct err e = {0};
    char *part = fs_join(c->t->tmp, "src.part"), *src = fs_join(c->t->tmp, "src");
    int rc = source_copy(c->t->plan->src, part, c->t->plan->dir, &e);
    if (rc == 0 && rename(part, src) < 0)
        rc = err_sys(&e, "cannot rename %s", part);
    if (rc < 0)
        dprintf(c->log, "%s\n", e.msg);
    free(part);
    free(src);
    return rc;
}

int task_start(struct task *t, int64_t now_ns, struct err *e)
{
    struct strv argv = {0}, env = {0};
    char *cwd = NULL;
    int log = -1, rc = make_dirs(t, e);
    if (rc < 0)
        goto out;
    log = open(t->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0) {
        rc = err_sys(e, "cannot write %s", t->log);
        goto out;
    }
    plan_command(t->plan, t->tmp, &argv, &cwd);
    plan_env(t->plan, &t->kit, t->compiler, t->tmp, &env);
    struct copying copying = {t, log};
    /* As root a user namespace would map one user only: tar and cp -a could not set owners. */
    struct cage_opts o = {.argv = (const char *const *)argv.v,
                          .envp = (const char *const *)env.v,
                          .cwd = cwd,
                          .out = log,
                          .err = log,
                          .cpu = -1,
                          .no_namespace = geteuid() == 0,
                          .before = t->plan->copy ? copy_sources : NULL,
                          .arg = &copying};
    rc = cage_start(&t->cage, &o, e);
    t->began_ns = now_ns;
    if (rc == 0)
        t->state = t->plan->large ? BUILD_COPYING : BUILD_RUNNING;
out:
    if (log >= 0)
        close(log);
    free(cwd);
    strv_free(&argv);
    strv_free(&env);
    return rc;
}

static double children_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int check_end(struct task *t, const struct cage_end *end, struct err *e)
{
    const char *what = t->plan->copy ? "the build command" : "compiling";
    if (t->plan->copy && end->exited && end->code == CAGE_NOT_BEGUN && !copied(t))
        return err_usage(e, "the sources could not be copied: %s", t->last);
    if (end->exec_errno)
        return err_usage(e, "cannot run %s: %s%s", t->plan->command.v[0], strerror(end->exec_errno),
                         end->exec_errno == ENOEXEC ? " (a script needs a first line such as "
                                                      "#!/bin/bash)"
                                                    : "");
    if (!end->exited)
        return err_usage(e, "%s was killed by signal %d", what, end->signal);
    return end->code ? err_usage(e, "%s ended with exit code %d", what, end->code) : 0;
}

/* AFL's runtime tells the size of its map. */
static int ask_map_size(const char *path, struct out_target *t, struct err *e)
{
    const char *argv[] = {path, NULL}, *env[] = {"AFL_DUMP_MAP_SIZE=1", "AFL_QUIET=1", NULL};
    struct buf out = BUF_INIT(1 << 16);
    struct err mine = {0};
    int rc = run_capture(argv, env, 60, &out, &mine);
    char *end = NULL;
    t->map_size = out.p ? strtoull(out.p, &end, 10) : 0;
    if (t->map_size == 0)
        rc = err_usage(e,
                       "the target %s does not tell its map size (%s); was it linked with $CC or "
                       "$CXX?",
                       t->name, rc < 0 ? mine.msg : "no number");
    else
        rc = 0; /* the runtime exits with its own code after the answer */
    buf_free(&out);
    return rc;
}

/* The neutral runtime writes the table of edges when asked. */
static int dump_table(const char *path, struct out_target *t, struct err *e)
{
    char *table = str_fmt("%s.edges", path), *ask = str_fmt("CAROL_DUMP=%s", table);
    const char *argv[] = {path, NULL}, *env[] = {ask, NULL};
    struct buf out = BUF_INIT(1 << 16);
    struct table tab;
    int rc = run_capture(argv, env, 120, &out, e);
    if (rc == 0 && !fs_exists(table))
        rc =
            err_set(e, -EINVAL, "it was not linked with $CC or $CXX, so it has no neutral runtime");
    if (rc == 0)
        rc = table_load(table, &tab, e);
    if (rc == 0) {
        t->edges = tab.n_edges;
        t->functions = tab.n_funcs;
        table_free(&tab);
    } else {
        int n = out.len ? (int)strcspn(out.p, "\n") : 0;
        err_wrap(e, "the neutral table of %s cannot be made%s%.*s", t->name, n ? ": " : "", n,
                 n ? out.p : "");
        e->exit = ERR_EXIT_USAGE;
    }
    buf_free(&out);
    free(ask);
    free(table);
    return rc;
}

static int look_at_targets(struct task *t, const char *out, struct err *e)
{
    int rc = outdir_scan(out, &t->stamp.targets, e);
    if (rc == 0 && t->stamp.targets.n == 0)
        rc = err_usage(e, "the build command succeeded but left no target in $OUT: an executable "
                          "without an extension, e.g. '$CXX $CXXFLAGS harness.o "
                          "$LIB_FUZZING_ENGINE -o $OUT/name'");
    for (size_t i = 0; i < t->stamp.targets.n && rc == 0; i++) {
        struct out_target *target = &t->stamp.targets.v[i];
        char *path = fs_join(out, target->name);
        if (target->broken)
            rc = err_usage(e,
                           "the target %s has no LLVMFuzzerTestOneInput of its own: give the "
                           "harness to the linker as an object file",
                           target->name);
        else if (family_is_afl(t->family))
            rc = ask_map_size(path, target, e);
        else if (t->family == FAMILY_NEUTRAL)
            rc = dump_table(path, target, e);
        free(path);
    }
    return rc;
}

/* Short form: every file the compilers read, by the rules they wrote. */
static int collect_deps(struct task *t, struct err *e)
{
    char *work = fs_join(t->tmp, "work");
    struct strv names = {0}, deps = {0};
    int rc = t->plan->copy ? 0 : fs_list(work, &names, e);
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        char *path = fs_join(work, names.v[i]);
        if (str_ends(path, ".d"))
            rc = source_read_deps(path, &deps, e);
        free(path);
    }
    for (size_t i = 0; i < deps.n; i++)
        strv_take(&t->stamp.deps,
                  deps.v[i][0] == '/' ? xstrdup(deps.v[i]) : fs_join(t->plan->cwd, deps.v[i]));
    strv_free(&deps);
    strv_free(&names);
    free(work);
    stamp_digest_deps(&t->stamp.deps, t->stamp.deps_digest);
    return rc;
}

static char *joined(const struct strv *a, const struct strv *b)
{
    struct buf out = BUF_INIT(1 << 20);
    for (size_t i = 0; i < a->n; i++)
        buf_printf(&out, "%s%s", out.len ? " " : "", a->v[i]);
    for (size_t i = 0; i < b->n; i++)
        buf_printf(&out, " %s", b->v[i]);
    return buf_take(&out);
}

/* One rename makes the new build the one in place; the old goes away with our private directory. */
static int put_in_place(struct task *t, const char *out, struct err *e)
{
    if (renameat2(AT_FDCWD, out, AT_FDCWD, t->home, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != ENOENT) {
        int rc = fs_remove_tree(t->home, e);
        if (rc < 0)
            return rc;
    }
    return rename(out, t->home) < 0 ? err_sys(e, "cannot move the build to %s", t->home) : 0;
}

static int remove_manifest(const struct task *t, struct err *e)
{
    char *path = manifest_path(t->plan->dir);
    int rc = unlink(path) < 0 && errno != ENOENT ? err_sys(e, "cannot remove %s", path) : 0;
    free(path);
    return rc;
}

/* A build is not given up for want of a dictionary. */
static void collect_words(const struct task *t, const char *out)
{
    char *raw = fs_join(t->tmp, WORDS_RAW), *to = fs_join(out, WORDS_NAME);
    struct err e = {0};
    if (words_collect(raw, to, &e) < 0)
        log_warn("%s is built without the words of the target: %s", family_name(t->family), e.msg);
    free(raw);
    free(to);
}

static int commit(struct task *t, struct err *e)
{
    char *out = fs_join(t->tmp, "out");
    snprintf(t->stamp.key, sizeof t->stamp.key, "%s", t->key);
    t->stamp.compiler = xstrdup(t->compiler);
    t->stamp.flags = joined(&t->kit.compile, &t->kit.link);
    t->stamp.seconds = t->seconds;
    int rc = look_at_targets(t, out, e);
    if (rc == 0)
        rc = collect_deps(t, e);
    if (rc == 0 && t->kit.words)
        collect_words(t, out);
    if (rc == 0)
        rc = stamp_write(out, &t->stamp, e);
    if (rc == 0)
        rc = remove_manifest(t, e);
    if (rc == 0)
        rc = put_in_place(t, out, e);
    free(out);
    return rc;
}

void task_finish(struct task *t, int64_t now_ns)
{
    struct cage_end end;
    double before = children_cpu();
    cage_reap(&t->cage, &end);
    t->stamp.cpu_seconds = children_cpu() - before;
    t->seconds = (double)(now_ns - t->began_ns) / (double)NS_PER_S;
    task_look(t);
    if (check_end(t, &end, &t->error) < 0 || commit(t, &t->error) < 0)
        fail(t);
    else
        t->state = BUILD_DONE;
    if (fs_remove_tree(t->tmp, NULL) < 0)
        return; /* a later start removes it */
}

void task_abort(struct task *t)
{
    struct cage_end end;
    if (t->cage.init > 0) {
        cage_kill(&t->cage);
        cage_reap(&t->cage, &end);
    }
    if (t->tmp && fs_remove_tree(t->tmp, NULL) < 0)
        return;
}

void task_look(struct task *t)
{
    char tail[512];
    if (t->state == BUILD_COPYING && copied(t))
        t->state = BUILD_RUNNING;
    int fd = open(t->log, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t n = pread(fd, tail, sizeof tail - 1, size > 511 ? size - 511 : 0);
    close(fd);
    if (n <= 0)
        return;
    while (n > 0 && (tail[n - 1] == '\n' || tail[n - 1] == '\r'))
        n--;
    tail[n] = 0;
    char *line = strrchr(tail, '\n');
    snprintf(t->last, sizeof t->last, "%.150s", line ? line + 1 : tail);
    for (char *c = t->last; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

void task_free(struct task *t)
{
    family_kit_free(&t->kit);
    free(t->compiler);
    free(t->home);
    free(t->tmp);
    free(t->log);
    stamp_free(&t->stamp);
    *t = (struct task){0};
}
