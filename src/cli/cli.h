/* cli: one file per verb, one table.  A verb gets its own arguments (argv[0] is "carol") and returns
 * the exit code of METHOD §18: 0 done, 1 findings, 2 usage, 3 environment, 4 internal. */
#ifndef CAROL_CLI_CLI_H
#define CAROL_CLI_CLI_H

#include "base/err.h"

#include <stdbool.h>

struct cli_verb {
    const char *name;
    const char *args;    /* one usage line, without "carol NAME" */
    const char *summary; /* one line */
    int (*run)(int argc, char **argv);
};

extern const struct cli_verb cli_verbs[]; /* ends with a NULL name */

/* The verbs, one per file. */
int cli_analyze(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_build(int argc, char **argv);
int cli_corpus(int argc, char **argv);
int cli_cover(int argc, char **argv);
int cli_coverage(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_engine(int argc, char **argv);
int cli_explain(int argc, char **argv);
int cli_fuzz(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_replay(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_sim(int argc, char **argv);
int cli_stats(int argc, char **argv);
int cli_triage(int argc, char **argv);
int cli_view(int argc, char **argv);

/* carol called as carol-cc or carol-c++ (the words after argv[0]); returns only on failure. */
int cli_cc(char **words, bool cxx);

/* The entry of a verb in the table; NULL: none. */
const struct cli_verb *cli_find(const char *name);
int cli_main(int argc, char **argv);
/* Print the message of e to stderr and return the exit code it calls for. */
int cli_fail(const struct err *e);
/* "usage: carol NAME ARGS" and the options text, to stdout (--help) or stderr (wrong usage). */
int cli_help(const struct cli_verb *v, const char *options);
/* The same, and then all fuzzers and rosters. */
int cli_help_fuzzers(const struct cli_verb *v, const char *options);

/* For verbs that take [--json] OUT: 0, 1 after --help was printed, or an error. */
int cli_campaign_arg(const char *verb, const char *options, int argc, char **argv, bool *json,
                     const char **out, struct err *e);

#endif
