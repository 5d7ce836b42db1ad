/* arms_harness: gives inputs to one real fuzzer, runs its turns and keeps account of what comes back.  The
 * phases decide what is tested. */
#include "arms.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/live_private.h"
#include "proc/tree.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct arms t;
int tests, failed;

void check(bool ok, const char *fmt, ...)
{
    va_list ap;
    printf("%sok %d - ", ok ? "" : "not ", ++tests);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
    failed += !ok;
}

void check_faults(size_t faults, unsigned excuses, const char *excuse, const char *fmt, ...)
{
    char text[512], *reason = str_fmt(" # SKIP %s (%u times)", excuse, excuses);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    check(faults <= excuses, "%s%s", text, faults && faults <= excuses ? reason : "");
    free(reason);
}

_Noreturn void give_up(const char *what, const char *why)
{
    check(false, "%s: %s", what, why);
    printf("1..%d\n", tests);
    if (t.in)
        t.in->ops->free(t.in);
    exit(1);
}

static void on_event(void *arg, struct instance *in, enum instance_event ev)
{
    (void)arg;
    (void)in;
    t.last = ev;
    loop_stop(t.loop);
}

static void on_late(void *arg)
{
    *(bool *)arg = true;
    loop_stop(t.loop);
}

/* Run the loop until an event, or give up. */
enum instance_event wait_event(const char *what, int64_t max_ns)
{
    bool late = false;
    struct timer tm = {.fn = on_late, .arg = &late};
    t.last = INSTANCE_NONE;
    loop_timer(t.loop, &tm, loop_now(t.loop) + max_ns);
    while (t.last == INSTANCE_NONE && !late)
        loop_run(t.loop);
    loop_timer_clear(t.loop, &tm);
    if (late)
        give_up(what, "nothing happened in time");
    return t.last;
}

static void on_pause_end(void *arg)
{
    (void)arg;
    loop_stop(t.loop);
}

void pause_for(int64_t ns)
{
    struct timer tm = {.fn = on_pause_end};
    loop_timer(t.loop, &tm, loop_now(t.loop) + ns);
    loop_run(t.loop);
    loop_timer_clear(t.loop, &tm);
    t.next_pause_ns = ns;
}

uint64_t fnv(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

size_t add_given(const void *data, size_t n)
{
    struct given *g = &t.given[t.n_given];
    if (t.n_given == MAX_SEEDS || n > sizeof g->data)
        give_up("test", "too many seeds");
    memcpy(g->data, data, n);
    g->size = n;
    return t.n_given++;
}

size_t new_mark(void)
{
    char text[16];
    snprintf(text, sizeof text, "MARK%08zu.", t.n_given);
    size_t id = add_given(text, 13);
    t.given[id].mark = true;
    return id;
}

size_t new_gate(int digit)
{
    uint8_t p[9] = {'G', 'A', 'T', 'E', (uint8_t)('0' + digit)};
    for (uint32_t v = 0;; v++) {
        memcpy(p + 5, &v, 4);
        if (((fnv(p + 4, 5) >> 20) & 0xfffff) == 0x5ca40)
            break;
    }
    size_t id = add_given(p, 9);
    t.given[id].gate = true;
    return id;
}

void start_corpus(void)
{
    add_given("\x01\x00\x03\x02zz\x04\x04"
              "axyz",
              12);
    add_given("MARK99999999.", 13);
    add_given("GATE0aaaa", 9);
}

void inputs_of(struct input *out, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (struct input){.id = (int64_t)(from + i),
                                .data = t.given[from + i].data,
                                .size = t.given[from + i].size};
}

void deliver(size_t from)
{
    struct input in[MAX_SEEDS];
    struct err e = {0};
    size_t n = t.n_given - from;
    inputs_of(in, from, n);
    if (t.in->ops->deliver(t.in, ++t.batch, in, n, &e) < 0)
        give_up("deliver", e.msg);
    if (t.in->ops->deliver(t.in, t.batch, in, n, &e) < 0) /* the same batch again: ignored */
        give_up("deliver again", e.msg);
    t.offered += n;
}

/* Does the target's log say it crashed on exactly these bytes? */
static bool crash_is_logged(const struct find *f)
{
    char want[64];
    struct buf b = BUF_INIT((size_t)64 << 20);
    snprintf(want, sizeof want, "crash %zu %016llx\n", f->size,
             (unsigned long long)fnv(f->data, f->size));
    bool ok = fs_read(t.log, &b, NULL) == 0 && strstr(b.p, want);
    buf_free(&b);
    return ok;
}

static void take_find(const struct find *f)
{
    if (f->kind != FIND_IMPORTED)
        keep_find(f);
    if (f->kind == FIND_IMPORTED) {
        if (f->seed >= BIG_FROM)
            return;
        if (f->seed < 0 || (size_t)f->seed >= t.n_given)
            give_up("harvest", "an import that was never given");
        t.given[f->seed].imported++;
        strv_add(&t.names, f->name);
        return;
    }
    if (f->kind == FIND_ECHO) {
        t.crash_bad += !was_given(f->data, f->size);
        return;
    }
    t.finds += f->kind == FIND_SEED;
    t.crashes += f->kind == FIND_CRASH;
    bool true_hang = f->kind == FIND_HANG && f->size >= 4 && memcmp(f->data, "HANG", 4) == 0;
    t.true_hangs += true_hang;
    t.hangs += f->kind == FIND_HANG && !true_hang;
    if (f->kind == FIND_CRASH && f->signal != 9 && !crash_is_logged(f))
        t.crash_bad++;
    if (f->kind == FIND_SEED)
        strv_add(&t.names, f->name);
    t.foreign += f->kind == FIND_SEED && strcmp(t.in->fuzzer, "mopt") == 0 &&
                 !strstr(f->name, "op:MOpt_havoc");
    t.echoes += was_given(f->data, f->size);
    t.empty += f->size == 0;
}

void harvest(void)
{
    struct harvest h = {0}, twice = {0};
    struct err e = {0};
    if (t.in->ops->harvest(t.in, &h, &e) < 0 || t.in->ops->harvest(t.in, &twice, &e) < 0)
        give_up("harvest", e.msg);
    if (h.n != twice.n)
        give_up("harvest", "the same harvest differs when repeated");
    for (size_t i = 0; i < h.n; i++)
        take_find(&h.finds[i]);
    t.in->ops->harvested(t.in, &h);
    harvest_free(&h);
    harvest_free(&twice);
    if (t.in->ops->harvest(t.in, &h, &e) < 0 || h.n != 0)
        give_up("harvest", "something is harvested twice");
    harvest_free(&h);
}

void resume(double seconds, uint64_t cycles)
{
    struct err e = {0};
    struct turn_quota q = {.cycles = cycles, .cap_ns = (int64_t)(seconds * 1e9)};
    if (t.in->ops->resume(t.in, &q, -1, &e) < 0)
        give_up("resume", e.msg);
}

/* One turn; true: it parked. */
bool turn(double seconds)
{
    resume(seconds, 0);
    enum instance_event ev = wait_event("turn", (int64_t)(seconds * 1e9) + 30 * NS_PER_S);
    const struct turn_report *r = &t.in->report;
    t.taken += r->taken;
    if (ev != INSTANCE_PARKED) {
        printf("# died: %s\n", r->why);
        return false;
    }
    t.park_ns[t.parks++ % 64] = r->park_ns;
    t.execs += r->execs;
    t.active_ns += r->active_ns;
    t.cpu_parked_ns += r->cpu_parked_ns;
    t.paused_ns += t.next_pause_ns;
    printf("# turn: %llu execs %llu cycles, taken %llu/%llu, park %.1f ms, cpu %.0f ms, parked "
           "%.0f ms\n",
           (unsigned long long)r->execs, (unsigned long long)r->cycles,
           (unsigned long long)r->taken, (unsigned long long)r->offered, (double)r->park_ns / 1e6,
           (double)r->cpu_ns / 1e6, (double)r->cpu_parked_ns / 1e6);
    return true;
}

#define TICK_NS (20 * NS_PER_MS)
static unsigned stood_still;

static int64_t steady_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void *watch_machine(void *arg)
{
    for (int64_t was = steady_ns(), now;; was = now) {
        nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
        now = steady_ns();
        if (now - was > TICK_NS + TIMEOUT_MS / 4 * NS_PER_MS)
            __atomic_add_fetch(&stood_still, 1, __ATOMIC_ACQ_REL);
    }
    return arg;
}

/* How often so far the machine let nobody run for a good part of the limit per input: to whoever watches the
 * execution that was under way then it took too long, and no fuzzer can know better. */
unsigned stalls(void)
{
    return __atomic_load_n(&stood_still, __ATOMIC_ACQUIRE);
}

void check_hangs(void)
{
    check_faults(t.hangs, stalls(), STOOD_STILL, "no false hang was reported (%zu were)", t.hangs);
}

/* Names with everything in them that fuzzers use as separators. */
void make_dir(char **argv)
{
    snprintf(t.dir, sizeof t.dir, "/tmp/carol arms;%s,%s.XXXXXX", argv[1], argv[4]);
    if (!mkdtemp(t.dir))
        give_up("setup", "mkdtemp");
    snprintf(t.log, sizeof t.log, "%s/targetlog", t.dir);
    setenv("CAROL_TEST_LOG", t.log, 1);
}

void open_instance(char **argv)
{
    struct err e = {0};
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch_machine, NULL) != 0)
        give_up("setup", "pthread_create");
    if (loop_new(&t.loop, &e) < 0)
        give_up("setup", e.msg);
    enum family f = fuzzer_family(argv[1]);
    if (fs_is_dir(argv[3])) {
        if (manifest_load(argv[3], NULL, &t.m, &e) < 0)
            give_up("setup", e.msg);
    } else {
        t.m.target = xstrdup("toy");
        t.m.dir = xstrdup(t.dir);
        t.m.family[f] =
            (struct manifest_family){.ok = true, .binary = xstrdup(argv[3]), .map_size = 1};
    }
    t.m.kind = strcmp(argv[2], "libfuzzer") == 0 ? TARGET_LIBFUZZER
               : strcmp(argv[2], "file") == 0    ? TARGET_FILE
                                                 : TARGET_STDIN;
    const char *seed = getenv("CAROL_TEST_SEED");
    t.seed = seed ? strtoull(seed, NULL, 10) : 7;
    char *sub = fs_join(t.dir, "i:0");
    t.o = (struct instance_opts){.fuzzer = argv[1],
                                 .dir = sub,
                                 .target = &t.m,
                                 .dict = getenv("CAROL_TEST_DICT"),
                                 .timeout_ms = TIMEOUT_MS,
                                 .mem_bytes = strcmp(argv[4], "sizes") == 0 ? 0 : UINT64_C(1) << 31,
                                 .seed = t.seed};
    if (fuzzer_check(&t.o, &e) < 0 || fuzzer_open(&t.in, t.loop, &t.o, &e) < 0)
        give_up("open", e.msg);
    t.in->on_event = on_event;
}

void start(bool again)
{
    struct input in[16];
    struct err e = {0};
    inputs_of(in, 0, again ? 0 : t.n_given);
    int64_t at = loop_now(t.loop);
    if (t.in->ops->start(t.in, in, again ? 0 : t.n_given, again, &e) < 0)
        give_up("start", e.msg);
    if (wait_event("start", 60 * NS_PER_S) != INSTANCE_READY)
        give_up("start", t.in->report.why);
    struct tree_usage u;
    t.in->ops->usage(t.in, &u);
    t.pids[t.n_pids++ % 16] = cage_program(&((struct live *)t.in)->cage);
    printf("# ready after %.0f ms, %d processes, %llu KB\n", (double)(loop_now(t.loop) - at) / 1e6,
           u.processes, (unsigned long long)u.rss_kb);
}

/* How often the target logged a line with this text. */
int logged(const char *text)
{
    struct buf b = BUF_INIT((size_t)64 << 20);
    int n = 0;
    if (fs_read(t.log, &b, NULL) == 0)
        for (const char *s = b.p; (s = strstr(s, text)); s += strlen(text))
            n++;
    buf_free(&b);
    return n;
}

bool is_honggfuzz(void)
{
    return strcmp(t.in->fuzzer, "honggfuzz") == 0;
}

bool is_libfuzzer(void)
{
    return strcmp(t.in->fuzzer, "libfuzzer") == 0;
}

bool is_afl(void)
{
    return !is_honggfuzz() && !is_libfuzzer();
}

/* Longer than the fuzzer's limit per input; that of honggfuzz is in whole seconds. */
int64_t pause_ns(void)
{
    return (is_honggfuzz() ? 1250 : TIMEOUT_MS * 5 / 4) * NS_PER_MS;
}

static int by_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

double median_park_ms(void)
{
    size_t n = t.parks < 64 ? t.parks : 64;
    qsort(t.park_ns, n, sizeof t.park_ns[0], by_ns);
    return n ? (double)t.park_ns[n / 2] / 1e6 : 0;
}

/* Parked after that many executions, as long as they were here.  A fuzzer that found the true hang may be
 * in it at every request. */
void check_park(double execs)
{
    double one = t.execs ? (double)t.active_ns / 1e6 / (double)t.execs : 0, most = execs * one;
    if (t.true_hangs && most < 4 * TIMEOUT_MS)
        most = 4 * TIMEOUT_MS;
    check(median_park_ms() < most,
          "parked %.1f ms after the request (median), executions of %.2f ms", median_park_ms(),
          one);
}

/* A number of fuzzer_stats (AFL arms); -1: not there. */
double stat_of(const char *key)
{
    char *path = fs_join(t.o.dir, "out/default/fuzzer_stats");
    struct buf b = BUF_INIT((size_t)1 << 20);
    double v = -1;
    char *at = fs_read(path, &b, NULL) == 0 ? strstr(b.p, key) : NULL;
    if (at && (at = strchr(at, ':')))
        v = strtod(at + 1, NULL);
    buf_free(&b);
    free(path);
    return v;
}

/* Shared memory segments made by the fuzzers that were started here. */
static int segments(void)
{
    struct shm_info info;
    struct shmid_ds ds;
    int n = 0, top = shmctl(0, SHM_INFO, (struct shmid_ds *)&info);
    for (int i = 0; i <= top; i++)
        for (size_t k = 0; shmctl(i, SHM_STAT, &ds) >= 0 && k < t.n_pids; k++)
            n += ds.shm_cpid == t.pids[k];
    return n;
}

void stop_and_check(void)
{
    pid_t child;
    t.in->ops->stop(t.in);
    if (wait_event("stop", 10 * NS_PER_S) != INSTANCE_STOPPED)
        give_up("stop", t.in->report.why);
    char *tmp = fs_join(t.o.dir, "tmp");
    check(tree_children(getpid(), &child, 1) == 0 && !fs_exists(tmp) && segments() == 0,
          "after stop: no process, no shared memory, no temporary directory");
    free(tmp);
}
