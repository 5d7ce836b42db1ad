/* arms: the harness of the arm tests (arms_harness.c), used by their phases (arms.c): one instance of one
 * fuzzer on the toy target, what was given to it and what came back.  The functions stop the test when
 * something does not work at all; what is to be proven goes through check(). */
#ifndef CAROL_TESTS_ARMS_H
#define CAROL_TESTS_ARMS_H

#include "base/err.h"
#include "base/str.h"
#include "fuzzer/fuzzer.h"
#include "fuzzer/live_private.h"

#include <stdbool.h>
#include <stdint.h>

#define TIMEOUT_MS 400
#define MAX_SEEDS 512
#define BIG_FROM 100000 /* ids of the imports of phase_sizes */

struct given { /* a seed we gave: start corpus or import */
    char data[32];
    size_t size;
    bool mark, gate;
    int imported; /* how often reported as FIND_IMPORTED */
};

struct kept { /* what was harvested, by its bytes */
    uint64_t hash;
    size_t size;
    enum find_kind kind;
};

struct arms {
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
    struct kept *kept;
    size_t n_kept;
    uint64_t seed; /* of the fuzzer and of what is killed when: CAROL_TEST_SEED */
    unsigned kills;
    size_t finds, crashes, hangs, crash_bad, echoes, foreign, true_hangs, empty;
    uint64_t offered, taken;
    int64_t park_ns[64];
    size_t parks;
    uint64_t execs; /* of all turns, and their time */
    int64_t active_ns;
    int64_t cpu_parked_ns, paused_ns, next_pause_ns;
    pid_t pids[16]; /* of the fuzzer in each of its lives */
    size_t n_pids;
};
extern struct arms t;
extern int tests, failed;                     /* TAP lines so far, and those that were not ok */
#define STOOD_STILL "the machine stood still" /* the excuse of as many faults as stalls() says */

void check(bool ok, const char *fmt, ...) CAROL_PRINTF(2, 3);
/* A check of which a number of faults may be nobody's: without a fault it is ok, with more than there are excuses
 * it is not, and otherwise it proves nothing and is skipped, with the excuse as the reason. */
void check_faults(size_t faults, unsigned excuses, const char *excuse, const char *fmt, ...)
    CAROL_PRINTF(4, 5);
_Noreturn void give_up(const char *what, const char *why);
enum instance_event wait_event(const char *what, int64_t max_ns);
void pause_for(int64_t ns);
uint64_t fnv(const void *data, size_t n);
size_t add_given(const void *data, size_t n);
size_t new_mark(void);
size_t new_gate(int digit);
void start_corpus(void);
void inputs_of(struct input *out, size_t from, size_t n);
void deliver(size_t from);
void harvest(void);
void resume(double seconds, uint64_t cycles);
bool turn(double seconds);
void make_dir(char **argv);
void open_instance(char **argv);
void start(bool again);
int logged(const char *text);
bool is_honggfuzz(void);
bool is_libfuzzer(void);
bool is_afl(void); /* none of the two */
int64_t pause_ns(void);
unsigned stalls(void);
void check_hangs(void);
double median_park_ms(void);
void check_park(double execs);
double stat_of(const char *key);
void stop_and_check(void);

/* arms_corpus.c: the fuzzer's own directory against what was given and harvested. */
bool was_given(const void *data, size_t n);
void keep_find(const struct find *f);
bool in_own_corpus(const struct given *g);
void check_marks(void);
void check_queue(void);

/* The phases that are not in arms.c. */
void phase_clock(void); /* arms_clock.c */
void check_run_time(void);
void phase_kill(bool persistent); /* arms_kill.c */
void phase_storm(void);
void phase_orphan(char **argv);

#endif
