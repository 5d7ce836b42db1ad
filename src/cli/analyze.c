/* analyze: `carol analyze`: which analysis, of which campaigns, in which form.  What they do is in src/analyze. */
#include "analyze/analyze.h"

#include "base/buf.h"
#include "base/log.h"
#include "cli/cli.h"
#include "proc/cpus.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "OUT is a campaign, or a directory of them: what 'carol sim -o' or\n"
    "'carol bench run --keep-journals' wrote.  docs/ANALYSES.md says what each question means and\n"
    "how to read its table.\n\n"
    "      --of LIST       only these contenders of a benchmark, or these schedulers; arrival\n"
    "                      compares the others with the first\n"
    "  -p, --processes N   cores to use (default: all)\n"
    "      --json          for programs (schema 1)\n"
    "      --csv           the tables as CSV, one after another\n"
    "      --html          a page that needs no other file\n";

enum form { FORM_TEXT, FORM_JSON, FORM_CSV, FORM_HTML, FORM_HELP };

struct args {
    enum form form;
    int forms; /* how many were given */
    uint64_t processes;
    const struct analysis *analysis;
    struct strv outs, only;
};

static void print_help(void)
{
    const struct cli_verb *v = cli_find("analyze");
    printf("usage: carol analyze %s\n\n%s\n\n", v->args, v->summary);
    for (const struct analysis *a = analyses; a->name; a++)
        printf("  %-11s %s\n", a->name, a->question);
    printf("\n%s", help);
}

static int set_form(struct args *a, enum form form)
{
    a->form = form;
    a->forms++;
    return 0;
}

static int set_option(int c, struct args *a, struct err *e)
{
    switch (c) {
    case 'J': return set_form(a, FORM_JSON);
    case 'C': return set_form(a, FORM_CSV);
    case 'H': return set_form(a, FORM_HTML);
    case 'h': a->form = FORM_HELP; return 0;
    case 'o':
        strv_split(&a->only, optarg, ',');
        return a->only.n ? 0 : err_usage(e, "--of takes names of contenders or schedulers");
    case 'p': return str_to_u64(optarg, "-p", 1, 1024, &a->processes, e);
    default: return err_usage(e, "'carol analyze --help' lists the options");
    }
}

static int find(struct args *a, const char *name, struct err *e)
{
    struct buf names = BUF_INIT(1024);
    a->analysis = analysis_find(name);
    for (const struct analysis *x = analyses; x->name; x++)
        buf_printf(&names, "%s%s", x == analyses ? "" : ", ", x->name);
    int rc = a->analysis ? 0
                         : err_usage(e,
                                     "there is no analysis '%.40s'; there are %s ('carol analyze "
                                     "--help' says what they ask)",
                                     name, names.p);
    buf_free(&names);
    return rc;
}

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    static const struct option options[] = {
        {"json", 0, 0, 'J'},      {"csv", 0, 0, 'C'}, {"html", 0, 0, 'H'}, {"help", 0, 0, 'h'},
        {"processes", 1, 0, 'p'}, {"of", 1, 0, 'o'},  {0, 0, 0, 0}};
    int rc = 0;
    optind = 1;
    for (int c; rc == 0 && (c = getopt_long(argc, argv, "hp:", options, NULL)) != -1;)
        rc = set_option(c, a, e);
    if (rc < 0 || a->form == FORM_HELP)
        return rc;
    if (a->forms > 1)
        return err_usage(e, "--json, --csv and --html are three forms of one answer: give one");
    if (optind >= argc)
        return err_usage(
            e, "which analysis? carol analyze NAME OUT... ('carol analyze --help' lists them)");
    rc = find(a, argv[optind++], e);
    if (rc == 0 && optind >= argc)
        rc = err_usage(e, "of which campaigns? carol analyze %s OUT...", a->analysis->name);
    while (rc == 0 && optind < argc)
        strv_add(&a->outs, argv[optind++]);
    return rc;
}

static void print_json(const struct args *a, const struct study *s, const struct grids *g)
{
    json_t *notes = json_array(), *targets = json_array();
    size_t simulated = 0;
    for (size_t i = 0; i < g->notes.n; i++)
        json_array_append_new(notes, json_string(g->notes.v[i]));
    for (size_t i = 0; i < g->targets.n; i++)
        json_array_append_new(targets, json_string(g->targets.v[i]));
    for (size_t i = 0; i < s->n; i++)
        simulated += s->camps[i].simulated;
    json_t *o = json_pack("{s:i,s:s,s:s,s:I,s:I,s:o,s:o,s:o}", "schema", 1, "analysis",
                          a->analysis->name, "question", a->analysis->question, "campaigns",
                          (json_int_t)g->campaigns, "simulated", (json_int_t)simulated, "targets",
                          targets, "notes", notes, "tables", grids_json(g));
    json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(o);
}

/* What belongs to no row goes to whoever looks. */
static void print_csv(const struct grids *g, struct buf *b)
{
    grids_csv(g, b);
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->v[i].notes.n; k++)
            log_info("%s: %s", g->v[i].name, g->v[i].notes.v[k]);
    for (size_t i = 0; i < g->notes.n; i++)
        log_info("%s", g->notes.v[i]);
}

static void print(const struct args *a, const struct study *s, const struct grids *g)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    if (a->form == FORM_JSON)
        print_json(a, s, g);
    else if (a->form == FORM_CSV)
        print_csv(g, &b);
    else if (a->form == FORM_HTML)
        grids_html(g, a->analysis->question, &b);
    else
        grids_text(g, &b);
    fwrite(b.p ? b.p : "", 1, b.len, stdout);
    buf_free(&b);
}

static bool differ(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") != 0;
}

/* Campaigns that go by one name, with other options. */
static size_t with_other_options(const struct study *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            if (!differ(s->camps[i].contender, s->camps[k].contender)) {
                n += differ(s->camps[i].params, s->camps[k].params);
                break;
            }
    return n;
}

/* Campaigns whose target was compiled anew since the first of that target ran. */
static size_t of_other_builds(const struct study *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            if (s->camps[i].target == s->camps[k].target) {
                n += differ(s->camps[i].build_id, s->camps[k].build_id);
                break;
            }
    return n;
}

/* Campaigns that differ in what need not be the same. */
static void note_mixture(const struct study *s, const struct analysis *a, struct grids *g)
{
    size_t simulated = 0, turns = 0, contenders = 0, lengths = 0, workers = 0, versions = 0;
    const struct camp *first = &s->camps[0];
    for (size_t i = 0; i < s->n; i++) {
        const struct camp *c = &s->camps[i];
        simulated += c->simulated;
        turns += c->turn_ns != first->turn_ns;
        contenders += differ(c->contender, first->contender);
        lengths += c->budget_ns != first->budget_ns;
        workers += c->workers != first->workers;
        versions += differ(c->versions, first->versions);
    }
    if (simulated == s->n)
        grids_note(g, "simulated campaigns: no fuzzer and no target ran");
    else if (simulated)
        grids_note(g, "%zu of %zu campaigns are simulated: real and made-up ones are mixed here",
                   simulated, s->n);
    if (turns)
        grids_note(g, "turns of different lengths are mixed here: rewards per turn are not alike");
    if (lengths || workers)
        grids_note(g, "campaigns of different %s are taken together",
                   lengths && workers ? "lengths and numbers of workers"
                   : lengths          ? "lengths"
                                      : "numbers of workers");
    if (versions)
        grids_note(g,
                   "%zu of %zu campaigns were made by another version of Carol, its compiler or "
                   "its fuzzers than the first",
                   versions, s->n);
    size_t rebuilt = of_other_builds(s);
    if (rebuilt)
        grids_note(g,
                   "%zu of %zu campaigns ran on another build of their target than its first, with "
                   "as many edges",
                   rebuilt, s->n);
    if (contenders && !a->apart)
        grids_note(g, "campaigns under different schedulers are taken together, by target");
    if (with_other_options(s))
        grids_note(g, "campaigns under one scheduler with different options are taken together");
}

static int run(const struct args *a, struct err *e)
{
    struct study s = {.processes = a->processes ? (int)a->processes : cpus_count(),
                      .only = &a->only};
    struct grids g = {0};
    int rc = a->analysis->bench ? 0 : study_open(&s, &a->outs, e);
    if (rc == 0)
        rc = a->analysis->bench ? a->analysis->bench(&a->outs, &a->only, &g, e)
                                : a->analysis->run(&s, &g, e);
    if (rc == 0) {
        if (s.n)
            note_mixture(&s, a->analysis, &g);
        g.campaigns += s.n;
        for (size_t i = 0; i < s.targets.n; i++)
            strv_add(&g.targets, s.targets.v[i]);
        print(a, &s, &g);
    }
    grids_free(&g);
    study_free(&s);
    return rc;
}

int cli_analyze(int argc, char **argv)
{
    struct err e = {0};
    struct args a = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.form == FORM_HELP)
        print_help();
    else if (rc == 0)
        rc = run(&a, &e);
    strv_free(&a.outs);
    strv_free(&a.only);
    return rc < 0 ? cli_fail(&e) : 0;
}
