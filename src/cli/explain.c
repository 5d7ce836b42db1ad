/* explain: `carol explain`: one decision on one screen, or what moved the choices of a campaign. */
#include "cli/cli.h"

#include "base/str.h"
#include "cli/explain.h"
#include "journal/json.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "      --turn N   why turn N went to that fuzzer: signals, prediction, "
                           "width, noise and draw of\n"
                           "                 each, the reason in words, and what came of it\n"
                           "      --json     for programs (schema 1)\n\n"
                           "Without --turn: how often each fuzzer was chosen, how many choices "
                           "after the warm-up\n"
                           "went against the highest prediction, and the influence of each signal: "
                           "the share of choices\n"
                           "that would change if the signal were replaced by its mean.  Works on a "
                           "running campaign, too.\n";

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

static void dump(json_t *o)
{
    json_dumpf(o, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(o);
}

static int explain_one(const struct args *a, const struct journal *j, struct err *e)
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
    if (j->ops->without && j->fold.table && (rc = explain_without(&x, j->store, &j->fold, e)) < 0)
        return rc;
    explain_why(j->ops, &x.d, j->arms, &why);
    if (a->json)
        dump(explain_turn_json(j, &x, why.p));
    else
        explain_turn_text(j, &x, why.p);
    buf_free(&why);
    return 0;
}

/* --- the campaign ------------------------------------------------------------------------------- */
static void print_influence(const struct influence *f)
{
    int order[SIGNAL_COUNT];
    influence_order(f, order);
    printf("\ninfluence: choices that would change if the signal were replaced by its mean\n");
    for (int k = 0; k < SIGNAL_COUNT; k++) {
        double v = influence_share(f, f->changed[order[k]]);
        printf("  %-21s %6.1f %%  %.*s\n", signal_name((enum signal_id)order[k]), 100 * v,
               (int)lround(v * 40), "########################################");
    }
}

static void campaign_text(const struct journal *j, const struct influence *f)
{
    printf("%s%s: %llu decisions\n", j->simulated ? "simulated: " : "", j->o.scheduler,
           (unsigned long long)f->decisions);
    if (j->o.params && *j->o.params)
        printf("(%s)\n", j->o.params);
    printf("\n");
    for (size_t i = 0; i < j->o.fuzzers.n; i++)
        printf("  %-12s %6llu  %5.1f %%\n", j->arms[i], (unsigned long long)f->choices[i],
               100 * influence_chosen(f, (int)i));
    if (f->warmup)
        printf(
            "\nwarm-up: %llu first turns, given without comparing; the others are counted below\n",
            (unsigned long long)f->warmup);
    if (f->predicts)
        printf("\nexploration: %llu of %llu choices (%.1f %%) against the highest %s\n",
               (unsigned long long)f->explored, (unsigned long long)(f->decisions - f->warmup),
               100 * influence_share(f, f->explored), j->ops->columns[0]);
    if (f->signals && f->decisions)
        print_influence(f);
    else if (!f->signals)
        printf("\n%s reads no signals: none of them has any influence on its choices.\n"
               "(carol replay %s --scheduler NAME says what another scheduler would have done)\n",
               j->o.scheduler, j->out);
}

static int explain_all(const struct args *a, const struct journal *j, struct err *e)
{
    struct influence f;
    int rc = explain_campaign(&f, j->store, &j->fold, 0, e);
    if (rc == 0 && a->json)
        dump(influence_json(j, &f));
    else if (rc == 0)
        campaign_text(j, &f);
    return rc;
}

static int explain(const struct args *a, struct err *e)
{
    struct journal j;
    int rc = journal_open(&j, a->out, JOURNAL_EDGES, e);
    if (rc < 0 && a->turn) { /* a decision explains itself, also where the build is gone */
        journal_close(&j);
        rc = journal_open(&j, a->out, JOURNAL_RECORD, e);
    }
    if (rc == 0 && !j.ops)
        rc = err_usage(e, "this carol has no scheduler %s: take the version that ran it",
                       j.o.scheduler);
    else if (rc == 0)
        rc = a->turn ? explain_one(a, &j, e) : explain_all(a, &j, e);
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
