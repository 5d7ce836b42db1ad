/* engine: `carol engine`: the options of its two halves, and what both need.  One fuzzer alone under
 * control is in engine_run.c, the self-tests are in engine_selftest.c. */
#include "cli/engine.h"

#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/where.h"
#include "cli/cli.h"
#include "cli/host.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEED_MAX ((size_t)64 << 20)

static const char options[] =
    "  carol engine selftest [NAME...] [-b DIR]    does each fuzzer obey here?  About 2 s each\n"
    "  carol engine run NAME -b DIR -i SEEDS       one fuzzer alone under control, turn by turn\n"
    "\n"
    "  -b, --build DIR       what 'carol build -o DIR' made (selftest: a small target of its own)\n"
    "      --target NAME     which target of it, if there are several\n"
    "  -i, --input SEEDS     file or directory.  run: the first half is the start corpus, the rest "
    "is\n"
    "                        offered as imports, spread evenly over the turns\n"
    "      --turns N         how many turns (default 5)\n"
    "      --turn TIME       length of a turn (default 5s)\n"
    "      --pause TIME      how long it stays parked between two turns (default 0)\n"
    "  -T, --timeout MS      per input (default 1000); honggfuzz rounds up to whole seconds\n"
    "  -m, --memory SIZE     address space of the target, e.g. 512M (default 2G; 0: no limit)\n"
    "  -x, --dict FILE       a dictionary\n"
    "      --engines DIR     the fuzzers to use, instead of Carol's own\n"
    "      --json            one JSON object\n"
    "  -- ARGS               how a main() program is called; @@ is the input file\n"
    "\n"
    "Ctrl-C ends a run after the turn's finds are counted.  selftest takes rosters too, and "
    "without "
    "a\n"
    "NAME tests every fuzzer.  Exit: 0 done, 2 wrong usage, 3 a fuzzer cannot be used here.\n";

/* Directories are called carol-engine.<pid>.XXXXXX; one whose process is gone is nobody's. */
static void sweep(const char *tmp)
{
    static const char prefix[] = "carol-engine.";
    struct strv names = {0};
    if (fs_list(tmp, &names, NULL) < 0)
        return;
    for (size_t i = 0; i < names.n; i++) {
        char *end = NULL;
        if (!str_starts(names.v[i], prefix))
            continue;
        long pid = strtol(names.v[i] + sizeof prefix - 1, &end, 10);
        if (pid <= 0 || *end != '.' || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
            continue;
        char *path = fs_join(tmp, names.v[i]);
        if (fs_remove_tree(path, NULL) < 0)
            errno = 0; /* somebody else's: leave it */
        free(path);
    }
    strv_free(&names);
}

/* A new directory of ours below $TMPDIR, and the end of those that a killed run left; caller frees the
 * string, after fs_remove_tree. */
static int make_workspace(char **dir, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    tmp = tmp && *tmp ? tmp : "/tmp";
    sweep(tmp);
    *dir = str_fmt("%s/carol-engine.%d.XXXXXX", tmp, (int)getpid());
    if (mkdtemp(*dir))
        return 0;
    int rc =
        err_sys(e, "cannot make a directory below %s (set TMPDIR to one that can be written)", tmp);
    e->exit = ERR_EXIT_ENV;
    free(*dir);
    *dir = NULL;
    return rc;
}

int engine_read_seeds(const char *path, struct engine_seeds *s, struct err *e)
{
    struct strv files = {0};
    *s = (struct engine_seeds){0};
    int rc = fs_walk(path, &files, e);
    if (rc < 0)
        e->exit = ERR_EXIT_USAGE;
    s->v = xcalloc(files.n + 1, sizeof *s->v);
    for (size_t i = 0; rc == 0 && i < files.n; i++) {
        struct buf b = BUF_INIT(SEED_MAX);
        rc = fs_read(files.v[i], &b, e);
        size_t size = b.len;
        if (rc == 0 && size) {
            s->v[s->n] = (struct input){(int64_t)s->n + 1, buf_take(&b), size};
            s->n++;
        }
        buf_free(&b);
    }
    if (rc == 0 && s->n == 0)
        rc = err_usage(e, "there is no input in %s: put at least one file there", path);
    strv_free(&files);
    return rc;
}

void engine_free_seeds(struct engine_seeds *s)
{
    for (size_t i = 0; i < s->n; i++)
        free((void *)s->v[i].data);
    free(s->v);
    *s = (struct engine_seeds){0};
}

static int parse_option(struct engine_opts *o, int opt, struct err *e)
{
    uint64_t v = 0;
    switch (opt) {
    case 'b': o->build = optarg; return 0;
    case 't': o->target = optarg; return 0;
    case 'i': o->seeds = optarg; return 0;
    case 'x': o->dict = optarg; return 0;
    case 'j': o->json = true; return 0;
    case 'E': where_set_engines(optarg); return 0;
    case 'n': return str_to_u64(optarg, "--turns", 1, 1000000, &o->turns, e);
    case 's': return str_to_time(optarg, "--turn", &o->turn_ns, e);
    case 'p': return str_to_time(optarg, "--pause", &o->pause_ns, e);
    case 'm': return str_to_mem(optarg, "-m", &o->mem_bytes, e);
    case 'T': {
        int rc = str_to_u64(optarg, "-T (milliseconds)", 1, 3600000, &v, e);
        o->timeout_ms = (uint32_t)v;
        return rc;
    }
    default: return err_usage(e, "see 'carol engine --help'");
    }
}

/* Words before "--" are names of fuzzers, those after it are the target's.  1: help was asked for. */
static int parse(struct engine_opts *o, int argc, char **argv, struct err *e)
{
    static const struct option longs[] = {{"build", required_argument, NULL, 'b'},
                                          {"target", required_argument, NULL, 't'},
                                          {"input", required_argument, NULL, 'i'},
                                          {"dict", required_argument, NULL, 'x'},
                                          {"turns", required_argument, NULL, 'n'},
                                          {"turn", required_argument, NULL, 's'},
                                          {"pause", required_argument, NULL, 'p'},
                                          {"timeout", required_argument, NULL, 'T'},
                                          {"memory", required_argument, NULL, 'm'},
                                          {"engines", required_argument, NULL, 'E'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int end = 0, rc = 0, opt;
    while (end < argc && strcmp(argv[end], "--") != 0)
        end++;
    if (end + 1 < argc)
        o->args = (const char *const *)argv + end + 1;
    optind = 1;
    while (rc == 0 && (opt = getopt_long(end, argv, "b:i:x:T:m:h", longs, NULL)) != -1) {
        if (opt == 'h')
            return 1;
        rc = parse_option(o, opt, e);
    }
    for (int i = optind; rc == 0 && i < end; i++)
        rc = fuzzer_roster(argv[i], &o->names, e);
    return rc;
}

static int check_run(const struct engine_opts *o, struct err *e)
{
    if (o->dict && !fs_exists(o->dict))
        return err_usage(e, "-x: there is no dictionary %s", o->dict);
    if (o->names.n != 1)
        return err_usage(e, "name one fuzzer: carol engine run NAME -b DIR -i SEEDS");
    if (!o->build)
        return err_usage(e, "say which build to run: carol engine run %s -b DIR -i SEEDS",
                         o->names.v[0]);
    if (!o->seeds)
        return err_usage(e, "say where the seeds are: -i FILE or -i DIR");
    return o->turn_ns > 0 ? 0 : err_usage(e, "--turn must be more than 0");
}

int cli_engine(int argc, char **argv)
{
    struct err e = {0};
    struct engine_opts o = {
        .turns = 5, .turn_ns = 5 * NS_PER_S, .timeout_ms = 1000, .mem_bytes = UINT64_C(2) << 30};
    const char *verb = argc > 1 ? argv[1] : "";
    bool run = strcmp(verb, "run") == 0;
    char *work = NULL;
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0)
        return cli_help_fuzzers(cli_find("engine"), options);
    if (!run && strcmp(verb, "selftest") != 0) {
        err_usage(&e, "carol engine selftest or carol engine run? see 'carol engine --help'");
        return cli_fail(&e);
    }
    argv[1] = argv[0];
    int rc = parse(&o, argc - 1, argv + 1, &e);
    if (rc == 1)
        return cli_help_fuzzers(cli_find("engine"), options);
    if (rc == 0 && run)
        rc = check_run(&o, &e);
    if (rc == 0)
        rc = host_need_files(HOST_FILES_RUN, &e);
    if (rc == 0)
        rc = make_workspace(&work, &e);
    if (rc == 0)
        rc = run ? engine_run(&o, work, &e) : engine_selftest(&o, work, &e);
    if (work && fs_remove_tree(work, NULL) < 0)
        fprintf(stderr, "carol: %s could not be removed\n", work);
    free(work);
    strv_free(&o.names);
    return rc < 0 ? cli_fail(&e) : rc == 1 ? ERR_EXIT_ENV : 0;
}
