/* explain: `carol explain`: one decision on one screen, or what moved the choices of a campaign. */
#include "cli/cli.h"

#include "base/str.h"
#include "campaign/explain.h"
#include "cli/journal.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "      --turn N   why turn N went to that fuzzer: signals, prediction, "
                           "width, noise and draw of\n"
                           "                 each, the reason in words, and what came of it\n"
                           "      --json     for programs (schema 1)\n\n"
                           "Without --turn: how often each fuzzer was chosen, how often against "
                           "the highest prediction, and\n"
                           "the influence of each signal: the share of choices that would have "
                           "been others with that signal\n"
                           "at its mean.  A running campaign can be asked too.\n";

#define ARMS_ABREAST 6 /* in one table: a line of 100 columns */

enum { OPT_TURN = 256, OPT_JSON };

static const struct option options[] = {
    {"turn", 1, 0, OPT_TURN}, {"json", 0, 0, OPT_JSON}, {"help", 0, 0, 'h'}, {0, 0, 0, 0}};

struct args {
    const char *out;
    uint64_t turn; /* 0: the campaign */
    bool json, help;
};

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    int rc = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case OPT_TURN: rc = str_to_u64(optarg, "--turn", 1, INT64_MAX, &a->turn, e); break;
        case OPT_JSON: a->json = true; break;
        case 'h': a->help = true; return 0;
        default: return err_usage(e, "'carol explain --help' tells what it takes");
        }
        if (rc < 0)
            return rc;
    }
    if (optind + 1 != argc)
        return err_usage(e, "which campaign? carol explain OUT");
    a->out = argv[optind];
    return 0;
}

/* What is asked about, and the words for it. */
struct subject {
    const char *out;
    const struct campaign_opts *o;
    const struct sched_ops *ops;
    const char *const *arms;
};

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

/* --- one decision, for programs ---------------------------------------------------------------- */
static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *signals_json(const double *v)
{
    json_t *o = json_object();
    for (int i = 0; i < SIGNAL_COUNT; i++)
        json_object_set_new(o, signal_name((enum signal_id)i), real(v[i]));
    return o;
}

static json_t *arm_json(const struct decision *d, int i)
{
    const struct decision_arm *a = &d->arm[i];
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:b}", "signals", signals_json(a->signals),
                     "standardised", signals_json(a->standardised), "mean", real(a->mean), "width",
                     real(a->width), "noise", real(a->noise), "draw", real(a->draw), "dropped",
                     !decision_may(d, i));
}

static json_t *arms_json(const struct subject *s, const struct decision *d)
{
    json_t *o = json_object();
    for (int i = 0; i < d->n_arms; i++)
        json_object_set_new(o, s->arms[i], arm_json(d, i));
    return o;
}

static const char *state_word(enum turn_state s)
{
    switch (s) {
    case TURN_RUNNING: return "running";
    case TURN_PARKED: return "measured";
    case TURN_COMMITTED: return "completed";
    case TURN_VOID: return "void";
    case TURN_NONE: break;
    }
    return "unknown";
}

static json_t *outcome_json(const struct store_turn *t)
{
    return json_pack("{s:s,s:I,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:f,s:b}", "state",
                     state_word(t->state), "round", (json_int_t)t->round, "reward", real(t->reward),
                     "raw", real(t->raw), "new_edges", (json_int_t)t->new_edges, "inputs",
                     (json_int_t)t->inputs, "crashes", (json_int_t)t->crashes, "hangs",
                     (json_int_t)t->hangs, "execs", (json_int_t)t->execs, "cycles",
                     (json_int_t)t->cycles, "active_s", seconds(t->active_ns), "died", t->died);
}

static json_t *columns_json(const struct sched_ops *ops)
{
    static const char *const names[] = {"mean", "width", "noise", "draw"};
    json_t *o = json_object();
    for (int i = 0; i < 4; i++)
        json_object_set_new(o, names[i],
                            ops->columns[i] ? json_string(ops->columns[i]) : json_null());
    return o;
}

/* Signals that decided: {signal: who would have been chosen}; null when it was not asked. */
static json_t *without_json(const struct subject *s, const struct explained *x)
{
    json_t *o = x->asked ? json_object() : json_null();
    for (int k = 0; x->asked && k < SIGNAL_COUNT; k++)
        if (x->without[k] != x->d.choice && x->without[k] >= 0)
            json_object_set_new(o, signal_name((enum signal_id)k),
                                json_string(s->arms[x->without[k]]));
    return o;
}

static void dump(json_t *o)
{
    json_dumpf(o, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(o);
}

static void turn_json(const struct subject *s, const struct explained *x, const char *why)
{
    const struct decision *d = &x->d;
    int64_t turn_ns = d->turn_ns ? d->turn_ns : s->o->turn_ns;
    dump(json_pack("{s:i,s:I,s:s?,s:o,s:s,s:s,s:f,s:i,s:f,s:o,s:s,s:o,s:o}", "schema", 1, "turn",
                   (json_int_t)d->t, "chosen", d->choice < 0 ? NULL : s->arms[d->choice], "fuzzers",
                   arms_json(s, d), "scheduler", s->o->scheduler, "params",
                   s->o->params ? s->o->params : "", "time_s", seconds(d->now_ns), "worker",
                   d->worker, "turn_s", seconds(turn_ns), "columns", columns_json(s->ops), "why",
                   why, "outcome", outcome_json(&x->row), "without", without_json(s, x)));
}

/* --- one decision, for people ------------------------------------------------------------------- */
static void table_head(const struct subject *s, const struct decision *d, int from, int to)
{
    printf("\n%-21s", "");
    for (int i = from; i < to; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", i == d->choice ? "*" : "", s->arms[i]);
        printf("%13.13s", name);
    }
    printf("\n");
    if (!d->dropped)
        return;
    printf("%-21s", "");
    for (int i = from; i < to; i++)
        printf("%13s", decision_may(d, i) ? "" : "dropped");
    printf("\n");
}

static bool is_standardised(const struct decision *d)
{
    for (int i = 0; i < d->n_arms; i++)
        for (int k = 0; k < SIGNAL_COUNT; k++)
            if (d->arm[i].standardised[k] != 0)
                return true;
    return false;
}

/* At most six characters. */
static const char *brief(double v, char out[16])
{
    double size = fabs(v);
    snprintf(out, 16, size == 0 ? "%.0f" : size < 0.001 ? "%.0e" : size < 10 ? "%.3f" : "%.3g", v);
    return out;
}

static void signal_rows(const struct decision *d, int from, int to)
{
    bool both = is_standardised(d);
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        printf("%-21s", signal_name((enum signal_id)k));
        for (int i = from; i < to; i++) {
            const struct decision_arm *a = &d->arm[i];
            char text[16];
            if (both)
                printf(" %6s %+5.2f", brief(a->signals[k], text), a->standardised[k]);
            else
                printf("%13.4g", a->signals[k]);
        }
        printf("\n");
    }
}

static void number_rows(const struct sched_ops *ops, const struct decision *d, int from, int to)
{
    static const size_t at[] = {
        offsetof(struct decision_arm, mean), offsetof(struct decision_arm, width),
        offsetof(struct decision_arm, noise), offsetof(struct decision_arm, draw)};
    for (int k = 0; k < 4; k++) {
        if (!ops->columns[k])
            continue;
        printf("%-21.21s", ops->columns[k]);
        for (int i = from; i < to; i++)
            printf("%13.4g", *(const double *)(const void *)((const char *)&d->arm[i] + at[k]));
        printf("\n");
    }
}

static void print_tables(const struct subject *s, const struct decision *d)
{
    for (int from = 0; from < d->n_arms; from += ARMS_ABREAST) {
        int to = from + ARMS_ABREAST < d->n_arms ? from + ARMS_ABREAST : d->n_arms;
        table_head(s, d, from, to);
        signal_rows(d, from, to);
        number_rows(s->ops, d, from, to);
    }
}

static void print_without(const struct subject *s, const struct explained *x)
{
    int n = 0;
    for (int k = 0; k < SIGNAL_COUNT; k++)
        if (x->without[k] != x->d.choice && x->without[k] >= 0)
            printf("%s%s: %s", n++ ? ", " : "with one signal at its mean it would have been: ",
                   signal_name((enum signal_id)k), s->arms[x->without[k]]);
    printf("%s\n", n ? ""
                     : "no signal alone decided it: with any of them at its mean the choice "
                       "is the same");
}

static void print_outcome(const struct store_turn *t)
{
    printf("what came of it: ");
    if (t->state == TURN_RUNNING || t->state == TURN_PARKED) {
        printf("not known yet, it is %s\n",
               t->state == TURN_RUNNING ? "running" : "being measured");
        return;
    }
    if (t->state == TURN_VOID) {
        printf("its supervisor was killed; %u inputs were kept, nothing was learned from it\n",
               t->inputs);
        return;
    }
    printf("reward %.4g (raw %.4g), %u new edges, %u inputs, %u crashes, %llu executions in "
           "%.1f s%s%s\n",
           t->reward, t->raw, t->new_edges, t->inputs, t->crashes, (unsigned long long)t->execs,
           seconds(t->active_ns), t->died ? "; it died: " : "", t->died ? t->why : "");
}

static void turn_text(const struct subject *s, const struct explained *x, const char *why)
{
    const struct decision *d = &x->d;
    int64_t turn_ns = d->turn_ns ? d->turn_ns : s->o->turn_ns;
    printf("turn %llu at %.1f s on worker %d, %s: %s for %.4g s\n", (unsigned long long)d->t,
           seconds(d->now_ns), d->worker, s->o->scheduler,
           d->choice < 0 ? "nobody" : s->arms[d->choice], seconds(turn_ns));
    print_tables(s, d);
    if (is_standardised(d))
        printf("(signals: as measured, then standardised)\n");
    printf("\nwhy: %s\n", why);
    if (x->asked)
        print_without(s, x);
    print_outcome(&x->row);
}

static int explain_one(const struct args *a, const struct journal *j, const struct subject *s,
                       struct err *e)
{
    struct explained x;
    struct buf why = BUF_INIT(1 << 16);
    int rc = explain_turn(&x, j->store, (int64_t)a->turn, e);
    if (rc < 0)
        return rc;
    if (x.d.n_arms != (int)j->o.fuzzers.n)
        return err_usage(e,
                         "turn %lld is of %d fuzzers, the campaign has %zu: its journal is not "
                         "sound; 'carol replay %s' says more",
                         (long long)a->turn, x.d.n_arms, j->o.fuzzers.n, a->out);
    if (s->ops->without && j->fold.table && (rc = explain_without(&x, j->store, &j->fold, e)) < 0)
        return rc;
    explain_why(s->ops, &x.d, s->arms, &why);
    if (a->json)
        turn_json(s, &x, why.p);
    else
        turn_text(s, &x, why.p);
    buf_free(&why);
    return 0;
}

/* --- the campaign ------------------------------------------------------------------------------- */
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* Signals by influence, the strongest first, ties in the order of SPEC 4. */
static void sort_signals(const struct influence *f, int order[SIGNAL_COUNT])
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        int at = i;
        for (; at > 0 && f->changed[order[at - 1]] < f->changed[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static json_t *influence_json(const struct influence *f, const int order[SIGNAL_COUNT])
{
    json_t *all = json_array();
    for (int k = 0; f->signals && k < SIGNAL_COUNT; k++)
        json_array_append_new(all, json_pack("{s:s,s:I,s:f}", "signal",
                                             signal_name((enum signal_id)order[k]), "changed",
                                             (json_int_t)f->changed[order[k]], "share",
                                             share(f->changed[order[k]], f->decisions)));
    return all;
}

static void campaign_json(const struct subject *s, const struct influence *f,
                          const int order[SIGNAL_COUNT])
{
    json_t *arms = json_object();
    for (size_t i = 0; i < s->o->fuzzers.n; i++)
        json_object_set_new(arms, s->arms[i],
                            json_pack("{s:I,s:f}", "choices", (json_int_t)f->choices[i], "share",
                                      share(f->choices[i], f->decisions)));
    json_t *explored = f->predicts ? json_pack("{s:I,s:f}", "choices", (json_int_t)f->explored,
                                               "share", share(f->explored, f->decisions))
                                   : json_null();
    dump(json_pack("{s:i,s:s,s:s,s:I,s:o,s:o,s:b,s:o}", "schema", 1, "scheduler", s->o->scheduler,
                   "params", s->o->params ? s->o->params : "", "decisions",
                   (json_int_t)f->decisions, "fuzzers", arms, "exploration", explored,
                   "reads_signals", f->signals, "influence", influence_json(f, order)));
}

static void print_influence(const struct influence *f, const int order[SIGNAL_COUNT])
{
    printf("\ninfluence: choices that would have been others with that signal at its mean\n");
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        double v = share(f->changed[order[k]], f->decisions);
        printf("  %-21s %6.1f %%  %.*s\n", signal_name((enum signal_id)order[k]), 100 * v,
               (int)lround(v * 40), "########################################");
    }
}

static void campaign_text(const struct subject *s, const struct influence *f,
                          const int order[SIGNAL_COUNT])
{
    printf("%s: %llu decisions\n", s->o->scheduler, (unsigned long long)f->decisions);
    if (s->o->params && *s->o->params)
        printf("(%s)\n", s->o->params);
    printf("\n");
    for (size_t i = 0; i < s->o->fuzzers.n; i++)
        printf("  %-12s %6llu  %5.1f %%\n", s->arms[i], (unsigned long long)f->choices[i],
               100 * share(f->choices[i], f->decisions));
    if (f->predicts)
        printf("\nexploration: %llu choices (%.1f %%) against the highest %s\n",
               (unsigned long long)f->explored, 100 * share(f->explored, f->decisions),
               s->ops->columns[0]);
    if (f->signals && f->decisions)
        print_influence(f, order);
    else if (!f->signals)
        printf("\n%s reads no signals: none of them has any influence on its choices.\n"
               "(carol replay %s --scheduler NAME says what another scheduler would have done)\n",
               s->o->scheduler, s->out);
}

static int explain_all(const struct args *a, const struct journal *j, const struct subject *s,
                       struct err *e)
{
    struct influence f;
    int order[SIGNAL_COUNT];
    int rc = explain_campaign(&f, j->store, &j->fold, e);
    if (rc < 0)
        return rc;
    sort_signals(&f, order);
    if (a->json)
        campaign_json(s, &f, order);
    else
        campaign_text(s, &f, order);
    return 0;
}

static int explain(const struct args *a, struct err *e)
{
    struct journal j;
    int rc = journal_open(&j, a->out, true, e);
    if (rc < 0 && a->turn) { /* a decision explains itself, also where the build is gone */
        journal_close(&j);
        rc = journal_open(&j, a->out, false, e);
    }
    if (rc == 0) {
        struct subject s = {a->out, &j.o, sched_find(j.o.scheduler),
                            (const char *const *)j.o.fuzzers.v};
        if (!s.ops)
            rc = err_usage(e, "this carol has no scheduler %s: take the version that ran it",
                           j.o.scheduler);
        else
            rc = a->turn ? explain_one(a, &j, &s, e) : explain_all(a, &j, &s, e);
    }
    journal_close(&j);
    return rc;
}

int cli_explain(int argc, char **argv)
{
    struct args a = {0};
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help)
        return cli_help(cli_find("explain"), help);
    if (rc == 0)
        rc = explain(&a, &e);
    return rc < 0 ? cli_fail(&e) : 0;
}
