/* build: runs the families' tasks side by side and writes the manifest.  What one family's build does
 * is in target/task.c. */
#include "target/build.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "proc/cpus.h"
#include "proc/loop.h"
#include "target/plan.h"
#include "target/task.h"
#include "target/tools.h"
#include "target/words.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <unistd.h>

struct build {
    const struct build_opts *o;
    struct plan plan;
    struct loop *loop;
    struct task tasks[FAMILY_END];
    struct timer tick;
    unsigned running, jobs;
    bool interrupted;
};

/* --- progress --- */

static void show_task(const struct task *t, int64_t now, struct build_progress *p)
{
    *p = (struct build_progress){
        .state = t->state, .log = t->log, .tmp = t->tmp, .seconds = t->seconds};
    if (task_runs(t))
        p->seconds = (double)(now - t->began_ns) / (double)NS_PER_S;
    p->last = t->state == BUILD_FAILED || t->state == BUILD_SKIPPED ? t->error.msg : t->last;
    for (size_t i = 0; i < t->stamp.targets.n; i++)
        p->bytes += t->stamp.targets.v[i].bytes;
}

static void tell(struct build *b, enum family f)
{
    struct build_progress all[FAMILY_END] = {0};
    if (!b->o->progress)
        return;
    for (int i = 0; i < FAMILY_END; i++)
        if (b->tasks[i].state != BUILD_NONE)
            show_task(&b->tasks[i], loop_now(b->loop), &all[i]);
    b->o->progress(b->o->arg, f, all);
}

static void on_tick(void *arg)
{
    struct build *b = arg;
    for (int f = 0; f < FAMILY_END; f++) {
        enum build_state before = b->tasks[f].state;
        if (task_runs(&b->tasks[f]))
            task_look(&b->tasks[f]);
        if (b->tasks[f].state != before)
            tell(b, (enum family)f);
    }
    tell(b, FAMILY_NONE);
    if (b->running)
        loop_timer(b->loop, &b->tick, loop_now(b->loop) + NS_PER_S);
}

/* --- running --- */

static void start_some(struct build *b);

struct ended {
    struct build *b;
    struct task *t;
};

static void on_ended(void *arg, uint32_t events)
{
    struct ended *w = arg;
    struct build *b = w->b;
    struct task *t = w->t;
    (void)events;
    loop_unwatch(b->loop, t->cage.status_fd);
    free(w);
    task_finish(t, loop_now(b->loop));
    b->running--;
    tell(b, t->family);
    start_some(b);
}

static void start_some(struct build *b)
{
    for (int i = 0; i < FAMILY_END - 1 && b->running < b->jobs && !b->interrupted; i++) {
        struct task *t = &b->tasks[family_by_cost[i]];
        if (t->state != BUILD_WAITING)
            continue;
        struct ended *w = NULL;
        int rc = task_start(t, loop_now(b->loop), &t->error);
        if (rc == 0) {
            w = xmalloc(sizeof *w);
            *w = (struct ended){b, t};
            rc = loop_watch(b->loop, t->cage.status_fd, EPOLLIN, on_ended, w, &t->error);
        }
        if (rc == 0) {
            b->running++;
        } else {
            free(w);
            t->state = BUILD_FAILED;
            task_abort(t);
        }
        tell(b, t->family);
    }
    if (!b->running)
        loop_stop(b->loop);
}

static void on_signal(void *arg, int signo)
{
    struct build *b = arg;
    (void)signo;
    b->interrupted = true;
    loop_stop(b->loop);
}

static int run_tasks(struct build *b, struct err *e)
{
    int rc = loop_signal(b->loop, SIGINT, on_signal, b, e);
    if (rc == 0)
        rc = loop_signal(b->loop, SIGTERM, on_signal, b, e);
    if (rc == 0)
        rc = loop_signal(b->loop, SIGHUP, on_signal, b, e);
    if (rc < 0)
        return rc;
    start_some(b);
    b->tick = (struct timer){.fn = on_tick, .arg = b};
    if (b->running) {
        loop_timer(b->loop, &b->tick, loop_now(b->loop) + NS_PER_S);
        loop_run(b->loop);
    }
    if (b->interrupted) {
        for (int f = 0; f < FAMILY_END; f++)
            if (task_runs(&b->tasks[f]))
                task_abort(&b->tasks[f]);
        return err_set(e, -EINTR,
                       "interrupted; the families that were finished are kept, run the "
                       "same command to go on");
    }
    return 0;
}

/* --- the directory --- */

/* Private directories of builds that were killed. */
static void remove_stale(const char *dir)
{
    struct strv names = {0};
    if (fs_list(dir, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.n; i++) {
        if (!str_starts(names.v[i], ".tmp-"))
            continue;
        char *path = fs_join(dir, names.v[i]);
        struct err e = {0};
        if (fs_remove_tree(path, &e) < 0)
            log_warn("%s", e.msg);
        free(path);
    }
    strv_free(&names);
}

/* One build at a time in a directory; the lock goes with the process. */
static int lock_dir(const char *dir, struct err *e)
{
    char *path = fs_join(dir, ".lock");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644), rc = fd;
    if (fd < 0) {
        rc = err_sys(e, "cannot write in %s", dir);
        if (e)
            e->exit = ERR_EXIT_USAGE;
    } else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        rc = err_usage(e, "another 'carol build' is working in %s; wait for it or use another -o",
                       dir);
        close(fd);
    }
    free(path);
    return rc;
}

/* After a failure: empty directories are ours. */
static void leave_nothing_empty(const char *dir)
{
    static const char *const files[] = {"logs", ".lock"};
    struct strv names = {0};
    bool ours = fs_list(dir, &names, NULL) == 0;
    for (size_t i = 0; i < names.n; i++)
        ours = ours && (strcmp(names.v[i], files[0]) == 0 || strcmp(names.v[i], files[1]) == 0);
    char *logs = fs_join(dir, files[0]), *lock = fs_join(dir, files[1]);
    if (ours && (rmdir(logs) == 0 || errno == ENOENT)) {
        unlink(lock);
        rmdir(dir);
    }
    free(logs);
    free(lock);
    strv_free(&names);
}

/* --- the manifest --- */

static bool good(const struct task *t)
{
    return t->state == BUILD_CACHED || t->state == BUILD_DONE;
}

static char *neighbour(const struct build *b, const char *target, const char *suffix)
{
    for (int f = FAMILY_END - 1; f > FAMILY_NONE; f--) {
        if (!good(&b->tasks[f]))
            continue;
        char *path = str_fmt("%s/%s%s", b->tasks[f].home, target, suffix);
        if (fs_exists(path))
            return path;
        free(path);
    }
    return NULL;
}

/* Only the neutral build notes them. */
static char *noted_words(const struct build *b)
{
    const struct task *t = &b->tasks[FAMILY_NEUTRAL];
    char *path = good(t) ? fs_join(t->home, WORDS_NAME) : NULL;
    if (path && fs_exists(path))
        return path;
    free(path);
    return NULL;
}

/* Words of --args; '...' and "..." keep blanks. */
static char *split_args(const char *s)
{
    struct buf b = BUF_INIT(1 << 16);
    char quote = 0;
    bool word = false;
    for (; *s; s++) {
        if (quote ? *s == quote : (*s == '\'' || *s == '"')) {
            quote = quote ? 0 : *s;
            word = true;
        } else if (!quote && (*s == ' ' || *s == '\t' || *s == '\n')) {
            if (word)
                buf_str(&b, "\n");
            word = false;
        } else {
            buf_add(&b, s, 1);
            word = true;
        }
    }
    while (b.len && b.p[b.len - 1] == '\n')
        b.p[--b.len] = 0;
    return buf_take(&b);
}

static void set_kind(const struct build *b, struct manifest *m, bool harness, bool *assumed)
{
    const struct build_opts *o = b->o;
    *assumed = false;
    if (harness) {
        m->kind = TARGET_LIBFUZZER;
        return;
    }
    bool file = o->args && strstr(o->args, "@@");
    m->kind = o->kind == TARGET_FILE || o->kind == TARGET_STDIN ? o->kind
              : file                                            ? TARGET_FILE
                                                                : TARGET_STDIN;
    *assumed = !o->kind && !o->args;
    if (o->args)
        m->args = split_args(o->args);
    else if (m->kind == TARGET_FILE)
        m->args = xstrdup("@@");
}

static void add_family(struct manifest *m, const struct task *t, const struct out_target *out)
{
    struct manifest_family *f = &m->family[t->family];
    f->ok = true;
    f->binary = fs_join(t->home, out->name);
    f->build_id = xstrdup(out->build_id);
    f->compiler = xstrdup(t->stamp.compiler);
    f->flags = xstrdup(t->stamp.flags);
    f->seconds = t->stamp.seconds;
    f->cpu_seconds = t->stamp.cpu_seconds;
    f->bytes = out->bytes;
    f->map_size = out->map_size;
    if (t->family == FAMILY_NEUTRAL) {
        m->table = str_fmt("%s.edges", f->binary);
        m->edges = out->edges;
        m->functions = out->functions;
    }
}

static void note_option(struct strv *words, const char *flag, const char *value)
{
    if (!value)
        return;
    strv_add(words, flag);
    strv_add(words, value);
}

static void note_words(struct strv *words, const char *before, const char *const *list)
{
    if (!list || !list[0])
        return;
    if (before)
        strv_add(words, before);
    for (; *list; list++)
        strv_add(words, *list);
}

/* How to call us again for another family of the same target. */
static void note_made(const struct build *b, struct manifest_made *made)
{
    const struct build_opts *o = b->o;
    made->in = xstrdup(b->plan.cwd);
    plan_env_counts(&made->env);
    note_option(&made->words, "--src", o->src || o->command ? b->plan.src : NULL);
    note_option(&made->words, "--target", o->target);
    note_option(&made->words, "--kind", o->kind ? target_kind_name(o->kind) : NULL);
    note_option(&made->words, "--args", o->args);
    note_words(&made->words, NULL, o->sources);
    note_words(&made->words, "--", o->sources ? o->flags : o->command);
}

static void describe(const struct build *b, const char *name, struct manifest *m, bool *assumed)
{
    bool harness = false;
    *m = (struct manifest){.dir = xstrdup(b->plan.dir), .target = xstrdup(name)};
    for (int f = 0; f < FAMILY_END; f++) {
        const struct out_target *t =
            good(&b->tasks[f]) ? out_find(&b->tasks[f].stamp.targets, name) : NULL;
        if (!t)
            continue;
        harness = harness || t->harness;
        add_family(m, &b->tasks[f], t);
    }
    set_kind(b, m, harness, assumed);
    m->dict = neighbour(b, name, ".dict");
    m->words = noted_words(b);
    m->seeds = neighbour(b, name, "_seed_corpus.zip");
    m->options = neighbour(b, name, ".options");
    note_made(b, &m->made);
}

static bool can_fuzz(const struct manifest *m)
{
    bool any = false;
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        any = any || (m->family[f].ok && family_is_fuzzed((enum family)f));
    return any && m->family[FAMILY_NEUTRAL].ok;
}

static void list_targets(const struct build *b, struct strv *names)
{
    for (int f = 0; f < FAMILY_END; f++)
        for (size_t i = 0; good(&b->tasks[f]) && i < b->tasks[f].stamp.targets.n; i++)
            if (!strv_has(names, b->tasks[f].stamp.targets.v[i].name))
                strv_add(names, b->tasks[f].stamp.targets.v[i].name);
    strv_sort(names);
}

static int write_manifest(const struct build *b, struct build_result *r, struct err *e)
{
    list_targets(b, &r->targets);
    if (!r->targets.n)
        return 0;
    const char *chosen = b->o->target ? b->o->target : r->targets.n == 1 ? r->targets.v[0] : NULL;
    if (chosen && !strv_has(&r->targets, chosen)) {
        struct buf names = BUF_INIT(4096);
        for (size_t i = 0; i < r->targets.n; i++)
            buf_printf(&names, "%s%s", i ? ", " : "", r->targets.v[i]);
        int rc = err_usage(e, "the build made no target '%s'; it made: %s", chosen, names.p);
        buf_free(&names);
        return rc;
    }
    struct manifest *list = xcalloc(r->targets.n, sizeof *list);
    for (size_t i = 0; i < r->targets.n; i++) {
        bool assumed;
        describe(b, r->targets.v[i], &list[i], &assumed);
        if (chosen && strcmp(chosen, r->targets.v[i]) == 0) {
            r->kind = list[i].kind;
            r->kind_assumed = assumed;
            r->seeds = list[i].seeds != NULL;
            r->fuzzable = can_fuzz(&list[i]);
            r->chosen = xstrdup(chosen);
        }
    }
    int rc = manifest_save_all(list, r->targets.n, chosen, e);
    for (size_t i = 0; i < r->targets.n; i++)
        manifest_free(&list[i]);
    free(list);
    return rc;
}

/* --- the whole --- */

static int verdict(const struct build *b, struct err *e)
{
    unsigned failed = 0, env = 0, asked = 0;
    struct buf names = BUF_INIT(256);
    for (int f = 0; f < FAMILY_END; f++) {
        const struct task *t = &b->tasks[f];
        asked += b->o->family[f];
        if (t->state != BUILD_FAILED)
            continue;
        buf_printf(&names, "%s%s", failed ? ", " : "", family_name(t->family));
        failed++;
        env += t->error.exit == ERR_EXIT_ENV;
    }
    if (failed) {
        err_set(e, -ECHILD, "%u of %u families failed: %s (reasons above, logs in %s/logs)", failed,
                asked, names.p, b->plan.dir);
        e->exit = env == failed ? ERR_EXIT_ENV : ERR_EXIT_USAGE;
    }
    buf_free(&names);
    return failed ? -ECHILD : 0;
}

static void report(struct build *b, struct build_result *r)
{
    for (int f = 0; f < FAMILY_END; f++) {
        struct task *t = &b->tasks[f];
        if (t->state == BUILD_NONE)
            continue;
        show_task(t, loop_now(b->loop), &r->family[f]);
        strv_add(&r->texts, r->family[f].last);
        r->family[f].last = r->texts.v[r->texts.n - 1];
        strv_add(&r->texts, t->log);
        r->family[f].log = r->texts.v[r->texts.n - 1];
        strv_add(&r->texts, t->tmp);
        r->family[f].tmp = r->texts.v[r->texts.n - 1];
    }
}

static int build_in(struct build *b, struct build_result *r, struct err *e)
{
    char *logs = fs_join(b->plan.dir, "logs");
    int rc = fs_mkdirs(logs, e);
    free(logs);
    if (rc < 0)
        return rc;
    remove_stale(b->plan.dir);
    /* Families of an earlier run that were not asked for now stay in the manifest while current. */
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++) {
        struct task *t = &b->tasks[f];
        task_prepare(t, (enum family)f, &b->plan, b->o);
        if (!b->o->family[f] && t->state != BUILD_CACHED) {
            task_free(t);
            t->state = BUILD_NONE;
        }
    }
    for (int f = 0; f < FAMILY_END; f++)
        if (b->tasks[f].state != BUILD_NONE && b->tasks[f].state != BUILD_WAITING)
            tell(b, (enum family)f);
    rc = run_tasks(b, e);
    report(b, r);
    if (rc == 0)
        rc = write_manifest(b, r, e);
    return rc == 0 ? verdict(b, e) : rc;
}

int build_run(const struct build_opts *o, struct build_result *r, struct err *e)
{
    struct build b = {.o = o};
    int lock = -1;
    *r = (struct build_result){0};
    b.jobs = o->jobs ? o->jobs : (unsigned)cpus_count();
    char *clang = NULL;
    int major,
        rc = tools_find_clang(&clang, &major, e); /* no family can be built without: say so once */
    free(clang);
    if (rc < 0)
        return rc;
    rc = plan_init(&b.plan, o, e);
    if (rc == 0)
        rc = loop_new(&b.loop, e);
    if (rc == 0)
        rc = lock = lock_dir(b.plan.dir, e);
    if (rc >= 0)
        rc = build_in(&b, r, e);
    if (rc < 0)
        leave_nothing_empty(o->dir);
    for (int f = 0; f < FAMILY_END; f++)
        if (b.tasks[f].state != BUILD_NONE)
            task_free(&b.tasks[f]);
    if (lock >= 0)
        close(lock);
    loop_free(b.loop);
    plan_free(&b.plan);
    return rc;
}

void build_result_free(struct build_result *r)
{
    strv_free(&r->targets);
    strv_free(&r->texts);
    free(r->chosen);
    *r = (struct build_result){0};
}
