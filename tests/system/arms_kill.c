/* arms_kill: the phases in which something is killed: parts of a turn, the fuzzer at any moment, the
 * supervisor.  What an arm does when nobody disturbs it is tested in arms.c. */
#include "arms.h"

#include "base/fs.h"
#include "base/str.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/live_private.h"
#include "proc/tree.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process `depth` levels below the fuzzer. */
static pid_t victim(int depth)
{
    pid_t pid = cage_program(&((struct live *)t.in)->cage), child;
    for (int i = 0; i < depth && pid; i++)
        pid = tree_children(pid, &child, 1) == 1 ? child : 0;
    return pid;
}

/* The turn under way ends some time after the kill, by it or because we say so. */
static enum instance_event end_of_turn(const char *who)
{
    if (t.in->state == INST_RUNNING)
        pause_for(600 * NS_PER_MS);
    if (t.in->state == INST_RUNNING)
        t.in->ops->suspend(t.in);
    return t.in->state == INST_DEAD     ? INSTANCE_DIED
           : t.in->state == INST_PARKED ? INSTANCE_PARKED
                                        : wait_event(who, 30 * NS_PER_S);
}

static void kill_in_turn(int depth, const char *who)
{
    size_t from = t.n_given;
    new_mark();
    new_gate(depth);
    deliver(from);
    resume(60.0, 0);
    loop_step(t.loop, 0);
    pause_for(400 * NS_PER_MS);
    pid_t pid = 0;
    for (int i = 0; i < 9000 && !(pid = victim(depth));
         i++) /* a target that crashed is not there */
        usleep(1000);
    if (pid && t.in->state == INST_RUNNING) {
        kill(pid, SIGKILL);
        t.kills++;
    }
    enum instance_event ev = end_of_turn(who);
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

void phase_kill(bool persistent)
{
    kill_in_turn(0, "the fuzzer");
    if (!is_libfuzzer()) /* which is one process with its target */
        kill_in_turn(1, is_honggfuzz() ? "its target" : "its fork server");
    if (persistent && is_afl())
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
    check_queue();
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

/* What a kill leaves when afl-fuzz, started again, is removing the directory it has read its queue from:
 * some of the entries, by another name. */
static void damage_resume(void)
{
    struct strv files = {0};
    char *queue = fs_join(t.o.dir, "out/default/queue"),
         *dir = fs_join(t.o.dir, "out/default/_resume");
    if (fs_list(queue, &files, NULL) < 0 || files.n < 8 || fs_mkdirs(dir, NULL) < 0)
        give_up("damage", "no queue");
    for (size_t i = 0; i < files.n; i += 3) {
        char *from = fs_join(queue, files.v[i]), *to = fs_join(dir, files.v[i]);
        if (str_starts(files.v[i], "id:") && link(from, to) < 0)
            give_up("damage", to);
        free(from);
        free(to);
    }
    free(queue);
    free(dir);
    strv_free(&files);
}

/* The same of honggfuzz, whose corpus files have their size in the name, and of libFuzzer, which names them by
 * their hash: an empty file of each of its directories is none of its finds. */
static void damage_corpus(void)
{
    static const char *const subs[] = {"in", "out", "new"}, *const lf_subs[] = {"in", "old", "new"};
    for (size_t i = 0; i < sizeof subs / sizeof subs[0]; i++) {
        char *path =
            str_fmt("%s/%s/%s", t.o.dir, is_libfuzzer() ? lf_subs[i] : subs[i],
                    is_libfuzzer() ? "0123456789abcdef0123456789abcdef01234567"
                                   : "00000000000000070000000000000009.00000005.honggfuzz.cov");
        if (fs_write_quick(path, "", 0, NULL) < 0)
            give_up("damage", path);
        free(path);
    }
}

/* On a busy machine it may not be there yet. */
static void kill_fuzzer(void)
{
    pid_t pid = 0;
    for (int i = 0; i < 9000 && !(pid = victim(0)); i++)
        usleep(1000);
    if (pid <= 0 || kill(pid, SIGKILL) < 0)
        give_up("kill", "there is no fuzzer");
    t.kills++;
}

/* A turn that ends by kill -9 after so many ms. */
static bool killed_turn(int64_t ms)
{
    resume(5.0, 0);
    pause_for(ms * NS_PER_MS);
    if (t.in->state == INST_DEAD)
        give_up("it died by itself", t.in->report.why);
    kill_fuzzer();
    bool died = wait_event("kill", 30 * NS_PER_S) == INSTANCE_DIED;
    t.taken += t.in->report.taken;
    harvest();
    return died;
}

static void check_after_damage(void)
{
    killed_turn(0);
    if (is_afl()) {
        damage_resume();
        start(true);
        check(turn(1.0), "a turn after a kill while it removed _resume");
        harvest();
        check_queue();
        killed_turn(0);
    }
    if (is_afl())
        damage_queue();
    else
        damage_corpus();
    start(true);
    check(turn(2.0), "a turn on what a kill in mid-write leaves");
    harvest();
    if (is_afl()) {
        check_numbers();
    } else {
        check(t.empty == 0, "no empty file is a find (%zu were)", t.empty);
        check_queue();
    }
}

/* kill -9 at any moment, start-up included: nothing comes twice. */
void phase_storm(void)
{
    struct err e = {0};
    unsigned state = (unsigned)t.seed, deaths = 0;
    for (int i = 0; i < 12; i++) {
        size_t from = t.n_given;
        new_mark();
        if (i < 8)
            new_gate(i);
        deliver(from);
        state = state * 1103515245 + 12345;
        deaths += killed_turn(state >> 16 & 255);
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
        bool again = t.given[i].mark && logged(text) > 1 && !in_own_corpus(&t.given[i]);
        twice += t.given[i].imported > 1 || again;
    }
    check(twice == 0, "%d imports came twice", twice);
    check(t.echoes == 0, "nothing we gave came back as a find (%zu did)", t.echoes);
    check_queue();
    check_after_damage();
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

/* Is there more in the fuzzer's own directory than it was given? */
static bool has_found(void)
{
    static const char *const places[] = {"out/default/queue", "new"};
    struct strv files = {0};
    bool found = false;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !found; i++) {
        char *dir = str_fmt("%s/i:0/%s", t.dir, places[i]);
        found = fs_is_dir(dir) && fs_list(dir, &files, NULL) == 0 && files.n > t.n_given + 1;
        strv_free(&files);
        free(dir);
    }
    return found;
}

/* A supervisor that is killed in a turn; then a second one on what the first left. */
void phase_orphan(char **argv)
{
    pid_t first = fork();
    if (first == 0) {
        open_instance(argv);
        start(false);
        for (;;)
            turn(0.7);
    }
    for (int i = 0; i < 600 && !has_found(); i++)
        usleep(100000);
    usleep(900000); /* any moment of a turn */
    int alive = left_behind();
    kill(first, SIGKILL);
    t.kills++;
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
    check_queue();
    check(t.echoes == 0, "nothing we gave came back as a find (%zu did)", t.echoes);
}
