/* report: `carol report`: campaigns as one page in a file.  What is on it is in src/report. */
#include "report/report.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#define CAMPAIGNS_MAX 200

static const char help[] =
    "  -o, --out FILE.html   the page (default: report.html in the only campaign's directory)\n\n"
    "One file that loads nothing else: coverage, shares and rewards over time, who found what and "
    "who built on\n"
    "whom, lineages, predictions, signals, every decision, crashes, settings.  Several campaigns "
    "are put side by\n"
    "side, with medians over trials, A12 and p.  Works on a running campaign, too.\n";

struct args {
    const char *out;
    char **dirs;
    int n;
    bool help;
};

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    static const struct option longs[] = {
        {"out", required_argument, NULL, 'o'}, {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}};
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;)
        switch (c) {
        case 'o': a->out = optarg; break;
        case 'h': a->help = true; return 0;
        default: return err_usage(e, "'carol report --help' tells what it takes");
        }
    a->dirs = argv + optind;
    a->n = argc - optind;
    if (a->n < 1)
        return err_usage(e, "which campaign? carol report OUT -o FILE.html");
    if (a->n > CAMPAIGNS_MAX)
        return err_usage(e, "%d campaigns are too many for one page, which takes %d", a->n,
                         CAMPAIGNS_MAX);
    if (a->n > 1 && !a->out)
        return err_usage(e, "several campaigns, and no file for their page: give -o FILE.html");
    if (a->out && fs_is_dir(a->out))
        return err_usage(e,
                         "-o: %s is a directory; give the name of the page, such as %s/report.html",
                         a->out, a->out);
    return 0;
}

static int write_page(struct report *const *v, const struct args *a, struct err *e)
{
    struct buf page = BUF_INIT(BUF_TEXT_MAX);
    char *path = a->out ? xstrdup(a->out) : fs_join(a->dirs[0], "report.html");
    report_page(v, (size_t)a->n, REPORT_FILE, &page);
    int rc = page.over ? err_usage(e, "the page is too large: give fewer campaigns")
                       : fs_write_atomic(path, page.p, page.len, e);
    if (rc < 0 && !page.over && e)
        e->exit = ERR_EXIT_ENV;
    if (rc == 0)
        printf("%s  %.0f KB\n", path, (double)page.len / 1000);
    free(path);
    buf_free(&page);
    return rc;
}

static int report(const struct args *a, struct err *e)
{
    struct report **v = xcalloc((size_t)a->n, sizeof *v);
    int rc = 0;
    for (int i = 0; rc == 0 && i < a->n; i++)
        rc = report_open(&v[i], a->dirs[i], e);
    if (rc == 0)
        rc = write_page(v, a, e);
    for (int i = 0; i < a->n; i++)
        report_close(v[i]);
    free(v);
    return rc;
}

int cli_report(int argc, char **argv)
{
    struct args a = {0};
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help)
        return cli_help(cli_find("report"), help);
    if (rc == 0)
        rc = report(&a, &e);
    return rc < 0 ? cli_fail(&e) : 0;
}
