/* many: one edge for each of a hundred inputs, told apart by the byte that they have most of.  Each execution takes a while and is
 * counted in the file CAROL_TEST_LOG, a number for each of the 256 bytes. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sink[256];

#define ONE(n)                                                                                                         \
    case n: sink[n] += n + 1; break;
#define TEN(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3) ONE(n + 4) ONE(n + 5) ONE(n + 6) ONE(n + 7) ONE(n + 8) ONE(n + 9)

static void count(uint8_t which)
{
    static uint32_t *counts;
    const char *path = getenv("CAROL_TEST_LOG");
    if (!counts && path) {
        int fd = open(path, O_RDWR | O_CREAT, 0644);
        if (fd < 0 || ftruncate(fd, 1024) < 0)
            abort();
        counts = mmap(NULL, 1024, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (counts)
        counts[which]++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned seen[256] = {0};
    uint8_t most = 0;
    for (size_t i = 0; i < size; i++)
        if (++seen[data[i]] > seen[most])
            most = data[i];
    switch (most) {
        TEN(100) TEN(110) TEN(120) TEN(130) TEN(140) TEN(150) TEN(160) TEN(170) TEN(180) TEN(190)
    }
    count(most);
    usleep(4000);
    return 0;
}
