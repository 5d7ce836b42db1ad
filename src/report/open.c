/* open: a campaign's report from its directory: begun, brought up to date, closed.  What is read is in data.c. */
#include "report/data.h"

#include "base/die.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Takes the key. */
static int read_fact(struct report *r, struct store *s, enum fact_kind kind, char *key,
                     const struct setting *st, struct err *e)
{
    XGROW(r->facts, r->n_facts, r->cap_facts);
    r->facts[r->n_facts] = (struct data_fact){kind, st, key, NULL};
    return store_get(s, key, &r->facts[r->n_facts++].value, e);
}

static int read_facts(struct report *r, struct store *s, struct err *e)
{
    static const char *const versions[] = {"carol", "compiler", NULL};
    static const char *const host[] = {"name", "kernel", "cpus", "core_pattern", "loadavg", NULL};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < settings_count; i++)
        if (settings_table[i].key)
            rc = read_fact(r, s, FACT_SETTING, xstrdup(settings_table[i].key), &settings_table[i],
                           e);
    for (const char *const *k = versions; rc == 0 && *k; k++)
        rc = read_fact(r, s, FACT_VERSION, str_fmt("version.%s", *k), NULL, e);
    for (size_t i = 0; rc == 0 && i < r->j.o.fuzzers.n; i++)
        rc = read_fact(r, s, FACT_VERSION, str_fmt("version.%s", r->j.o.fuzzers.v[i]), NULL, e);
    if (rc == 0)
        rc = read_fact(r, s, FACT_VERSION, xstrdup("build_id"), NULL, e);
    for (const char *const *k = host; rc == 0 && *k; k++)
        rc = read_fact(r, s, FACT_HOST, str_fmt("host.%s", *k), NULL, e);
    return rc;
}

int report_refresh(struct report *r, int max_turns, struct err *e)
{
    struct store *s = NULL;
    int rc = store_open(&s, r->dir, STORE_READ, e);
    if (rc == 0)
        rc = data_read(r, s, max_turns, e);
    store_close(s);
    return rc;
}

bool report_is_whole(const struct report *r)
{
    return r->whole;
}

const struct status *report_status(const struct report *r)
{
    return &r->st;
}

const struct defects *report_defects(const struct report *r)
{
    return &r->defects;
}

int report_begin(struct report **out, const char *dir, struct err *e)
{
    struct report *r = xcalloc(1, sizeof *r);
    r->dir = xstrdup(dir);
    r->prefix = xstrdup("");
    int rc = journal_open(&r->j, r->dir, JOURNAL_RECORD, e);
    if (rc == 0)
        rc = read_facts(r, r->j.store, e);
    store_close(r->j.store);
    r->j.store = NULL;
    r->can_reproduce =
        r->j.o.build && manifest_load(r->j.o.build, r->j.o.target, &r->j.manifest, NULL) == 0 &&
        (r->j.manifest.family[FAMILY_ASAN].ok || r->j.manifest.family[FAMILY_PLAIN].ok);
    r->n_arms = (int)(r->j.o.fuzzers.n < SCHED_MAX_ARMS ? r->j.o.fuzzers.n : SCHED_MAX_ARMS);
    for (int i = 0; i < r->n_arms; i++)
        r->arm_names[i] = r->j.arms[i];
    snprintf(r->no_influence, sizeof r->no_influence,
             "it takes a replay of the campaign, which follows");
    if (rc == 0)
        rc = report_refresh(r, 0, e);
    if (rc < 0)
        report_close(r);
    else
        *out = r;
    return rc < 0 ? rc : 0;
}

static int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* A replay with questions; where the build is gone, or it takes longer than that (0: no limit), the page goes without. */
static void ask_influence(struct report *r, int64_t within_ns)
{
    int64_t until = within_ns ? now_ns() + within_ns : 0;
    struct journal j;
    struct err e = {0};
    int rc = journal_open(&j, r->dir, JOURNAL_EDGES, &e);
    if (rc == 0 && !j.ops)
        rc = err_usage(&e, "this carol has no scheduler %s", j.o.scheduler);
    if (rc == 0)
        rc = explain_campaign(&r->influence, j.store, &j.fold, until, &e);
    r->has_influence = rc == 0;
    r->asked_turns = r->n_turns;
    if (rc < 0)
        r->influence = (struct influence){0};
    if (rc == -ETIME)
        snprintf(
            r->no_influence, sizeof r->no_influence,
            "it takes a replay of the campaign, which was given up after %.0f s; 'carol explain "
            "%.300s' has it",
            (double)within_ns / 1e9, r->dir);
    else if (rc < 0)
        snprintf(r->no_influence, sizeof r->no_influence, "%.500s", e.msg);
    journal_close(&j);
}

bool report_ask(struct report *r, int64_t within_ns)
{
    bool rests = strcmp(r->st.state, "running") != 0;
    if (r->n_turns == r->asked_turns || (!rests && r->n_turns * 2 < r->asked_turns * 3))
        return false;
    ask_influence(r, within_ns);
    return true;
}

int report_open(struct report **out, const char *dir, struct err *e)
{
    int rc = report_begin(out, dir, e);
    while (rc == 0 && (rc = report_refresh(*out, 1 << 20, e)) > 0)
        rc = 0;
    if (rc < 0)
        return rc;
    ask_influence(*out, 0);
    return 0;
}

void report_close(struct report *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_turns; i++)
        free(r->turns[i].why);
    for (size_t i = 0; i < r->n_samples; i++)
        free(r->samples[i].signals);
    for (size_t i = 0; i < DATA_FULL; i++)
        free(r->full[i]);
    for (size_t i = 0; i < r->n_facts; i++) {
        free(r->facts[i].key);
        free(r->facts[i].value);
    }
    free(r->facts);
    free(r->samples);
    free(r->turns);
    free(r->edges);
    free(r->gains);
    free(r->seeds);
    free(r->steps);
    free(r->fresh);
    free(r->crashes);
    defects_free(&r->defects);
    journal_close(&r->j);
    free(r->dir);
    free(r->prefix);
    free(r);
}
