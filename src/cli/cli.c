/* cli: the table of verbs and what is common to them. */
#include "cli/cli.h"

#include "base/buf.h"
#include "fuzzer/fuzzer.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

const struct cli_verb cli_verbs[] = {
    {"doctor", "[--json] [--engines DIR]",
     "show what is installed, which fuzzers can run, what slows them down, and the fixes",
     cli_doctor},
    {"build", "-o DIR [options] (-- CMD... | SOURCE... [-- FLAGS])",
     "build a target in every family, for the fuzzers and the neutral judge", cli_build},
    {"cover", "-b DIR [options] INPUT...",
     "run inputs on the neutral build: edges per input, union, status, speed", cli_cover},
    {"fuzz", "-b DIR [-i SEEDS] -o OUT [options] [-- ARGS with @@]",
     "run the ensemble on a target; --resume OUT continues a campaign", cli_fuzz},
    {"status", "[--json] OUT", "show the state of a running or ended campaign", cli_status},
    {"report", "OUT... [-o FILE.html]",
     "write one page to look at: figures and tables of a campaign, or of several side by side",
     cli_report},
    {"view", "OUT [--web ADDR:PORT] [--web-token FILE]",
     "serve the live page of a running or ended campaign, /metrics and /api/status", cli_view},
    {"triage", "[options] OUT",
     "turn the crashes of a campaign into defects: deduplicated, confirmed, minimised, ready to "
     "file",
     cli_triage},
    {"explain", "OUT [--turn N] [--json]",
     "say why a turn went to that fuzzer; without --turn: which signals moved the choices",
     cli_explain},
    {"replay", "OUT [--scheduler NAME] [--sched-opt KEY=VALUE] [--turns] [--json]",
     "recompute every decision of a campaign from its journal, also under another scheduler",
     cli_replay},
    {"corpus", "OUT... export DIR | OUT... minimise [DIR] | OUT import FROM...",
     "inputs out of campaigns, all or the few that cover the same, and into one", cli_corpus},
    {"coverage", "OUT [-o DIR] [-b DIR] [options]",
     "show which lines of source a campaign covers, and who covered each first", cli_coverage},
    {"sim", "ensemble | known | prop1 [options]",
     "simulated campaigns at any size: which scheduler finds more, what it costs", cli_sim},
    {"stats", "TEST GROUP... [options]",
     "one statistic of numbers: Mann-Whitney, A12, Holm, Kaplan-Meier and so on", cli_stats},
    {"bench", "run SUITE.ini [-o DIR] | table DIR [--json|--csv|--html FILE]",
     "which contender finds more of the planted bugs with the same CPU time, and how sure that is",
     cli_bench},
    {"analyze", "NAME OUT... [-p N] [--json|--csv|--html]",
     "what the journals of many campaigns say: prediction, transfer, decay, drift and so on",
     cli_analyze},
    {"engine", "selftest [NAME...] [options] | run NAME -b DIR -i SEEDS [options] [-- ARGS]",
     "run one fuzzer alone under control: its self-test, or turns with figures", cli_engine},
    {NULL, NULL, NULL, NULL},
};

int cli_fail(const struct err *e)
{
    fprintf(stderr, "carol: %s\n", e->msg[0] ? e->msg : "failed");
    return e->exit ? (int)e->exit : ERR_EXIT_INTERNAL;
}

int cli_help(const struct cli_verb *v, const char *options)
{
    printf("usage: carol %s %s\n\n%s\n\n%s", v->name, v->args, v->summary, options);
    return 0;
}

int cli_help_fuzzers(const struct cli_verb *v, const char *options)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    fuzzer_help(&b);
    cli_help(v, options);
    printf("\n%s", b.p);
    buf_free(&b);
    return 0;
}

const struct cli_verb *cli_find(const char *name)
{
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        if (strcmp(name, v->name) == 0)
            return v;
    return NULL;
}

static int no_such_verb(const char *name)
{
    fprintf(stderr, "carol: there is no verb '%s'; there are:", name);
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        fprintf(stderr, "%s%s", v == cli_verbs ? " " : ", ", v->name);
    fprintf(stderr, " ('carol --help' says what they do)\n");
    return ERR_EXIT_USAGE;
}

static void usage(FILE *f)
{
    fprintf(f, "usage: carol VERB [options]\n\n");
    for (const struct cli_verb *v = cli_verbs; v->name; v++)
        fprintf(f, "  %-10s %s\n", v->name, v->summary);
    fprintf(f, "\n'carol VERB --help' describes one.  Start with 'carol doctor'.\n");
}

int cli_main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *self = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    if (strcmp(self, "carol-cc") == 0 || strcmp(self, "carol-c++") == 0)
        return cli_cc(argv + 1, strcmp(self, "carol-c++") == 0);
    signal(SIGXFSZ, SIG_IGN); /* ulimit -f: the write fails, and what it was is said */
    if (argc < 2) {
        usage(stderr);
        return ERR_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("carol %s\n", CAROL_VERSION);
        return 0;
    }
    bool help = strcmp(argv[1], "help") == 0;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (help && argc == 2)) {
        usage(stdout);
        return 0;
    }
    const struct cli_verb *v = cli_find(argv[help ? 2 : 1]);
    if (!v)
        return no_such_verb(argv[help ? 2 : 1]);
    if (help) /* "help fuzz": "fuzz --help" */
        return v->run(2, (char *[]){(char[]){"carol"}, (char[]){"--help"}, NULL});
    argv[1] = argv[0] = (char[]){"carol"}; /* the name in getopt's messages */
    return v->run(argc - 1, argv + 1);
}
