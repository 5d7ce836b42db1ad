/* bench: `carol bench run` and `carol bench table`: options and last words.  What they do is in src/bench. */
#include "bench/run.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "bench/outcome.h"
#include "bench/suite.h"
#include "cli/cli.h"
#include "cli/host.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char options[] =
    "run SUITE.ini: every target, every contender, every trial, each until its CPU time is used\n"
    "  -o, --out DIR      results (default: what the suite says); a campaign that is done is not\n"
    "                     run again, so the same command goes on after Ctrl-C or kill -9\n"
    "      --holdout      the hold-out targets too\n"
    "      --targets LIST  only these of the suite's targets\n"
    "      --among LIST   only these of its contenders\n"
    "      --keep-journals  keep the journals of Carol's campaigns, too, for carol analyze\n"
    "      --keep         keep everything that the contenders wrote\n"
    "      --part I/N     only every Nth campaign, from the Ith on: the others run on other "
    "machines\n"
    "  -q, --quiet        no progress\n"
    "\n"
    "table DIR: what is done so far, as the tables of the paper\n"
    "      --of NAME      whom the others are compared with (default: contextual, else the first)\n"
    "      --among LIST   only these contenders\n"
    "      --bugs FILE    only bugs whose id is in FILE, a CSV: bench/suite/graded.csv has those "
    "that\n"
    "                     take more than a second\n"
    "      --measure NAME bugs (default), area, reached, edges or execs: what is compared\n"
    "      --json         the same for programs\n"
    "      --csv          a line per campaign\n"
    "      --csv-bugs     a line per campaign and bug\n"
    "      --csv-tables   the tables, one after another\n"
    "      --html FILE    a page with figures; it needs no other file\n"
    "\n"
    "bench/suite/README.md in Carol's sources describes SUITE.ini.\n"
    "Exit: 0 done, 1 some campaigns are missing (interrupted, failed, no source), 2 wrong usage or "
    "input,\n"
    "3 something is missing here.\n";

static int run(const struct suite *s, const struct bench_opts *o, struct err *e)
{
    struct bench_summary sum;
    int rc = bench_run(s, o, &sum, e);
    if (rc < 0)
        return rc;
    size_t left = sum.planned - sum.before - sum.done - sum.elsewhere;
    printf("%zu of %zu campaigns are done, %zu of them now\n", sum.before + sum.done, sum.planned,
           sum.done);
    if (sum.elsewhere)
        printf("%zu are of other parts\n", sum.elsewhere);
    if (sum.absent)
        printf("%zu are of targets whose source cannot be had here\n", sum.absent);
    if (left > sum.absent)
        printf("%s: the same command goes on\n", sum.interrupted ? "interrupted" : "some failed");
    printf("results: carol bench table %s\n", s->out);
    return left ? 1 : 0;
}

/* "2/3" */
static int parse_part(const char *text, struct bench_opts *o, struct err *e)
{
    struct strv words = {0};
    uint64_t part = 0, parts = 0;
    strv_split(&words, text, '/');
    int rc = words.n == 2
                 ? str_to_u64(words.v[1], "--part", 1, 1000, &parts, e)
                 : err_usage(e, "--part is I/N, such as 1/2 on one machine and 2/2 on another");
    rc = rc < 0 ? rc : str_to_u64(words.v[0], "--part", 1, parts, &part, e);
    strv_free(&words);
    o->part = (size_t)part;
    o->parts = (size_t)parts;
    return rc;
}

static int verb_run(int argc, char **argv, struct err *e)
{
    enum { OPT_HOLDOUT = 256, OPT_KEEP, OPT_JOURNALS, OPT_PART, OPT_TARGETS, OPT_AMONG };
    static const struct option longs[] = {{"out", required_argument, NULL, 'o'},
                                          {"holdout", no_argument, NULL, OPT_HOLDOUT},
                                          {"targets", required_argument, NULL, OPT_TARGETS},
                                          {"among", required_argument, NULL, OPT_AMONG},
                                          {"keep", no_argument, NULL, OPT_KEEP},
                                          {"keep-journals", no_argument, NULL, OPT_JOURNALS},
                                          {"part", required_argument, NULL, OPT_PART},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {NULL, 0, NULL, 0}};
    struct bench_opts o = {0};
    const char *out = NULL, *targets = NULL, *among = NULL;
    bool holdout = false;
    int rc = 0;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "o:q", longs, NULL)) != -1;)
        switch (c) {
        case 'o': out = optarg; break;
        case OPT_HOLDOUT: holdout = true; break;
        case OPT_TARGETS: targets = optarg; break;
        case OPT_AMONG: among = optarg; break;
        case OPT_KEEP: o.keep = KEEP_ALL; break;
        case OPT_JOURNALS: o.keep = KEEP_JOURNALS; break;
        case OPT_PART: rc = parse_part(optarg, &o, e); break;
        case 'q': log_set_level(LOG_WARN); break;
        default: return err_usage(e, "see 'carol bench --help'");
        }
    if (rc < 0)
        return rc;
    if (optind + 1 != argc)
        return err_usage(e, "give one suite: carol bench run SUITE.ini");
    struct suite s;
    rc = host_need_files(HOST_FILES_RUN, e);
    rc = rc < 0 ? rc : suite_load(&s, argv[optind], out, holdout, e);
    if (rc < 0)
        return rc;
    rc = suite_only(&s, targets, among, e);
    rc = rc < 0 ? rc : run(&s, &o, e);
    suite_free(&s);
    return rc;
}

/* --- table --------------------------------------------------------------------------------------- */

enum form { FORM_TEXT = 0, FORM_JSON, FORM_CSV, FORM_CSV_BUGS, FORM_CSV_TABLES, FORM_HTML };

struct table_args {
    enum form form;
    enum measure_kind measure;
    const char *of, *html, *bugs, *dir;
    struct strv among; /* contenders; empty: all */
};

static int parse_table(struct table_args *a, int argc, char **argv, struct err *e)
{
    enum {
        OPT_JSON = 256,
        OPT_CSV,
        OPT_CSV_BUGS,
        OPT_CSV_TABLES,
        OPT_HTML,
        OPT_OF,
        OPT_AMONG,
        OPT_BUGS,
        OPT_MEASURE
    };
    static const struct option longs[] = {{"json", no_argument, NULL, OPT_JSON},
                                          {"csv", no_argument, NULL, OPT_CSV},
                                          {"csv-bugs", no_argument, NULL, OPT_CSV_BUGS},
                                          {"csv-tables", no_argument, NULL, OPT_CSV_TABLES},
                                          {"html", required_argument, NULL, OPT_HTML},
                                          {"of", required_argument, NULL, OPT_OF},
                                          {"among", required_argument, NULL, OPT_AMONG},
                                          {"bugs", required_argument, NULL, OPT_BUGS},
                                          {"measure", required_argument, NULL, OPT_MEASURE},
                                          {NULL, 0, NULL, 0}};
    bool among = false;
    *a = (struct table_args){.measure = MEASURE_BUGS};
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;)
        switch (c) {
        case OPT_JSON: a->form = FORM_JSON; break;
        case OPT_CSV: a->form = FORM_CSV; break;
        case OPT_CSV_BUGS: a->form = FORM_CSV_BUGS; break;
        case OPT_CSV_TABLES: a->form = FORM_CSV_TABLES; break;
        case OPT_HTML:
            a->form = FORM_HTML;
            a->html = optarg;
            break;
        case OPT_OF: a->of = optarg; break;
        case OPT_BUGS: a->bugs = optarg; break;
        case OPT_AMONG:
            strv_split(&a->among, optarg, ',');
            among = true;
            break;
        case OPT_MEASURE:
            a->measure = measure_of(optarg);
            if (!a->measure)
                return err_usage(e, "--measure is bugs, area, reached, edges or execs");
            break;
        default: return err_usage(e, "see 'carol bench --help'");
        }
    if (among && !a->among.n)
        return err_usage(e, "--among takes names of contenders, separated by commas");
    if (optind + 1 != argc)
        return err_usage(e, "give one directory of results: carol bench table DIR");
    a->dir = argv[optind];
    return 0;
}

static int choose_reference(const struct outcome *t, const char *of, size_t *reference,
                            struct err *e)
{
    if (!of && outcome_reference(t, "contextual", reference, e) == 0)
        return 0;
    return outcome_reference(t, of, reference, e);
}

static void show_json(const struct outcome *t, size_t reference, enum measure_kind m)
{
    json_t *o = outcome_json(t, reference, m);
    json_dumpf(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(o);
}

static int show(const struct outcome *t, size_t reference, const struct table_args *a,
                struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    struct sheets sheets = {0};
    int rc = 0;
    switch (a->form) {
    case FORM_JSON: show_json(t, reference, a->measure); break;
    case FORM_CSV: outcome_csv(t, &b); break;
    case FORM_CSV_BUGS: outcome_csv_bugs(t, &b); break;
    case FORM_HTML: outcome_html(t, reference, a->measure, &b); break;
    default:
        outcome_sheets(t, reference, a->measure, &sheets);
        if (a->form == FORM_CSV_TABLES)
            sheets_csv(&sheets, &b);
        else
            sheets_text(&sheets, &b);
        sheets_free(&sheets);
    }
    if (a->form == FORM_HTML && (rc = fs_write_atomic(a->html, b.p, b.len, e)) < 0)
        e->exit = ERR_EXIT_ENV;
    else if (a->form != FORM_HTML && b.p)
        fputs(b.p, stdout);
    buf_free(&b);
    return rc;
}

static int count_only(struct outcome *t, const char *list, struct err *e)
{
    struct bug *bugs;
    size_t n;
    int rc = bugs_load(list, true, &bugs, &n, e);
    if (rc < 0)
        return rc;
    rc = outcome_only_bugs(t, bugs, n, e);
    free(bugs);
    return rc < 0 ? err_wrap(e, "%s", list) : rc;
}

static int verb_table(int argc, char **argv, struct err *e)
{
    struct table_args a;
    struct outcome t;
    size_t reference = 0;
    int rc = parse_table(&a, argc, argv, e);
    rc = rc < 0 ? rc : outcome_load(&t, a.dir, &a.among, e);
    strv_free(&a.among);
    if (rc < 0)
        return rc;
    rc = a.bugs ? count_only(&t, a.bugs, e) : 0;
    rc = rc < 0 ? rc : choose_reference(&t, a.of, &reference, e);
    rc = rc < 0 ? rc : show(&t, reference, &a, e);
    outcome_free(&t);
    return rc;
}

int cli_bench(int argc, char **argv)
{
    struct err e = {0};
    int rc;
    const char *what = argc > 1 ? argv[1] : "";
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return cli_help(cli_find("bench"), options);
    if (argc > 1)
        argv[1] = argv[0]; /* the name in getopt's messages */
    if (strcmp(what, "run") == 0)
        rc = verb_run(argc - 1, argv + 1, &e);
    else if (strcmp(what, "table") == 0)
        rc = verb_table(argc - 1, argv + 1, &e);
    else
        rc = err_usage(&e, "what shall 'carol bench' do? run SUITE.ini, or table DIR ('carol bench "
                           "--help')");
    return rc < 0 ? cli_fail(&e) : rc;
}
