/* control: what control costs a fuzzer: executions per CPU-second with our library in it ÷ without.  Compares
 * one arm on one target (bench/targets/flat); bench/control.sh builds that target and runs this for each arm.
 *
 *     bench-control ARM BUILD ENGINES BARE [ROUNDS [TURNS]]
 *
 * BARE is an engines directory whose fuzzers take the library out of their environment.
 *
 * How.  In each of ROUNDS rounds three fresh instances of the arm are started: one under control, and two
 * bare ones, which Carol controls by SIGSTOP as it does any fuzzer without the library.  All three have
 * the same command, seeds, limits, cage and, from their first instruction on, the same cpu.  After a
 * warm-up (start-up, calibration, first deterministic stages) come turns in which all three run at the
 * same time: a fuzzer waits for its target in every execution, so the kernel interleaves them execution
 * by execution, and whatever happens to the machine happens to all three.  Run one after another, even in
 * slices of 0.2 s, they differ by a tenth for no reason.  The target itself counts executions; CPU time is
 * what the kernel counted for every thread of the tree (/proc/PID/task/TID/schedstat).  Both cover those
 * turns only.
 *
 * The rule: the ratio of a round is executions per CPU-second under control ÷ the mean of the two bare ones.
 * The interval printed is the distribution-free one of the median, between two order statistics, of at least
 * 95 %.
 *     held: the lower end of that interval is at least RATIO_MIN.
 * The second bare instance ÷ the first measures no difference at all.  If its median is off 1 by more than
 * NULL_MAX, the run proves nothing: exit 1, whatever the ratio is. */
#include "base/die.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/str.h"
#include "base/where.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/live.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RATIO_MIN 0.97
#define NULL_MAX 0.01
#define PARK_MAX_MS 20
#define TURN_NS (2 * NS_PER_S)
#define WARM_EXECS 50000
#define ROUNDS 12
#define TURNS 3 /* of each round */
#define ROUNDS_MOST 99
#define SEEDS 8

enum { CONTROL, BARE, BARE_AGAIN, SIDES };

struct side {
    struct instance *in;
    volatile uint64_t *count; /* the target's own */
    enum instance_event last;
    uint64_t execs;
    int64_t cpu_ns;
};

static struct {
    struct loop *loop;
    struct manifest target;
    const char *arm, *engines[SIDES];
    char dir[64];
    struct side side[SIDES];
    int cpu;
    int64_t park_ns, ready_ns, parked_cpu_ns;
    int parks;
    uint64_t rss_kb;
} b;

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "bench-control: %s: %s\n", what, why);
    exit(4);
}

/* ---- one instance ---- */

static void on_event(void *arg, struct instance *in, enum instance_event ev)
{
    struct side *s = arg;
    (void)in;
    s->last = ev;
}

static void wait_for(struct side *s, enum instance_event want)
{
    int64_t end = loop_now(b.loop) + 60 * NS_PER_S;
    while (s->last == INSTANCE_NONE && loop_now(b.loop) < end)
        loop_step(b.loop, NS_PER_S);
    if (s->last != want)
        give_up(s->in->fuzzer, s->last == INSTANCE_NONE ? "nothing happened" : s->in->report.why);
}

static volatile uint64_t *new_counter(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    void *map = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, 4096) == 0)
        map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        give_up(path, "cannot be made");
    close(fd);
    return map;
}

/* We run on the other cpus; what we start now runs on b.cpu.  Under SCHED_BATCH a process that wakes up does
 * not push another off the cpu.  Otherwise preemption depends on the CPU time used before, the dearer side is
 * switched less often, and a delay of 1 us per execution showed as 0.3 us. */
static void pin_to(bool fuzzers)
{
    if (sched_setscheduler(0, fuzzers ? SCHED_BATCH : SCHED_OTHER, &(struct sched_param){0}) < 0)
        give_up("cannot choose how it is scheduled", "sched_setscheduler");
    cpu_set_t set;
    CPU_ZERO(&set);
    if (fuzzers || b.cpu == 0)
        CPU_SET((size_t)b.cpu, &set);
    for (int i = 0; !fuzzers && i < b.cpu; i++)
        CPU_SET((size_t)i, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        give_up("cannot pin to a cpu", "sched_setaffinity");
}

static void start(struct side *s, int number, int round)
{
    static uint8_t bytes[SEEDS][256];
    struct input in[SEEDS];
    struct err e = {0};
    for (int i = 0; i < SEEDS; i++) {
        for (int k = 0; k < 256; k++)
            bytes[i][k] = (uint8_t)('a' + (i * 7 + k * k) % 26);
        in[i] = (struct input){.id = i + 1, .data = bytes[i], .size = (size_t)(i + 1) * 24};
    }
    char *dir = str_fmt("%s/%d.%d", b.dir, round, number), *count = str_fmt("%s.count", dir);
    struct instance_opts o = {.fuzzer = b.arm,
                              .dir = dir,
                              .target = &b.target,
                              .timeout_ms = 1000,
                              .mem_bytes = UINT64_C(1) << 31,
                              .seed = 7};
    s->count = new_counter(count);
    setenv("CAROL_BENCH_COUNT", count, 1);
    where_set_engines(b.engines[number]);
    if (fuzzer_check(&o, &e) < 0 || fuzzer_open(&s->in, b.loop, &o, &e) < 0)
        give_up(b.arm, e.msg);
    s->in->on_event = on_event;
    s->in->arg = s;
    s->last = INSTANCE_NONE;
    pin_to(true);
    if (s->in->ops->start(s->in, in, SEEDS, false, &e) < 0)
        give_up(b.arm, e.msg);
    pin_to(false);
    free(dir);
    free(count);
}

static void resume(struct side *s, int64_t ns)
{
    struct err e = {0};
    s->last = INSTANCE_NONE;
    if (s->in->ops->resume(s->in, &(struct turn_quota){.cap_ns = ns}, -1, &e) < 0)
        give_up(b.arm, e.msg);
}

/* ---- what it used ---- */

/* CPU time of one thread, exact; /proc/PID/stat knows hundredths of a second only. */
static int64_t thread_ns(pid_t pid, const char *tid)
{
    char path[96], text[96] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", (int)pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? strtoll(text, NULL, 10) : 0;
}

static int64_t tree_ns(const struct side *s)
{
    pid_t pids[64];
    size_t n = tree_pids(((struct live *)s->in)->cage.init, pids, 64);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/task", (int)pids[i]);
        DIR *d = opendir(path);
        for (struct dirent *de; d && (de = readdir(d));)
            if (de->d_name[0] != '.')
                sum += thread_ns(pids[i], de->d_name);
        if (d)
            closedir(d);
    }
    return sum;
}

/* One turn of all three at the same time. */
static void measured_turn(int round)
{
    for (int i = 0; i < SIDES; i++) {
        b.side[i].execs -= *b.side[i].count;
        b.side[i].cpu_ns -= tree_ns(&b.side[i]);
    }
    for (int i = 0; i < SIDES; i++)
        resume(&b.side[(i + round) % SIDES], TURN_NS);
    for (int i = 0; i < SIDES; i++)
        wait_for(&b.side[i], INSTANCE_PARKED);
    for (int i = 0; i < SIDES; i++) {
        b.side[i].execs += *b.side[i].count;
        b.side[i].cpu_ns += tree_ns(&b.side[i]);
    }
    b.park_ns += b.side[CONTROL].in->report.park_ns;
    b.parks++;
}

static double rate(const struct side *s)
{
    return (double)s->execs / ((double)s->cpu_ns / 1e9);
}

/* ---- rounds ---- */

/* Brings all three to the same number of executions: what a fuzzer does, and so what an execution costs,
 * changes with its age. */
static void warm_up(void)
{
    uint64_t to = WARM_EXECS;
    for (int i = 0; i < SIDES; i++)
        to = *b.side[i].count > to ? *b.side[i].count : to;
    for (int i = 0; i < SIDES; i++)
        for (int k = 0; *b.side[i].count < to; k++) {
            if (k > 500)
                give_up(b.arm, "the target counts nothing");
            resume(&b.side[i], TURN_NS / 20);
            wait_for(&b.side[i], INSTANCE_PARKED);
        }
}

static void start_all(int round)
{
    memset(b.side, 0, sizeof b.side);
    int64_t at = loop_now(b.loop);
    start(&b.side[CONTROL], CONTROL, round);
    wait_for(&b.side[CONTROL], INSTANCE_READY);
    b.ready_ns += loop_now(b.loop) - at;
    for (int i = BARE; i < SIDES; i++) /* each is the first of the two every other round */
        start(&b.side[round % 2 ? SIDES - i : i], round % 2 ? SIDES - i : i, round);
    for (int i = BARE; i < SIDES; i++)
        wait_for(&b.side[i], INSTANCE_READY);
    warm_up();
}

static void stop_all(void)
{
    struct tree_usage u;
    struct side *c = &b.side[CONTROL];
    int64_t before = tree_ns(c);
    c->in->ops->usage(c->in, &u);
    b.rss_kb = u.rss_kb;
    for (int i = 0; i < SIDES; i++) {
        struct side *s = &b.side[i];
        s->last = INSTANCE_NONE;
        if (i == CONTROL) {
            usleep(200000);
            b.parked_cpu_ns += tree_ns(c) - before;
        }
        s->in->ops->stop(s->in);
        wait_for(s, INSTANCE_STOPPED);
        s->in->ops->free(s->in);
        munmap((void *)(uintptr_t)s->count, 4096);
    }
}

static void round_of(int round, int turns, double *ratio, double *null)
{
    start_all(round);
    for (int k = 0; k < turns; k++)
        measured_turn(round + k);
    double ours = rate(&b.side[CONTROL]), one = rate(&b.side[BARE]),
           two = rate(&b.side[BARE_AGAIN]);
    *ratio = ours / ((one + two) / 2);
    *null = two / one;
    printf("#  under control %6.0f, bare %6.0f and %6.0f executions per CPU-second: %.4f, bare / "
           "bare %.4f\n",
           ours, one, two, *ratio, *null);
    fflush(stdout);
    stop_all();
}

/* ---- statistics ---- */

static int by_value(const void *a, const void *c)
{
    double x = *(const double *)a, y = *(const double *)c;
    return (x > y) - (x < y);
}

struct interval {
    double low, median, high;
};

/* The interval of the order statistics k+1 and n-k holds the median unless more than n-k values lie on one
 * side of it: the largest k for which the binomial says less than 5 %. */
static struct interval interval_of(double *v, int n)
{
    double below = 0, mass = pow(0.5, n);
    int k = 0;
    qsort(v, (size_t)n, sizeof *v, by_value);
    for (; k < n / 2 && 2 * (below + mass) <= 0.05; k++) {
        below += mass;
        mass = mass * (n - k) / (k + 1);
    }
    k = k ? k - 1 : 0;
    return (struct interval){v[k], n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2, v[n - 1 - k]};
}

static int judge(double *ratios, double *nulls, int n)
{
    struct interval r = interval_of(ratios, n), z = interval_of(nulls, n);
    double park = (double)b.park_ns / b.parks / 1e6;
    bool believable = fabs(z.median - 1) <= NULL_MAX;
    printf("%-9s under control / bare %.3f (%.3f to %.3f, %d rounds; at least %.2f); bare / bare "
           "%.3f (%.3f to %.3f)\n",
           b.arm, r.median, r.low, r.high, n, RATIO_MIN, z.median, z.low, z.high);
    printf("          parked %.2f ms after the request, ready after %.0f ms, %.1f MB parked, %.2f "
           "ms of CPU in a pause of 200 ms\n",
           park, (double)b.ready_ns / n / 1e6, (double)b.rss_kb / 1024,
           (double)b.parked_cpu_ns / n / 1e6);
    if (!believable)
        printf("          bare / bare is off by more than %.2f: this run proves nothing\n",
               NULL_MAX);
    return !(believable && r.low >= RATIO_MIN && park < PARK_MAX_MS);
}

int main(int argc, char **argv)
{
    struct err e = {0};
    double ratios[ROUNDS_MOST], nulls[ROUNDS_MOST];
    if (argc < 5) {
        fprintf(stderr, "usage: bench-control ARM BUILD ENGINES BARE [ROUNDS [TURNS]]\n");
        return 2;
    }
    int rounds = argc > 5 ? (int)strtol(argv[5], NULL, 10) : ROUNDS;
    int turns = argc > 6 ? (int)strtol(argv[6], NULL, 10) : TURNS;
    if (rounds < 6 || rounds > ROUNDS_MOST || turns < 2) {
        fprintf(stderr, "bench-control: 6 to %d rounds of 2 or more turns\n", ROUNDS_MOST);
        return 2;
    }
    log_set_level(LOG_NONE); /* that the bare ones have no library is known */
    b.arm = argv[1];
    b.engines[CONTROL] = argv[3];
    b.engines[BARE] = b.engines[BARE_AGAIN] = argv[4];
    b.cpu = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    snprintf(b.dir, sizeof b.dir, "/tmp/carol-control.XXXXXX");
    if (!mkdtemp(b.dir) || manifest_load(argv[2], NULL, &b.target, &e) < 0 ||
        loop_new(&b.loop, &e) < 0)
        give_up("setup", e.msg);
    for (int i = 0; i < rounds; i++)
        round_of(i, turns, &ratios[i], &nulls[i]);
    if (fs_remove_tree(b.dir, &e) < 0)
        fprintf(stderr, "bench-control: %s\n", e.msg);
    loop_free(b.loop);
    manifest_free(&b.target);
    return judge(ratios, nulls, rounds);
}
