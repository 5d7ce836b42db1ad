/* look: the steps of one look, from shot to shot.  Writes nothing. */
#include "triage/look.h"

#include "base/die.h"
#include "base/str.h"
#include "triage/defect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT 2000   /* what was printed before a report */
#define TEXT_MAX 65536 /* of a report that is kept */
#define HANG_SHOWN 2   /* how often a hang is stopped, */
#define HANG_STEP 2    /* each time after so many time limits more */

struct look {
    struct lab *lab;
    struct look_spec s;
    look_fn *fn;
    void *arg;
    struct verdict v;
    enum family now;
    bool slow_unwind;
    int finder_runs, finder_hits;
    char *shown[HANG_SHOWN];
    int n_shown;
};

static void dispose(struct look *k)
{
    if (k->v.known)
        report_free(&k->v.r);
    free(k->v.text);
    for (int i = 0; i < k->n_shown; i++)
        free(k->shown[i]);
    free(k);
}

static void finish(struct look *k)
{
    k->fn(k->arg, &k->v);
    dispose(k);
}

static void set_why(struct look *k, const char *text)
{
    snprintf(k->v.why, sizeof k->v.why, "%.255s", text);
}

static void broken(struct look *k, const char *why)
{
    k->v.outcome = TRIAGE_BROKEN;
    set_why(k, why);
    finish(k);
}

static void on_shot(void *arg, struct shot *s);

static void shoot(struct look *k, enum family f, int times, bool show, bool quick)
{
    struct err e = {0};
    k->now = f;
    struct shot_spec spec = {.family = f,
                             .data = k->s.data,
                             .size = k->s.size,
                             .cpu = k->s.cpu,
                             .times_limit = times,
                             .most_ms = k->s.most_ms,
                             .show_hang = show,
                             .slow_unwind = k->slow_unwind,
                             .quick = quick};
    if (lab_shoot(k->lab, &spec, on_shot, k, &e) < 0)
        broken(k, e.msg);
}

/* --- a bucket ----------------------------------------------------------------------------------- */

static int worth(const struct report *r)
{
    return 2 * r->withheld + (*r->function != '\0');
}

/* What is kept of a text: from a little before the report on. */
static char *cut(const char *text, size_t len)
{
    static const char *const heads[] = {"Sanitizer: ", ": runtime error: "};
    const char *from = text;
    for (size_t i = 0; i < sizeof heads / sizeof *heads && from == text; i++) {
        const char *at = memmem(text, len, heads[i], strlen(heads[i]));
        if (at && at - text > CONTEXT)
            from = at - CONTEXT;
    }
    len -= (size_t)(from - text);
    return str_fmt("%.*s", (int)(len > TEXT_MAX ? TEXT_MAX : len), from);
}

/* The first report, or a worse one; it is taken out of the shot. */
static void take_report(struct look *k, struct shot *s)
{
    struct verdict *v = &k->v;
    if (!s->known || (v->known && worth(&s->r) <= worth(&v->r)))
        return;
    if (v->known)
        report_free(&v->r);
    free(v->text);
    v->r = s->r;
    v->known = true;
    s->known = false;
    v->text = cut(s->text, s->len);
    v->outcome = v->r.kind->outcome;
}

static void bucket_after_asan(struct look *k, struct shot *s)
{
    struct verdict *v = &k->v;
    take_report(k, s);
    bool nowhere = v->known && !*v->r.function && !k->slow_unwind;
    if (nowhere && v->r.kind->outcome == TRIAGE_OOM) { /* allocated in a library */
        k->slow_unwind = true;
        shoot(k, FAMILY_ASAN, 0, false, false);
    } else if (v->known || k->s.once) {
        finish(k);
    } else if (v->asan_runs < CONFIRM_RUNS && !s->late) {
        shoot(k, FAMILY_ASAN, 0, false, false);
    } else if (lab_has(k->lab, FAMILY_PLAIN)) {
        set_why(k, s->late ? "it does not end there" : "");
        shoot(k, FAMILY_PLAIN, 0, false, false);
    } else {
        v->outcome = TRIAGE_CLEAN;
        set_why(k, "the asan build runs through, and there is no plain build");
        finish(k);
    }
}

static void say_clean(struct look *k)
{
    struct verdict *v = &k->v;
    char *late = xstrdup(v->why);
    if (k->finder_hits)
        snprintf(v->why, sizeof v->why,
                 "it fails only on the build of the fuzzer that found it (%s, %d of %d); asan %d "
                 "of %d, plain %d of "
                 "%d",
                 family_name(k->s.finder), k->finder_hits, k->finder_runs, v->asan_hits,
                 v->asan_runs, v->plain_hits, v->plain_runs);
    else
        snprintf(
            v->why, sizeof v->why,
            "it does not fail again: asan %d of %d%s%s, plain %d of %d; its fuzzer saw signal %d",
            v->asan_hits, v->asan_runs, *late ? ", " : "", late, v->plain_hits, v->plain_runs,
            k->s.signal);
    free(late);
    v->outcome = TRIAGE_CLEAN;
    finish(k);
}

/* It fails without a sanitizer only: what is known of it is how. */
static void bucket_after_plain(struct look *k, struct shot *s)
{
    struct verdict *v = &k->v;
    take_report(k, s);
    if (v->plain_runs < CONFIRM_RUNS && !s->late) {
        shoot(k, FAMILY_PLAIN, 0, false, false);
    } else if (v->plain_hits) {
        set_why(k,
                v->plain_hits == CONFIRM_RUNS ? "" : "flaky, and the asan build does not show it");
        finish(k);
    } else if (k->s.finder && lab_has(k->lab, k->s.finder) && k->s.finder != FAMILY_HFUZZ) {
        shoot(k, k->s.finder, 0, false, true);
    } else {
        say_clean(k);
    }
}

static void bucket_after_finder(struct look *k, struct shot *s)
{
    k->finder_runs++;
    k->finder_hits += s->hit;
    if (k->finder_runs < CONFIRM_RUNS && !s->late)
        shoot(k, k->s.finder, 0, false, true);
    else
        say_clean(k);
}

/* --- confirming --------------------------------------------------------------------------------- */

static void say_confirmed(struct look *k)
{
    struct verdict *v = &k->v;
    v->outcome = TRIAGE_CRASH;
    if (v->plain_hits == CONFIRM_RUNS)
        set_why(k, "");
    else if (!lab_has(k->lab, FAMILY_PLAIN))
        set_why(k, "there is no plain build to confirm it on: carol build with the family plain");
    else if (v->plain_hits)
        snprintf(v->why, sizeof v->why, "flaky: it fails in %d of %d runs of the plain build",
                 v->plain_hits, v->plain_runs);
    else if (v->asan_hits == v->asan_runs)
        set_why(k, "only the sanitizer sees it: the plain build runs through");
    else
        snprintf(v->why, sizeof v->why,
                 "flaky: it fails in %d of %d runs of the asan build and never on the plain one",
                 v->asan_hits, v->asan_runs);
    finish(k);
}

static void confirm_next(struct look *k)
{
    struct verdict *v = &k->v;
    if (lab_has(k->lab, FAMILY_PLAIN) && v->plain_runs < CONFIRM_RUNS)
        shoot(k, FAMILY_PLAIN, 0, false, true);
    else if (lab_has(k->lab, FAMILY_ASAN) && v->asan_runs < CONFIRM_RUNS &&
             (v->plain_hits < CONFIRM_RUNS || (k->s.worst && !v->withheld)))
        shoot(k, FAMILY_ASAN, 0, false, false);
    else
        say_confirmed(k);
}

/* --- hangs -------------------------------------------------------------------------------------- */

static void hang_shown(struct look *k)
{
    struct verdict *v = &k->v;
    report_hang(&v->r, (const char *const *)k->shown, (size_t)k->n_shown);
    v->known = true;
    v->outcome = TRIAGE_HANG;
    v->text = k->n_shown ? xstrdup(k->shown[0]) : NULL;
    finish(k);
}

static void hang_next(struct look *k, struct shot *s, enum family was)
{
    struct verdict *v = &k->v;
    bool first = v->plain_runs + v->asan_runs == 1;
    if (s->hit && !s->late) { /* it ends, in a crash */
        k->s.kind = LOOK_BUCKET;
        v->asan_runs = v->asan_hits = v->plain_runs = v->plain_hits = 0;
        shoot(k, lab_has(k->lab, FAMILY_ASAN) ? FAMILY_ASAN : FAMILY_PLAIN, 0, false, false);
        return;
    }
    if (first && !s->late) {
        v->outcome = TRIAGE_SLOW;
        snprintf(v->why, sizeof v->why, "it ends after %.2f s of CPU time on the %s build",
                 (double)s->cpu_us / 1e6, family_name(was));
        finish(k);
        return;
    }
    if (first) { /* not to end is to fail */
        v->plain_hits = v->plain_runs;
        v->plain_signal = 0;
        v->asan_runs = v->asan_hits = 0;
        if (was != FAMILY_PLAIN)
            set_why(k, "there is no plain build to confirm it on");
    } else if (s->late && s->len) {
        k->shown[k->n_shown++] = cut(s->text, s->len);
    }
    bool more =
        lab_has(k->lab, FAMILY_ASAN) && v->asan_runs < HANG_SHOWN && k->n_shown < HANG_SHOWN;
    if (more)
        shoot(k, FAMILY_ASAN, HANG_STEP * (v->asan_runs + 1), true, false);
    else
        hang_shown(k);
}

/* --- every shot --------------------------------------------------------------------------------- */

static void count(struct look *k, const struct shot *s)
{
    struct verdict *v = &k->v;
    bool asan = k->now == FAMILY_ASAN;
    v->cpu_us += s->cpu_us;
    if (asan && !(k->slow_unwind && k->s.kind == LOOK_BUCKET)) {
        v->asan_runs++;
        v->asan_hits += s->hit;
    } else if (k->now == FAMILY_PLAIN) {
        v->plain_runs++;
        v->plain_hits += s->hit;
        v->plain_signal = s->hit ? s->signal : v->plain_signal;
    }
}

static void on_shot(void *arg, struct shot *s)
{
    struct look *k = arg;
    enum family was = k->now;
    if (!s->ran) {
        broken(k, s->why);
        return;
    }
    count(k, s);
    if (k->s.kind == LOOK_CONFIRM) {
        k->v.withheld = k->v.withheld || (s->known && s->r.withheld);
        confirm_next(k);
    } else if (k->s.kind == LOOK_HANG) {
        hang_next(k, s, was);
    } else if (was == FAMILY_ASAN) {
        bucket_after_asan(k, s);
    } else if (was == FAMILY_PLAIN) {
        bucket_after_plain(k, s);
    } else {
        bucket_after_finder(k, s);
    }
}

int look_start(struct look **out, struct lab *lab, const struct look_spec *s, look_fn *fn,
               void *arg, struct err *e)
{
    struct look *k = xcalloc(1, sizeof *k);
    *k = (struct look){.lab = lab, .s = *s, .fn = fn, .arg = arg, .v = {.r = {.access = ""}}};
    bool plain = lab_has(lab, FAMILY_PLAIN), asan = lab_has(lab, FAMILY_ASAN);
    bool plain_first = s->kind == LOOK_BUCKET ? !asan : plain;
    k->now = plain_first ? FAMILY_PLAIN : FAMILY_ASAN;
    struct shot_spec spec = {.family = k->now,
                             .data = s->data,
                             .size = s->size,
                             .cpu = s->cpu,
                             .most_ms = s->most_ms,
                             .quick = s->kind == LOOK_CONFIRM && plain_first};
    int rc = plain || asan
                 ? lab_shoot(lab, &spec, on_shot, k, e)
                 : err_usage(e, "there is neither an asan nor a plain build to run it on");
    if (rc < 0)
        free(k);
    else
        *out = k;
    return rc;
}

void look_cancel(struct look *k)
{
    if (!k)
        return;
    lab_forget(k->lab, k);
    dispose(k);
}

/* --- for the record ------------------------------------------------------------------------------ */

struct store_triage verdict_row(const struct verdict *v, int64_t crash, const char *build,
                                char *bucket)
{
    struct store_triage r = {.crash = crash,
                             .build = build,
                             .outcome = v->outcome,
                             .defect = bucket,
                             .asan_runs = v->asan_runs,
                             .asan_hits = v->asan_hits,
                             .plain_runs = v->plain_runs,
                             .plain_hits = v->plain_hits,
                             .plain_signal = v->plain_signal,
                             .cpu_us = v->cpu_us,
                             .why = v->why,
                             .report = v->text};
    bucket[0] = '\0';
    bool defect = v->known && (v->outcome == TRIAGE_CRASH || v->outcome == TRIAGE_HANG ||
                               v->outcome == TRIAGE_OOM);
    if (!defect)
        return r;
    report_bucket(&v->r, bucket);
    r.function = v->r.function;
    r.file = v->r.file;
    r.line = v->r.line;
    r.fault = v->r.fault;
    r.entry = v->r.entry;
    r.access = v->r.access;
    r.bytes = v->r.bytes;
    r.address = v->r.address;
    r.cwe = v->r.cwe;
    r.withheld = v->r.withheld;
    return r;
}
