/* coverage: `carol coverage`: which lines of source a campaign covers, and who covered each first. */
#include "cli/cli.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/host.h"
#include "cli/term.h"
#include "coverage/coverage.h"
#include "coverage/page.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "  -o, --output DIR   where the results go (default: OUT/coverage)\n"
    "  -b, --build DIR    a build of the same target with the family 'source' (default: the\n"
    "                     campaign's own)\n"
    "  -j, --jobs N       inputs run side by side (default: one per processor)\n"
    "      --json         one JSON object\n"
    "\n"
    "Every input of the campaign, crashes and hangs too, runs once, in the order of finding, on "
    "the\n"
    "build with clang's source coverage ('carol build --families source ...' adds it).  DIR then "
    "has\n"
    "  index.html    who was first on each line, file by file\n"
    "  html/         counts per line, as llvm-cov shows them\n"
    "  lcov.info     the same for other tools\n"
    "  first.csv     file, line, count, fuzzer, campaign time, input (SHA-1), how that input "
    "ended\n"
    "  first.json    the same, and the lines that nobody reached\n"
    "  inputs/       the inputs that were first on a line\n"
    "Of the region in which an input crashed, lines after that place count as covered: clang "
    "counts\n"
    "regions.  Code in shared libraries of the target is not counted.  Works while the campaign "
    "runs.\n"
    "Exit: 0 done, 2 wrong usage or no source build, 3 something is not installed.\n";

struct args {
    struct coverage_opts o;
    char *dir;
    bool json, help;
};

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    enum { OPT_JSON = 256 };
    static const struct option longs[] = {
        {"output", required_argument, NULL, 'o'}, {"build", required_argument, NULL, 'b'},
        {"jobs", required_argument, NULL, 'j'},   {"json", no_argument, NULL, OPT_JSON},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
    uint64_t n = 0;
    int rc = 0, c;
    optind = 1;
    while (rc == 0 && (c = getopt_long(argc, argv, "o:b:j:h", longs, NULL)) != -1)
        switch (c) {
        case 'o': a->o.dir = optarg; break;
        case 'b': a->o.build = optarg; break;
        case 'j':
            rc = str_to_u64(optarg, "-j", 1, 256, &n, e);
            a->o.jobs = (unsigned)n;
            break;
        case OPT_JSON: a->json = true; break;
        case 'h': a->help = true; return 0;
        default: return err_usage(e, "'carol coverage --help' tells what it takes");
        }
    if (rc == 0 && optind + 1 != argc)
        return err_usage(e, "which campaign? carol coverage OUT");
    a->o.out = argv[optind];
    return rc;
}

/* What is replaced must be ours. */
static int check_dir(const char *dir, struct err *e)
{
    struct strv names = {0};
    int rc = 0;
    if (fs_exists(dir) && (rc = fs_list(dir, &names, e)) < 0)
        e->exit = ERR_EXIT_USAGE;
    bool ours = strv_has(&names, "first.json"), strange = false;
    for (size_t i = 0; i < names.n; i++)
        strange = strange || !str_starts(names.v[i], ".work-");
    strv_free(&names);
    if (rc == 0 && strange && !ours)
        rc = err_usage(e, "%s holds something else: name a new or empty directory with -o", dir);
    return rc;
}

/* On a terminal one line that is drawn over. */
static void show_progress(void *arg, const char *doing, size_t done, size_t of)
{
    (void)arg;
    if (done % 16 && done != of)
        return;
    fprintf(stderr, "\r\033[K%zu of %zu %s%s", done, of, doing, done == of ? "\n" : "");
}

static void print_text(const struct coverage *c)
{
    printf("%llu of %llu lines (%.1f %%), %llu of %llu functions, by %zu inputs\n\n",
           (unsigned long long)c->n_covered, (unsigned long long)c->n_lines,
           c->n_lines ? 100.0 * (double)c->n_covered / (double)c->n_lines : 0,
           (unsigned long long)c->n_functions_covered, (unsigned long long)c->n_functions,
           c->found.n);
    printf("%-12s %12s %8s %9s\n", "found by", "first lines", "%", "inputs");
    for (size_t i = 0; i < c->n_finders; i++) {
        const struct coverage_finder *f = &c->finders[i];
        if (f->inputs || strcmp(f->name, FINDER_IMPORTED) != 0)
            printf("%-12s %12llu %8.1f %9zu\n", f->name, (unsigned long long)f->lines,
                   c->n_covered ? 100.0 * (double)f->lines / (double)c->n_covered : 0, f->inputs);
    }
    if (c->unexplained)
        printf("%-12s %12llu\n", "nobody alone", (unsigned long long)c->unexplained);
    printf("\n");
    if (c->ended[RUN_CRASH] || c->ended[RUN_TIMEOUT])
        printf("%zu inputs crashed and %zu took too long; what they ran up to then counts\n",
               c->ended[RUN_CRASH], c->ended[RUN_TIMEOUT]);
    if (c->without_profile)
        printf("%zu inputs left no profile and are not counted\n", c->without_profile);
    printf("%s/index.html shows it line by line\n", c->o.dir);
}

static int cover(struct args *a, struct err *e)
{
    struct coverage c = {0};
    int rc = check_dir(a->o.dir, e);
    if (rc < 0)
        return rc;
    rc = coverage_run(&c, &a->o, e);
    if (rc == 0)
        rc = coverage_save(&c, e);
    if (rc == 0 && a->json) {
        json_t *o = page_summary(&c);
        json_dumpf(o, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(o);
    } else if (rc == 0) {
        print_text(&c);
    }
    coverage_free(&c);
    return rc;
}

int cli_coverage(int argc, char **argv)
{
    struct args a = {0};
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help)
        return cli_help(cli_find("coverage"), help);
    if (rc == 0 && !a.o.dir)
        a.o.dir = a.dir = fs_join(a.o.out, "coverage");
    if (term_draws(STDERR_FILENO))
        a.o.progress = show_progress;
    rc = rc < 0 ? rc : host_need_files(HOST_FILES_RUN, &e);
    rc = rc < 0 ? rc : cover(&a, &e);
    free(a.dir);
    if (rc == -EINTR) {
        cli_fail(&e);
        return 130;
    }
    return rc < 0 ? cli_fail(&e) : 0;
}
