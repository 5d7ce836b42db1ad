/* roster: from what a user writes to a list of fuzzers, and the lists that help texts and messages print.
 * Does not ask whether they can run. */
#include "fuzzer/arm.h"
#include "fuzzer/fuzzer.h"

#include <string.h>

static const struct roster {
    const char *name;
    unsigned bit; /* ROSTER_...; 0: everybody is in it */
} rosters[] = {{"paper", ROSTER_PAPER}, {"default", ROSTER_DEFAULT}, {"all", 0}};
#define N_ROSTERS (sizeof rosters / sizeof *rosters)

static bool is_in(const struct arm *a, const struct roster *r)
{
    return !r->bit || (a->rosters & r->bit);
}

void fuzzer_list(enum family f, const char *sep, struct buf *out)
{
    const char *before = "";
    for (size_t i = 0; arm_table[i]; i++)
        if (f == FAMILY_NONE || arm_table[i]->family == f || arm_table[i]->also == f) {
            buf_printf(out, "%s%s", before, arm_table[i]->name);
            before = sep;
        }
}

int arm_unknown(const char *name, struct err *e)
{
    struct buf b = BUF_INIT(4096);
    fuzzer_list(FAMILY_NONE, ", ", &b);
    buf_str(&b, "; the rosters are");
    for (size_t i = 0; i < N_ROSTERS; i++)
        buf_printf(&b, "%s %s", i ? "," : "", rosters[i].name);
    int rc = err_usage(e, "there is no fuzzer '%s'; there are %s", name, b.p);
    buf_free(&b);
    return rc;
}

static int add_word(const char *word, struct strv *out, struct err *e)
{
    for (size_t r = 0; r < N_ROSTERS; r++) {
        if (strcmp(word, rosters[r].name) != 0)
            continue;
        for (size_t i = 0; arm_table[i]; i++)
            if (is_in(arm_table[i], &rosters[r]) && !strv_has(out, arm_table[i]->name))
                strv_add(out, arm_table[i]->name);
        return 0;
    }
    if (!arm_find(word))
        return arm_unknown(word, e);
    if (strv_has(out, word))
        return err_usage(e, "fuzzer '%s' is named twice", word);
    strv_add(out, word);
    return 0;
}

int fuzzer_roster(const char *text, struct strv *out, struct err *e)
{
    struct strv words = {0};
    strv_split(&words, text, ',');
    int rc = words.n ? 0 : err_usage(e, "'%s' names no fuzzer", text);
    for (size_t i = 0; rc == 0 && i < words.n; i++)
        rc = add_word(words.v[i], out, e);
    strv_free(&words);
    return rc;
}

void fuzzer_help(struct buf *out)
{
    buf_str(out, "The fuzzers, and the family each runs on:\n");
    for (size_t i = 0; arm_table[i]; i++) {
        const struct arm *a = arm_table[i];
        buf_printf(out, "  %-10s %-6s %s", a->name, family_name(a->family), a->summary);
        if (a->also != FAMILY_NONE)
            buf_printf(out, "; also needs %s", family_name(a->also));
        buf_str(out, "\n");
    }
    buf_str(out, "The rosters:\n");
    for (size_t r = 0; r < N_ROSTERS; r++) {
        buf_printf(out, "  %-10s", rosters[r].name);
        for (size_t i = 0; rosters[r].bit && arm_table[i]; i++)
            if (is_in(arm_table[i], &rosters[r]))
                buf_printf(out, " %s", arm_table[i]->name);
        buf_str(out, rosters[r].bit ? "\n" : " every fuzzer above\n");
    }
}
