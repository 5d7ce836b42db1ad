/* corpus: `carol corpus`: inputs out of campaigns, all or the few that cover the same, and into one. */
#include "cli/cli.h"

#include "base/die.h"
#include "base/log.h"
#include "corpus/export.h"
#include "corpus/import.h"
#include "eval/eval.h"
#include "journal/json.h"
#include "proc/loop.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  carol corpus OUT... export DIR      inputs as files in DIR, named by their SHA-1\n"
    "  carol corpus OUT... minimise [DIR]  the few small and fast ones that cover the same "
    "neutral\n"
    "                                      edges: listed, and with DIR exported\n"
    "  carol corpus OUT import FROM...     files, directories or archives into a campaign that\n"
    "                                      rests; 'carol fuzz --resume OUT' goes on with them\n"
    "\n"
    "      --minimise        export only those that 'minimise' lists\n"
    "  -f, --fuzzer LIST     only what these found; also 'seeds' (the campaign's own) and "
    "'imported'\n"
    "      --since TIME      only what was found at this campaign time or later (90s, 15m, 2h)\n"
    "      --any             also inputs that crash or hang the target or are not measured yet\n"
    "  -b, --build DIR       measure again on this neutral build: needed to minimise several\n"
    "                        campaigns that ran on different builds\n"
    "      --target NAME     which target of it, if there are several\n"
    "      --json            one JSON object\n"
    "\n"
    "Several campaigns are merged: the same content counts once.  Exporting works while a "
    "campaign\n"
    "runs.  Nothing is ever deleted, neither in a campaign nor in DIR; what is in DIR already is\n"
    "not written again.\n"
    "Exit: 0 done, 2 wrong usage, 3 something is not installed or the disk is full.\n";

enum action { NO_ACTION = 0, EXPORT, IMPORT, MINIMISE };

struct args {
    struct strv outs, rest, finders;
    enum action action;
    int64_t since_ns;
    bool minimise, any, json, help;
    const char *build, *target;
};

static void args_free(struct args *a)
{
    strv_free(&a->outs);
    strv_free(&a->rest);
    strv_free(&a->finders);
}

static enum action action_of(const char *word)
{
    static const char *const words[] = {
        [EXPORT] = "export", [IMPORT] = "import", [MINIMISE] = "minimise"};
    for (int i = EXPORT; i <= MINIMISE; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum action)i;
    return NO_ACTION;
}

static int check_args(const struct args *a, struct err *e)
{
    bool filters = a->finders.n || a->since_ns || a->minimise || a->any || a->build;
    if (!a->outs.n || !a->action)
        return err_usage(e,
                         "which campaign, and what of it? carol corpus OUT export DIR (or import "
                         "FROM, or minimise); 'carol corpus --help' tells more");
    if (a->action == EXPORT && a->rest.n != 1)
        return err_usage(e, "where to? carol corpus %s export DIR", a->outs.v[0]);
    if (a->action == MINIMISE && a->rest.n > 1)
        return err_usage(e, "minimise takes one directory to export to, not %zu", a->rest.n);
    if (a->action == IMPORT && a->outs.n > 1)
        return err_usage(e, "import goes into one campaign, not %zu", a->outs.n);
    if (a->action == IMPORT && !a->rest.n)
        return err_usage(e, "import what? carol corpus %s import FROM...", a->outs.v[0]);
    if (a->action == IMPORT && filters)
        return err_usage(e, "import takes everything it is given: leave out -f, --since, --any, "
                            "--minimise and -b");
    if (a->target && !a->build)
        return err_usage(e, "--target is of a build: name that with -b DIR");
    return 0;
}

enum { OPT_MINIMISE = 256, OPT_SINCE, OPT_ANY, OPT_TARGET, OPT_JSON };

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    static const struct option longs[] = {{"minimise", no_argument, NULL, OPT_MINIMISE},
                                          {"fuzzer", required_argument, NULL, 'f'},
                                          {"since", required_argument, NULL, OPT_SINCE},
                                          {"any", no_argument, NULL, OPT_ANY},
                                          {"build", required_argument, NULL, 'b'},
                                          {"target", required_argument, NULL, OPT_TARGET},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int rc = 0, c;
    optind = 1;
    while (rc == 0 && (c = getopt_long(argc, argv, "f:b:h", longs, NULL)) != -1)
        switch (c) {
        case OPT_MINIMISE: a->minimise = true; break;
        case 'f': strv_split(&a->finders, optarg, ','); break;
        case OPT_SINCE: rc = str_to_time(optarg, "--since", &a->since_ns, e); break;
        case OPT_ANY: a->any = true; break;
        case 'b': a->build = optarg; break;
        case OPT_TARGET: a->target = optarg; break;
        case OPT_JSON: a->json = true; break;
        case 'h': a->help = true; return 0;
        default: return err_usage(e, "'carol corpus --help' tells what it takes");
        }
    for (int i = optind; i < argc; i++) {
        if (!a->action && a->outs.n && action_of(argv[i]))
            a->action = action_of(argv[i]);
        else
            strv_add(a->action ? &a->rest : &a->outs, argv[i]);
    }
    a->minimise = a->minimise || a->action == MINIMISE;
    return rc < 0 ? rc : check_args(a, e);
}

/* --- import -------------------------------------------------------------------------------------- */

static int do_import(const struct args *a, struct err *e)
{
    struct import_result r;
    const char *out = a->outs.v[0];
    int rc = import_inputs(out, (const char *const *)a->rest.v, a->rest.n, &r, e);
    if (rc < 0)
        return rc;
    if (a->json) {
        json_t *o = json_pack("{s:i, s:s, s:I, s:I, s:I}", "schema", 1, "action", "import",
                              "inputs", (json_int_t)r.seen, "added", (json_int_t)r.added,
                              "too_large", (json_int_t)r.too_large);
        json_dumpf(o, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(o);
        return 0;
    }
    printf("%zu of %zu inputs are new to the campaign%s%s\n", r.added, r.seen,
           r.added ? "; next: carol fuzz --resume " : "", r.added ? out : "");
    if (r.too_large)
        printf("%zu are larger than 1 MB and were left out\n", r.too_large);
    return 0;
}

/* --- export, minimise ---------------------------------------------------------------------------- */

static json_t *input_json(const struct selection *s, const struct chosen *c, const char *name)
{
    char sha256[65];
    digest_hex(&c->hash, sha256);
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:I, s:o, s:s, s:f, s:I, s:s, s:o}", "name", name, "sha256",
                  sha256, "size", (json_int_t)c->size, "cpu_us", (json_int_t)c->cpu_us, "campaign",
                  json_bytes(s->campaigns[c->campaign].j.out), "fuzzer", c->finder, "found_s",
                  (double)c->found_ns / (double)NS_PER_S, "seed", (json_int_t)c->seed, "status",
                  c->status ? run_status_name((enum run_status)c->status) : "not measured", "file",
                  json_bytes(c->name));
    if (s->comparable) {
        json_object_set_new(o, "edges", json_integer(c->n_edges));
        json_object_set_new(o, "new", json_integer(c->fresh));
    }
    return o;
}

static void print_json(const struct args *a, const struct selection *s,
                       const struct export_result *r, size_t selected)
{
    json_t *inputs = json_array();
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(inputs, input_json(s, &s->v[i], r->names[i]));
    json_t *o = json_pack(
        "{s:i, s:s, s:b, s:I, s:I, s:{s:I, s:I, s:I, s:I}, s:I, s:I, s:I}", "schema", 1, "action",
        a->action == EXPORT ? "export" : "minimise", "minimised", s->minimised, "seen",
        (json_int_t)s->seen, "selected", (json_int_t)selected, "left_out", "crash_or_hang",
        (json_int_t)s->unfit, "not_measured", (json_int_t)s->pending, "not_asked_for",
        (json_int_t)s->unasked, "same_content", (json_int_t)s->twice, "bytes", (json_int_t)r->bytes,
        "written", (json_int_t)r->written, "present", (json_int_t)r->present);
    json_object_set_new(o, "edges", s->comparable ? json_integer(s->covered) : json_null());
    json_object_set_new(o, "edges_campaign",
                        s->comparable ? json_integer(s->covered_by_all) : json_null());
    json_object_set_new(o, "edges_total", s->comparable ? json_integer(s->n_edges) : json_null());
    json_t *campaigns = json_array();
    for (size_t i = 0; i < s->n_campaigns; i++)
        json_array_append_new(campaigns, json_bytes(s->campaigns[i].j.out));
    json_object_set_new(o, "campaigns", campaigns);
    json_object_set_new(o, "dir", a->rest.n ? json_bytes(a->rest.v[0]) : json_null());
    json_object_set_new(o, "inputs", inputs);
    json_dumpf(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(o);
}

static void print_list(const struct selection *s, const struct export_result *r)
{
    printf("%-40s %9s %9s %7s %7s %9s  %s\n", "sha1", "bytes", "cpu us", "edges", "new", "at s",
           "found by");
    for (size_t i = 0; i < s->n; i++) {
        const struct chosen *c = &s->v[i];
        printf("%s %9zu %9u %7u %7u %9.1f  %s\n", r->names[i], c->size, c->cpu_us, c->n_edges,
               c->fresh, (double)c->found_ns / (double)NS_PER_S, c->finder);
    }
    printf("\n");
}

static void print_left_out(const struct args *a, const struct selection *s)
{
    if (s->unfit || s->pending)
        printf(
            "left out: %zu that crash or hang the target, %zu not measured yet (--any takes them "
            "too)\n",
            s->unfit, s->pending);
    if (s->unasked)
        printf("left out: %zu that %s\n", s->unasked,
               !a->since_ns    ? "others found"
               : !a->finders.n ? "were found earlier"
                               : "others found or that were found earlier");
    if (s->comparable && s->covered < s->covered_by_all && !s->unasked)
        printf("edges of the campaign that only those cover: %u\n", s->covered_by_all - s->covered);
}

static void print_text(const struct args *a, const struct selection *s,
                       const struct export_result *r, size_t selected)
{
    if (a->action == MINIMISE && !a->rest.n)
        print_list(s, r);
    if (s->minimised)
        printf("%zu of %zu inputs cover the same ", s->n, selected);
    else
        printf("%zu of %zu inputs%s", s->n, s->seen, s->comparable ? ", " : "");
    if (s->comparable)
        printf("%u of %u edges", s->covered, s->n_edges);
    printf(", %.1f KB\n", (double)r->bytes / 1e3);
    if (a->rest.n)
        printf("%zu written to %s, %zu were there already\n", r->written, a->rest.v[0], r->present);
    if (a->rest.n && r->others)
        printf("%zu other files are in %s; they stay\n", r->others, a->rest.v[0]);
    if (s->twice)
        printf("%zu inputs are in more than one campaign\n", s->twice);
    print_left_out(a, s);
}

static int do_export(const struct args *a, struct err *e)
{
    struct selection s;
    struct export_result r = {0};
    struct selection_opts o = {.outs = (const char *const *)a->outs.v,
                               .n_outs = a->outs.n,
                               .finders = &a->finders,
                               .since_ns = a->since_ns,
                               .any = a->any};
    int rc = selection_load(&s, &o, e);
    if (rc == 0 && a->build)
        rc = selection_measure(&s, a->build, a->target, a->any, e);
    size_t selected = s.n;
    if (rc == 0 && a->minimise)
        rc = selection_minimise(&s, e);
    if (rc == 0)
        rc = export_write(&s, a->rest.n ? a->rest.v[0] : NULL, &r, e);
    if (rc == 0 && a->json)
        print_json(a, &s, &r, selected);
    else if (rc == 0)
        print_text(a, &s, &r, selected);
    export_free(&r);
    selection_free(&s);
    return rc;
}

int cli_corpus(int argc, char **argv)
{
    struct args a = {0};
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help)
        cli_help(cli_find("corpus"), help);
    else if (rc == 0)
        rc = a.action == IMPORT ? do_import(&a, &e) : do_export(&a, &e);
    args_free(&a);
    return rc < 0 ? cli_fail(&e) : 0;
}
