/* fuzz: `carol fuzz`: signals, watchers and the last words of a campaign.  Its options are those of
 * journal/settings.h. */
#include "cli/cli.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/where.h"
#include "campaign/campaign.h"
#include "campaign/real.h"
#include "cli/host.h"
#include "cli/options.h"
#include "cli/screen.h"
#include "cli/serve.h"
#include "cli/triage.h"
#include "journal/metrics.h"
#include "sched/sched.h"
#include "target/manifest.h"
#include "triage/hook.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char epilogue[] =
    "\nExit: 0 ended (also by Ctrl-C), 1 a crash under --stop-on-crash or the defects of\n"
    "--stop-on-defect, 2 wrong usage, 3 something is missing here.\n";

/* At the end of a campaign a person waits: hangs, which take ten time limits each, have a tenth of what it lasted, and at
 * least this; the others are left for `carol triage`. */
#define LAST_HANGS_NS (30 * NS_PER_S)
#define LAST_MINIMISE_NS (5 * NS_PER_S)

static int print_sched_help(const char *scheduler, struct err *e)
{
    struct buf b = BUF_INIT(BUF_TEXT_MAX);
    int rc = sched_help(scheduler, &b, e);
    if (rc == 0)
        printf("%s", b.p);
    buf_free(&b);
    return rc;
}

static int check(const struct settings *o, struct err *e)
{
    if ((o->exec || o->webhook) && o->no_triage)
        return err_usage(e,
                         "--%s is told of defects, and --no-triage looks for none: leave one of "
                         "them out",
                         o->exec ? "exec" : "webhook");
    int rc = hook_check(&(struct hook_opts){.url = o->webhook}, e);
    if (rc < 0)
        return rc;
    if (!o->out)
        return err_usage(e, "where shall the campaign live? Give a new directory with -o");
    if (o->resume)
        return 0;
    if (!o->build)
        return err_usage(
            e, "what shall be fuzzed? Give a build directory with -b ('carol build' makes one)");
    if (o->dict && !fs_exists(o->dict))
        return err_usage(e, "-x: there is no dictionary %s", o->dict);
    return 0;
}

/* --- running ------------------------------------------------------------------------------------- */
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

static void nothing(int signo)
{
    (void)signo;
}

/* All is safe and said in a moment: a Ctrl-C that comes now does not kill it.  Triage takes the signals again. */
static void campaign_is_over(void)
{
    signal(SIGINT, nothing);
    signal(SIGTERM, nothing);
}

static void last_numbers(const struct status *st, const char *reason)
{
    printf("\n%s after %lld s: %llu turns, %llu executions\n"
           "%llu of %llu edges (%llu from the seeds), %llu seeds, %llu crashes, %llu hangs\n\n",
           reason, (long long)(st->gauges.elapsed_ns / NS_PER_S), metric_total(st, "turns"),
           metric_total(st, "execs"), metric_total(st, "edges"), metric_total(st, "edges_total"),
           metric_total(st, "seed_edges"), metric_total(st, "seeds"), metric_total(st, "crashes"),
           metric_total(st, "hangs"));
    printf("  %-10s %6s %12s %12s %16s %8s\n", "fuzzer", "turns", "first edges", "executions",
           "imports taken", "crashes");
    for (int a = 0; a < st->tally.n_arms; a++)
        printf("  %-10s %6llu %12llu %12llu %9llu/%-6llu %8llu%s%s\n", st->tally.arm[a].name,
               metric_count(st, METRIC_FUZZER, "turns", a),
               metric_count(st, METRIC_FUZZER, "first_edges", a),
               metric_count(st, METRIC_FUZZER, "execs", a),
               metric_count(st, METRIC_FUZZER, "taken", a),
               metric_count(st, METRIC_FUZZER, "offered", a),
               metric_count(st, METRIC_FUZZER, "crashes", a),
               gauge_dropped(&st->gauges, a) ? "  dropped: " : "", st->gauges.why[a]);
    printf("\n");
}

static void last_words(const struct campaign *c, const char *out)
{
    struct status *st = xmalloc(sizeof *st);
    campaign_status(c, st);
    gauge_clock(&st->gauges, campaign_elapsed(c));
    last_numbers(st, campaign_end_reason(c));
    bool crashed = st->gauges.crashes > 0;
    free(st);
    char *word = str_shell(out);
    if (crashed)
        printf("crashing inputs: %s/crashes\n", out);
    bool used = strcmp(campaign_end_reason(c), "budget used") == 0;
    printf("state:           carol status %s\ngo on:           carol fuzz --resume %s%s\n", word,
           word, used ? " -d TIME   (counted from the first start)" : "");
    free(word);
    fflush(stdout); /* also for one who presses Ctrl-C again now */
}

/* How long a turn is, and how many decisions that makes. */
static void say_turns(const struct campaign *c)
{
    const struct settings *o = campaign_settings(c);
    int64_t budget = campaign_tally(c)->budget_ns;
    double turn_s = (double)o->turn_ns / 1e9;
    if (budget)
        log_info("turns of %.4g s on %d %s: about %.0f decisions", turn_s, o->jobs,
                 o->jobs == 1 ? "core" : "cores", (double)budget / 1e9 * o->jobs / turn_s);
    else
        log_info("turns of %.4g s on %d %s", turn_s, o->jobs, o->jobs == 1 ? "core" : "cores");
}

static int check_args(const struct settings *o, struct err *e)
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

/* The state as the campaign itself knows it: what is in its record, without reading that. */
static int status_now(void *arg, struct status *st, struct err *e)
{
    struct campaign *c = *(struct campaign **)arg;
    int rc = campaign_look_at_triage(c, e);
    if (rc == 0)
        campaign_status(c, st);
    return rc;
}

static int64_t last_hangs_ns(int64_t elapsed_ns)
{
    return elapsed_ns / 10 > LAST_HANGS_NS ? elapsed_ns / 10 : LAST_HANGS_NS;
}

/* The campaign is closed and safe: whatever goes wrong here is only said. */
static void finish_triage(const struct triage_args *a)
{
    struct triaged t;
    struct err e = {0};
    printf("\n");
    fflush(stdout);
    int rc = triage_campaign(&t, a, &e);
    if (rc == 0) {
        triage_print(&t, false);
        rc = triage_hooks(&t, a, &e);
    }
    if (rc < 0)
        log_warn("the crashes could not be triaged: %s", e.msg);
    triaged_close(&t);
    fflush(stdout);
}

/* What lives as long as `carol fuzz` runs.  The words are copies: the campaign takes the settings. */
struct session {
    struct real r;
    struct campaign *c;
    struct web *web;
    struct screen *screen;
    char *out, *exec, *webhook;
    bool stop_on_crash;
    bool triage; /* there is something to triage at the end, with `last` */
    struct triage_args last;
};

/* Everything before the first process of the campaign.  The page comes first: its port may be taken. */
static int session_open(struct session *s, struct settings *o, struct err *e)
{
    *s = (struct session){.out = xstrdup(o->out),
                          .exec = o->exec ? xstrdup(o->exec) : NULL,
                          .webhook = o->webhook ? xstrdup(o->webhook) : NULL,
                          .stop_on_crash = o->stop_on_crash,
                          .screen = screen_new(STDOUT_FILENO, o->quiet)};
    s->last = (struct triage_args){.out = s->out,
                                   .minimise_ns = LAST_MINIMISE_NS,
                                   .quiet = o->quiet,
                                   .exec = s->exec,
                                   .webhook = s->webhook};
    int rc = real_open(&s->r, o, e);
    if (rc == 0 && o->web) {
        struct web_opts w = {.loop = s->r.loop,
                             .dir = s->out,
                             .address = o->web,
                             .token_file = o->web_token,
                             .status = status_now,
                             .arg = &s->c};
        rc = serve_open(&s->web, &w, e);
    }
    if (rc == 0) {
        struct campaign_env env = real_env(&s->r);
        rc = campaign_new(&s->c, o, &env, &s->r.target, e);
    }
    return rc == 0 ? take_signals(s->r.loop, s->c, e) : rc;
}

/* From the first decision to the last words.  Returns the exit code. */
static int session_run(struct session *s, struct err *e)
{
    struct campaign *c = s->c;
    signal(SIGPIPE, SIG_IGN);
    say_turns(c);
    if (s->web)
        screen_address(s->screen, web_url(s->web));
    campaign_watch(c, screen_draw, s->screen);
    int rc = campaign_run(c, e);
    campaign_is_over();
    bool cut = rc < 0 || strcmp(campaign_end_reason(c), "interrupted") == 0;
    web_close(s->web, cut ? "interrupted" : "ended");
    s->web = NULL;
    screen_free(s->screen);
    s->screen = NULL;
    if (rc == 0 || campaign_tally(c)->turns)
        last_words(c, s->out);
    if (rc < 0)
        return rc;
    const struct gauges *g = campaign_gauges(c);
    s->last.jobs = campaign_settings(c)->jobs;
    s->last.hangs_ns = last_hangs_ns(campaign_elapsed(c));
    s->triage =
        (g->crashes || g->hangs) && !campaign_cut_off(c) && !campaign_settings(c)->no_triage;
    return (s->stop_on_crash && campaign_found_crash(c)) || campaign_found_defects(c);
}

static int run(struct settings *o, struct err *e)
{
    struct session s;
    int rc = session_open(&s, o, e);
    if (rc == 0)
        rc = session_run(&s, e);
    web_close(s.web, NULL);
    campaign_free(s.c);
    screen_free(s.screen);
    real_close(&s.r);
    if (s.triage)
        finish_triage(&s.last);
    free(s.out);
    free(s.exec);
    free(s.webhook);
    return rc;
}

static int fuzz(struct settings *o, struct err *e)
{
    if (o->params && options_ask_help(o->params))
        return print_sched_help(o->scheduler, e);
    int rc = check(o, e);
    if (rc == 0)
        rc = check_args(o, e);
    if (rc == 0)
        rc = host_need_files(
            HOST_FILES_RUN + HOST_FILES_WORKER * (unsigned)o->jobs + (o->web ? WEB_CLIENTS : 0), e);
    if (rc < 0)
        return rc;
    host_warn_limits();
    if (o->engines)
        where_set_engines(o->engines);
    return run(o, e);
}

int cli_fuzz(int argc, char **argv)
{
    struct settings o = {0};
    struct err e = {0};
    bool help = false;
    int rc = options_parse(&o, argc, argv, &help, &e);
    if (rc == 0 && help) {
        struct buf b = BUF_INIT(BUF_TEXT_MAX);
        options_help(&b);
        buf_str(&b, epilogue);
        cli_help_fuzzers(cli_find("fuzz"), b.p);
        buf_free(&b);
    } else if (rc == 0) {
        rc = fuzz(&o, &e);
    }
    settings_free(&o);
    return rc < 0 ? cli_fail(&e) : rc;
}
