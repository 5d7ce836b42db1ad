/* cover: `carol cover`: runs inputs on the neutral build and prints what each covers.  The running is
 * in eval/executor.c. */
#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/host.h"
#include "eval/executor.h"
#include "journal/json.h"
#include "proc/cpus.h"
#include "proc/loop.h"
#include "target/manifest.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inputs read and measured together: a quarter of all, so that several executors have something to share,
 * within these bounds.  Not by their number: it must change no result. */
#define JOB_INPUTS 200
#define JOB_INPUTS_LEAST 50
#define LANES_MAX 256
#define LANE_INPUTS 32 /* fewer are not worth an executor of their own */
#define JOB_BYTES ((size_t)32 << 20)
#define INPUT_MAX ((size_t)1 << 30)

static const char options[] =
    "  -b, --build DIR       what 'carol build -o DIR' made\n"
    "      --target NAME     which target of it, if there are several\n"
    "  -T, --timeout MS      cpu time per input (default 1000); waiting may take five times as "
    "long\n"
    "  -m, --memory SIZE     address space of the target, e.g. 512M (default 2G)\n"
    "  -j, --jobs N          executors side by side (default: one per processor)\n"
    "      --per-worker N    inputs per process (default 200)\n"
    "      --json            one JSON object\n"
    "\n"
    "INPUT is a file, or a directory with files below it.  An input that crashes or hangs runs a\n"
    "second time, alone.  One that shows new edges runs a second time, after other inputs.  Only\n"
    "what the second run confirms is reported.\n"
    "Exit: 0 done, 2 wrong usage or an unusable build, 3 something is not installed.\n";

struct outcome {
    enum run_status status;
    int signal;
    uint32_t edges, cpu_us;
    uint32_t fresh; /* edges that no input before it covers */
    uint64_t set;   /* hash of the set of edges */
};

struct cover;

/* One executor and the inputs it measures now.  Which lane gets which inputs is chance; the team sees
 * to it that the results do not depend on it. */
struct lane {
    struct cover *c;
    struct evaluator *ev;
    size_t base; /* first input of the job */
    struct eval_job job;
    struct eval_input inputs[JOB_INPUTS];
    struct buf bytes;
};

struct cover {
    const char *dir, *target;
    struct executor_opts exec;
    bool json;
    struct strv paths;
    struct outcome *out;
    /* --json: for every edge the number of the first input that covers it, from 1; 0: none does. */
    size_t *first;
    uint32_t n_first; /* how many edges it has room for */
    struct loop *loop;
    struct team *team;
    struct lane *lanes;
    size_t n_lanes, running;
    size_t next; /* first input not read yet */
    int64_t began, ended;
    struct err error;
};

static int parse_options(struct cover *c, int argc, char **argv, struct err *e)
{
    enum { OPT_TARGET = 256, OPT_JSON, OPT_PER_WORKER };
    static const struct option longs[] = {{"build", required_argument, NULL, 'b'},
                                          {"target", required_argument, NULL, OPT_TARGET},
                                          {"timeout", required_argument, NULL, 'T'},
                                          {"memory", required_argument, NULL, 'm'},
                                          {"per-worker", required_argument, NULL, OPT_PER_WORKER},
                                          {"jobs", required_argument, NULL, 'j'},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    uint64_t v = 0;
    int rc = 0, opt;
    optind = 1;
    while (rc == 0 && (opt = getopt_long(argc, argv, "b:T:m:j:h", longs, NULL)) != -1)
        switch (opt) {
        case 'b': c->dir = optarg; break;
        case OPT_TARGET: c->target = optarg; break;
        case OPT_JSON: c->json = true; break;
        case 'T':
            rc = str_to_u64(optarg, "-T (milliseconds)", 1, 3600000, &v, e);
            c->exec.timeout_ms = (uint32_t)v;
            break;
        case 'm': rc = str_to_mem(optarg, "-m", &c->exec.mem_bytes, e); break;
        case 'j':
            rc = str_to_u64(optarg, "-j", 1, LANES_MAX, &v, e);
            c->n_lanes = (size_t)v;
            break;
        case OPT_PER_WORKER:
            rc = str_to_u64(optarg, "--per-worker", 1, 1000000, &v, e);
            c->exec.per_worker = (uint32_t)v;
            break;
        case 'h': return 1;
        default: return err_usage(e, "see 'carol cover --help'");
        }
    if (rc == 0 && !c->dir)
        return err_usage(e, "say which build to measure on: carol cover -b DIR INPUT...");
    if (rc == 0 && optind == argc)
        return err_usage(e, "no inputs: name files or directories after the options");
    return rc;
}

static int find_inputs(struct cover *c, char **names, struct err *e)
{
    for (; *names; names++) {
        size_t before = c->paths.n;
        int rc = fs_walk(*names, &c->paths, e);
        if (rc < 0) {
            e->exit = ERR_EXIT_USAGE;
            return err_wrap(e, "cannot read the input %s", *names);
        }
        if (c->paths.n == before)
            return err_usage(e, "there is no input in %s: put at least one file there", *names);
    }
    c->out = xcalloc(c->paths.n, sizeof *c->out);
    return 0;
}

static int next_job(struct lane *l, struct err *e);

/* Lanes finish in any order. */
static void note_first(struct cover *c, const struct edges *edges, size_t input)
{
    for (uint32_t k = 0; k < edges->n; k++) {
        uint32_t id = edges->ids[k];
        if (id >= c->n_first) {
            uint32_t room = 2 * id + 1024;
            c->first = xrealloc(c->first, room * sizeof *c->first);
            memset(c->first + c->n_first, 0, (room - c->n_first) * sizeof *c->first);
            c->n_first = room;
        }
        if (!c->first[id] || input + 1 < c->first[id])
            c->first[id] = input + 1;
    }
}

static void on_job(void *arg, struct eval_job *job)
{
    struct lane *l = arg;
    struct cover *c = l->c;
    struct err e = {0};
    int rc = job->failed;
    if (rc < 0)
        e = job->error;
    for (size_t i = 0; i < job->n && rc == 0; i++) {
        const struct eval_result *r = &job->results[i];
        uint64_t set = UINT64_C(0xcbf29ce484222325);
        for (uint32_t k = 0; c->json && k < r->edges.n; k++)
            set = (set ^ r->edges.ids[k]) * UINT64_C(0x100000001b3);
        c->out[l->base + i] = (struct outcome){r->status, r->signal, r->edges.n, r->cpu_us, 0, set};
        if (c->json)
            note_first(c, &r->edges, l->base + i);
    }
    eval_results_free(job);
    if (rc == 0)
        rc = next_job(l, &e);
    if (rc < 0) {
        c->error = e;
        loop_stop(c->loop);
    } else if (rc > 0 && --c->running == 0) { /* the last lane has nothing more to do */
        loop_stop(c->loop);
    }
}

/* Read the next files and hand them over.  1: there are no more. */
static int next_job(struct lane *l, struct err *e)
{
    struct cover *c = l->c;
    size_t n = 0;
    buf_clear(&l->bytes);
    l->base = c->next;
    size_t most = (c->paths.n + 3) / 4;
    most = most < JOB_INPUTS_LEAST ? JOB_INPUTS_LEAST : most > JOB_INPUTS ? JOB_INPUTS : most;
    while (c->next < c->paths.n && n < most && (n == 0 || l->bytes.len < JOB_BYTES)) {
        size_t before = l->bytes.len;
        l->bytes.max = before + INPUT_MAX;
        int rc = fs_read(c->paths.v[c->next], &l->bytes, e);
        if (rc < 0) {
            e->exit = ERR_EXIT_USAGE;
            return err_wrap(e, "cannot read the input %s", c->paths.v[c->next]);
        }
        l->inputs[n++].size = l->bytes.len - before;
        c->next++;
    }
    if (n == 0)
        return 1;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        l->inputs[i].data = l->bytes.p ? l->bytes.p + at : "";
        at += l->inputs[i].size;
    }
    l->job = (struct eval_job){
        .inputs = l->inputs, .n = n, .done = on_job, .arg = l, .cpu = -1, .only_counts = !c->json};
    return l->ev->ops->submit(l->ev, &l->job, e);
}

static void print_json(const struct cover *c, const struct executor_stats *s, double seconds)
{
    json_t *inputs = json_array();
    for (uint32_t id = 0; id < c->n_first; id++)
        if (c->first[id])
            c->out[c->first[id] - 1].fresh++;
    for (size_t i = 0; i < c->paths.n; i++) {
        char set[17];
        snprintf(set, sizeof set, "%016" PRIx64, c->out[i].set);
        json_array_append_new(inputs, json_pack("{s:o, s:s, s:i, s:i, s:i, s:i, s:s}", "path",
                                                json_bytes(c->paths.v[i]), "status",
                                                run_status_name(c->out[i].status), "signal",
                                                c->out[i].signal, "edges", (int)c->out[i].edges,
                                                "new", (int)c->out[i].fresh, "cpu_us",
                                                (int)c->out[i].cpu_us, "set", set));
    }
    json_t *o = json_pack("{s:i, s:I, s:I, s:f, s:f, s:I, s:{s:I, s:I, s:I, s:I, s:I}, s:o}",
                          "schema", 1, "edges_total", (json_int_t)s->n_edges, "edges_covered",
                          (json_int_t)s->covered, "execs_per_sec", (double)c->paths.n / seconds,
                          "seconds", seconds, "jobs", (json_int_t)c->n_lanes, "executor", "runs",
                          (json_int_t)s->runs, "workers", (json_int_t)s->workers, "restarts",
                          (json_int_t)s->restarts, "quarantined", (json_int_t)s->quarantined,
                          "late_modules", (json_int_t)s->late_modules, "inputs", inputs);
    json_dumpf(o, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(o);
}

static void print_text(const struct cover *c, const struct executor_stats *s, double seconds)
{
    for (size_t i = 0; i < c->paths.n; i++) {
        char status[32];
        const struct outcome *o = &c->out[i];
        snprintf(status, sizeof status, "%s", run_status_name(o->status));
        if (o->status == RUN_CRASH || o->status == RUN_EXIT)
            snprintf(status, sizeof status, "%s %d", run_status_name(o->status), o->signal);
        printf("%8u  %-11s %s\n", o->edges, status, c->paths.v[i]);
    }
    printf("%u of %u edges (%.2f %%) by %zu inputs, %.0f inputs/s with %zu executor%s\n",
           s->covered, s->n_edges, 100.0 * s->covered / s->n_edges, c->paths.n,
           (double)c->paths.n / seconds, c->n_lanes, c->n_lanes == 1 ? "" : "s");
    if (s->late_modules)
        printf("%" PRIu64 " modules were loaded after the start and are not counted\n",
               s->late_modules);
}

static void plan_lanes(struct cover *c)
{
    size_t n = c->n_lanes, worth = (c->paths.n + LANE_INPUTS - 1) / LANE_INPUTS;
    if (!n)
        n = (size_t)cpus_count();
    c->n_lanes = n < worth ? n : worth;
    if (c->n_lanes > LANES_MAX)
        c->n_lanes = LANES_MAX;
}

static int start_lanes(struct cover *c, struct err *e)
{
    int rc = 0;
    c->team = c->exec.team = team_new();
    c->lanes = xcalloc(c->n_lanes, sizeof *c->lanes);
    for (size_t i = 0; i < c->n_lanes && rc == 0; i++) {
        struct lane *l = &c->lanes[i];
        *l = (struct lane){.c = c, .bytes = BUF_INIT(INPUT_MAX)};
        rc = executor_new(&l->ev, c->loop, &c->exec, e);
    }
    if (rc < 0)
        return rc;
    c->began = loop_now(c->loop);
    for (size_t i = 0; i < c->n_lanes && rc >= 0; i++) {
        rc = next_job(&c->lanes[i], e);
        c->running += rc == 0;
    }
    return rc < 0 ? rc : 0;
}

static void free_lanes(struct cover *c)
{
    for (size_t i = 0; c->lanes && i < c->n_lanes; i++) {
        struct lane *l = &c->lanes[i];
        if (l->ev)
            l->ev->ops->free(l->ev);
        eval_results_free(&l->job);
        buf_free(&l->bytes);
    }
    free(c->lanes);
    team_free(c->team);
}

static void add_stats(const struct cover *c, struct executor_stats *sum)
{
    *sum = (struct executor_stats){0};
    for (size_t i = 0; i < c->n_lanes; i++) {
        struct executor_stats s;
        executor_stats(c->lanes[i].ev, &s);
        sum->n_edges = s.n_edges;
        sum->covered = s.covered;
        sum->runs += s.runs;
        sum->workers += s.workers;
        sum->restarts += s.restarts;
        sum->quarantined += s.quarantined;
        if (s.late_modules > sum->late_modules)
            sum->late_modules = s.late_modules;
    }
}

static int report(struct cover *c, struct err *e)
{
    struct executor_stats s;
    if (c->error.code < 0) {
        *e = c->error;
        return e->code;
    }
    add_stats(c, &s);
    double seconds = (double)(c->ended - c->began) / (double)NS_PER_S;
    if (c->json)
        print_json(c, &s, seconds);
    else
        print_text(c, &s, seconds);
    return 0;
}

static int measure(struct cover *c, struct err *e)
{
    struct manifest m = {0};
    int rc = manifest_load(c->dir, c->target, &m, e);
    c->exec.target = &m;
    c->exec.cpu = -1;
    plan_lanes(c);
    rc = rc < 0 ? rc : loop_new(&c->loop, e);
    rc = rc < 0 ? rc : start_lanes(c, e);
    if (rc == 0) {
        loop_run(c->loop);
        c->ended = loop_now(c->loop);
        rc = report(c, e);
    }
    free_lanes(c);
    loop_free(c->loop);
    manifest_free(&m);
    return rc;
}

int cli_cover(int argc, char **argv)
{
    struct err e = {0};
    struct cover c = {0};
    int rc = parse_options(&c, argc, argv, &e);
    if (rc == 1)
        return cli_help(cli_find("cover"), options);
    rc = rc < 0 ? rc : host_need_files(HOST_FILES_RUN, &e);
    rc = rc < 0 ? rc : find_inputs(&c, argv + optind, &e);
    rc = rc < 0 ? rc : measure(&c, &e);
    strv_free(&c.paths);
    free(c.out);
    free(c.first);
    return rc < 0 ? cli_fail(&e) : 0;
}
