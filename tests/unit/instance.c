/* instance: turns of a process that this program plays itself, with the control library in it: what start-up is
 * charged with, what completed cycles took, parked, stopped, cut and restarted.  Times are only compared with
 * others of the same run. */
#include "../../runtime/ctl/ctl.h"
#include "base/die.h"
#include "base/fs.h"
#include "fuzzer/ctlpage.h"
#include "fuzzer/live_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "temp_dir.h"

/* How the fuzzer is to be played; in ms, and in naps of one, which a SIGSTOP only delays. */
static struct {
    int start;    /* start-up */
    int cycle;    /* one cycle */
    int deaf;     /* every safe point but the first comes so long after the one before */
    int cycles;   /* then it dies; 0: never, -1: before the first safe point */
    int busy;     /* 1: it works instead of napping */
    bool refuses; /* it cannot even be called */
    int foreign;  /* it is another program, without our library; 2: that heeds no SIGINT */
    bool missing; /* it is not there */
    bool dying;   /* it is a program that says something odd and ends */
} play;

static char self_path[4096];

/* --- the fuzzer --------------------------------------------------------------------------------------- */

static void nap(int ms)
{
    for (; ms > 0; ms--)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* For a millisecond of CPU time. */
static void work(void)
{
    int64_t until = 0;
    for (struct timespec at;;) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
        int64_t used = at.tv_sec * NS_PER_S + at.tv_nsec;
        until = until ? until : used + NS_PER_MS;
        if (used >= until)
            return;
    }
}

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static int play_fuzzer(char **argv)
{
    int start = number(argv[2]), cycle = number(argv[3]), deaf = number(argv[4]),
        cycles = number(argv[5]), busy = number(argv[6]);
    for (int ms = 0; ms < start && busy; ms++)
        work();
    nap(busy ? 0 : start);
    printf("\033[32mready\033[0m to play\n");
    fflush(stdout);
    for (int n = 0; !cycles || n < cycles; n++) {
        for (int ms = 0; ms < cycle; ms++) {
            if (!deaf || ms % deaf == 0)
                ctl_safe_point();
            if (ctl_page->quit)
                return 0;
            if (busy)
                work();
            else
                nap(1);
            ctl_add_exec();
        }
        ctl_add_cycle();
    }
    return 3;
}

/* --- its arm ------------------------------------------------------------------------------------------ */

static int arm_prepare(struct live *lv, const struct input *seeds, size_t n, struct err *e)
{
    (void)lv;
    (void)seeds;
    (void)n;
    (void)e;
    return 0;
}

static int arm_command(struct live *lv, bool again, struct strv *argv, struct strv *env,
                       struct err *e)
{
    (void)lv;
    (void)again;
    (void)env;
    if (play.refuses)
        return err_set(e, -ENOENT, "there is no such game");
    if (play.missing) {
        strv_add(argv, "/nonexistent");
        return 0;
    }
    if (play.foreign) {
        strv_add(argv, "/bin/sh");
        strv_add(argv, "-c");
        strv_add(argv, play.dying          ? "printf 'caf\\303\\251 ~\\n'; exit 9"
                       : play.foreign == 2 ? "trap '' INT; sleep 1000; :"
                                           : "exec sleep 1000");
        return 0;
    }
    strv_add(argv, self_path);
    strv_add(argv, "fuzzer");
    strv_addf(argv, "%d", play.start);
    strv_addf(argv, "%d", play.cycle);
    strv_addf(argv, "%d", play.deaf);
    strv_addf(argv, "%d", play.cycles);
    strv_addf(argv, "%d", play.busy);
    return 0;
}

static int arm_deliver(struct live *lv, const struct input *inputs, size_t n, struct err *e)
{
    (void)lv;
    (void)inputs;
    (void)n;
    (void)e;
    return 0;
}

static unsigned lines; /* "ready to play" */

static void arm_line(struct live *lv, const char *line)
{
    (void)lv;
    lines += strcmp(line, "ready to play") == 0;
}

static int arm_harvest(struct live *lv, struct harvest *h, struct err *e)
{
    (void)lv;
    (void)e;
    harvest_add(h, (struct find){.kind = FIND_SEED});
    return 0;
}

static const struct arm arm_played = {.name = "played",
                                      .prepare = arm_prepare,
                                      .command = arm_command,
                                      .deliver = arm_deliver,
                                      .harvest = arm_harvest,
                                      .line = arm_line};

/* --- the supervisor ----------------------------------------------------------------------------------- */

static struct {
    struct loop *loop;
    struct instance *in;
    enum instance_event last;
} t;

static void on_event(void *arg, struct instance *in, enum instance_event ev)
{
    (void)arg;
    (void)in;
    t.last = ev;
    loop_stop(t.loop);
}

static enum instance_event next_event(void)
{
    t.last = INSTANCE_NONE;
    while (t.last == INSTANCE_NONE)
        loop_run(t.loop);
    return t.last;
}

static int make(void **state)
{
    memset(&play, 0, sizeof play);
    if (temp_dir_make(state) < 0 || loop_new(&t.loop, NULL) < 0)
        return -1;
    struct instance_opts o = {.fuzzer = "played", .dir = temp_dir, .timeout_ms = 100};
    if (live_open(&t.in, t.loop, &arm_played, &o, NULL) < 0)
        return -1;
    t.in->on_event = on_event;
    return 0;
}

static int end(void **state)
{
    t.in->ops->stop(t.in);
    next_event();
    t.in->ops->free(t.in);
    loop_free(t.loop);
    return temp_dir_remove(state);
}

static int64_t now(void)
{
    return loop_now(t.loop);
}

static void start(bool again)
{
    assert_int_equal(t.in->ops->start(t.in, NULL, 0, again, NULL), 0);
}

static void resume(uint64_t cycles, int64_t cap_ms)
{
    struct turn_quota q = {.cycles = cycles, .cap_ns = cap_ms * NS_PER_MS};
    assert_int_equal(t.in->ops->resume(t.in, &q, -1, NULL), 0);
}

static const struct turn_report *turn(uint64_t cycles, int64_t cap_ms)
{
    resume(cycles, cap_ms);
    assert_int_equal(next_event(), INSTANCE_PARKED);
    return &t.in->report;
}

/* For at least so long; returns how long it was. */
static int64_t rest(int ms)
{
    int64_t from = now();
    nap(ms);
    return now() - from;
}

/* --- tests -------------------------------------------------------------------------------------------- */

/* Asked for a turn at once, as a campaign does, or only when it is ready. */
static void start_up_is_charged_once_and_apart(void **state)
{
    (void)state;
    for (int wait = 0; wait < 2; wait++) {
        play.start = 200, play.cycle = 10;
        int64_t began = now();
        start(wait);
        if (wait) {
            assert_int_equal(next_event(), INSTANCE_READY);
            nap(50);
        }
        const struct turn_report *r = turn(0, 100);
        assert_true(r->startup_ns >= 200 * NS_PER_MS);
        assert_true(r->active_ns >= 100 * NS_PER_MS); /* the whole turn, from when it was ready */
        assert_true(r->startup_ns + r->active_ns <= now() - began - wait * 50 * NS_PER_MS);
        for (int i = 0; i < 3; i++)
            assert_int_equal(turn(0, 20)->startup_ns, 0);
        t.in->ops->stop(t.in);
        assert_int_equal(next_event(), INSTANCE_STOPPED);
    }
}

/* The turn ends while it starts up: charged as start-up alone, and the rest of it in the next one. */
static void start_up_may_outlast_a_turn(void **state)
{
    (void)state;
    play.start = 5300, play.cycle = 10;
    int64_t began = now(), first;
    start(false);
    resume(0, 50);
    t.in->ops->suspend(t.in); /* it has five seconds then */
    assert_int_equal(next_event(), INSTANCE_PARKED);
    first = t.in->report.startup_ns;
    assert_true(first > 0 && t.in->report.active_ns == 0 && t.in->report.cycles == 0);
    int64_t pause = rest(100);
    const struct turn_report *r = turn(0, 50);
    assert_true(r->startup_ns > 0 && first + r->startup_ns >= 5300 * NS_PER_MS);
    assert_true(r->active_ns >= 50 * NS_PER_MS);
    assert_true(first + r->startup_ns + r->active_ns <= now() - began - pause);
    assert_int_equal(turn(0, 50)->startup_ns, 0);
}

static void a_restart_is_a_start_up(void **state)
{
    (void)state;
    play.start = 50, play.cycle = 20, play.cycles = 3;
    for (int life = 0; life < 2; life++) {
        start(life > 0);
        assert_true(turn(1, 60000)->startup_ns >= 50 * NS_PER_MS);
        resume(0, 60000);
        assert_int_equal(next_event(), INSTANCE_DIED);
        assert_int_equal(t.in->state, INST_DEAD);
        assert_true(t.in->report.died);
        assert_string_equal(t.in->report.why, "exit 3: ready to play");
        assert_int_equal(t.in->report.startup_ns, 0);
        assert_int_equal(t.in->report.cycles, 2);
        assert_true(t.in->report.cycle_ns >= 2 * 20 * NS_PER_MS);
    }
    play.cycles = -1; /* it dies before it is ready: all of that was start-up */
    start(true);
    resume(0, 60000);
    assert_int_equal(next_event(), INSTANCE_DIED);
    assert_true(t.in->report.startup_ns >= 50 * NS_PER_MS && t.in->report.active_ns == 0);
}

/* A quota of cycles is kept, none means the time alone; a cycle cut by the time goes on in the next turn and
 * counts, whole, where it ends.  Pauses count nowhere. */
static void cycles_and_their_time(void **state)
{
    (void)state;
    play.start = 100, play.cycle = 50;
    int64_t began = now(), rested = 0, sum = 0, active = 0;
    uint64_t cycles = 0;
    start(false);
    const struct turn_report *r = turn(3, 60000);
    assert_int_equal(r->cycles, 3);
    assert_int_equal(r->execs, 3 * 50);
    for (int i = 0; i < 12; i++) {
        sum += r->cycle_ns, cycles += r->cycles, active += r->active_ns;
        assert_true(r->cycles ? r->cycle_ns >= (int64_t)r->cycles * 50 * NS_PER_MS
                              : r->cycle_ns == 0);
        rested += rest(60);
        r = turn(0, 15); /* less than a third of a cycle */
    }
    sum += r->cycle_ns, cycles += r->cycles, active += r->active_ns;
    assert_true(cycles >= 4 && sum >= (int64_t)cycles * 50 * NS_PER_MS);
    assert_true(sum <= now() - began - rested - 100 * NS_PER_MS);
    assert_true(active <= now() - began - rested - 100 * NS_PER_MS);
}

/* Turns end at a safe point, long before their time when that is asked for. */
static void a_turn_can_be_cut(void **state)
{
    (void)state;
    play.cycle = 10;
    start(false);
    assert_int_equal(next_event(), INSTANCE_READY);
    for (int i = 0; i < 2; i++) {
        struct harvest h = {0};
        struct input two[2] = {{1, "a", 1}, {2, "b", 1}};
        assert_int_equal(t.in->ops->deliver(t.in, 1, two, 2, NULL), 0); /* the same batch: once */
        resume(0, 600000);
        assert_int_equal(t.in->ops->harvest(t.in, &h, NULL), -EBUSY); /* it may be writing */
        rest(30);
        t.in->ops->suspend(t.in);
        assert_int_equal(next_event(), INSTANCE_PARKED);
        assert_true(t.in->report.active_ns >= 30 * NS_PER_MS);
        assert_true(t.in->report.active_ns < 600000 * NS_PER_MS);
        assert_int_equal(t.in->report.offered, i ? 0 : 2);
        assert_true(t.in->report.park_ns <= t.in->report.active_ns - 30 * NS_PER_MS);
    }
    assert_int_equal(((struct live *)t.in)->p->by_signal, 0);
}

static size_t open_files(void)
{
    struct strv names = {0};
    assert_int_equal(fs_list("/proc/self/fd", &names, NULL), 0);
    size_t n = names.n;
    strv_free(&names);
    return n;
}

/* What cannot be called leaves nothing behind, and may be tried again. */
static void a_failed_start_is_no_start(void **state)
{
    (void)state;
    struct err e = {0};
    struct tree_usage none = {0}, u = {.cpu_ns = 1};
    play.cycle = 10, play.refuses = true;
    t.in->ops->usage(t.in, &u); /* there is nobody yet */
    assert_memory_equal(&u, &none, sizeof u);
    for (int i = 0; i < 3; i++) {
        assert_true(t.in->ops->start(t.in, NULL, 0, false, &e) < 0);
        assert_non_null(strstr(e.msg, "cannot start played #0"));
        assert_non_null(strstr(e.msg, "no such game"));
        assert_int_equal(t.in->state, INST_NEW);
    }
    play.refuses = false;
    char *log =
        fs_join(temp_dir, "log"); /* nor can it be called when there is no place for its log */
    size_t before = open_files();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fs_mkdirs(log, NULL), 0);
        assert_true(t.in->ops->start(t.in, NULL, 0, false, &e) < 0);
        assert_int_equal(open_files(), before);
    }
    assert_int_equal(rmdir(log), 0);
    free(log);
    lines = 0;
    start(false);
    assert_true(turn(2, 60000)->cycles == 2);
    t.in->ops->stop(t.in);
    assert_int_equal(next_event(), INSTANCE_STOPPED);
    assert_int_equal(lines, 1);
}

/* What an instance is asked for at the wrong moment it refuses. */
static void there_is_a_time_for_everything(void **state)
{
    (void)state;
    struct turn_quota q = {.cap_ns = 20 * NS_PER_MS};
    struct harvest h = {0};
    struct input one = {1, "a", 1};
    char *tmp = fs_join(temp_dir, "tmp");
    play.cycle = 10;
    assert_int_equal(t.in->ops->resume(t.in, &q, -1, NULL), -EINVAL);
    assert_int_equal(t.in->ops->harvest(t.in, &h, NULL), 0);
    harvest_free(&h);
    start(false);
    assert_true(fs_is_dir(tmp));
    assert_int_equal(t.in->ops->start(t.in, NULL, 0, true, NULL), -EBUSY);
    assert_int_equal(t.in->ops->harvest(t.in, &h, NULL), -EBUSY);
    assert_int_equal(next_event(), INSTANCE_READY);
    assert_int_equal(t.in->ops->start(t.in, NULL, 0, true, NULL), -EBUSY);
    resume(0, 600000);
    assert_int_equal(t.in->state, INST_RUNNING);
    assert_int_equal(t.in->ops->resume(t.in, &q, -1, NULL), -EINVAL);
    assert_int_equal(t.in->ops->start(t.in, NULL, 0, true, NULL), -EBUSY);
    assert_int_equal(t.in->ops->deliver(t.in, 1, &one, 1, NULL), -EBUSY);
    struct ctl_page *page = ((struct live *)t.in)->page;
    ctl_set64(&page->taken, ctl_get64(&page->taken) + 3);
    t.in->ops->suspend(t.in);
    assert_int_equal(next_event(), INSTANCE_PARKED);
    assert_int_equal(t.in->report.taken, 3);
    assert_int_equal(turn(1, 60000)->taken, 0);
    assert_int_equal(t.in->ops->harvest(t.in, &h, NULL), 0);
    assert_int_equal(h.n, 1);
    h.cursor = xstrdup("here");
    t.in->ops->harvested(t.in, &h);
    harvest_free(&h);
    assert_string_equal(t.in->cursor, "here");
    t.in->ops->stop(t.in);
    t.in->ops->stop(t.in);
    assert_int_equal(next_event(), INSTANCE_STOPPED);
    assert_false(t.in->report.died);
    assert_string_equal(t.in->report.why, "killed by signal 2: ready to play");
    assert_false(fs_exists(tmp));
    assert_int_equal(t.in->ops->resume(t.in, &q, -1, NULL), -EINVAL);
    free(tmp);
}

/* What is known of an end, in letters that fit anywhere. */
static void an_end_has_a_reason(void **state)
{
    (void)state;
    play.missing = true;
    start(false);
    assert_int_equal(next_event(), INSTANCE_DIED);
    assert_string_equal(t.in->report.why, "cannot be executed: No such file or directory");
    play.missing = false, play.foreign = 1, play.dying = true;
    start(true);
    assert_int_equal(next_event(), INSTANCE_DIED);
    assert_string_equal(t.in->report.why, "exit 9: caf?? ~");
}

/* Freed in the middle of a turn it leaves no process. */
static void freed_it_is_gone(void **state)
{
    (void)state;
    struct instance_opts o = {.fuzzer = "played", .dir = temp_dir, .timeout_ms = 100};
    size_t before = open_files();
    play.cycle = 10;
    start(false);
    assert_int_equal(next_event(), INSTANCE_READY);
    pid_t init = ((struct live *)t.in)->cage.init;
    resume(0, 600000);
    assert_int_equal(kill(init, 0), 0);
    t.in->ops->free(t.in);
    assert_true(kill(init, 0) < 0 && errno == ESRCH);
    char *tmp = fs_join(temp_dir, "tmp");
    assert_false(fs_exists(tmp));
    free(tmp);
    assert_int_equal(open_files(), before);
    assert_int_equal(live_open(&t.in, t.loop, &arm_played, &o, NULL), 0);
    t.in->on_event = on_event;
}

/* Of the CPU time, what it used in its turns and what it used between them, where its start-up is neither.  /proc
 * counts in ticks of 10 ms. */
static void cpu_time_is_charged(void **state)
{
    (void)state;
    play.cycle = 100, play.busy = 1;
    start(false);
    assert_int_equal(next_event(), INSTANCE_READY);
    for (int i = 0; i < 2; i++) {
        const struct turn_report *r = turn(2, 60000);
        assert_true(r->cpu_ns >= 150 * NS_PER_MS);
        assert_true(r->cpu_ns <= r->active_ns + 50 * NS_PER_MS);
        assert_true(r->cpu_parked_ns >= 0 && r->cpu_parked_ns < 100 * NS_PER_MS);
        rest(20);
    }
    struct tree_usage u = {0};
    t.in->ops->usage(t.in, &u);
    assert_true(u.cpu_ns >= 300 * NS_PER_MS && u.rss_kb > 0);
    t.in->ops->stop(t.in);
    assert_int_equal(next_event(), INSTANCE_STOPPED);
    play.start = 700; /* more than all of its former life */
    start(true);
    assert_int_equal(next_event(), INSTANCE_READY);
    assert_true(turn(1, 60000)->cpu_parked_ns < 100 * NS_PER_MS);
}

/* A program without the library: SIGSTOP ends its turns, SIGINT or SIGKILL its life. */
static void without_the_library_signals_do(void **state)
{
    (void)state;
    struct live_private *p = ((struct live *)t.in)->p;
    for (unsigned wait = 0; wait < 2; wait++) {
        play.foreign = wait ? 2 : 1;
        unsigned before = p->by_signal;
        int64_t began = now();
        start(wait > 0);
        if (wait)
            assert_int_equal(next_event(), INSTANCE_READY);
        assert_int_equal(p->by_signal, before + wait);
        assert_int_equal(p->stopped, wait);
        const struct turn_report *r = turn(0, 100);
        assert_true(p->stopped);
        assert_int_equal(p->by_signal, before + wait + 1);
        assert_true(r->active_ns >= 100 * NS_PER_MS && r->startup_ns > 0);
        assert_true(r->active_ns + r->startup_ns <= now() - began);
        assert_true(r->execs == 0 && r->cycles == 0);
        r = turn(0, 50);
        assert_true(r->active_ns >= 50 * NS_PER_MS && r->startup_ns == 0);
        t.in->ops->stop(t.in);
        assert_int_equal(next_event(), INSTANCE_STOPPED);
        assert_string_equal(t.in->report.why, wait ? "killed by signal 9" : "killed by signal 2");
        assert_false(p->stopped);
    }
}

/* On the first core it may use, which is number 0 on most machines. */
static void it_runs_on_the_core_of_its_slot(void **state)
{
    (void)state;
    cpu_set_t may;
    struct turn_quota q = {.cap_ns = 20 * NS_PER_MS};
    struct live *lv = (struct live *)t.in;
    int cpu = 0;
    assert_int_equal(sched_getaffinity(0, sizeof may, &may), 0);
    while (!CPU_ISSET(cpu, &may))
        cpu++;
    play.cycle = 10;
    start(false);
    assert_int_equal(t.in->ops->resume(t.in, &q, cpu, NULL), 0);
    assert_int_equal(next_event(), INSTANCE_PARKED);
    assert_int_equal(lv->p->cpu, cpu);
    assert_int_equal(sched_getaffinity(lv->cage.init, sizeof may, &may), 0);
    assert_true(CPU_COUNT(&may) == 1 && CPU_ISSET(cpu, &may));
    resume(0, 20); /* anywhere: it stays there */
    assert_int_equal(next_event(), INSTANCE_PARKED);
    assert_int_equal(lv->p->cpu, cpu);
}

/* One that does not reach a safe point is stopped by SIGSTOP; that pause is no time of its cycle either. */
static void stopped_it_does_not_age(void **state)
{
    (void)state;
    play.cycle = 2300, play.deaf = 2300;
    int64_t began = now();
    start(false);
    const struct turn_report *r = turn(0, 20);
    assert_int_equal(r->cycles, 0);
    assert_true(r->park_ns >= 2 * NS_PER_S); /* so long it is waited for */
    assert_int_equal(((struct live *)t.in)->p->by_signal, 1);
    int64_t pause = rest(300);
    r = turn(1, 60000);
    assert_int_equal(r->cycles, 1);
    assert_true(r->cycle_ns >= 2300 * NS_PER_MS && r->cycle_ns <= now() - began - pause);
}

/* A segment of a process that is dead by now, or of our own. */
static int segment_of(bool dead, pid_t *creator)
{
    int ends[2], id = -1;
    *creator = getpid();
    if (!dead)
        return shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (pipe(ends) < 0 || (*creator = fork()) < 0)
        return -1;
    if (*creator == 0) {
        id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
        _exit(write(ends[1], &id, sizeof id) == (ssize_t)sizeof id ? 0 : 1);
    }
    waitpid(*creator, NULL, 0);
    if (read(ends[0], &id, sizeof id) != (ssize_t)sizeof id)
        id = -1;
    close(ends[0]);
    close(ends[1]);
    return id;
}

/* Without namespaces: 1 when a start removes the segments of the fuzzer's last life, 0 when it leaves them. */
static int swept(bool dead)
{
    struct instance_opts o = {.fuzzer = "played", .dir = temp_dir, .timeout_ms = 100};
    struct shmid_ds ds;
    pid_t former;
    int id = segment_of(dead, &former);
    if (id < 0 || cage_namespaces_work() || loop_new(&t.loop, NULL) < 0 ||
        live_open(&t.in, t.loop, &arm_played, &o, NULL) < 0)
        return -1;
    play.refuses = true; /* by then they are gone */
    ((struct live *)t.in)->page->pid = (int32_t)former;
    if (t.in->ops->start(t.in, NULL, 0, true, NULL) == 0)
        return -1;
    bool there = shmctl(id, IPC_STAT, &ds) == 0;
    if (there)
        shmctl(id, IPC_RMID, NULL);
    t.in->ops->free(t.in);
    loop_free(t.loop);
    return !there;
}

/* In a process that has not tried namespaces yet: it comes first. */
static void segments_of_a_former_life_are_removed(void **state)
{
    (void)state;
    fflush(stdout);
    pid_t pid = fork();
    int status = -1;
    if (pid == 0) {
        setenv("CAROL_NO_NAMESPACES", "1", 1);
        exit(swept(true) == 1 && swept(false) == 0 ? 0 : 1);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    if (argc > 6 && strcmp(argv[1], "fuzzer") == 0)
        return play_fuzzer(argv);
    if (readlink("/proc/self/exe", self_path, sizeof self_path - 1) < 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(segments_of_a_former_life_are_removed, temp_dir_make,
                                        temp_dir_remove),
        cmocka_unit_test_setup_teardown(start_up_is_charged_once_and_apart, make, end),
        cmocka_unit_test_setup_teardown(start_up_may_outlast_a_turn, make, end),
        cmocka_unit_test_setup_teardown(a_restart_is_a_start_up, make, end),
        cmocka_unit_test_setup_teardown(cycles_and_their_time, make, end),
        cmocka_unit_test_setup_teardown(a_turn_can_be_cut, make, end),
        cmocka_unit_test_setup_teardown(a_failed_start_is_no_start, make, end),
        cmocka_unit_test_setup_teardown(there_is_a_time_for_everything, make, end),
        cmocka_unit_test_setup_teardown(an_end_has_a_reason, make, end),
        cmocka_unit_test_setup_teardown(freed_it_is_gone, make, end),
        cmocka_unit_test_setup_teardown(cpu_time_is_charged, make, end),
        cmocka_unit_test_setup_teardown(without_the_library_signals_do, make, end),
        cmocka_unit_test_setup_teardown(it_runs_on_the_core_of_its_slot, make, end),
        cmocka_unit_test_setup_teardown(stopped_it_does_not_age, make, end),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
