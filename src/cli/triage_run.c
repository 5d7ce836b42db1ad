/* triage_run: opens a campaign, lets src/triage do its work while a line tells how far it is, writes the files. */
#include "cli/triage.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/term.h"
#include "triage/triage.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_NS (10 * NS_PER_S) /* between two lines where there is no terminal */

struct watch {
    struct loop *loop;
    struct triage *t;
    struct timer tick;
    bool tty, quiet, drawn, interrupted;
    int64_t last;
    enum triage_part part;
    int rc;
    struct err error;
};

/* --- progress ----------------------------------------------------------------------------------- */

static void draw(struct watch *w)
{
    struct triage_progress p;
    triage_progress(w->t, &p);
    if (w->quiet || p.part == PART_OVER || !p.total)
        return;
    int64_t now = loop_now(w->loop);
    if (w->tty) {
        fprintf(stderr, "\r\033[Kcarol: %zu of %zu %s", p.done, p.total, triage_part_name(p.part));
        w->drawn = true;
    } else if (now - w->last >= LINE_NS) {
        fprintf(stderr, "carol: %zu of %zu %s\n", p.done, p.total, triage_part_name(p.part));
        w->last = now;
    }
}

static void on_tick(void *arg)
{
    struct watch *w = arg;
    draw(w);
    loop_timer(w->loop, &w->tick, loop_now(w->loop) + NS_PER_S / 5);
}

static void wipe(struct watch *w)
{
    if (w->drawn)
        fprintf(stderr, "\r\033[K");
    w->drawn = false;
}

/* --- running ------------------------------------------------------------------------------------ */

static void on_done(void *arg, int rc, const struct err *e)
{
    struct watch *w = arg;
    w->rc = rc;
    if (e)
        w->error = *e;
    loop_stop(w->loop);
}

static void on_signal(void *arg, int signo)
{
    struct watch *w = arg;
    (void)signo;
    w->interrupted = true;
    loop_stop(w->loop);
}

/* Directories of processes that are gone. */
static void sweep_scratch(const char *dir)
{
    struct strv names = {0};
    if (fs_list(dir, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.n; i++) {
        int pid;
        if (sscanf(names.v[i], ".run-%d", &pid) != 1 || kill(pid, 0) == 0 || errno != ESRCH)
            continue;
        char *path = fs_join(dir, names.v[i]);
        if (fs_remove_tree(path, NULL) < 0)
            log_warn("cannot remove %s, left by a killed triage", path);
        free(path);
    }
    strv_free(&names);
}

static int watch_it(struct watch *w, struct triage *t, bool quiet, struct err *e)
{
    w->t = t;
    w->quiet = quiet;
    w->tty = term_draws(STDERR_FILENO);
    w->last = loop_now(w->loop) - LINE_NS / 2;
    w->tick = (struct timer){.fn = on_tick, .arg = w};
    int rc = loop_signal(w->loop, SIGINT, on_signal, w, e);
    if (rc == 0)
        rc = loop_signal(w->loop, SIGTERM, on_signal, w, e);
    if (rc == 0)
        rc = triage_start(t, e);
    if (rc < 0)
        return rc;
    loop_timer(w->loop, &w->tick, loop_now(w->loop) + NS_PER_S / 5);
    loop_run(w->loop);
    loop_timer_clear(w->loop, &w->tick);
    wipe(w);
    if (w->rc < 0)
        *e = w->error;
    return w->rc;
}

static void say_what_is_missing(const struct lab *lab, const char *build)
{
    if (!lab_has(lab, FAMILY_ASAN))
        log_warn("%s has no asan build: nothing shows where a crash happens, so crashes are told "
                 "apart by their "
                 "signal alone; carol build with the family asan",
                 build);
    else if (!lab_has_symbols(lab))
        log_warn("llvm-symbolizer is not installed: crashes are told apart by addresses, not by "
                 "functions and lines; "
                 "sudo apt-get install llvm-19");
    if (!lab_has(lab, FAMILY_PLAIN))
        log_warn(
            "%s has no plain build: no defect can be confirmed; carol build with the family plain",
            build);
}

static int run(struct triaged *x, const struct triage_args *a, struct err *e)
{
    struct watch w = {0};
    struct triage *t = NULL;
    char *scratch = str_fmt("%s/triage/.run-%d", a->out, (int)getpid()),
         *base = fs_join(a->out, "triage");
    sweep_scratch(base);
    struct triage_opts o = {
        .lab = {.target = &x->target,
                .args = x->o.args.n ? (const char *const *)x->o.args.v : NULL,
                .dir = scratch,
                .timeout_ms = x->o.timeout_ms,
                .mem_bytes = x->o.mem_bytes},
        .roster = (const char *const *)x->o.fuzzers.v,
        .jobs = a->jobs,
        .minimise_ns = a->minimise_ns,
        .hangs_ns = a->hangs_ns,
        .arg = &w,
        .done = on_done,
    };
    int rc = loop_new(&w.loop, e);
    if (rc == 0)
        rc = triage_new(&t, w.loop, x->store, &o, e);
    if (rc == 0) {
        say_what_is_missing(triage_lab(t), x->target.dir);
        rc = watch_it(&w, t, a->quiet, e);
    }
    x->interrupted = w.interrupted;
    triage_free(t);
    loop_free(w.loop);
    free(scratch);
    free(base);
    return rc;
}

/* --- what was known ----------------------------------------------------------------------------- */

static void mark_known(struct defects *d, json_t *list)
{
    size_t i;
    json_t *x;
    json_array_foreach(list, i, x)
    {
        const char *id = json_string_value(json_object_get(x, "id"));
        for (size_t k = 0; id && k < d->n; k++)
            d->v[k].known = d->v[k].known || strcmp(d->v[k].id, id) == 0;
    }
}

static int take_baseline(struct defects *d, const char *path, struct err *e)
{
    json_error_t why;
    json_t *o = json_load_file(path, 0, &why);
    json_t *list = json_object_get(o, "defects");
    int rc = 0;
    if (!json_is_array(list))
        rc = err_usage(e, "--baseline: %s is no defects.json of an earlier triage (%s)", path,
                       o ? "it has no list of defects" : why.text);
    mark_known(d, list);
    mark_known(d, json_object_get(o, "unconfirmed"));
    json_decref(o);
    return rc;
}

/* --- all of it ---------------------------------------------------------------------------------- */

static int open_campaign(struct triaged *t, const struct triage_args *a, struct err *e)
{
    int rc = store_open(&t->store, a->out, STORE_TRIAGE, e);
    if (rc == 0)
        rc = settings_read(&t->o, t->store, e);
    if (rc == 0)
        t->o.out = xstrdup(a->out);
    if (rc == 0)
        rc = manifest_load(a->build ? a->build : t->o.build, t->o.target, &t->target, e);
    return rc;
}

int triage_campaign(struct triaged *t, const struct triage_args *a, struct err *e)
{
    *t = (struct triaged){.hangs_ns = a->hangs_ns};
    struct store_totals all;
    signal(SIGPIPE, SIG_IGN); /* a symboliser or a hook that ends is no reason to */
    int rc = open_campaign(t, a, e);
    if (rc == 0)
        rc = store_totals(t->store, &all, e);
    if (rc == 0 && all.crashes + all.hangs)
        rc = run(t, a, e);
    if (rc == 0)
        rc = defects_load(&t->d, t->store, e);
    for (size_t i = 0; rc == 0 && i < a->baseline.n; i++)
        rc = take_baseline(&t->d, a->baseline.v[i], e);
    if (rc < 0)
        return rc;
    t->dir = str_fmt("%s/%s", a->out, a->public ? "triage-public" : "triage");
    t->out = (struct output){.store = t->store,
                             .o = &t->o,
                             .target = &t->target,
                             .d = &t->d,
                             .dir = t->dir,
                             .public = a->public,
                             .baseline = a->baseline.n > 0};
    return output_write(&t->out, e);
}

void triaged_close(struct triaged *t)
{
    defects_free(&t->d);
    manifest_free(&t->target);
    settings_free(&t->o);
    store_close(t->store);
    free(t->dir);
    *t = (struct triaged){0};
}
