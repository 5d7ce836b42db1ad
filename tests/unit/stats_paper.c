/* stats_paper: every p-value, effect size, resolution, sign test and gain that the paper prints, from the
 * counts behind its tables (tests/vectors/paper.txt):
 *
 *     cell NAME TARGET v1 ... v10               bugs of ten campaigns; paper's mean and SD determine them
 *     spread NAME TARGET MEAN SD
 *     compare normal|exact A B TARGET A12 PH    one comparison; Holm runs over the nine targets
 *     resolution A B TARGET VALUE               nan: none at 0.05
 *     mean NAME m1 ... m9    sum NAME TEXT    gain A B TARGETS PERCENT    sign A B WINS LOSSES P
 *
 * A figure agrees when it prints as the paper prints it. */
#include "base/str.h"
#include "stats/holm.h"
#include "stats/paired.h"
#include "stats/series.h"
#include "stats/twosample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "vectors.h"

#define TARGETS 9
#define CAMPAIGNS 10
#define NAMES 24

static const char *const targets[TARGETS] = {"libpng",  "libsndfile", "libtiff", "libxml2", "lua",
                                             "openssl", "php",        "poppler", "sqlite3"};

static struct row {
    char name[16];
    double count[TARGETS][CAMPAIGNS];
    double mean[TARGETS];
} rows[NAMES];

static struct row *row(const char *name)
{
    size_t i = 0;
    while (rows[i].name[0] && strcmp(rows[i].name, name) != 0)
        assert_true(++i < NAMES);
    snprintf(rows[i].name, sizeof rows[i].name, "%s", name);
    return &rows[i];
}

static struct row *read_row(struct vectors *v)
{
    return row(vectors_word(v));
}

static int read_target(struct vectors *v)
{
    const char *name = vectors_word(v);
    for (int t = 0; t < TARGETS; t++)
        if (strcmp(targets[t], name) == 0)
            return t;
    fail_msg("what is the target %s?", name);
    return -1;
}

/* As many decimals as the paper gives. */
static void expect_print(double got, const char *want, const char *what)
{
    const char *dot = strchr(want, '.');
    char *text = str_fmt("%.*f", dot ? (int)strlen(dot + 1) : 0, got);
    if (strcmp(text, want) != 0)
        fail_msg("%s: %.6f prints as %s, the paper has %s", what, got, text, want);
    free(text);
}

static void read_cell(struct vectors *v)
{
    struct row *r = read_row(v);
    int t = read_target(v);
    for (int i = 0; i < CAMPAIGNS; i++)
        r->count[t][i] = vectors_real(v);
}

static void check_spread(struct vectors *v)
{
    struct row *r = read_row(v);
    int t = read_target(v);
    expect_print(stats_mean(r->count[t], CAMPAIGNS), vectors_word(v), "mean");
    expect_print(sqrt(stats_variance(r->count[t], CAMPAIGNS)), vectors_word(v), "sd");
}

static void check_compare(struct vectors *v)
{
    bool exact = strcmp(vectors_word(v), "exact") == 0;
    struct row *a = read_row(v), *b = read_row(v);
    int target = read_target(v);
    double p[TARGETS], adjusted[TARGETS], a12 = 0;
    for (int t = 0; t < TARGETS; t++) {
        struct mwu r;
        stats_mwu(a->count[t], CAMPAIGNS, b->count[t], CAMPAIGNS, &r);
        p[t] = exact ? r.p_exact : r.p;
        a12 = t == target ? r.a12 : a12;
    }
    stats_holm(p, TARGETS, adjusted);
    const char *effect = vectors_word(v);
    if (strcmp(effect, "-") != 0 &&
        fabs(a12 - strtod(effect, NULL)) > 0.00501) /* halves go either way */
        fail_msg("A12 of %s: %g, the paper has %s", targets[target], a12, effect);
    expect_print(adjusted[target], vectors_word(v), targets[target]);
}

static void check_resolution(struct vectors *v)
{
    struct row *a = read_row(v), *b = read_row(v);
    int t = read_target(v);
    double want = vectors_real(v);
    struct resolution r;
    assert_int_equal(stats_resolution(a->count[t], CAMPAIGNS, b->count[t], CAMPAIGNS, 0.05, &r), 0);
    if (isnan(want) ? !isnan(r.least) : r.least != want)
        fail_msg("resolution of %s: %.17g, the paper has %g", targets[t], r.least, want);
}

static void read_means(struct vectors *v)
{
    struct row *r = read_row(v);
    for (int t = 0; t < TARGETS; t++)
        r->mean[t] = vectors_real(v);
}

static double sum_over(const struct row *r, int64_t mask)
{
    double sum = 0;
    for (int t = 0; t < TARGETS; t++)
        sum += mask >> t & 1 ? r->mean[t] : 0;
    return sum;
}

static void check_gain(struct vectors *v)
{
    struct row *a = read_row(v), *b = read_row(v);
    int64_t mask = vectors_int(v);
    expect_print(100 * (sum_over(a, mask) / sum_over(b, mask) - 1), vectors_word(v), "gain");
}

static void check_sign(struct vectors *v)
{
    struct row *a = read_row(v), *b = read_row(v);
    uint64_t wins = 0, losses = 0;
    for (int t = 0; t < TARGETS; t++) {
        wins += a->mean[t] > b->mean[t];
        losses += a->mean[t] < b->mean[t];
    }
    assert_int_equal(wins, vectors_int(v));
    assert_int_equal(losses, vectors_int(v));
    expect_print(stats_sign(wins, losses), vectors_word(v), "sign test");
}

static void check_sum(struct vectors *v)
{
    struct row *r = read_row(v);
    expect_print(sum_over(r, (1 << TARGETS) - 1), vectors_word(v), "sum");
}

static void the_paper_agrees(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        void (*check)(struct vectors *v);
        int lines;
    } kinds[] = {
        {"cell", read_cell, 72},
        {"spread", check_spread, 45},
        {"compare", check_compare, 68},
        {"mean", read_means, 14},
        {"resolution", check_resolution, 18},
        {"sum", check_sum, 13},
        {"gain", check_gain, 11},
        {"sign", check_sign, 6},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    int seen[KINDS] = {0};
    struct vectors v;
    vectors_open(&v, "paper.txt");
    for (char *word; (word = vectors_word(&v));) {
        size_t i = 0;
        while (i < KINDS && strcmp(kinds[i].name, word) != 0)
            i++;
        if (i == KINDS)
            fail_msg("paper.txt: what is %s?", word);
        kinds[i].check(&v);
        seen[i]++;
    }
    for (size_t i = 0; i < KINDS; i++)
        assert_int_equal(seen[i], kinds[i].lines);
    vectors_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_paper_agrees)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
