/* doctor: tells what is installed, which fuzzers can run here and what on the host hurts, each with
 * its fix.  Changes nothing and runs no fuzzer. */
#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "base/where.h"
#include "cli/cli.h"
#include "cli/host.h"
#include "fuzzer/fuzzer.h"
#include "target/run.h"
#include "target/tools.h"
#include "triage/symbols.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagnosis {
    struct tool_state *fuzzers; /* in the order of fuzzer_names() */
    size_t n_fuzzers;
    struct tool_state families[FAMILY_END];
    struct tool_state symboliser;
    struct host_list host;
};

/* Without it defects have no functions and no lines. */
static void check_symboliser(struct tool_state *s)
{
    char *path = symbols_program();
    struct buf said = BUF_INIT(1 << 16);
    const char *argv[] = {path, "--version", NULL};
    struct err e = {0};
    if (path && run_capture(argv, NULL, 10, &said, &e) == 0) {
        const char *mark = "LLVM version ", *at = said.p ? strstr(said.p, mark) : NULL;
        s->ok = true;
        if (at)
            s->version = str_fmt("%.*s", (int)strcspn(at + strlen(mark), " \n"), at + strlen(mark));
    } else {
        s->why = path
                     ? str_fmt("%s does not start: %s", path, e.msg)
                     : xstrdup("llvm-symbolizer is not installed: carol triage tells crashes apart "
                               "by addresses, not by functions and lines");
        s->fix = xstrdup("sudo apt-get install llvm-19");
    }
    buf_free(&said);
    free(path);
}

static void diagnose(struct diagnosis *d)
{
    const char *const *names = fuzzer_names();
    while (names[d->n_fuzzers])
        d->n_fuzzers++;
    d->fuzzers = xcalloc(d->n_fuzzers, sizeof *d->fuzzers);
    for (size_t i = 0; i < d->n_fuzzers; i++)
        fuzzer_diagnose(names[i], &d->fuzzers[i]);
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        tools_check_family((enum family)f, &d->families[f]);
    check_symboliser(&d->symboliser);
    host_check(&d->host);
}

static void diagnosis_free(struct diagnosis *d)
{
    for (size_t i = 0; i < d->n_fuzzers; i++)
        tool_state_free(&d->fuzzers[i]);
    free(d->fuzzers);
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        tool_state_free(&d->families[f]);
    tool_state_free(&d->symboliser);
    host_list_free(&d->host);
}

/* Of those that a campaign has by itself: libfuzzer, which needs no engine, must be named. */
static bool any_fuzzer(const struct diagnosis *d)
{
    struct strv roster = {0};
    bool any = false;
    if (fuzzer_roster("paper,default", &roster, NULL) == 0)
        for (size_t i = 0; i < d->n_fuzzers; i++)
            any = any || (d->fuzzers[i].ok && strv_has(&roster, fuzzer_names()[i]));
    strv_free(&roster);
    return any;
}

static json_t *text_or_null(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *json_of_state(const struct tool_state *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "ok", json_boolean(s->ok));
    json_object_set_new(o, "version", text_or_null(s->version));
    json_object_set_new(o, "why", text_or_null(s->why));
    json_object_set_new(o, "fix", text_or_null(s->fix));
    return o;
}

static json_t *json_of_host(const struct host_list *l)
{
    json_t *list = json_array();
    for (size_t i = 0; i < l->n; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "id", json_string(l->v[i].id));
        json_object_set_new(o, "ok", json_boolean(l->v[i].ok));
        json_object_set_new(o, "what", json_string(l->v[i].what));
        json_object_set_new(o, "fix", text_or_null(l->v[i].fix));
        json_array_append_new(list, o);
    }
    return list;
}

static void print_json(const struct diagnosis *d)
{
    json_t *fuzzers = json_object(), *families = json_object(), *all = json_object();
    for (size_t i = 0; i < d->n_fuzzers; i++) {
        json_t *o = json_of_state(&d->fuzzers[i]);
        const char *family = family_name(fuzzer_family(fuzzer_names()[i]));
        json_object_set_new(o, "family", json_string(family));
        json_object_set_new(fuzzers, fuzzer_names()[i], o);
    }
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        json_object_set_new(families, family_name((enum family)f), json_of_state(&d->families[f]));
    json_object_set_new(all, "schema", json_integer(1));
    json_object_set_new(all, "fuzzers", fuzzers);
    json_object_set_new(all, "families", families);
    json_object_set_new(all, "triage",
                        json_pack("{s:o}", "llvm-symbolizer", json_of_state(&d->symboliser)));
    json_object_set_new(all, "host", json_of_host(&d->host));
    json_dumpf(all, stdout, JSON_INDENT(1));
    printf("\n");
    json_decref(all);
}

static void print_state(const char *name, const struct tool_state *s)
{
    printf("  %-15s %-8s %s\n", name, s->ok ? "ok" : "missing",
           s->ok ? s->version ? s->version : "" : s->why);
    if (s->fix)
        printf("  %-15s %-8s fix: %s\n", "", "", s->fix);
}

static void print_text(const struct diagnosis *d)
{
    char *engines = where_engine("");
    printf("fuzzers (%s)\n", engines);
    free(engines);
    for (size_t i = 0; i < d->n_fuzzers; i++)
        print_state(fuzzer_names()[i], &d->fuzzers[i]);
    printf("families that 'carol build' can make\n");
    for (int f = FAMILY_NONE + 1; f < FAMILY_END; f++)
        print_state(family_name((enum family)f), &d->families[f]);
    printf("what 'carol triage' uses\n");
    print_state("llvm-symbolizer", &d->symboliser);
    printf("this host\n");
    for (size_t i = 0; i < d->host.n; i++) {
        const struct host_item *h = &d->host.v[i];
        printf("  %-15s %-8s %s\n", h->id, h->ok ? "ok" : "hurts", h->what);
        if (h->fix)
            printf("  %-15s %-8s fix: %s\n", "", "", h->fix);
    }
    if (!any_fuzzer(d))
        printf("No fuzzer of the rosters can run here yet.\n");
}

static const char options[] =
    "  --json          the same as JSON (schema 1)\n"
    "  --engines DIR   look for the fuzzers in DIR (or CAROL_ENGINES)\n\n"
    "Exit: 0 at least one fuzzer of the rosters can run here, 3 none can.\n";

int cli_doctor(int argc, char **argv)
{
    static const struct option longs[] = {{"json", no_argument, NULL, 'j'},
                                          {"engines", required_argument, NULL, 'E'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    bool json = false;
    int c;
    optind = 1;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'h')
            return cli_help(cli_find("doctor"), options);
        if (c == '?') {
            fprintf(stderr, "carol: 'carol doctor --help' lists the options\n");
            return ERR_EXIT_USAGE;
        }
        if (c == 'E')
            where_set_engines(optarg);
        json = json || c == 'j';
    }
    if (optind < argc) {
        fprintf(stderr, "carol: doctor takes no argument '%s'; 'carol doctor --help'\n",
                argv[optind]);
        return ERR_EXIT_USAGE;
    }
    struct diagnosis d = {0};
    diagnose(&d);
    int code = any_fuzzer(&d) ? 0 : ERR_EXIT_ENV;
    if (json)
        print_json(&d);
    else
        print_text(&d);
    diagnosis_free(&d);
    return code;
}
