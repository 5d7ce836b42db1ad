/* arms: one real fuzzer on the toy target (targets/toy.c) under control, checked from outside: what the
 * target says it executed, what /proc says it cost, what is in the fuzzer's own directory.
 *
 *     arms FUZZER KIND TARGET PHASE
 *
 * KIND: libfuzzer, file, stdin.  TARGET: a directory made by carol build, or the binary itself.
 * Phases: turns (short turns, long pauses, imports, harvest), slow (20 ms per execution), kill (kill -9
 * of the fuzzer, its fork server, its target), orphan (kill -9 of the supervisor), storm (kill -9 at
 * any moment), bare (an engine that does not load the library: SIGSTOP), sizes (60 imports of 1 byte to
 * 1 MB), full (the fuzzer cannot write its corpus), stale (imports without anything new),
 * badseeds (all seeds crash, hang or are empty), clock (the wall clock is set; arms_clock.c).  TAP on stdout.
 * CAROL_TEST_DICT: a dictionary; CAROL_TEST_LONG=1: 20 turns; CAROL_TEST_KEEP=1: its directory stays;
 * CAROL_TEST_SEED: of the fuzzer, and of the moments at which the storm kills it (7). */
#include "arms.h"

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

static void phase_turns(void)
{
    int n = getenv("CAROL_TEST_LONG") ? 20 : is_honggfuzz() ? 5 : 8, digit = 0;
    int32_t pid = ((struct live *)t.in)->page->pid;
    bool all = true;
    unsigned idle = 0;
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
        idle += t.in->report.execs == 0;
        if (all)
            harvest();
        pause_for(pause_ns());
    }
    check(all, "%d turns, each ended parked", n);
    /* A trim can hold imports up, and a loaded machine the crash. */
    for (int i = 0; i < 20 && all && (t.taken < t.offered || t.crashes == 0); i++)
        turn(0.5), harvest();
    check(pid == ((struct live *)t.in)->page->pid, "every turn went on with the same process");
    check_faults(idle, stalls(), STOOD_STILL, "every turn executed something (%u did not)", idle);
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
    check_hangs();
    if (strcmp(t.in->fuzzer, "mopt") == 0)
        check(t.finds > 0 && t.foreign == 0, "%zu finds, all by MOpt's havoc", t.finds);
    check(t.cpu_parked_ns <= 20 * NS_PER_MS + t.paused_ns / 50,
          "%.0f ms of CPU in %.1f s of pauses", (double)t.cpu_parked_ns / 1e6,
          (double)t.paused_ns / 1e9);
    check(((struct live *)t.in)->p->by_signal == 0, "the library parked it every time");
    check_park(500); /* they are so short that waking up is most of it */
    check_queue();
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
    /* A trim or the calibration of what was just found comes before the next import. */
    for (int i = 0; i < 6 && all && t.taken < t.offered; i++)
        all = turn(3.0), harvest();
    check_marks();
    check_park(5);
    check_hangs();
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
    check(t.finds > 0, "%zu finds", t.finds);
    check_hangs();
    check(t.cpu_parked_ns <= 20 * NS_PER_MS + t.paused_ns / 20,
          "%.0f ms of CPU in %.1f s of pauses", (double)t.cpu_parked_ns / 1e6,
          (double)t.paused_ns / 1e9);
    check_queue();
}

/* 60 imports from 1 byte to 1 MB, ten per turn, of bytes that do not crash the target.  honggfuzz and libFuzzer, whose
 * inputs may grow to their limit of sizes, are given those of up to 32 KB. */
static void phase_sizes(void)
{
    enum { N = 60, PER_TURN = 10 };
    const size_t most = (size_t)1 << 20, limit = is_afl() ? most : (size_t)32 << 10;
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
            t.offered += n <= limit;
        }
        if (t.in->ops->deliver(t.in, ++t.batch, in, PER_TURN, &e) < 0)
            give_up("deliver", e.msg);
        all = turn(1.0);
    }
    for (int i = 0; i < 20 && all && t.taken < t.offered; i++)
        all = turn(1.0);
    check(all, "alive after all turns: %s", all ? "yes" : t.in->report.why);
    check(t.taken == t.offered && t.offered >= 45,
          "%llu of %llu imports of 1 byte to 1 MB executed", (unsigned long long)t.taken,
          (unsigned long long)t.offered);
    if (all)
        harvest();
    free(data);
}

/* It cannot write what it finds, and cleans up after each try; that is no import. */
static void phase_full(void)
{
    bool all = true;
    for (int i = 0; i < 4 && all; i++) {
        size_t from = t.n_given;
        new_mark();
        new_gate(i);
        deliver(from);
        all = turn(0.5);
    }
    for (int i = 0; i < 20 && all && t.taken < t.offered; i++)
        all = turn(0.5);
    harvest();
    check(all && t.execs > 0, "%llu executions, though nothing can be written", (unsigned long long)t.execs);
    check(t.finds == 0, "%zu files of its corpus were written", t.finds);
    check(t.taken == t.offered, "%llu of %llu imports were taken", (unsigned long long)t.taken,
          (unsigned long long)t.offered);
}

/* honggfuzz's time without new coverage goes on, though it is given something before every turn: arms_kit.py lets it
 * end after 6 s of them. */
static void phase_stale(void)
{
    bool alive = true;
    int i = 0;
    for (; i < 60 && alive; i++) {
        size_t from = t.n_given;
        new_mark();
        deliver(from);
        alive = turn(0.5);
    }
    check(!alive && i > 10 && t.execs > 0, "it ended after %d turns, though it was given something before each: %s", i,
          t.in->report.why);
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
    bool all = true;
    uint64_t execs = 0;
    for (int i = 0; i < 5 && all && !execs; i++, execs = t.in->report.execs)
        all = turn(1.0);
    check(all && execs, "seeds that crash or hang do not stop it");
    harvest();
    check(t.echoes == 0, "they are not reported as its finds");
}

/* Of what afl-fuzz says itself once it has stopped. */
static void check_own_account(void)
{
    double late = stat_of("total_tmout"), stability = stat_of("stability");
    check(stability >= 99.0, "by its own account its stability was %.2f %%", stability);
    check_faults((size_t)late, stalls(), STOOD_STILL,
                 "by its own account it met no time-out (%.0f)", late);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: arms FUZZER libfuzzer|file|stdin TARGET "
                        "turns|slow|kill|orphan|storm|bare|sizes|full|stale|clock|badseeds\n");
        return 2;
    }
    bool orphan = strcmp(argv[4], "orphan") == 0;
    bool bad_seeds = strcmp(argv[4], "badseeds") == 0;
    make_dir(argv);
    if (!bad_seeds)
        start_corpus();
    bool clock = strcmp(argv[4], "clock") == 0;
    if (strcmp(argv[4], "slow") == 0)
        setenv("CAROL_TEST_SLEEP_US", "20000", 1);
    if (clock) /* whenever it is set, an execution is under way */
        setenv("CAROL_TEST_SLEEP_US", strcmp(argv[1], "honggfuzz") == 0 ? "300000" : "20000", 1);
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
    else if (strcmp(argv[4], "full") == 0)
        phase_full();
    else if (strcmp(argv[4], "stale") == 0)
        phase_stale();
    else if (strcmp(argv[4], "storm") == 0)
        phase_storm();
    else if (strcmp(argv[4], "turns") == 0)
        phase_turns();
    else if (strcmp(argv[4], "slow") == 0)
        phase_slow();
    else if (clock)
        phase_clock();
    else
        phase_kill(strcmp(argv[2], "libfuzzer") == 0);
    stop_and_check();
    if (!orphan && !bad_seeds && strcmp(argv[4], "kill") != 0 && stat_of("total_tmout") >= 0)
        check_own_account();
    if (clock && !is_honggfuzz())
        check_run_time();
    t.in->ops->free(t.in);
    loop_free(t.loop);
    manifest_free(&t.m);
    strv_free(&t.names);
    free(t.kept);
    free((char *)t.o.dir);
    if (!failed && !getenv("CAROL_TEST_KEEP") && fs_remove_tree(t.dir, NULL) < 0)
        printf("# cannot remove %s\n", t.dir);
    printf("1..%d\n", tests);
    return failed != 0;
}
