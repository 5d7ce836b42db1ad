/* view: `carol view`: the page of a campaign that somebody else runs, or nobody any more.  Reads the record, writes
 * nothing. */
#include "cli/cli.h"

#include "base/str.h"
#include "cli/serve.h"
#include "triage/state.h"
#include "web/artist.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "      --web ADDR:PORT   where to serve it (default: " WEB_ADDRESS "; port 0: any free one)\n"
    "      --web-token FILE  keep the page's token there (default: a new one each time)\n\n"
    "The address is printed on a line of its own, with the token that opens it.  Below it are\n"
    "api/status (the bytes of 'carol status --json'), metrics (for Prometheus) and events\n"
    "(server-sent).  Ctrl-C ends it; the campaign does not notice.\n";

enum { OPT_WEB = 256, OPT_TOKEN, OPT_DRAW };

static const struct option options[] = {{"web", optional_argument, 0, OPT_WEB},
                                        {"web-token", required_argument, 0, OPT_TOKEN},
                                        {"draw", required_argument, 0, OPT_DRAW},
                                        {"help", no_argument, 0, 'h'},
                                        {0, 0, 0, 0}};

struct args {
    const char *out, *web, *token;
    const char *draw; /* not for people: this is the process that draws (web/artist.h) */
    bool help;
};

static int parse(int argc, char **argv, struct args *a, struct err *e)
{
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case OPT_WEB:
            if (!optarg && optind < argc && strchr(argv[optind], ':'))
                optarg = argv[optind++]; /* getopt takes it only after = */
            a->web = optarg;
            break;
        case OPT_TOKEN: a->token = optarg; break;
        case OPT_DRAW: a->draw = optarg; break;
        case 'h': a->help = true; return 0;
        default: return err_usage(e, "'carol view --help' tells what it takes");
        }
    }
    if (a->draw)
        return 0;
    if (optind + 1 != argc)
        return err_usage(e, "which campaign? carol view OUT");
    a->out = argv[optind];
    return 0;
}

/* --- the state, read on when it is old ----------------------------------------------------------- */
struct lookout {
    struct loop *loop;
    const char *out;
    struct status st;
    int64_t read_ns, cost_ns;
};

/* It is read at most once a second, and takes at most a hundredth of the time. */
static int look(void *arg, struct status *st, struct err *e)
{
    struct lookout *k = arg;
    struct defects d;
    int64_t now = loop_now(k->loop), old = now - k->read_ns;
    if (!k->read_ns || (old >= NS_PER_S && old >= 100 * k->cost_ns)) {
        int rc = state_update(&k->st, &d, k->out, e);
        defects_free(&d);
        if (rc < 0)
            return rc;
        k->read_ns = loop_now(k->loop);
        k->cost_ns = k->read_ns - now;
    }
    *st = k->st;
    return 0;
}

static void on_signal(void *arg, int signo)
{
    (void)signo;
    loop_stop(arg);
}

static int view(const struct args *a, struct err *e)
{
    struct lookout k = {.out = a->out};
    struct status st;
    struct web *web = NULL;
    int rc = loop_new(&k.loop, e);
    if (rc < 0)
        return rc;
    rc = look(&k, &st, e);
    if (rc == 0)
        rc = loop_signal(k.loop, SIGINT, on_signal, k.loop, e);
    if (rc == 0)
        rc = loop_signal(k.loop, SIGTERM, on_signal, k.loop, e);
    if (rc == 0)
        rc = serve_open(&web,
                        &(struct web_opts){.loop = k.loop,
                                           .dir = a->out,
                                           .address = a->web,
                                           .token_file = a->token,
                                           .soon = true,
                                           .status = look,
                                           .arg = &k},
                        e);
    if (rc == 0) {
        signal(SIGPIPE, SIG_IGN);
        loop_run(k.loop);
        web_close(web, NULL);
    }
    loop_free(k.loop);
    return rc;
}

int cli_view(int argc, char **argv)
{
    struct args a = {0};
    struct err e = {0};
    int rc = parse(argc, argv, &a, &e);
    if (rc == 0 && a.help)
        cli_help(cli_find("view"), help);
    else if (rc == 0)
        rc = a.draw ? artist_main(a.draw, &e) : view(&a, &e);
    return rc < 0 ? cli_fail(&e) : 0;
}
