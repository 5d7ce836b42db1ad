/* lab: environment, limits and symbols around single runs.  Keeps no results. */
#include "triage/lab.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/str.h"
#include "triage/run.h"
#include "triage/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES "3" /* changes when the parser or the buckets do: then everything is done again */
#define LIMITS 10 /* time limits of the campaign that a run may take */
#define LEAST_MS 5000

struct pending {
    struct lab *lab;
    struct run *run; /* NULL: it ended, its report waits for symbols */
    shot_fn *fn;
    void *arg;
    bool quick;
    enum family family;
    struct shot shot;
    struct pending *next;
};

struct lab {
    struct loop *loop;
    struct lab_opts o;
    struct strv args; /* as taken from the manifest */
    struct strv asan_env, slow_env, plain_env;
    char *dir, builds[65];
    struct symbols *symbols;
    struct pending *pending;
    int64_t cpu_us;
};

/* --- environment -------------------------------------------------------------------------------- */

/* A user's own options first, so that ours, without which nothing can be parsed, win. */
static void add_options(struct strv *env, const char *name, const char *ours)
{
    const char *own = getenv(name);
    strv_addf(env, "%s=%s%s%s", name, own ? own : "", own && *own ? ":" : "", ours);
}

static void make_env(const struct lab *lab, struct strv *env, const char *more)
{
    static const char *const drop[] = {"ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS=",
                                       "TMPDIR=",       "LD_PRELOAD=",    "CAROL_ORACLE=",
                                       "MAGMA_STORAGE="}; /* what triage runs counts for no benchmark */
    for (char **p = environ; p && *p; p++) {
        bool keep = true;
        for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
            keep = keep && !str_starts(*p, drop[i]);
        if (keep)
            strv_add(env, *p);
    }
    /* A sanitizer needs memory of its own, for red zones, freed blocks and shadow. */
    unsigned long long mb = lab->o.mem_bytes >> 20, resident = mb ? 2 * mb + 256 : 0;
    char *options = str_fmt(
        "symbolize=0:detect_leaks=0:abort_on_error=0:halt_on_error=1:handle_abort=1:handle_segv=1:"
        "handle_sigill=1:handle_sigbus=1:handle_sigfpe=1:allow_user_segv_handler=0:"
        "allocator_may_return_null=1:max_allocation_size_mb=%llu:hard_rss_limit_mb=%llu%s",
        mb, resident, more);
    add_options(env, "ASAN_OPTIONS", options);
    add_options(env, "UBSAN_OPTIONS", "symbolize=0:print_stacktrace=1:halt_on_error=1");
    strv_addf(env, "TMPDIR=%s", lab->dir);
    strv_add(env, "LIBC_FATAL_STDERR_=1");
    free(options);
}

/* The files themselves: somebody may have built into the directory without Carol. */
static void digest_builds(struct lab *lab)
{
    struct hasher *h = hash_begin();
    struct digest d;
    static const enum family used[] = {FAMILY_ASAN, FAMILY_PLAIN};
    hash_add_str(h, RULES);
    for (size_t i = 0; i < 2; i++) {
        bool there = lab_has(lab, used[i]) &&
                     hash_file(lab->o.target->family[used[i]].binary, &d, NULL) == 0;
        hash_add(h, d.b, there ? sizeof d.b : 0);
        hash_add_str(h, "");
    }
    hash_add_str(h, lab->symbols ? "symbols" : "");
    hash_end(h, &d);
    digest_hex(&d, lab->builds);
    lab->builds[16] = '\0';
}

int lab_new(struct lab **out, struct loop *l, const struct lab_opts *o, struct err *e)
{
    struct lab *lab = xcalloc(1, sizeof *lab);
    lab->loop = l;
    lab->o = *o;
    lab->dir = xstrdup(o->dir);
    if (!o->args && o->target->args) {
        strv_split(&lab->args, o->target->args, '\n');
        lab->o.args = (const char *const *)lab->args.v;
    }
    int rc = fs_mkdirs(lab->dir, e);
    if (rc == 0) {
        make_env(lab, &lab->asan_env, "");
        make_env(lab, &lab->slow_env, ":fast_unwind_on_malloc=0");
        make_env(lab, &lab->plain_env, "");
        lab->symbols = symbols_new(l, lab->dir);
        digest_builds(lab);
        *out = lab;
    } else {
        lab_free(lab);
    }
    return rc;
}

bool lab_has(const struct lab *lab, enum family f)
{
    const struct manifest_family *m = &lab->o.target->family[f];
    return m->ok && m->binary && access(m->binary, X_OK) == 0;
}

bool lab_has_symbols(const struct lab *lab)
{
    return lab->symbols != NULL;
}

const char *lab_builds(const struct lab *lab)
{
    return lab->builds;
}

int64_t lab_cpu_us(const struct lab *lab)
{
    return lab->cpu_us + symbols_cpu_us(lab->symbols);
}

/* --- shots -------------------------------------------------------------------------------------- */

static void unlink_pending(struct pending *p)
{
    struct pending **at = &p->lab->pending;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

static void tell(struct pending *p)
{
    unlink_pending(p);
    p->fn(p->arg, &p->shot);
    if (p->shot.known)
        report_free(&p->shot.r);
    free(p);
}

static void on_symbols(void *arg, const char *text, size_t len)
{
    struct pending *p = arg;
    struct shot *s = &p->shot;
    if (!text) {
        s->ran = s->hit = false;
        snprintf(s->why, sizeof s->why, "llvm-symbolizer ends or does not answer");
        tell(p);
        return;
    }
    s->text = text;
    s->len = len;
    s->known = !s->late && report_parse(&s->r, text, len, s->signal);
    s->hit = s->hit || s->known;
    tell(p);
}

static void on_run(void *arg, struct run_result *r)
{
    struct pending *p = arg;
    struct shot *s = &p->shot;
    p->run = NULL;
    p->lab->cpu_us += r->cpu_us;
    *s = (struct shot){.ran = r->begun,
                       .late = r->late,
                       .signal = r->signal,
                       .cpu_us = r->cpu_us,
                       .hit = r->begun && !r->late && r->signal != 0,
                       .text = "",
                       .r = {.access = ""}};
    if (!r->begun)
        snprintf(s->why, sizeof s->why, "the %s build cannot be run: %.200s",
                 family_name(p->family), r->why);
    if (p->quick || !r->begun)
        tell(p);
    else
        symbols_fill(p->family == FAMILY_ASAN ? p->lab->symbols : NULL, r->text.p ? r->text.p : "",
                     r->text.len, on_symbols, p);
}

int lab_shoot(struct lab *lab, const struct shot_spec *s, shot_fn *fn, void *arg, struct err *e)
{
    struct pending *p = xcalloc(1, sizeof *p);
    bool asan = s->family == FAMILY_ASAN;
    int64_t ms = (int64_t)(s->times_limit ? s->times_limit : LIMITS) * lab->o.timeout_ms;
    ms = !s->times_limit && ms < LEAST_MS ? LEAST_MS : ms;
    ms = s->most_ms && ms > s->most_ms ? s->most_ms : ms;
    *p = (struct pending){.lab = lab,
                          .fn = fn,
                          .arg = arg,
                          .quick = s->quick,
                          .family = s->family,
                          .next = lab->pending};
    const struct strv *env = !asan            ? &lab->plain_env
                             : s->slow_unwind ? &lab->slow_env
                                              : &lab->asan_env;
    struct run_spec spec = {.binary = lab->o.target->family[s->family].binary,
                            .kind = lab->o.target->kind,
                            .args = lab->o.args,
                            .envp = (const char *const *)env->v,
                            .cwd = lab->dir,
                            .data = s->data,
                            .size = s->size,
                            .mem_bytes = asan ? 0 : lab->o.mem_bytes,
                            .cpu_ms = ms,
                            .wall_ms = 5 * ms + 1000,
                            .abort_when_late = s->show_hang,
                            .cpu = s->cpu};
    int rc = run_start(&p->run, lab->loop, &spec, on_run, p, e);
    if (rc < 0)
        free(p);
    else
        lab->pending = p;
    return rc;
}

static void drop(struct pending *p)
{
    run_cancel(p->run);
    symbols_forget(p->lab->symbols, p);
    unlink_pending(p);
    free(p);
}

void lab_forget(struct lab *lab, void *arg)
{
    for (struct pending *p = lab->pending, *next; p; p = next) {
        next = p->next;
        if (p->arg == arg)
            drop(p);
    }
}

void lab_free(struct lab *lab)
{
    if (!lab)
        return;
    while (lab->pending)
        drop(lab->pending);
    symbols_free(lab->symbols);
    int rc = fs_remove_tree(lab->dir, NULL);
    (void)rc; /* it is ours, and in nobody's way */
    strv_free(&lab->args);
    strv_free(&lab->asan_env);
    strv_free(&lab->slow_env);
    strv_free(&lab->plain_env);
    free(lab->dir);
    free(lab);
}

/* --- for people --------------------------------------------------------------------------------- */

char *lab_command(const struct manifest *m, const char *const *args, enum family f,
                  const char *path)
{
    struct strv own = {0}, argv = {0};
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    if (!args && m->args)
        strv_split(&own, m->args, '\n');
    struct run_spec s = {.binary = m->family[f].binary,
                         .kind = m->kind,
                         .args = args ? args : (const char *const *)own.v};
    bool standard = run_words(&s, path, &argv);
    for (size_t i = 0; i < argv.n; i++) {
        char *word = str_shell(argv.v[i]);
        buf_printf(&b, "%s%s", i ? " " : "", word);
        free(word);
    }
    if (standard) {
        char *word = str_shell(path);
        buf_printf(&b, " < %s", word);
        free(word);
    }
    strv_free(&own);
    strv_free(&argv);
    return buf_take(&b);
}
