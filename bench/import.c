/* import: does a turn's import cost only what is new?  Fills a store and measures the same turn (50
 * new seeds found, evaluated, offered to another instance) when the store is small and when it holds
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

/* n new seeds of `finder`, evaluated and shared, in the caller's transaction. */
static void find(struct store *s, int64_t finder, uint64_t *serial, size_t n)
{
    struct err e;
    for (size_t i = 0; i < n; i++) {
        char bytes[SIZE] = {0}, edges[200] = {0};
        memcpy(bytes, serial, sizeof *serial);
        ++*serial;
        struct store_seed seed = {.data = bytes, .size = SIZE, .instance = finder, .name = "id:1"};
        int64_t id;
        bool fresh;
        need(store_add_seed(s, &seed, &id, &fresh, &e), &e);
        need(store_seed_done(s, id, 1, 0, 100, edges, sizeof edges, 1, true, &e), &e);
    }
}

struct claim {
    struct store *s;
    int64_t instance;
    size_t n;
};

static int claim(void *arg, const struct store_seed *seed, struct err *e)
{
    struct claim *c = arg;
    c->n++;
    return store_import(c->s, c->instance, seed->id, 0, e);
}

/* What a turn does before it starts; returns microseconds of CPU. */
static double import(struct store *s, int64_t instance, int64_t *shared)
{
    struct err e;
    struct claim c = {.s = s, .instance = instance};
    double began = now_us();
    need(store_begin(s, &e), &e);
    need(store_shared_after(s, *shared, instance, 1000, claim, &c, shared, &e), &e);
    need(store_imported_upto(s, instance, *shared, &e), &e);
    need(store_commit(s, &e), &e);
    need(store_delivered(s, instance, 0, &e), &e);
    if (c.n != NEW)
        BUG("the import offered another number of seeds than there are");
    return now_us() - began;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_import(struct store *s, int64_t finder, int64_t taker, int64_t *shared,
                            uint64_t *serial)
{
    double us[TURNS];
    struct err e;
    for (int i = 0; i < TURNS; i++) {
        need(store_begin(s, &e), &e);
        find(s, finder, serial, NEW);
        need(store_commit(s, &e), &e);
        us[i] = import(s, taker, shared);
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
    uint64_t want = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000, serial = 1;
    char dir[] = "/tmp/carol-bench-XXXXXX";
    struct err e = {0};
    struct store *s;
    int64_t finder, taker, shared = 0;
    if (!mkdtemp(dir))
        return 4;
    need(store_open(&s, dir, STORE_CREATE, &e), &e);
    need(store_add_instance(s, "a", 0, &finder, &e), &e);
    need(store_add_instance(s, "b", 0, &taker, &e), &e);
    double small = median_import(s, finder, taker, &shared, &serial);
    double began = now_us();
    while (serial < want) {
        need(store_begin(s, &e), &e);
        find(s, finder, &serial, 500);
        need(store_commit(s, &e), &e);
    }
    double each = (now_us() - began) / (double)want;
    shared = (int64_t)serial - 1; /* the taker has had all of these */
    double large = median_import(s, finder, taker, &shared, &serial);
    struct store_totals t;
    began = now_us();
    need(store_totals(s, &t, &e), &e);
    double totals = now_us() - began;
    store_close(s);
    need(fs_remove_tree(dir, &e), &e);
    printf("import of %d new seeds: %.0f us of CPU with %d in the store, %.0f us with %llu: ratio "
           "%.2f (at "
           "most %.1f)\n",
           NEW, small, NEW * TURNS, large, (unsigned long long)t.seeds, large / small, RATIO_MAX);
    printf("a seed stored and evaluated, batches of 500: %.1f us; totals for a status: %.0f us\n",
           each, totals);
    printf("peak memory: %ld MB (at most %d)\n", peak_mb(), MEMORY_MAX_MB);
    return large / small > RATIO_MAX || peak_mb() > MEMORY_MAX_MB;
}
