/* explain: `carol explain`: one decision on one screen, or what moved the choices of a campaign. */
#include "cli/cli.h"

#include "base/str.h"
#include "cli/explain.h"
#include "cli/journal.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "      --turn N   why turn N went to that fuzzer: signals, prediction, "
                           "width, noise and draw of\n"
                           "                 each, the reason in words, and what came of it\n"
                           "      --json     for programs (schema 1)\n\n"
                           "Without --turn: how often each fuzzer was chosen, and of the choices "
                           "after the warm-up how many\n"
                           "were against the highest prediction, and the influence of each "
                           "signal: the share that would\n"
                           "have been others with that signal at its mean.  A running campaign "
                           "can be asked too.\n";

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

static void dump(const struct subject *s, json_t *o)
{
    json_object_set_new(o, "simulated", json_boolean(s->simulated));
    json_dumpf(o, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(o);
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
        dump(s, explain_turn_json(s, &x, why.p));
    else
        explain_turn_text(s, &x, why.p);
    buf_free(&why);
    return 0;
}

/* --- the campaign ------------------------------------------------------------------------------- */
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* Decisions in which fuzzers were compared. */
static uint64_t compared(const struct influence *f)
{
    return f->decisions - f->warmup;
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
                                             share(f->changed[order[k]], compared(f))));
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
                                               "share", share(f->explored, compared(f)))
                                   : json_null();
    dump(s, json_pack("{s:i,s:s,s:s,s:I,s:I,s:o,s:o,s:b,s:o}", "schema", 1, "scheduler",
                      s->o->scheduler, "params", s->o->params ? s->o->params : "", "decisions",
                      (json_int_t)f->decisions, "warmup", (json_int_t)f->warmup, "fuzzers", arms,
                      "exploration", explored, "reads_signals", f->signals, "influence",
                      influence_json(f, order)));
}

static void print_influence(const struct influence *f, const int order[SIGNAL_COUNT])
{
    printf("\ninfluence: choices that would have been others with that signal at its mean\n");
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        double v = share(f->changed[order[k]], compared(f));
        printf("  %-21s %6.1f %%  %.*s\n", signal_name((enum signal_id)order[k]), 100 * v,
               (int)lround(v * 40), "########################################");
    }
}

static void campaign_text(const struct subject *s, const struct influence *f,
                          const int order[SIGNAL_COUNT])
{
    printf("%s%s: %llu decisions\n", s->simulated ? "simulated: " : "", s->o->scheduler,
           (unsigned long long)f->decisions);
    if (s->o->params && *s->o->params)
        printf("(%s)\n", s->o->params);
    printf("\n");
    for (size_t i = 0; i < s->o->fuzzers.n; i++)
        printf("  %-12s %6llu  %5.1f %%\n", s->arms[i], (unsigned long long)f->choices[i],
               100 * share(f->choices[i], f->decisions));
    if (f->warmup)
        printf(
            "\nwarm-up: %llu first turns, given without comparing; the others are counted below\n",
            (unsigned long long)f->warmup);
    if (f->predicts)
        printf("\nexploration: %llu of %llu choices (%.1f %%) against the highest %s\n",
               (unsigned long long)f->explored, (unsigned long long)compared(f),
               100 * share(f->explored, compared(f)), s->ops->columns[0]);
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
                            (const char *const *)j.o.fuzzers.v, j.simulated};
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
