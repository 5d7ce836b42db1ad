/* flat: a target for bench/control.c: the same edges on every input and little work, so that every
 * execution costs the same and what a fuzzer adds to it shows.  Counts its executions in the file
 * named by CAROL_BENCH_COUNT: the one counter all sides are measured by. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t *count;

/* Before anything is counted as coverage of an input. */
__attribute__((constructor)) static void open_count(void)
{
    const char *path = getenv("CAROL_BENCH_COUNT");
    int fd = path ? open(path, O_RDWR) : -1;
    void *map =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED)
        count = map;
    if (fd >= 0)
        close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile unsigned sink;
    unsigned sum = 0;
    for (size_t i = 0; i < 64; i++)
        sum = sum * 31 + (size ? data[i % size] : 0);
    sink = sum;
    if (count)
        ++*count;
    return 0;
}
