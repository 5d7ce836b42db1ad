/* stats: `carol stats`: one statistic of numbers from the command line or files.  The tests are in
 * stats_tests.c, how numbers are read in stats_group.c. */
#include "cli/stats.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/str.h"
#include "cli/cli.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "A group is a comma list (1,2.5,3), a file (@FILE: one number a line, or commas between) or a\n"
    "column of a CSV file (@FILE:NAME, @FILE:2).  docs/STATISTICS.md defines every figure.\n\n"
    "      --alpha A        resolution, friedman: level of significance (default: 0.05)\n"
    "      --until T        km: restricted mean up to T (default: the last time of every group)\n"
    "      --median         bootstrap: of the median (default: of the mean)\n"
    "      --level L        bootstrap: confidence (default: 0.95)\n"
    "      --resamples N    bootstrap: how often to draw again (default: 10000)\n"
    "      --seed N         bootstrap: of the draws (default: 1)\n"
    "      --json           for programs (schema 1)\n\n"
    "carol stats mwu 4,4,5,6 2,3,3,4     carol stats sign 6 0     carol stats km 5,7+,9 3,4,8\n"
    "carol stats wilcoxon @runs.csv:carol @runs.csv:afl --json\n";

static const struct option options[] = {
    {"alpha", 1, 0, 'a'}, {"until", 1, 0, 'u'},     {"median", 0, 0, 'm'},
    {"level", 1, 0, 'l'}, {"resamples", 1, 0, 'r'}, {"seed", 1, 0, 's'},
    {"json", 0, 0, 'J'},  {"help", 0, 0, 'h'},      {0, 0, 0, 0}};

/* What was typed: the test and its groups, and the options that were given. */
struct typed {
    struct strv words;
    bool json, help;
    char given[8]; /* letters of stats_test.options */
};

static int set_option(int c, const char *v, struct stats_args *a, struct typed *t, struct err *e)
{
    char group = c == 'a' || c == 'u' ? (char)c : 'b';
    if (c == 'J' || c == 'h') {
        t->json |= c == 'J';
        t->help |= c == 'h';
        return 0;
    }
    if (c != '?' && !strchr(t->given, group))
        t->given[strlen(t->given)] = group;
    switch (c) {
    case 'a': return str_to_double(v, "--alpha", 1e-9, 0.5, &a->alpha, e);
    case 'u': return str_to_double(v, "--until", 0, 1e100, &a->until, e);
    case 'm': a->median = true; return 0;
    case 'l': return str_to_double(v, "--level", 0.01, 0.9999, &a->level, e);
    case 'r': return str_to_u64(v, "--resamples", 100, 10000000, &a->resamples, e);
    case 's': return str_to_u64(v, "--seed", 0, UINT64_MAX, &a->seed, e);
    default: return err_usage(e, "'carol stats --help' lists the options");
    }
}

/* Options may stand anywhere; "-1,2" is a group. */
static bool is_word(const char *s)
{
    return s[0] != '-' || s[1] == 0 || s[1] == '.' || isdigit((unsigned char)s[1]);
}

static int parse(int argc, char **argv, struct stats_args *a, struct typed *t, struct err *e)
{
    int rc = 0;
    bool rest = false;
    for (optind = 1; rc == 0 && optind < argc;) {
        int c = 0;
        if (rest || is_word(argv[optind]))
            strv_add(&t->words, argv[optind++]);
        else if ((c = getopt_long(argc, argv, "+h", options, NULL)) == -1)
            rest = true; /* after "--" */
        else
            rc = set_option(c, optarg, a, t, e);
    }
    return rc;
}

static void print_help(void)
{
    const struct cli_verb *v = cli_find("stats");
    printf("usage: carol stats %s\n\n%s\n\n", v->args, v->summary);
    for (const struct stats_test *t = stats_tests; t->name; t++)
        printf("  %-12s  %-11s  %s\n", t->name, t->args, t->summary);
    printf("\n%s", help);
}

static int find_test(const struct typed *t, const struct stats_test **test, struct err *e)
{
    struct buf names = BUF_INIT(512);
    const char *name = t->words.n ? t->words.v[0] : "";
    for (*test = stats_tests; (*test)->name && strcmp((*test)->name, name) != 0; ++*test)
        buf_printf(&names, "%s%s", *test == stats_tests ? "" : ", ", (*test)->name);
    int rc = 0;
    if (!(*test)->name && !*name)
        rc = err_usage(e, "which test? carol stats %s ('carol stats --help' says what they are)",
                       names.p);
    else if (!(*test)->name)
        rc = err_usage(
            e, "there is no test '%.40s'; there are %s ('carol stats --help' says what they are)",
            name, names.p);
    buf_free(&names);
    return rc;
}

/* The right number of groups, and no option that would say nothing. */
static int check_words(const struct typed *t, const struct stats_test *test, struct err *e)
{
    size_t n = t->words.n - 1;
    if (n < test->least || n > test->most)
        return err_usage(e, "%s: there %s %zu group%s; it is carol stats %s %s", test->name,
                         n == 1 ? "is" : "are", n, n == 1 ? "" : "s", test->name, test->args);
    for (const char *g = t->given; *g; g++)
        if (!strchr(test->options, *g))
            return err_usage(e, "%s takes no %s ('carol stats --help' lists the options)",
                             test->name,
                             *g == 'a'   ? "--alpha"
                             : *g == 'u' ? "--until"
                                         : "--median, --level, --resamples or --seed");
    return 0;
}

/* What the keys mean to a person; "" when it need not be printed. */
static const char *meaning(const char *key, const struct stats_test *test)
{
    static const struct {
        const char *key, *words;
    } all[] = {
        {"n", "values, or pairs of them"},
        {"sizes", "of the groups"},
        {"p_exact", "two-sided, counted over all permutations"},
        {"a12", "chance that a value of X exceeds one of Y, ties half"},
        {"effect", "what Vargha and Delaney call that"},
        {"adjusted", "in the order given"},
        {"resolution", "the smallest difference whose tail is at most alpha"},
        {"resolved", "whether the means differ by that much"},
        {"alpha", "level of significance"},
        {"zeros", "differences of 0, left out"},
        {"tau", "tau-b"},
        {"exact", "whether p was counted over all orders"},
        {"slope", "median over all pairs"},
        {"intercept", "median of y - slope*x"},
        {"low", "of the interval"},
        {"high", "of the interval"},
        {"level", "its confidence"},
        {"events", "that were seen"},
        {"medians", "first time at which half have had the event"},
        {"rmst", "mean time, nobody counted beyond 'until'"},
        {"until", "for rmst"},
        {"ranks", "mean over the blocks; 1 is the largest value"},
        {"cd", "mean ranks that differ by less are not told apart"},
    };
    if (strcmp(key, "statistic") == 0)
        return test->statistic;
    if (strcmp(key, "p") == 0)
        return test->p;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].key, key) == 0)
            return all[i].words;
    return "";
}

/* A number, a word, or a list of these. */
static void write_value(const json_t *v, struct buf *b)
{
    size_t i = 0;
    json_t *item;
    if (json_is_real(v))
        buf_printf(b, "%.6g", json_real_value(v));
    else if (json_is_integer(v))
        buf_printf(b, "%lld", (long long)json_integer_value(v));
    else if (json_is_string(v))
        buf_str(b, json_string_value(v));
    else if (!json_is_array(v))
        buf_str(b, json_is_true(v) ? "yes" : json_is_false(v) ? "no" : "none");
    else
        json_array_foreach(v, i, item)
        {
            buf_str(b, i ? ", " : "");
            write_value(item, b);
        }
}

/* Objects as a table: their keys above, a line for each. */
static void print_rows(const char *title, size_t number, const json_t *rows)
{
    size_t i = 0;
    const char *key;
    json_t *row, *v;
    printf("\n  %s", title);
    if (number)
        printf(" %zu", number);
    printf("\n");
    json_object_foreach(json_array_get(rows, 0), key, v) printf("  %12s", key);
    json_array_foreach(rows, i, row)
    {
        printf("\n");
        json_object_foreach(row, key, v)
        {
            struct buf b = BUF_INIT(64);
            write_value(v, &b);
            printf("  %12s", b.p);
            buf_free(&b);
        }
    }
    printf("\n");
}

static void print_text(json_t *o, const struct stats_test *test)
{
    const char *key;
    json_t *v, *curve;
    size_t i = 0;
    printf("%s: %s\n", test->name, test->summary);
    json_object_foreach(o, key, v)
    {
        json_t *first = json_array_get(v, 0);
        if (strcmp(key, "schema") == 0 || strcmp(key, "test") == 0)
            continue;
        if (json_is_object(first)) {
            print_rows(key, 0, v);
        } else if (json_is_array(first)) {
            json_array_foreach(v, i, curve) print_rows("curve", i + 1, curve);
        } else if (*meaning(key, test)) {
            struct buf b = BUF_INIT(BUF_TEXT_MAX);
            write_value(v, &b);
            printf("  %-11s  %-12s  %s\n", key, b.p, meaning(key, test));
            buf_free(&b);
        }
    }
}

static int run(const struct typed *t, struct stats_args *a, struct err *e)
{
    const struct stats_test *test;
    int rc = find_test(t, &test, e);
    if (rc == 0)
        rc = check_words(t, test, e);
    if (rc < 0)
        return rc;
    a->group = xcalloc(t->words.n, sizeof *a->group);
    for (; rc == 0 && a->n + 1 < t->words.n; a->n++)
        rc = stats_group_read(t->words.v[a->n + 1], test->lifetimes, &a->group[a->n], e);
    json_t *o = json_pack("{s:i,s:s}", "schema", 1, "test", test->name);
    if (rc == 0)
        rc = test->run(a, o, e);
    if (rc == 0 && t->json) {
        json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        printf("\n");
    } else if (rc == 0) {
        print_text(o, test);
    }
    json_decref(o);
    for (size_t i = 0; i < a->n; i++)
        stats_group_free(&a->group[i]);
    free(a->group);
    return rc;
}

int cli_stats(int argc, char **argv)
{
    struct err e = {0};
    struct typed t = {0};
    struct stats_args a = {
        .alpha = 0.05, .level = 0.95, .until = NAN, .resamples = 10000, .seed = 1};
    int rc = parse(argc, argv, &a, &t, &e);
    if (rc == 0 && t.help)
        print_help();
    else if (rc == 0)
        rc = run(&t, &a, &e);
    strv_free(&t.words);
    return rc < 0 ? cli_fail(&e) : 0;
}
