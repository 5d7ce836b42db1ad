/* triage: `carol triage`: options, the table, bundles and the exit code.  The work is in triage_run.c. */
#include "cli/triage.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/host.h"
#include "proc/cpus.h"
#include "target/run.h"
#include "triage/hook.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "  -j, --jobs N             inputs run at the same time (default: one per core)\n"
    "  -b, --build DIR          the builds, if they are not where the campaign had them\n"
    "      --minimise-time TIME for each defect (default: 10s; 0: do not minimise)\n"
    "      --baseline FILE      a defects.json of before: what is in it is known; may be repeated\n"
    "      --fail-on WHAT       exit 1 if there is a confirmed defect: new (not in a baseline), "
    "any\n"
    "      --public             leave out the inputs and traces of withheld defects; writes to\n"
    "                           OUT/triage-public\n"
    "      --bundle FILE        pack what was written, for the maintainer (.tar.gz)\n"
    "      --exec CMD           run for each defect that is new since the last time, by sh; its "
    "JSON is\n"
    "                           on standard input, its folder in $CAROL_DEFECT_DIR\n"
    "      --webhook URL        send each of these there, as JSON by POST (needs curl)\n"
    "      --json               defects.json on standard output, for programs (schema 1)\n"
    "  -q, --quiet              no progress\n"
    "\nWrites OUT/triage: a folder per defect (report.md, inputs, stack.txt), defects.json, "
    "defects.sarif,\n"
    "junit.xml.  A second run does only what is new.  It may run while the campaign does.\n";

static int parse_fail_on(const char *text, enum fail_on *out, struct err *e)
{
    *out = strcmp(text, "new") == 0 ? FAIL_NEW : strcmp(text, "any") == 0 ? FAIL_ANY : FAIL_NEVER;
    return *out ? 0 : err_usage(e, "--fail-on: '%s' is neither new nor any", text);
}

static int parse(struct triage_args *a, int argc, char **argv, struct err *e)
{
    enum {
        OPT_TIME = 256,
        OPT_BASELINE,
        OPT_FAIL,
        OPT_PUBLIC,
        OPT_BUNDLE,
        OPT_EXEC,
        OPT_WEBHOOK,
        OPT_JSON
    };
    static const struct option longs[] = {{"jobs", required_argument, NULL, 'j'},
                                          {"build", required_argument, NULL, 'b'},
                                          {"minimise-time", required_argument, NULL, OPT_TIME},
                                          {"baseline", required_argument, NULL, OPT_BASELINE},
                                          {"fail-on", required_argument, NULL, OPT_FAIL},
                                          {"public", no_argument, NULL, OPT_PUBLIC},
                                          {"bundle", required_argument, NULL, OPT_BUNDLE},
                                          {"exec", required_argument, NULL, OPT_EXEC},
                                          {"webhook", required_argument, NULL, OPT_WEBHOOK},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    uint64_t v = 0;
    int rc = 0, opt;
    optind = 0;
    while (rc == 0 && (opt = getopt_long(argc, argv, "j:b:qh", longs, NULL)) != -1)
        switch (opt) {
        case 'j':
            rc = str_to_u64(optarg, "-j", 1, 64, &v, e);
            a->jobs = (int)v;
            break;
        case 'b': a->build = optarg; break;
        case OPT_TIME: rc = str_to_time(optarg, "--minimise-time", &a->minimise_ns, e); break;
        case OPT_BASELINE: strv_add(&a->baseline, optarg); break;
        case OPT_FAIL: rc = parse_fail_on(optarg, &a->fail_on, e); break;
        case OPT_PUBLIC: a->public = true; break;
        case OPT_BUNDLE: a->bundle = optarg; break;
        case OPT_EXEC: a->exec = optarg; break;
        case OPT_WEBHOOK: a->webhook = optarg; break;
        case OPT_JSON: a->json = true; break;
        case 'q': a->quiet = true; break;
        case 'h': return 1;
        default: return err_usage(e, "'carol triage --help' lists the options");
        }
    if (rc == 0 && optind != argc - 1)
        rc = err_usage(e, optind == argc ? "which campaign? carol triage OUT"
                                         : "one campaign at a time: carol triage OUT");
    a->out = rc == 0 ? argv[optind] : NULL;
    return rc;
}

/* --- bundles ------------------------------------------------------------------------------------ */

static int pack(const struct triaged *t, const char *file, struct err *e)
{
    char *tar = run_find("tar");
    struct buf said = BUF_INIT(1 << 16);
    if (!tar)
        return err_env(e, "--bundle needs tar, which is not installed: sudo apt-get install tar");
    const char *argv[] = {tar,
                          "-czf",
                          file,
                          "--exclude=./.run-*",
                          "--exclude=./" OUTPUT_EARLIER,
                          "--transform=s,^\\.,carol-triage,",
                          "-C",
                          t->dir,
                          ".",
                          NULL};
    int rc = run_capture(argv, NULL, 600, &said, e);
    if (rc < 0)
        err_wrap(e, "--bundle: cannot write %s (%.200s)", file, said.p ? said.p : "");
    buf_free(&said);
    free(tar);
    return rc;
}

/* --- the verb ----------------------------------------------------------------------------------- */

static bool asked_to_fail(const struct triage_args *a, const struct defects *d)
{
    for (size_t i = 0; a->fail_on && i < d->n; i++)
        if (d->v[i].confirmed && (a->fail_on == FAIL_ANY || !d->v[i].known))
            return true;
    return false;
}

static int triage(const struct triage_args *a, struct err *e)
{
    struct triaged t;
    int rc = triage_campaign(&t, a, e), code = 0;
    if (rc == 0)
        rc = triage_hooks(&t, a, e);
    if (rc == 0 && a->bundle)
        rc = pack(&t, a->bundle, e);
    if (rc == 0 && a->json) {
        json_t *o = output_json(&t.out);
        json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        printf("\n");
        json_decref(o);
    } else if (rc == 0) {
        triage_print(&t, a->baseline.n > 0);
    }
    if (rc == 0)
        code = asked_to_fail(a, &t.d) ? 1 : 0;
    triaged_close(&t);
    return rc < 0 ? rc : code;
}

int cli_triage(int argc, char **argv)
{
    struct err e = {0};
    struct triage_args a = {
        .jobs = cpus_count(), .minimise_ns = 10 * INT64_C(1000000000), .hangs_ns = -1};
    int rc = parse(&a, argc, argv, &e);
    if (rc == 1) {
        strv_free(&a.baseline);
        return cli_help(cli_find("triage"), help);
    }
    if (rc == 0)
        rc = host_need_files(HOST_FILES_RUN + HOST_FILES_WORKER * (unsigned)a.jobs, &e);
    if (rc == 0)
        rc = hook_check(&(struct hook_opts){.command = a.exec, .url = a.webhook}, &e);
    if (rc == 0)
        rc = triage(&a, &e);
    strv_free(&a.baseline);
    return rc < 0 ? cli_fail(&e) : rc;
}
