/* study: finds campaigns and sees that they can be looked at together.  Analyses nothing. */
#include "analyze/study.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "bench/outcome.h"
#include "journal/journal.h"
#include "proc/crew.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- one campaign ------------------------------------------------------------------------------------- */

/* What people call its target: the name in the benchmark or in the settings, that of the only one in the build, or the
 * build's own. */
static char *target_name(const struct camp *c, const struct journal *j)
{
    struct manifest m = {0};
    char *name = NULL;
    if (c->bench_target)
        return xstrdup(c->bench_target);
    if (j->o.target && *j->o.target)
        return xstrdup(j->o.target);
    if (j->o.build && manifest_load(j->o.build, NULL, &m, NULL) == 0 && m.target)
        name = xstrdup(m.target);
    manifest_free(&m);
    const char *slash = j->o.build ? strrchr(j->o.build, '/') : NULL;
    return name ? name : xstrdup(slash ? slash + 1 : "unknown");
}

static size_t target_number(struct study *s, char *name)
{
    size_t i = 0;
    while (i < s->targets.n && strcmp(s->targets.v[i], name) != 0)
        i++;
    if (i < s->targets.n)
        free(name);
    else
        strv_take(&s->targets, name);
    return i;
}

/* "carol 0.1.0, compiler clang-19 19.1.7, aflpp ..." */
static int versions_of(const struct journal *j, char **out, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < j->o.fuzzers.n + 2; i++) {
        const char *of = i == 0 ? "carol" : i == 1 ? "compiler" : j->o.fuzzers.v[i - 2];
        char *key = str_fmt("version.%s", of), *value = NULL;
        rc = store_get(j->store, key, &value, e);
        buf_printf(&b, "%s%s %s", i ? ", " : "", of, value ? value : "unknown");
        free(value);
        free(key);
    }
    *out = buf_take(&b);
    return rc;
}

static int describe(struct study *s, struct camp *c, struct journal *j, struct err *e)
{
    struct store_totals totals;
    int rc = store_totals(j->store, &totals, e);
    if (rc == 0)
        rc = store_get(j->store, "build_id", &c->build_id, e);
    if (rc == 0)
        rc = store_get(j->store, "edges_total", &c->edges, e);
    if (rc == 0)
        rc = versions_of(j, &c->versions, e);
    if (rc < 0)
        return rc;
    c->target = target_number(s, target_name(c, j));
    c->params = j->o.params ? xstrdup(j->o.params) : NULL;
    c->arms = (int)j->o.fuzzers.n;
    c->workers = j->o.jobs;
    c->seed = j->o.seed;
    c->turn_ns = j->o.turn_ns;
    c->budget_ns = j->o.budget_ns;
    c->elapsed_ns = totals.elapsed_ns;
    c->reward = j->o.reward;
    c->simulated = j->simulated;
    return 0;
}

static bool same_roster(const struct strv *a, const struct strv *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = strcmp(a->v[i], b->v[i]) == 0;
    return same;
}

static int same_kind(struct study *s, const struct camp *c, const struct strv *fuzzers,
                     struct err *e)
{
    const struct camp *first = s->n ? &s->camps[0] : c;
    if (!same_roster(&s->fuzzers, fuzzers))
        return err_usage(e,
                         "%s and %s have different fuzzers, or the same in another order: analyse "
                         "them apart (--of NAME)",
                         first->out, c->out);
    if (c->reward != first->reward)
        return err_usage(
            e, "%s and %s were rewarded in different ways: analyse them apart (--of NAME)",
            first->out, c->out);
    for (size_t i = 0; i < s->n; i++) {
        const struct camp *o = &s->camps[i];
        if (strcmp(o->out, c->out) == 0)
            return err_usage(e, "%s is given twice", c->out);
        if (o->target == c->target && o->edges && c->edges && strcmp(o->edges, c->edges) != 0)
            return err_usage(e,
                             "%s and %s are of different builds of '%s', with %s and %s edges: "
                             "rewards of one mean nothing in the other; analyse them apart",
                             o->out, c->out, s->targets.v[c->target], o->edges, c->edges);
    }
    return 0;
}

static void camp_free(struct camp *c)
{
    free(c->out);
    free(c->build_id);
    free(c->edges);
    free(c->scheduler);
    free(c->params);
    free(c->contender);
    free(c->versions);
    free(c->result);
    free(c->bench_target);
}

/* The result of a campaign of `carol bench`, beside its journal or one above its record; NULL: there is none. */
static char *result_beside(const char *out)
{
    size_t up = str_ends(out, "/out") ? strlen("/out") : 0;
    char *path = str_fmt("%.*s/result.json", (int)(strlen(out) - up), out);
    if (!fs_exists(path)) {
        free(path);
        path = NULL;
    }
    return path;
}

/* Who it was of, by its result or by its record. */
static void name_camp(struct camp *c, const struct journal *j)
{
    struct result r;
    c->scheduler = xstrdup(j->o.scheduler ? j->o.scheduler : "");
    c->result = result_beside(c->out);
    if (c->result && result_read(&r, c->result, NULL) == 0) {
        c->contender = xstrdup(r.contender);
        c->bench_target = xstrdup(r.target);
        result_free(&r);
    } else {
        c->contender = xstrdup(c->scheduler);
    }
}

/* Is it of those that were asked for, as a contender or by its scheduler? */
static bool wanted(struct study *s, const struct camp *c)
{
    if (!strv_has(&s->contenders, c->contender))
        strv_add(&s->contenders, c->contender);
    return !s->only || !s->only->n || strv_has(s->only, c->contender);
}

static int add_campaign(struct study *s, const char *out, struct err *e)
{
    char real[PATH_MAX];
    struct journal j;
    struct camp c = {.out = xstrdup(realpath(out, real) ? real : out)};
    int rc = journal_open(&j, out, JOURNAL_TURNS, e);
    if (rc == 0)
        name_camp(&c, &j);
    if (rc == 0 && !wanted(s, &c)) {
        s->left_out++;
        journal_close(&j);
        camp_free(&c);
        return 0;
    }
    if (rc == 0)
        rc = describe(s, &c, &j, e);
    if (rc == 0 && !s->n)
        for (size_t i = 0; i < j.o.fuzzers.n; i++)
            strv_add(&s->fuzzers, j.o.fuzzers.v[i]);
    if (rc == 0)
        rc = same_kind(s, &c, &j.o.fuzzers, e);
    journal_close(&j);
    if (rc < 0) {
        camp_free(&c);
        return rc;
    }
    XGROW(s->camps, s->n, s->cap);
    s->camps[s->n++] = c;
    return 0;
}

/* --- where they are ------------------------------------------------------------------------------------ */

static bool has(const char *dir, const char *name)
{
    char *path = fs_join(dir, name);
    bool yes = fs_exists(path);
    free(path);
    return yes;
}

/* DIR itself, a record or a journal alone, or DIR/out, the place of `carol bench`. */
static int try_campaign(struct study *s, const char *dir, struct err *e)
{
    char *out = fs_join(dir, "out");
    int rc = 0;
    if (has(dir, "carol.db") || has(dir, STORE_JOURNAL_FILE))
        rc = add_campaign(s, dir, e);
    else if (has(out, "carol.db"))
        rc = add_campaign(s, out, e);
    free(out);
    return rc;
}

/* done: of a benchmark, where what has no result was cut off or still runs. */
static int try_all(struct study *s, const char *dir, bool done, struct err *e)
{
    struct strv names = {0};
    int rc = fs_list(dir, &names, e);
    strv_sort(&names);
    for (size_t i = 0; rc == 0 && i < names.n; i++) {
        char *path = fs_join(dir, names.v[i]);
        if (fs_is_dir(path) && (!done || has(path, "result.json")))
            rc = try_campaign(s, path, e);
        free(path);
    }
    strv_free(&names);
    return rc;
}

static int add_all(struct study *s, const char *dir, struct err *e)
{
    size_t before = s->n + s->left_out;
    if (!fs_is_dir(dir))
        return err_usage(e, "there is no directory %s", dir);
    char *trials = fs_join(dir, "campaigns");
    int rc = try_campaign(s, dir, e);
    if (rc == 0 && s->n + s->left_out == before)
        rc = fs_is_dir(trials) ? try_all(s, trials, true, e) : try_all(s, dir, false, e);
    if (rc == 0 && s->n + s->left_out == before)
        rc = err_usage(
            e,
            "%s holds no campaign: neither a carol.db nor directories with one "
            "('carol bench run' leaves journals with --keep-journals, when a campaign is done)",
            dir);
    free(trials);
    return rc;
}

int study_open(struct study *s, const struct strv *outs, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < outs->n; i++)
        rc = add_all(s, outs->v[i], e);
    return rc < 0 ? rc : outcome_check_names(s->only, &s->contenders, s->n + s->left_out, e);
}

void study_free(struct study *s)
{
    for (size_t i = 0; i < s->n; i++)
        camp_free(&s->camps[i]);
    free(s->camps);
    strv_free(&s->targets);
    strv_free(&s->fuzzers);
    strv_free(&s->contenders);
}

size_t study_count(const struct study *s, size_t target)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->camps[i].target == target;
    return n;
}

/* --- all of them ---------------------------------------------------------------------------------------- */

struct each {
    const struct study *s;
    size_t size;
    study_fn *fn;
    void *arg;
};

static int one(void *arg, size_t camp, void *shared, struct err *e)
{
    const struct each *each = arg;
    struct story l;
    int rc = story_load(&l, &each->s->camps[camp], e);
    if (rc == 0)
        rc = each->fn(each->arg, &l, camp, (char *)shared + camp * each->size, e);
    story_free(&l);
    return rc;
}

int study_each(const struct study *s, size_t size, study_fn *fn, void *arg, void *results,
               struct err *e)
{
    struct each each = {s, size, fn, arg};
    return crew_run(
        &(struct crew){
            .jobs = s->n, .processes = s->processes, .size = s->n * size, .job = one, .arg = &each},
        results, e);
}
