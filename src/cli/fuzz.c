/* fuzz: `carol fuzz`: options, signals and the last words of a campaign. */
#include "cli/cli.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/where.h"
#include "campaign/campaign.h"
#include "campaign/real.h"
#include "campaign/tally.h"
#include "cli/host.h"
#include "cli/screen.h"
#include "fuzzer/fuzzer.h"
#include "sched/sched.h"
#include "target/manifest.h"

#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "  -b, --build DIR        what 'carol build' made\n"
    "      --target NAME      which target of it, when there are several\n"
    "  -i, --seeds PATH       file, directory, zip or AFL output directory; may be repeated\n"
    "                         (default: what the build left as NAME_seed_corpus.zip)\n"
    "  -o, --out DIR          the campaign's directory, new\n"
    "      --resume DIR       go on with a campaign (after Ctrl-C, kill -9, power loss); only -d,\n"
    "                         --stop-on-*, --engines and -q may be given anew\n"
    "  -j, --jobs N           cores to use (default: all)\n"
    "  -d, --duration TIME    budget: 90, 90s, 15m, 2h, 1d (default, or 0: until Ctrl-C)\n"
    "      --turn TIME        length of a turn (default: 120s; use 5s for runs of minutes)\n"
    "  -s, --scheduler NAME   contextual (default), phase, bandfuzz, autofz, legion, equal, "
    "random,\n"
    "                         single:FUZZER\n"
    "      --sched-opt KEY=VALUE    an option of the scheduler; may be repeated; 'help' lists "
    "them\n"
    "  -f, --fuzzers LIST     fuzzers and rosters, separated by commas (default: the roster "
    "default)\n"
    "      --seed N           of all random numbers (default: from the clock, recorded)\n"
    "      --reward NAME      coverage_interval (default), frontier_branch, rarity_density\n"
    "      --share-new-only   share only inputs with a new edge on the neutral build\n"
    "  -x, --dict FILE        dictionary (default: what the build left as NAME.dict)\n"
    "  -m, --memory SIZE      address space of a target: 512M, 2G (default: 2G)\n"
    "  -T, --timeout MS       per input (default: 1000)\n"
    "      --stop-on-plateau TIME   end after that long without a new edge\n"
    "      --stop-on-crash    end at the first crash, with exit code 1\n"
    "      --engines DIR      fuzzers of your own\n"
    "  -q, --quiet            no progress\n\n"
    "Exit: 0 ended (also by Ctrl-C), 1 a crash under --stop-on-crash, 2 wrong usage, 3 something "
    "is\n"
    "missing here.\n";

enum {
    OPT_TARGET = 256,
    OPT_RESUME,
    OPT_TURN,
    OPT_SEED,
    OPT_REWARD,
    OPT_PLATEAU,
    OPT_CRASH,
    OPT_NEW,
    OPT_SCHED,
    OPT_ENGINES
};

static const struct option options[] = {{"build", 1, 0, 'b'},
                                        {"target", 1, 0, OPT_TARGET},
                                        {"seeds", 1, 0, 'i'},
                                        {"out", 1, 0, 'o'},
                                        {"resume", 1, 0, OPT_RESUME},
                                        {"jobs", 1, 0, 'j'},
                                        {"duration", 1, 0, 'd'},
                                        {"turn", 1, 0, OPT_TURN},
                                        {"scheduler", 1, 0, 's'},
                                        {"sched-opt", 1, 0, OPT_SCHED},
                                        {"fuzzers", 1, 0, 'f'},
                                        {"seed", 1, 0, OPT_SEED},
                                        {"reward", 1, 0, OPT_REWARD},
                                        {"share-new-only", 0, 0, OPT_NEW},
                                        {"dict", 1, 0, 'x'},
                                        {"memory", 1, 0, 'm'},
                                        {"timeout", 1, 0, 'T'},
                                        {"stop-on-plateau", 1, 0, OPT_PLATEAU},
                                        {"stop-on-crash", 0, 0, OPT_CRASH},
                                        {"engines", 1, 0, OPT_ENGINES},
                                        {"quiet", 0, 0, 'q'},
                                        {"help", 0, 0, 'h'},
                                        {0, 0, 0, 0}};

struct fuzz_args {
    struct campaign_opts o;
    bool quiet, help, sched_help;
    bool shapes; /* an option was given that a resumed campaign has already */
};

/* An absolute path: the campaign may be resumed from another directory. */
static char *absolute(const char *path)
{
    char cwd[PATH_MAX];
    return path[0] == '/' || !getcwd(cwd, sizeof cwd) ? xstrdup(path) : fs_join(cwd, path);
}

static void replace(char **field, char *value)
{
    free(*field);
    *field = value;
}

static void add_sched_opt(struct fuzz_args *a, const char *v)
{
    char *was = a->o.params;
    a->sched_help |= strcmp(v, "help") == 0;
    a->o.params = was ? str_fmt("%s,%s", was, v) : xstrdup(v);
    free(was);
}

static int print_sched_help(const char *scheduler, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int rc = sched_help(scheduler, &b, e);
    if (rc == 0)
        printf("%s", b.p);
    buf_free(&b);
    return rc;
}

static int set_number(int c, const char *v, struct campaign_opts *o, struct err *e)
{
    uint64_t n = 0;
    int rc;
    switch (c) {
    case 'j':
        rc = str_to_u64(v, "-j", 1, 256, &n, e);
        o->jobs = (int)n;
        return rc;
    case 'T':
        rc = str_to_u64(v, "-T", 1, 600000, &n, e);
        o->timeout_ms = (uint32_t)n;
        return rc;
    case 'm': return str_to_mem(v, "-m", &o->mem_bytes, e);
    case 'd': o->budget_given = true; return str_to_time(v, "-d", &o->budget_ns, e);
    case OPT_TURN: return str_to_time(v, "--turn", &o->turn_ns, e);
    case OPT_PLATEAU: return str_to_time(v, "--stop-on-plateau", &o->plateau_ns, e);
    default: return str_to_u64(v, "--seed", 0, UINT64_MAX, &o->seed, e);
    }
}

static int set_option(int c, const char *v, struct fuzz_args *a, struct err *e)
{
    struct campaign_opts *o = &a->o;
    switch (c) {
    case 'b': replace(&o->build, absolute(v)); return 0;
    case 'o': replace(&o->out, absolute(v)); return 0;
    case 'i': strv_take(&o->seeds, absolute(v)); return 0;
    case 'x': replace(&o->dict, absolute(v)); return 0;
    case 's': replace(&o->scheduler, xstrdup(v)); return 0;
    case 'f':
        if (fuzzer_roster(v, &o->fuzzers, e) < 0)
            return err_wrap(e, "-f");
        return 0;
    case 'q': a->quiet = true; return 0;
    case OPT_TARGET: replace(&o->target, xstrdup(v)); return 0;
    case OPT_RESUME:
        replace(&o->out, absolute(v));
        o->resume = true;
        return 0;
    case OPT_CRASH: o->stop_on_crash = true; return 0;
    case OPT_SCHED: add_sched_opt(a, v); return 0;
    case OPT_NEW: o->neutral_filter = true; return 0;
    case OPT_ENGINES: where_set_engines(v); return 0;
    case 'h': a->help = true; return 0;
    case OPT_REWARD:
        o->reward = reward_kind_of(v);
        return o->reward
                   ? 0
                   : err_usage(e,
                               "--reward: '%s' is none of coverage_interval, frontier_branch, "
                               "rarity_density",
                               v);
    default: return set_number(c, v, o, e);
    }
}

static void defaults(struct campaign_opts *o)
{
    cpu_set_t set;
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    o->jobs = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    o->turn_ns = SCHED_TURN_NS;
    o->scheduler = xstrdup("contextual");
    o->mem_bytes = (uint64_t)2 << 30;
    o->timeout_ms = 1000;
    o->reward = REWARD_COVERAGE_INTERVAL;
    o->seed = (uint64_t)ts.tv_sec * 1000 + (uint64_t)(ts.tv_nsec / 1000000);
}

static int check(const struct campaign_opts *o, struct err *e)
{
    if (!o->out)
        return err_usage(e, "where shall the campaign live? Give a new directory with -o");
    if (o->resume)
        return 0;
    if (!o->build)
        return err_usage(
            e, "what shall be fuzzed? Give a build directory with -b ('carol build' makes one)");
    if (o->turn_ns < 100 * NS_PER_MS || o->turn_ns > 86400 * NS_PER_S)
        return err_usage(e, "--turn: a turn lasts from 0.1 s to a day");
    if (o->mem_bytes < (uint64_t)16 << 20)
        return err_usage(e, "-m: no target lives in less than 16M; the default is 2G");
    if (o->dict && !fs_exists(o->dict))
        return err_usage(e, "-x: there is no dictionary %s", o->dict);
    return 0;
}

/* Everything else is part of the campaign from its start to its end. */
static bool may_change(int c)
{
    return c == 'd' || c == 'q' || c == OPT_RESUME || c == OPT_PLATEAU || c == OPT_CRASH ||
           c == OPT_ENGINES;
}

/* One word of the target's command line.  Its programs run in directories of their own, so a word that
 * names a file here must name it there too. */
static char *target_word(const char *word)
{
    if (strcmp(word, "___FILE___") == 0)
        return xstrdup("@@");
    return word[0] != '-' && fs_exists(word) ? absolute(word) : xstrdup(word);
}

static int parse(int argc, char **argv, struct fuzz_args *a, struct err *e)
{
    defaults(&a->o);
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "+b:i:o:j:d:s:f:x:m:T:qh", options, NULL)) != -1;) {
        if (c == '?')
            return err_usage(e, "'carol fuzz --help' lists the options");
        int rc = set_option(c, optarg, a, e);
        if (rc < 0 || a->help)
            return rc;
        a->shapes = a->shapes || !may_change(c);
    }
    if (a->sched_help)
        return 0;
    if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
        return err_usage(
            e, "what is '%s'? Seeds are given with -i; the target's own arguments after --",
            argv[optind]);
    if (a->o.resume && (a->shapes || optind < argc))
        return err_usage(
            e, "--resume goes on with the options the campaign was begun with; only -d, "
               "--stop-on-plateau, --stop-on-crash, --engines and -q can be given with it");
    for (int i = optind; i < argc; i++)
        strv_take(&a->o.args, target_word(argv[i]));
    return check(&a->o, e);
}

/* --- running ------------------------------------------------------------------------------------- */
static struct screen *the_screen;

static void on_progress(void *arg, struct campaign *c)
{
    (void)arg;
    screen_draw(the_screen, c);
}

static void on_signal(void *arg, int signo)
{
    (void)signo;
    campaign_interrupt(arg);
}

/* A closed terminal ends it cleanly too, but not under nohup. */
static int take_signals(struct loop *l, struct campaign *c, struct err *e)
{
    struct sigaction hup;
    int rc = loop_signal(l, SIGINT, on_signal, c, e);
    if (rc == 0)
        rc = loop_signal(l, SIGTERM, on_signal, c, e);
    if (rc == 0 && sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler != SIG_IGN)
        rc = loop_signal(l, SIGHUP, on_signal, c, e);
    return rc;
}

static void last_words(const struct campaign *c, const char *out)
{
    const struct tally *t = campaign_tally(c);
    printf("\n%s after %lld s: %llu turns, %llu executions\n"
           "%u of %u edges (%u from the seeds), %llu seeds, %llu crashes, %llu hangs\n\n",
           campaign_end_reason(c), (long long)(campaign_elapsed(c) / NS_PER_S),
           (unsigned long long)t->turns, (unsigned long long)t->execs, t->edges, t->edges_total,
           t->seed_edges, (unsigned long long)t->seeds, (unsigned long long)t->crashes,
           (unsigned long long)t->hangs);
    printf("  %-10s %6s %12s %12s %16s %8s\n", "fuzzer", "turns", "first edges", "executions",
           "imports taken", "crashes");
    for (int a = 0; a < t->n_arms; a++)
        printf("  %-10s %6llu %12llu %12llu %9llu/%-6llu %8llu%s%s\n", t->arm[a].name,
               (unsigned long long)t->arm[a].turns, (unsigned long long)t->arm[a].first_edges,
               (unsigned long long)t->arm[a].execs, (unsigned long long)t->arm[a].taken,
               (unsigned long long)t->arm[a].offered, (unsigned long long)t->arm[a].crashes,
               t->arm[a].dropped ? "  dropped: " : "", t->arm[a].why);
    printf("\n");
    char *word = str_shell(out);
    if (t->crashes)
        printf("crashing inputs: %s/crashes\n", out);
    bool used = strcmp(campaign_end_reason(c), "budget used") == 0;
    printf("state:           carol status %s\ngo on:           carol fuzz --resume %s%s\n", word,
           word, used ? " -d TIME   (counted from the first start)" : "");
    free(word);
    fflush(stdout); /* also for one who presses Ctrl-C again now */
}

static void hint_turns(const struct campaign_opts *o)
{
    if (o->turn_ns > 5 * NS_PER_S && o->budget_ns && o->budget_ns < 3 * o->turn_ns)
        log_warn(
            "-d %lld s with turns of %lld s leaves the fuzzers little to exchange: --turn 5s suits "
            "runs of minutes",
            (long long)(o->budget_ns / NS_PER_S), (long long)(o->turn_ns / NS_PER_S));
}

static int check_args(const struct campaign_opts *o, struct err *e)
{
    struct manifest m;
    if (o->resume || !o->args.n)
        return 0;
    int rc = manifest_load(o->build, o->target, &m, e);
    if (rc < 0)
        return rc;
    rc = manifest_check_args(&m, (const char *const *)o->args.v, e);
    manifest_free(&m);
    return rc;
}

static int run(struct fuzz_args *a, struct err *e)
{
    struct real r;
    struct campaign *c = NULL;
    char *out = xstrdup(a->o.out);
    bool stop_on_crash = a->o.stop_on_crash;
    the_screen = screen_new(STDOUT_FILENO, a->quiet);
    int rc = real_open(&r, &a->o, e), code = 0;
    if (rc == 0) {
        struct campaign_env env = real_env(&r);
        hint_turns(&a->o);
        env.progress = on_progress;
        rc = campaign_new(&c, &a->o, &env, &r.target, e);
    }
    if (rc == 0)
        rc = take_signals(r.loop, c, e);
    if (rc == 0) {
        signal(SIGPIPE, SIG_IGN);
        rc = campaign_run(c, e);
        screen_free(the_screen);
        the_screen = NULL;
        if (rc == 0 || campaign_tally(c)->turns)
            last_words(c, out);
        code = rc == 0 && stop_on_crash && campaign_found_crash(c) ? 1 : 0;
    }
    campaign_free(c);
    screen_free(the_screen);
    real_close(&r);
    free(out);
    return rc < 0 ? rc : code;
}

int cli_fuzz(int argc, char **argv)
{
    struct fuzz_args a = {0};
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help) {
        campaign_opts_free(&a.o);
        return cli_help_fuzzers(cli_find("fuzz"), help);
    }
    if (rc == 0 && !a.sched_help)
        rc = check_args(&a.o, &e);
    if (rc == 0 && !a.sched_help)
        rc = host_need_files(HOST_FILES_RUN + HOST_FILES_WORKER * (unsigned)a.o.jobs, &e);
    if (rc == 0 && !a.sched_help)
        host_warn_limits();
    if (rc == 0)
        rc = a.sched_help ? print_sched_help(a.o.scheduler, &e) : run(&a, &e);
    campaign_opts_free(&a.o);
    return rc < 0 ? cli_fail(&e) : rc;
}
