/* arms: one real fuzzer on the toy target (targets/toy.c) under control, checked from outside: what the
 * target says it executed, what /proc says it cost, what is in the fuzzer's own directory.
 *
 *     arms FUZZER KIND TARGET PHASE
 *
 * KIND: libfuzzer, file, stdin.  TARGET: a directory made by carol build, or the binary itself.
 * Phases: turns (short turns, long pauses, imports, harvest), slow (20 ms per execution), kill (kill -9
 * of the fuzzer, its fork server, its target), orphan (kill -9 of the supervisor), storm (kill -9 at
 * any moment), bare (an engine that does not load the library: SIGSTOP), sizes (60 imports of 1 byte to
 * 1 MB), badseeds (all seeds crash, hang or are empty), bench (for bench/control.sh).  TAP on stdout.
 * CAROL_TEST_DICT: a dictionary; CAROL_TEST_LONG=1: 20 turns; CAROL_TEST_KEEP=1: its directory stays. */
#include "base/die.h"
#include "base/fs.h"
#include "base/str.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/live_private.h"
#include "proc/tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_MS 400
#define MAX_SEEDS 512
#define BIG_FROM 100000 /* ids of the imports of phase_sizes */

struct given { /* a seed we gave: start corpus or import */
    char data[32];
    size_t size;
    bool mark, gate;
    int imported; /* how often reported as FIND_IMPORTED */
};

static struct {
    struct loop *loop;
    struct instance *in;
    struct manifest m;
    struct instance_opts o;
    char dir[64], log[96];
    enum instance_event last;
    struct given given[MAX_SEEDS];
    size_t n_given;
    uint64_t batch;
    struct strv names; /* every queue file harvested */
    size_t finds, crashes, hangs, crash_bad, echoes, foreign, true_hangs;
    uint64_t offered, taken;
    int64_t park_ns[64];
    size_t parks;
    int64_t started_at, cpu_parked_ns, paused_ns, next_pause_ns;
    pid_t pids[16]; /* of the fuzzer in each of its lives */
    size_t n_pids;
} t;

static int tests, failed;

static void check(bool ok, const char *fmt, ...) CAROL_PRINTF(2, 3);
static void check(bool ok, const char *fmt, ...)
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

_Noreturn static void give_up(const char *what, const char *why)
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
static enum instance_event wait_event(const char *what, int64_t max_ns)
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

static void pause_for(int64_t ns)
{
    struct timer tm = {.fn = on_pause_end};
    loop_timer(t.loop, &tm, loop_now(t.loop) + ns);
    loop_run(t.loop);
    loop_timer_clear(t.loop, &tm);
    t.next_pause_ns = ns;
}

static uint64_t fnv(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static size_t add_given(const void *data, size_t n)
{
    struct given *g = &t.given[t.n_given];
    if (t.n_given == MAX_SEEDS || n > sizeof g->data)
        give_up("test", "too many seeds");
    memcpy(g->data, data, n);
    g->size = n;
    return t.n_given++;
}

static size_t new_mark(void)
{
    char text[16];
    snprintf(text, sizeof text, "MARK%08zu.", t.n_given);
    size_t id = add_given(text, 13);
    t.given[id].mark = true;
    return id;
}

static size_t new_gate(int digit)
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

static void start_corpus(void)
{
    add_given("\x01\x00\x03\x02zz\x04\x04"
              "axyz",
              12);
    add_given("MARK99999999.", 13);
    add_given("GATE0aaaa", 9);
}

static void inputs_of(struct input *out, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (struct input){.id = (int64_t)(from + i),
                                .data = t.given[from + i].data,
                                .size = t.given[from + i].size};
}

static void deliver(size_t from)
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

static bool was_given(const struct find *f)
{
    for (size_t i = 0; i < t.n_given; i++)
        if (t.given[i].size == f->size && memcmp(t.given[i].data, f->data, f->size) == 0)
            return true;
    return false;
}

static void take_find(const struct find *f)
{
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
        t.crash_bad += !was_given(f);
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
    t.echoes += was_given(f);
}

static void harvest(void)
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

static void resume(double seconds, uint64_t cycles)
{
    struct err e = {0};
    struct turn_quota q = {.cycles = cycles, .cap_ns = (int64_t)(seconds * 1e9)};
    if (t.in->ops->resume(t.in, &q, -1, &e) < 0)
        give_up("resume", e.msg);
}

/* One turn; true: it parked. */
static bool turn(double seconds)
{
    resume(seconds, 0);
    enum instance_event ev = wait_event("turn", (int64_t)(seconds * 1e9) + 30 * NS_PER_S);
    const struct turn_report *r = &t.in->report;
    t.taken += r->taken;
    if (ev != INSTANCE_PARKED)
        return false;
    t.park_ns[t.parks++ % 64] = r->park_ns;
    t.cpu_parked_ns += r->cpu_parked_ns;
    t.paused_ns += t.next_pause_ns;
    printf("# turn: %llu execs %llu cycles, taken %llu/%llu, park %.1f ms, cpu %.0f ms, parked "
           "%.0f ms\n",
           (unsigned long long)r->execs, (unsigned long long)r->cycles,
           (unsigned long long)r->taken, (unsigned long long)r->offered, (double)r->park_ns / 1e6,
           (double)r->cpu_ns / 1e6, (double)r->cpu_parked_ns / 1e6);
    return true;
}

/* Names with everything in them that fuzzers use as separators. */
static void make_dir(char **argv)
{
    snprintf(t.dir, sizeof t.dir, "/tmp/carol arms;%s,%s.XXXXXX", argv[1], argv[4]);
    if (!mkdtemp(t.dir))
        give_up("setup", "mkdtemp");
    snprintf(t.log, sizeof t.log, "%s/targetlog", t.dir);
    setenv("CAROL_TEST_LOG", t.log, 1);
}

static void open_instance(char **argv)
{
    struct err e = {0};
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
    char *sub = fs_join(t.dir, "i:0");
    t.o = (struct instance_opts){.fuzzer = argv[1],
                                 .dir = sub,
                                 .target = &t.m,
                                 .dict = getenv("CAROL_TEST_DICT"),
                                 .timeout_ms = TIMEOUT_MS,
                                 .mem_bytes = strcmp(argv[4], "sizes") == 0 ? 0 : UINT64_C(1) << 31,
                                 .seed = 7};
    if (fuzzer_check(&t.o, &e) < 0 || fuzzer_open(&t.in, t.loop, &t.o, &e) < 0)
        give_up("open", e.msg);
    t.in->on_event = on_event;
}

static void start(bool again)
{
    struct input in[16];
    struct err e = {0};
    inputs_of(in, 0, again ? 0 : t.n_given);
    int64_t at = t.started_at = loop_now(t.loop);
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
static int logged(const char *text)
{
    struct buf b = BUF_INIT((size_t)64 << 20);
    int n = 0;
    if (fs_read(t.log, &b, NULL) == 0)
        for (const char *s = b.p; (s = strstr(s, text)); s += strlen(text))
            n++;
    buf_free(&b);
    return n;
}

static bool is_honggfuzz(void)
{
    return strcmp(t.in->fuzzer, "honggfuzz") == 0;
}

/* Longer than the fuzzer's limit per input; that of honggfuzz is in whole seconds. */
static int64_t pause_ns(void)
{
    return (is_honggfuzz() ? 1250 : TIMEOUT_MS * 5 / 4) * NS_PER_MS;
}

/* Is this seed in honggfuzz's own corpus?  It keeps many more than AFL does, makes copies of them by
 * mutations that change nothing, and runs them again when it is started again. */
static bool in_own_corpus(const struct given *g)
{
    struct strv files = {0};
    char *dir = fs_join(t.o.dir, "out");
    bool found = false;
    if (is_honggfuzz() && fs_walk(dir, &files, NULL) == 0)
        for (size_t i = 0; i < files.n && !found; i++) {
            struct buf b = BUF_INIT((size_t)64 << 20);
            found = fs_read(files.v[i], &b, NULL) == 0 && b.len == g->size &&
                    memcmp(b.p, g->data, g->size) == 0;
            buf_free(&b);
        }
    strv_free(&files);
    free(dir);
    return found;
}

static void check_marks(void)
{
    int marks = 0, once = 0, gates = 0, known = 0;
    for (size_t i = 0; i < t.n_given; i++) {
        char text[32];
        snprintf(text, sizeof text, "mark %.8s\n", t.given[i].data + 4);
        if (t.given[i].mark) {
            int n = logged(text);
            marks++;
            bool kept = n > 1 && in_own_corpus(&t.given[i]);
            once += n == 1 || kept;
            if (n != 1 && !kept)
                printf("# seed %zu was executed %d times\n", i, n);
        }
        gates += t.given[i].gate;
        known += t.given[i].gate && (t.given[i].imported == 1 || in_own_corpus(&t.given[i]));
    }
    check(t.taken == t.offered, "%llu of %llu delivered seeds were taken",
          (unsigned long long)t.taken, (unsigned long long)t.offered);
    check(marks == once, "%d of %d marked seeds were executed exactly once", once, marks);
    check(gates == known, "%d of %d seeds that open an edge are in its corpus, told once", known,
          gates);
    check(t.echoes == 0, "nothing we gave came back as a find (%zu did)", t.echoes);
}

/* Every file in the queue was harvested once; no name was harvested twice. */
static void check_queue(const char *queue)
{
    struct strv files = {0};
    char *dir = fs_join(t.o.dir, queue);
    size_t in_queue = 0, missing = 0, twice = 0;
    if (!fs_is_dir(dir) || fs_list(dir, &files, NULL) < 0)
        return;
    for (size_t i = 0; i < files.n; i++)
        if (str_starts(files.v[i], "id:")) {
            in_queue++;
            missing += !strv_has(&t.names, files.v[i]);
            if (!strv_has(&t.names, files.v[i]))
                printf("# missing: %s\n", files.v[i]);
        }
    for (size_t i = 0; i < t.names.n; i++)
        for (size_t k = i + 1; k < t.names.n; k++)
            twice += strcmp(t.names.v[i], t.names.v[k]) == 0;
    check(in_queue > 0 && missing == 0 && twice == 0 && in_queue == t.names.n,
          "%zu files in its queue, %zu harvested, %zu missing, %zu twice", in_queue, t.names.n,
          missing, twice);
    strv_free(&files);
    free(dir);
}

static int by_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static double median_park_ms(void)
{
    size_t n = t.parks < 64 ? t.parks : 64;
    qsort(t.park_ns, n, sizeof t.park_ns[0], by_ns);
    return n ? (double)t.park_ns[n / 2] / 1e6 : 0;
}

/* A number of fuzzer_stats (AFL arms); -1: not there. */
static double stat_of(const char *key)
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

static void stop_and_check(void)
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

static void phase_turns(void)
{
    int n = getenv("CAROL_TEST_LONG") ? 20 : is_honggfuzz() ? 5 : 8, digit = 0;
    int32_t pid = ((struct live *)t.in)->page->pid;
    bool all = true, moved = true;
    for (int i = 0; i < n && all; i++) {
        size_t from = t.n_given;
        for (int k = 0; k < 3; k++)
            new_mark();
        if (i % 2 && digit < 8)
            new_gate(digit++);
        if (i == 2)
            add_given("BOOM\x2a\x17", 6); /* a crash it is told of is not its find */
        deliver(from);
        all = turn(0.5);
        moved = moved && t.in->report.execs > 0;
        if (all)
            harvest();
        pause_for(pause_ns());
    }
    check(all, "%d turns, each ended parked", n);
    /* A trim can hold imports up, and a loaded machine the crash. */
    for (int i = 0; i < 20 && all && (t.taken < t.offered || t.crashes == 0); i++)
        turn(0.5), harvest();
    check(moved && pid == ((struct live *)t.in)->page->pid,
          "every turn went on with the same process");
    check_marks();
    if (strcmp(t.in->fuzzer, "mopt") == 0 || getenv("CAROL_TEST_LONG")) {
        resume(60, 1);
        bool parked = wait_event("cycles", 120 * NS_PER_S) == INSTANCE_PARKED;
        t.taken += t.in->report.taken;
        check(parked && (t.in->report.cycles == 1 || t.in->report.active_ns >= 60 * NS_PER_S),
              "a turn of one cycle ends after one cycle");
        harvest();
    }
    check(t.crashes > 0 && t.crash_bad == 0, "%zu crashes harvested, byte for byte as executed",
          t.crashes);
    check(t.hangs == 0, "no false hang was reported (%zu were)", t.hangs);
    if (strcmp(t.in->fuzzer, "mopt") == 0)
        check(t.finds > 0 && t.foreign == 0, "%zu finds, all by MOpt's havoc", t.finds);
    check(t.cpu_parked_ns <= 20 * NS_PER_MS + t.paused_ns / 50,
          "%.0f ms of CPU in %.1f s of pauses", (double)t.cpu_parked_ns / 1e6,
          (double)t.paused_ns / 1e9);
    check(((struct live *)t.in)->p->by_signal == 0, "the library parked it every time");
    /* Within one execution: a fuzzer that found the true hang may be in it at every request. */
    check(median_park_ms() < (t.true_hangs ? 1500 : 500),
          "parked %.1f ms after the request (median)", median_park_ms());
    check_queue("out/default/queue");
}

static void phase_slow(void)
{
    bool all = true;
    for (int i = 0; i < 3 && all; i++) {
        size_t from = t.n_given;
        new_mark();
        new_mark();
        deliver(from);
        all = turn(i ? 3.0 : 8.0); /* the first deterministic stages are long */
        if (all)
            harvest();
        pause_for(pause_ns());
    }
    check(all, "3 turns of a target that needs 20 ms per execution");
    check_marks();
    check(median_park_ms() < 150, "parked %.1f ms after the request (median)", median_park_ms());
    check(t.hangs == 0, "no false hang was reported (%zu were)", t.hangs);
}

/* The process `depth` levels below the fuzzer. */
static pid_t victim(int depth)
{
    pid_t pid = cage_program(&((struct live *)t.in)->cage), child;
    for (int i = 0; i < depth && pid; i++)
        pid = tree_children(pid, &child, 1) == 1 ? child : 0;
    return pid;
}

static void kill_in_turn(int depth, const char *who)
{
    size_t from = t.n_given;
    new_mark();
    new_gate(depth);
    deliver(from);
    resume(1.0, 0);
    loop_step(t.loop, 0);
    pause_for(400 * NS_PER_MS);
    pid_t pid = 0;
    for (int i = 0; i < 300 && !(pid = victim(depth)); i++) /* a target that crashed is not there */
        usleep(1000);
    if (pid && t.in->state == INST_RUNNING)
        kill(pid, SIGKILL);
    enum instance_event ev = wait_event(who, 30 * NS_PER_S);
    t.taken += t.in->report.taken;
    printf("# kill -9 of %s (%d): %s %s\n", who, (int)pid, ev == INSTANCE_DIED ? "died:" : "parked",
           ev == INSTANCE_DIED ? t.in->report.why : "");
    check(pid > 0 && (ev == INSTANCE_DIED || (ev == INSTANCE_PARKED && depth > 0)),
          "kill -9 of %s in mid-turn is noticed or survived", who);
    harvest();
    bool works = ev == INSTANCE_PARKED && turn(0.5);
    if (!works) { /* it died, at once or in the next turn, when it needed what was killed */
        harvest();
        start(true);
        works = turn(0.5);
    }
    check(works, "the next turn works");
    harvest();
}

static void phase_kill(bool persistent)
{
    kill_in_turn(0, "the fuzzer");
    kill_in_turn(1, is_honggfuzz() ? "its target" : "its fork server");
    if (persistent && !is_honggfuzz())
        kill_in_turn(2, "its target");
    for (int i = 0; i < 4 && t.taken < t.offered; i++)
        turn(0.5), harvest();
    int marks = 0, lost = 0, twice = 0;
    for (size_t i = 0; i < t.n_given; i++) {
        char text[32];
        snprintf(text, sizeof text, "mark %.8s\n", t.given[i].data + 4);
        int n = t.given[i].mark ? logged(text) : 1;
        marks += t.given[i].mark;
        lost += n == 0;
        twice += (n > 1 && !in_own_corpus(&t.given[i])) || t.given[i].imported > 1;
    }
    check(twice == 0 && lost <= 3, "%d imports over the kills: %d lost, %d twice", marks, lost,
          twice);
    check(t.echoes == 0, "nothing we gave came back as a find (%zu did)", t.echoes);
    check_queue("out/default/queue");
}

/* Without the library: control by SIGSTOP, and no imports. */
static void phase_bare(void)
{
    bool all = true;
    for (int i = 0; i < 3 && all; i++) {
        all = turn(0.7) && ((struct live *)t.in)->p->stopped;
        harvest();
        pause_for(pause_ns());
    }
    check(all && ((struct live *)t.in)->p->by_signal >= 3, "3 turns ended by SIGSTOP");
    check(t.finds > 0 && t.hangs == 0, "%zu finds, %zu hangs", t.finds, t.hangs);
    check(t.cpu_parked_ns <= 20 * NS_PER_MS + t.paused_ns / 20,
          "%.0f ms of CPU in %.1f s of pauses", (double)t.cpu_parked_ns / 1e6,
          (double)t.paused_ns / 1e9);
    check_queue("out/default/queue");
}

/* 60 imports from 1 byte to 1 MB, ten per turn, of bytes that do not crash the target. */
static void phase_sizes(void)
{
    enum { N = 60, PER_TURN = 10 };
    const size_t most = (size_t)1 << 20;
    uint8_t *data = xmalloc(most);
    for (size_t i = 0; i < most; i++)
        data[i] = (uint8_t)(i * i % 251 % 128);
    bool all = true;
    double size = 1;
    for (int i = 0; i < N && all; i += PER_TURN) {
        struct input in[PER_TURN];
        struct err e = {0};
        for (int k = 0; k < PER_TURN; k++, size *= 1.2649) { /* 2^20 in 59 steps */
            size_t n = i + k == N - 1 || size > (double)most ? most : (size_t)size;
            in[k] = (struct input){.id = BIG_FROM + i + k, .data = data, .size = n};
        }
        if (t.in->ops->deliver(t.in, ++t.batch, in, PER_TURN, &e) < 0)
            give_up("deliver", e.msg);
        t.offered += PER_TURN;
        all = turn(2.0);
    }
    for (int i = 0; i < 10 && all && t.taken < t.offered; i++)
        all = turn(2.0);
    check(all, "alive after all turns: %s", all ? "yes" : t.in->report.why);
    check(t.taken == t.offered, "%llu of %llu imports of 1 byte to 1 MB executed",
          (unsigned long long)t.taken, (unsigned long long)t.offered);
    if (all)
        harvest();
    free(data);
}

/* For bench/control.sh: one long turn on one cpu; the executions are those of the fuzzer's own statistics,
 * so that it can be measured without the library as well. */
static void phase_bench(void)
{
    const char *s = getenv("CAROL_BENCH_SECONDS");
    struct tree_usage u;
    struct err e = {0};
    struct turn_quota q = {.cap_ns = (int64_t)((s ? strtod(s, NULL) : 8) * 1e9)};
    int64_t ready = loop_now(t.loop) - t.started_at;
    if (t.in->ops->resume(t.in, &q, 0, &e) < 0 ||
        wait_event("turn", 600 * NS_PER_S) != INSTANCE_PARKED)
        give_up("bench", e.msg);
    int64_t park = t.in->report.park_ns;
    t.in->ops->usage(t.in, &u);
    t.in->ops->stop(t.in);
    wait_event("stop", 10 * NS_PER_S);
    printf("bench %.0f execs/cpu-s, park %.2f ms, ready %.0f ms, parked %llu KB\n",
           stat_of("execs_done") / ((double)u.cpu_ns / 1e9), (double)park / 1e6,
           (double)ready / 1e6, (unsigned long long)u.rss_kb);
}

static void damage_queue(void);
static void check_numbers(void);

/* kill -9 at any moment, start-up included: nothing is lost, nothing comes twice. */
static void phase_storm(void)
{
    struct err e = {0};
    unsigned state = 1, deaths = 0;
    for (int i = 0; i < 12; i++) {
        size_t from = t.n_given;
        new_mark();
        if (i < 8)
            new_gate(i);
        deliver(from);
        resume(5.0, 0);
        state = state * 1103515245 + 12345;
        pause_for((int64_t)(state >> 16 & 255) * NS_PER_MS);
        kill(victim(0), SIGKILL);
        deaths += wait_event("kill", 30 * NS_PER_S) == INSTANCE_DIED;
        t.taken += t.in->report.taken;
        harvest();
        if (i < 11 && t.in->ops->start(t.in, NULL, 0, true, &e) < 0)
            give_up("start", e.msg);
    }
    start(true);
    check(turn(1.0), "%u kills, then a turn", deaths);
    harvest();
    int twice = 0;
    for (size_t i = 0; i < t.n_given; i++) {
        char text[32];
        snprintf(text, sizeof text, "mark %.8s\n", t.given[i].data + 4);
        twice += t.given[i].imported > 1 || (t.given[i].mark && logged(text) > 1);
    }
    check(twice == 0, "%d imports came twice", twice);
    check(t.echoes == 0, "nothing we gave came back as a find (%zu did)", t.echoes);
    check_queue("out/default/queue");
    resume(5.0, 0);
    kill(victim(0), SIGKILL);
    wait_event("kill", 30 * NS_PER_S);
    harvest();
    damage_queue();
    start(true);
    check(turn(2.0), "a turn on a repaired queue");
    harvest();
    check_numbers();
}

/* What a kill in the middle of afl-fuzz's own writing leaves: an empty file, a missing one, an empty one at
 * the end.  The numbers must stay what they are. */
static void damage_queue(void)
{
    struct strv files = {0};
    char *dir = fs_join(t.o.dir, "out/default/queue");
    if (fs_list(dir, &files, NULL) < 0 || files.n < 8)
        give_up("damage", "no queue");
    size_t from = files.n - 4; /* behind the seeds */
    char *a = fs_join(dir, files.v[from]), *b = fs_join(dir, files.v[from + 1]),
         *c = str_fmt("%s/id:%06zu,src:000000,time:1,execs:1,op:havoc", dir, files.n - 1);
    int fd = open(c, O_CREAT | O_WRONLY, 0644);
    check(truncate(a, 0) == 0 && unlink(b) == 0 && fd >= 0, "its queue was damaged");
    close(fd);
    free(a);
    free(b);
    free(c);
    free(dir);
    strv_free(&files);
}

static void check_numbers(void)
{
    struct strv files = {0};
    char *dir = fs_join(t.o.dir, "out/default/queue");
    int same = 0, unknown = 0;
    long last = -1;
    if (fs_list(dir, &files, NULL) < 0)
        give_up("queue", "gone");
    for (size_t i = 0; i < files.n; i++) {
        if (!str_starts(files.v[i], "id:"))
            continue;
        long id = strtol(files.v[i] + 3, NULL, 10);
        same += id == last;
        last = id;
        unknown += !strv_has(&t.names, files.v[i]) && !strstr(files.v[i], "orig:hole");
    }
    check(same == 0 && unknown == 0, "after the repair %d numbers twice, %d files missed", same,
          unknown);
    free(dir);
    strv_free(&files);
}

/* Nothing to start with that works: the second start adds an input of its own. */
static void phase_bad_seeds(void)
{
    struct input in[3];
    struct err e = {0};
    add_given("\xf1\xf2\xf3\xf4", 4);
    add_given("HANG", 4);
    add_given("", 0);
    inputs_of(in, 0, 3);
    if (t.in->ops->start(t.in, in, 3, false, &e) < 0)
        give_up("start", e.msg);
    if (wait_event("start", 60 * NS_PER_S) == INSTANCE_DIED) {
        printf("# died: %s\n", t.in->report.why);
        harvest();
        start(true);
    }
    check(turn(1.0) && t.in->report.execs > 0, "seeds that crash or hang do not stop it");
    harvest();
    check(t.echoes == 0, "they are not reported as its finds");
}

/* Processes whose working directory is below ours. */
static int left_behind(void)
{
    struct strv pids = {0};
    int n = 0;
    if (fs_list("/proc", &pids, NULL) < 0)
        return -1;
    for (size_t i = 0; i < pids.n; i++) {
        char link[320], path[512];
        snprintf(link, sizeof link, "/proc/%.20s/cwd", pids.v[i]);
        ssize_t k = readlink(link, path, sizeof path - 1);
        path[k > 0 ? k : 0] = 0;
        n += str_starts(path, t.dir);
    }
    strv_free(&pids);
    return n;
}

/* A supervisor that is killed in a turn; then a second one on what the first left. */
static void phase_orphan(char **argv)
{
    pid_t first = fork();
    if (first == 0) {
        open_instance(argv);
        start(false);
        for (;;)
            turn(0.7);
    }
    sleep(3);
    int alive = left_behind();
    kill(first, SIGKILL);
    waitpid(first, NULL, 0);
    for (int i = 0; i < 50 && left_behind() > 0; i++)
        usleep(100000);
    check(alive > 0 && left_behind() == 0,
          "kill -9 of the supervisor: %d processes before, %d after", alive, left_behind());
    open_instance(argv);
    harvest();
    size_t found = t.names.n;
    check(found > 3, "%zu entries harvested from what it left", found);
    start(true);
    check(turn(0.7), "the instance goes on from its own directory");
    harvest();
    check_queue("out/default/queue");
    check(t.echoes == 0, "nothing we gave came back as a find (%zu did)", t.echoes);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: arms FUZZER libfuzzer|file|stdin TARGET "
                        "turns|slow|kill|orphan|storm|bare|sizes|bench|badseeds\n");
        return 2;
    }
    bool orphan = strcmp(argv[4], "orphan") == 0;
    bool bad_seeds = strcmp(argv[4], "badseeds") == 0;
    make_dir(argv);
    if (!bad_seeds)
        start_corpus();
    if (strcmp(argv[4], "slow") == 0)
        setenv("CAROL_TEST_SLEEP_US", "20000", 1);
    if (!orphan) {
        open_instance(argv);
        if (!bad_seeds)
            start(false);
    }
    if (orphan)
        phase_orphan(argv);
    else if (bad_seeds)
        phase_bad_seeds();
    else if (strcmp(argv[4], "bare") == 0)
        phase_bare();
    else if (strcmp(argv[4], "sizes") == 0)
        phase_sizes();
    else if (strcmp(argv[4], "bench") == 0)
        phase_bench();
    else if (strcmp(argv[4], "storm") == 0)
        phase_storm();
    else if (strcmp(argv[4], "turns") == 0)
        phase_turns();
    else if (strcmp(argv[4], "slow") == 0)
        phase_slow();
    else
        phase_kill(strcmp(argv[2], "libfuzzer") == 0);
    stop_and_check();
    if (!orphan && !bad_seeds && strcmp(argv[4], "kill") != 0 && stat_of("total_tmout") >= 0)
        check(stat_of("total_tmout") == 0 && stat_of("stability") >= 99.0,
              "its own statistics: %.0f time-outs, stability %.2f %%", stat_of("total_tmout"),
              stat_of("stability"));
    t.in->ops->free(t.in);
    loop_free(t.loop);
    manifest_free(&t.m);
    strv_free(&t.names);
    free((char *)t.o.dir);
    if (!failed && !getenv("CAROL_TEST_KEEP") && fs_remove_tree(t.dir, NULL) < 0)
        printf("# cannot remove %s\n", t.dir);
    printf("1..%d\n", tests);
    return failed != 0;
}
