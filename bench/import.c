/* import: does a turn's import cost only what is new?  Fills a store and measures the same turn (50
 * new seeds found, measured, given to another instance) when the store is small and when it holds
 * 100,000 seeds.  Prints the figures; exit 1 when one is missed.
 *
 *     bench-import [SEEDS]      (default 100000) */
#include "base/die.h"
#include "base/fs.h"
#include "store/store.h"

#include <stdlib.h>
#include <sys/resource.h>

#define NEW 50
#define TURNS 41
#define BATCH 500
#define SIZE 700
#define RATIO_MAX 3.0
#define MEMORY_MAX_MB 100

static void need(int rc, const struct err *e)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "bench-import: %s\n", e->msg);
    exit(4);
}

/* CPU time: the flushes of a shared disk say nothing about how the work grows. */
static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

struct bench {
    struct store *s;
    int64_t finder, taker; /* instances; 0 until their first turns */
    int64_t turn;
    uint32_t round;
    uint64_t serial; /* of the next new seed */
};

/* A turn of *instance begins; how many inputs it is given, `max` at the most. */
static size_t begin(struct bench *b, struct store_turn *t, int64_t *instance, size_t max)
{
    struct err e;
    struct inputs in = {0};
    struct store_claim c = {.decision = "",
                            .fuzzer = instance == &b->finder ? "finder" : "taker",
                            .max_inputs = max,
                            .max_bytes = SIZE_MAX};
    *t = (struct store_turn){.id = ++b->turn, .state = TURN_RUNNING, .instance = *instance};
    need(store_order_take(b->s, &e), &e);
    need(store_turn_begin(b->s, t, &c, &in, &e), &e);
    store_order_leave(b->s);
    need(store_turn_delivered(b->s, t, &e), &e);
    *instance = t->instance;
    size_t n = in.n;
    inputs_free(&in);
    return n;
}

static void commit(struct bench *b, struct store_turn *t, struct store_result *results, size_t n)
{
    struct err e;
    t->state = TURN_COMMITTED;
    t->round = ++b->round;
    need(store_order_take(b->s, &e), &e);
    need(store_turn_commit(b->s, t, &(struct store_commit){.results = results, .n = n}, &e), &e);
    store_order_leave(b->s);
}

/* A turn of the finder: n new seeds, measured and shared. */
static void find(struct bench *b, size_t n)
{
    struct err e;
    struct store_turn t;
    static char bytes[BATCH][SIZE];
    static const char edges[200];
    struct store_find finds[BATCH];
    struct store_result results[BATCH];
    begin(b, &t, &b->finder, 0);
    for (size_t i = 0; i < n; i++, b->serial++) {
        memcpy(bytes[i], &b->serial, sizeof b->serial);
        finds[i] = (struct store_find){.kind = STORE_FIND_SEED,
                                       .data = bytes[i],
                                       .size = SIZE,
                                       .entry = -1,
                                       .parent_entry = -1,
                                       .name = "id:1"};
    }
    need(store_turn_park(b->s, &t, finds, n, NULL, &e), &e);
    for (size_t i = 0; i < n; i++)
        results[i] = (struct store_result){.seed = finds[i].seed,
                                           .status = 1,
                                           .cpu_us = 100,
                                           .edges = edges,
                                           .edges_size = sizeof edges,
                                           .share = true};
    commit(b, &t, results, n);
}

/* How a turn of the taker begins, which is given `want`; microseconds of CPU. */
static double import(struct bench *b, size_t want)
{
    struct store_turn t;
    double began = now_us();
    if (begin(b, &t, &b->taker, want + 1) != want)
        BUG("the import offered another number of seeds than there are");
    double took = now_us() - began;
    commit(b, &t, NULL, 0);
    return took;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_import(struct bench *b)
{
    double us[TURNS];
    for (int i = 0; i < TURNS; i++) {
        find(b, NEW);
        us[i] = import(b, NEW);
    }
    qsort(us, TURNS, sizeof *us, ascending);
    return us[TURNS / 2];
}

static long peak_mb(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_maxrss / 1024;
}

int main(int argc, char **argv)
{
    uint64_t want = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    char dir[] = "/tmp/carol-bench-XXXXXX";
    struct err e = {0};
    struct bench b = {.serial = 1};
    if (!mkdtemp(dir))
        return 4;
    need(store_open(&b.s, dir, STORE_CREATE, &e), &e);
    double small = median_import(&b);
    double filling = 0;
    while (b.serial < want) {
        double began = now_us();
        find(&b, BATCH);
        filling += now_us() - began;
        import(&b, BATCH); /* the taker has had all of these */
    }
    double each = filling / (double)want;
    double large = median_import(&b);
    struct store_totals t;
    double began = now_us();
    need(store_totals(b.s, &t, &e), &e);
    double totals = now_us() - began;
    store_close(b.s);
    need(fs_remove_tree(dir, &e), &e);
    printf("import of %d new seeds: %.0f us of CPU with %d in the store, %.0f us with %llu: ratio "
           "%.2f (at "
           "most %.1f)\n",
           NEW, small, NEW * TURNS, large, (unsigned long long)t.seeds, large / small, RATIO_MAX);
    printf("a seed stored and measured, batches of %d: %.1f us; totals for a status: %.0f us\n",
           BATCH, each, totals);
    printf("peak memory: %ld MB (at most %d)\n", peak_mb(), MEMORY_MAX_MB);
    return large / small > RATIO_MAX || peak_mb() > MEMORY_MAX_MB;
}
