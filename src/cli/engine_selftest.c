/* engine_selftest: `carol engine selftest`: the self-test of each fuzzer, one after the other, on a build
 * or on a small target of our own. */
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/engine.h"
#include "fuzzer/selftest.h"
#include "proc/loop.h"
#include "target/build.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char tiny_source[] =
    "#include <stddef.h>\n"
    "#include <stdint.h>\n"
    "static volatile unsigned sink;\n"
    "int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)\n"
    "{\n"
    "    unsigned depth = 0;\n"
    "    for (size_t i = 0; i + 1 < n; i += 2)\n"
    "        switch (p[i] & 7) {\n"
    "        case 1: depth++; break;\n"
    "        case 2: if (depth) depth--; break;\n"
    "        case 3: if (p[i + 1] > 200) sink++; break;\n"
    "        case 4: if (depth > 3 && p[i + 1] == 'x') sink += 2; break;\n"
    "        default: sink ^= p[i + 1]; break;\n"
    "        }\n"
    "    return 0;\n"
    "}\n";

struct tests {
    const struct engine_opts *o;
    const char *work;
    struct loop *loop;
    struct manifest m;
    struct engine_seeds seeds;
    const char *const *names;
    size_t at;
    int failed;
    bool interrupted;
    struct selftest *running;
    json_t *results;
};

static void next_test(struct tests *t);

static void say(const struct selftest_result *r)
{
    if (r->ok)
        printf(
            "%-10s ok      %4.1f s: ready after %.0f ms, parks in %.1f ms, %.0f ms of CPU in %.0f "
            "ms parked, %llu KB, %llu executions\n",
            r->fuzzer, (double)r->took_ns / 1e9, (double)r->ready_ns / 1e6,
            (double)r->park_ns / 1e6, (double)r->cpu_parked_ns / 1e6, (double)r->pause_ns / 1e6,
            (unsigned long long)r->rss_kb, (unsigned long long)r->execs);
    else
        printf("%-10s FAILED  %s\n", r->fuzzer, r->why);
    fflush(stdout);
}

static void on_done(void *arg, const struct selftest_result *r)
{
    struct tests *t = arg;
    t->running = NULL;
    t->failed += !r->ok;
    json_object_set_new(
        t->results, r->fuzzer,
        json_pack("{s:b, s:s, s:f, s:f, s:f, s:I, s:I, s:f}", "ok", r->ok, "why", r->why,
                  "ready_ms", (double)r->ready_ns / 1e6, "park_ms", (double)r->park_ns / 1e6,
                  "cpu_parked_ms", (double)r->cpu_parked_ns / 1e6, "rss_kb", (json_int_t)r->rss_kb,
                  "execs", (json_int_t)r->execs, "seconds", (double)r->took_ns / 1e9));
    if (!t->o->json)
        say(r);
    next_test(t);
}

static void next_test(struct tests *t)
{
    const char *name = t->names[t->at];
    if (!name) {
        loop_stop(t->loop);
        return;
    }
    t->at++;
    struct err e = {0};
    char *dir = fs_join(t->work, name);
    struct instance_opts io = {.fuzzer = name,
                               .dir = dir,
                               .target = &t->m,
                               .args = t->o->args,
                               .dict = t->o->dict ? t->o->dict : t->m.dict,
                               .timeout_ms = t->o->timeout_ms,
                               .mem_bytes = t->o->mem_bytes,
                               .seed = 1};
    int rc = t->interrupted ? err_set(&e, -EINTR, "interrupted")
                            : selftest_start(&t->running, t->loop, &io, t->seeds.v, t->seeds.n,
                                             on_done, t, &e);
    free(dir);
    if (rc < 0) {
        struct selftest_result r = {.fuzzer = name};
        snprintf(r.why, sizeof r.why, "%.*s", (int)sizeof r.why - 1, e.msg);
        on_done(t, &r);
    }
}

static void on_signal(void *arg, int signo)
{
    struct tests *t = arg;
    (void)signo;
    t->interrupted = true;
    if (!t->running)
        return;
    selftest_cancel(t->running);
    struct selftest_result r = {.fuzzer = t->names[t->at - 1], .why = "interrupted"};
    on_done(t, &r);
}

static int build_tiny(struct tests *t, struct err *e)
{
    char *source = fs_join(t->work, "tiny.c"), *dir = fs_join(t->work, "build");
    const char *sources[] = {source, NULL};
    struct build_opts bo = {.dir = dir, .src = t->work, .sources = sources, .families_named = true};
    struct build_result br = {0};
    for (size_t i = 0; t->names[i]; i++)
        fuzzer_families(t->names[i], bo.family);
    int rc = fs_write_quick(source, tiny_source, sizeof tiny_source - 1, e);
    if (rc == 0) {
        rc = build_run(&bo, &br, e);
        build_result_free(&br);
    }
    if (rc == -ECHILD) /* those that were built can be tested; the others will say so */
        rc = 0;
    if (rc == 0)
        rc = manifest_load(dir, NULL, &t->m, e);
    if (rc < 0)
        err_wrap(e, "the small target of the self-test could not be built (-b DIR uses another)");
    free(source);
    free(dir);
    return rc;
}

static int run_tests(struct tests *t, struct err *e)
{
    int rc = loop_new(&t->loop, e);
    if (rc == 0)
        rc = loop_signal(t->loop, SIGINT, on_signal, t, e);
    if (rc == 0)
        rc = loop_signal(t->loop, SIGTERM, on_signal, t, e);
    if (rc < 0)
        return rc;
    next_test(t);
    if (t->names[t->at] || t->running)
        loop_run(t->loop);
    if (t->o->json) {
        json_t *o =
            json_pack("{s:i, s:b, s:O}", "schema", 1, "ok", t->failed == 0, "fuzzers", t->results);
        json_dumpf(o, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(o);
    }
    return 0;
}

int engine_selftest(const struct engine_opts *o, const char *work, struct err *e)
{
    struct tests t = {.o = o, .work = work, .results = json_object()};
    t.names = o->names.n ? (const char *const *)o->names.v : fuzzer_names();
    int rc = o->build ? manifest_load(o->build, o->target, &t.m, e) : build_tiny(&t, e);
    if (rc == 0 && o->seeds) {
        rc = engine_read_seeds(o->seeds, &t.seeds, e);
    } else if (rc == 0) {
        t.seeds.v = xcalloc(2, sizeof *t.seeds.v);
        t.seeds.v[t.seeds.n++] = (struct input){1, xstrdup("carol"), 5};
        t.seeds.v[t.seeds.n++] = (struct input){2, xstrdup("\1a\1b\3c\2d"), 8};
    }
    if (rc == 0)
        rc = run_tests(&t, e);
    loop_free(t.loop);
    engine_free_seeds(&t.seeds);
    json_decref(t.results);
    manifest_free(&t.m);
    return rc < 0 ? rc : t.failed ? 1 : 0;
}
