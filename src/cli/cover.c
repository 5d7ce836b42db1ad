/* cover: `carol cover`: runs inputs on the neutral build and prints what each covers.  The running is
 * in eval/executor.c. */
#include "base/buf.h"
#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/str.h"
#include "cli/cli.h"
#include "eval/executor.h"
#include "proc/loop.h"
#include "target/manifest.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB_INPUTS 4096 /* read and measured together */
#define JOB_BYTES ((size_t)32 << 20)
#define INPUT_MAX ((size_t)1 << 30)

static const char options[] =
    "  -b, --build DIR       what 'carol build -o DIR' made\n"
    "      --target NAME     which target of it, when there are several\n"
    "  -T, --timeout MS      cpu time per input (default 1000); waiting may take five times as "
    "long\n"
    "  -m, --memory SIZE     address space of the target, e.g. 512M (default 2G)\n"
    "      --per-worker N    inputs in one process before a fresh one (default 200)\n"
    "      --json            one JSON object\n"
    "\n"
    "INPUT is a file, or a directory with files below it.  Every input that shows something new,\n"
    "crashes or hangs is run a second time alone, and that run is the one that is reported.\n"
    "Exit: 0 done, 2 wrong usage or an unusable build, 3 something is not installed.\n";

struct outcome {
    enum run_status status;
    int signal;
    uint32_t edges, cpu_us;
    uint64_t set; /* hash of the set of edges */
};

struct cover {
    const char *dir, *target;
    struct executor_opts exec;
    bool json;
    struct strv paths;
    struct outcome *out;
    struct loop *loop;
    struct evaluator *ev;
    uint8_t *covered;
    uint32_t n_covered;
    size_t next, base; /* first path not read yet; first path of the job */
    struct eval_job job;
    struct eval_input *inputs;
    struct buf bytes;
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
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    uint64_t v = 0;
    int rc = 0, opt;
    optind = 1;
    while (rc == 0 && (opt = getopt_long(argc, argv, "b:T:m:h", longs, NULL)) != -1)
        switch (opt) {
        case 'b': c->dir = optarg; break;
        case OPT_TARGET: c->target = optarg; break;
        case OPT_JSON: c->json = true; break;
        case 'T':
            rc = str_to_u64(optarg, "-T (milliseconds)", 1, 3600000, &v, e);
            c->exec.timeout_ms = (uint32_t)v;
            break;
        case 'm': rc = str_to_mem(optarg, "-m", &c->exec.mem_bytes, e); break;
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

static int next_job(struct cover *c, struct err *e);

static void note(struct cover *c, const struct eval_result *r, struct outcome *o)
{
    *o =
        (struct outcome){r->status, r->signal, r->edges.n, r->cpu_us, UINT64_C(0xcbf29ce484222325)};
    for (uint32_t i = 0; i < r->edges.n; i++) {
        o->set = (o->set ^ r->edges.ids[i]) * UINT64_C(0x100000001b3);
        c->n_covered += !c->covered[r->edges.ids[i]];
        c->covered[r->edges.ids[i]] = 1;
    }
}

static void on_job(void *arg, struct eval_job *job)
{
    struct cover *c = arg;
    int rc = job->failed;
    if (rc < 0)
        c->error = job->error;
    for (size_t i = 0; i < job->n && rc == 0; i++)
        note(c, &job->results[i], &c->out[c->base + i]);
    eval_results_free(job);
    if (rc == 0)
        rc = next_job(c, &c->error);
    if (rc != 0)
        loop_stop(c->loop);
}

/* Read the next files and hand them over.  1: all done. */
static int next_job(struct cover *c, struct err *e)
{
    size_t n = 0;
    buf_clear(&c->bytes);
    c->base = c->next;
    while (c->next < c->paths.n && n < JOB_INPUTS && (n == 0 || c->bytes.len < JOB_BYTES)) {
        size_t before = c->bytes.len;
        c->bytes.max = before + INPUT_MAX;
        int rc = fs_read(c->paths.v[c->next], &c->bytes, e);
        if (rc < 0) {
            e->exit = ERR_EXIT_USAGE;
            return err_wrap(e, "cannot read the input %s", c->paths.v[c->next]);
        }
        c->inputs[n++].size = c->bytes.len - before;
        c->next++;
    }
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        c->inputs[i].data = c->bytes.p ? c->bytes.p + at : "";
        at += c->inputs[i].size;
    }
    if (n == 0)
        return 1;
    c->job = (struct eval_job){.inputs = c->inputs, .n = n, .done = on_job, .arg = c, .cpu = -1};
    return c->ev->ops->submit(c->ev, &c->job, e);
}

/* A path is bytes, a JSON string is UTF-8: other bytes are written as \xNN. */
static json_t *path_json(const char *path)
{
    json_t *s = json_string(path);
    struct buf b = BUF_INIT(1 << 16);
    for (const char *p = path; !s && *p; p++)
        buf_printf(&b, (unsigned char)*p < 0x80 ? "%c" : "\\x%02x", (unsigned char)*p);
    if (!s)
        s = json_string(b.p ? b.p : "");
    buf_free(&b);
    return s;
}

static void print_json(const struct cover *c, const struct executor_stats *s, double seconds)
{
    json_t *inputs = json_array();
    for (size_t i = 0; i < c->paths.n; i++) {
        char set[17];
        snprintf(set, sizeof set, "%016" PRIx64, c->out[i].set);
        json_array_append_new(inputs, json_pack("{s:o, s:s, s:i, s:i, s:i, s:s}", "path",
                                                path_json(c->paths.v[i]), "status",
                                                run_status_name(c->out[i].status), "signal",
                                                c->out[i].signal, "edges", (int)c->out[i].edges,
                                                "cpu_us", (int)c->out[i].cpu_us, "set", set));
    }
    json_t *o = json_pack(
        "{s:i, s:I, s:I, s:f, s:f, s:{s:I, s:I, s:I, s:I, s:I}, s:o}", "schema", 1, "edges_total",
        (json_int_t)s->n_edges, "edges_covered", (json_int_t)c->n_covered, "execs_per_sec",
        (double)c->paths.n / seconds, "seconds", seconds, "executor", "runs", (json_int_t)s->runs,
        "workers", (json_int_t)s->workers, "restarts", (json_int_t)s->restarts, "quarantined",
        (json_int_t)s->quarantined, "late_modules", (json_int_t)s->late_modules, "inputs", inputs);
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
    printf("%u of %u edges (%.2f %%) by %zu inputs, %.0f inputs/s\n", c->n_covered, s->n_edges,
           100.0 * c->n_covered / s->n_edges, c->paths.n, (double)c->paths.n / seconds);
    if (s->late_modules)
        printf("%" PRIu64 " modules were loaded after the start and are not counted\n",
               s->late_modules);
}

static int measure(struct cover *c, struct err *e)
{
    struct executor_stats s;
    struct manifest m = {0};
    int rc = manifest_load(c->dir, c->target, &m, e);
    c->exec.target = &m;
    c->exec.cpu = -1;
    rc = rc < 0 ? rc : loop_new(&c->loop, e);
    rc = rc < 0 ? rc : executor_new(&c->ev, c->loop, &c->exec, e);
    if (rc == 0) {
        executor_stats(c->ev, &s);
        c->covered = xcalloc(s.n_edges, 1);
        c->inputs = xcalloc(JOB_INPUTS, sizeof *c->inputs);
        c->began = loop_now(c->loop);
        rc = next_job(c, e);
    }
    if (rc == 0) {
        loop_run(c->loop);
        c->ended = loop_now(c->loop);
        executor_stats(c->ev, &s);
        double seconds = (double)(c->ended - c->began) / (double)NS_PER_S;
        if (c->error.code < 0) {
            *e = c->error;
            rc = c->error.code;
        } else if (c->json) {
            print_json(c, &s, seconds);
        } else {
            print_text(c, &s, seconds);
        }
    }
    if (c->ev)
        c->ev->ops->free(c->ev);
    loop_free(c->loop);
    manifest_free(&m);
    return rc;
}

int cli_cover(int argc, char **argv)
{
    struct err e = {0};
    struct cover c = {.bytes = BUF_INIT(INPUT_MAX)};
    int rc = parse_options(&c, argc, argv, &e);
    if (rc == 1)
        return cli_help(cli_find("cover"), options);
    rc = rc < 0 ? rc : find_inputs(&c, argv + optind, &e);
    rc = rc < 0 ? rc : measure(&c, &e);
    strv_free(&c.paths);
    free(c.out);
    free(c.covered);
    free(c.inputs);
    buf_free(&c.bytes);
    return rc < 0 ? cli_fail(&e) : 0;
}
