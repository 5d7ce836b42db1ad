/* oracle: notes reached and triggered bugs in the file named by CAROL_ORACLE.  Compiled without any
 * instrumentation; uses no function that a fuzzer wraps; never prints, never fails. */
#include "oracle.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct carol_oracle *area;
static uint64_t input;                         /* number of the current one */
static uint64_t reached_in[CAROL_ORACLE_BUGS]; /* the input that did last */
static uint64_t triggered_in[CAROL_ORACLE_BUGS];
static int corrupt; /* a fault held in this input */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Every process may do this at the same time: what is written is the same, or the first counts. */
static void begin_file(struct carol_oracle *o)
{
    uint64_t none = 0;
    for (int i = 0; i < 8; i++)
        o->magic[i] = CAROL_ORACLE_MAGIC[i];
    o->version = CAROL_ORACLE_VERSION;
    o->bugs = CAROL_ORACLE_BUGS;
    __atomic_compare_exchange_n(&o->start_ns, &none, now_ns(), 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv(CAROL_ORACLE_ENV);
    int fd = path && *path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return;
    if (lseek(fd, 0, SEEK_END) >= (off_t)sizeof *area || ftruncate(fd, sizeof *area) == 0) {
        void *p = mmap(NULL, sizeof *area, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p != MAP_FAILED) {
            begin_file(p);
            area = p;
        }
    }
    close(fd);
}

void carol_oracle_input(const char *target)
{
    if (!area)
        return;
    corrupt = 0;
    input = __atomic_add_fetch(&area->execs, 1, __ATOMIC_RELAXED);
    if (!area->target[0])
        for (unsigned i = 0; target[i] && i + 1 < sizeof area->target; i++)
            area->target[i] = target[i];
}

static int holds(const struct carol_term *t)
{
    switch (t->op) {
    case CAROL_OP_EQ: return t->a == t->b;
    case CAROL_OP_NE: return t->a != t->b;
    case CAROL_OP_LT: return t->a < t->b;
    case CAROL_OP_GT: return t->a > t->b;
    case CAROL_OP_SLT: return (int64_t)t->a < (int64_t)t->b;
    case CAROL_OP_SGT: return (int64_t)t->a > (int64_t)t->b;
    case CAROL_OP_BITS: return (t->a & t->b) == t->b;
    default: return 0;
    }
}

/* Once per input; the first of all keeps its place and its times. */
static void note(uint64_t *count, uint64_t *last, struct carol_first *first)
{
    if (*last == input)
        return;
    *last = input;
    __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
    uint64_t none = 0, wall = now_ns() - area->start_ns;
    if (!__atomic_load_n(&first->exec, __ATOMIC_RELAXED) &&
        __atomic_compare_exchange_n(&first->exec, &none, input, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        first->wall_ns = wall;
        first->cpu_ns = __atomic_load_n(&area->cpu_ns, __ATOMIC_RELAXED);
    }
}

void carol_oracle_bug(unsigned id, int fault, unsigned n, const struct carol_term *terms)
{
    if (!area || corrupt || id >= CAROL_ORACLE_BUGS)
        return;
    struct carol_bug_record *r = &area->bug[id];
    note(&r->reached, &reached_in[id], &r->first_reached);
    for (unsigned i = 0; i < n; i++)
        if (!holds(&terms[i]))
            return;
    note(&r->triggered, &triggered_in[id], &r->first_triggered);
    corrupt = fault;
}
