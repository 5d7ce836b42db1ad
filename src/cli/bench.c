/* bench: `carol bench run` and `carol bench table`: options and last words.  What they do is in src/bench. */
#include "bench/run.h"

#include "base/log.h"
#include "bench/suite.h"
#include "cli/cli.h"
#include "cli/host.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char options[] =
    "run SUITE.ini: every target, every contender, every trial, each until its CPU time is used\n"
    "  -o, --out DIR      results (default: what the suite says); a campaign that is done is not\n"
    "                     run again, so the same command goes on after Ctrl-C or kill -9\n"
    "      --holdout      the hold-out targets too\n"
    "      --keep         keep what the contenders wrote, not only the results\n"
    "  -q, --quiet        no progress\n"
    "\n"
    "bench/suite/README.md in Carol's sources describes SUITE.ini.\n"
    "Exit: 0 done, 1 some campaigns are missing (interrupted or failed), 2 wrong usage or input,\n"
    "3 something is missing here.\n";

static int run(const struct suite *s, const struct bench_opts *o, struct err *e)
{
    struct bench_summary sum;
    int rc = bench_run(s, o, &sum, e);
    if (rc < 0)
        return rc;
    size_t left = sum.planned - sum.before - sum.done;
    printf("%zu of %zu campaigns are done, %zu of them now\n", sum.planned - left, sum.planned,
           sum.done);
    if (left)
        printf("%s: the same command goes on\n", sum.interrupted ? "interrupted" : "some failed");
    printf("results: carol bench table %s\n", s->out);
    return left ? 1 : 0;
}

static int verb_run(int argc, char **argv, struct err *e)
{
    enum { OPT_HOLDOUT = 256, OPT_KEEP };
    static const struct option longs[] = {{"out", required_argument, NULL, 'o'},
                                          {"holdout", no_argument, NULL, OPT_HOLDOUT},
                                          {"keep", no_argument, NULL, OPT_KEEP},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {NULL, 0, NULL, 0}};
    struct bench_opts o = {0};
    const char *out = NULL;
    bool holdout = false;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "o:q", longs, NULL)) != -1;)
        switch (c) {
        case 'o': out = optarg; break;
        case OPT_HOLDOUT: holdout = true; break;
        case OPT_KEEP: o.keep = true; break;
        case 'q': log_set_level(LOG_WARN); break;
        default: return err_usage(e, "see 'carol bench --help'");
        }
    if (optind + 1 != argc)
        return err_usage(e, "give one suite: carol bench run SUITE.ini");
    struct suite s;
    int rc = host_need_files(HOST_FILES_RUN, e);
    rc = rc < 0 ? rc : suite_load(&s, argv[optind], out, holdout, e);
    if (rc < 0)
        return rc;
    rc = run(&s, &o, e);
    suite_free(&s);
    return rc;
}

int cli_bench(int argc, char **argv)
{
    struct err e = {0};
    int rc;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return cli_help(cli_find("bench"), options);
    if (argc > 1 && strcmp(argv[1], "run") == 0)
        rc = verb_run(argc - 1, argv + 1, &e);
    else
        rc = err_usage(&e, "what shall 'carol bench' do? run SUITE.ini, or table DIR ('carol bench "
                           "--help')");
    return rc < 0 ? cli_fail(&e) : rc;
}
