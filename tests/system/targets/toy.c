/* toy: the target of the arm tests: a small record parser with planted behaviour.  It tells what it was
 * given through the file CAROL_TEST_LOG, so that a test can prove what was executed and how often.
 *
 * Built with -DTOY_MAIN it is a program that reads a file (argv[1]) or standard input; otherwise it is
 * LLVMFuzzerTestOneInput.  CAROL_TEST_SLEEP_US makes every execution slow.
 *
 *     MARK + 8 hex digits + '.'          logged ("mark <digits>"), opens no edge of its own
 *     GATE + digit + 4 bytes whose hash is fixed per digit: one edge per digit
 *     first byte >= 0xf0                 logged ("crash <size> <hash>"), then a write to address 0
 *     BOOM + 2 bytes of fixed sum        logged likewise, then aborts
 *     HANG                               sleeps for ever; compared by its hash, so only who is given it has it
 *     else: records {type, length, bytes} */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef TOY_MAIN
#define LLVMFuzzerTestOneInput test_one_input
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifndef TOY_QUIET
#define TOY_QUIET 0 /* 1: no crash that is found easily, for benchmarks; 2: nothing at all to find */
#endif
#define HANG UINT64_C(0x6e56d8d912d8ddb9) /* fnv("HANG", 4) */
static volatile unsigned sink;

__attribute__((noinline)) static uint64_t fnv(const uint8_t *p, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static void tell(const char *line)
{
    const char *path = getenv("CAROL_TEST_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;
    if (fd < 0)
        return;
    ssize_t n = write(fd, line, strlen(line));
    (void)n;
    close(fd);
}

static void mark(const uint8_t *p, size_t n)
{
    char line[32];
    if (n != 13 || p[12] != '.')
        return;
    snprintf(line, sizeof line, "mark %.8s\n", (const char *)p + 4);
    tell(line);
}

static void gate(const uint8_t *p, size_t n)
{
    if (n != 9)
        return;
    uint32_t h = (uint32_t)(fnv(p + 4, 5) >> 20) & 0xfffff;
    if (h !=
        0x5ca40) /* the test searches for inputs that fit; a fuzzer does not find one in a minute */
        return;
    switch (p[4]) {
    case '0': sink += 1; break;
    case '1': sink ^= 3; break;
    case '2': sink *= 5; break;
    case '3': sink -= 7; break;
    case '4': sink |= 9; break;
    case '5': sink += sink / 11; break;
    case '6': sink = sink * 13 + 1; break;
    case '7': sink ^= sink << 3; break;
    }
}

static void tell_crash(const uint8_t *p, size_t n)
{
    char line[64];
    snprintf(line, sizeof line, "crash %zu %016llx\n", n, (unsigned long long)fnv(p, n));
    tell(line);
}

static void crash(const uint8_t *p, size_t n)
{
    tell_crash(p, n);
    *(volatile int *)0 = 1;
}

static void records(const uint8_t *p, size_t n)
{
    unsigned depth = 0, sum = 0;
    while (n >= 2) {
        uint8_t type = p[0];
        size_t len = p[1];
        p += 2;
        n -= 2;
        if (len > n)
            return;
        switch (type & 15) {
        case 1: depth++; break;
        case 2:
            if (depth)
                depth--;
            break;
        case 3:
            for (size_t i = 0; i < len; i++)
                sum += p[i];
            break;
        case 4:
            if (len == 4 && p[0] == 'a' && p[1] == 'b')
                sum += 100;
            break;
        case 5:
            if (len > 8 && p[7] > 128)
                sum ^= p[8];
            break;
        case 6:
            if (depth > 3 && sum > 500)
                sink++;
            break;
        case 7:
            if (len && p[0] == p[len - 1])
                sum *= 3;
            break;
        case 8:
            if (len == 2 && (p[0] | p[1] << 8) == 0x1234)
                sink += 2;
            break;
        case 9:
            if (sum == 77)
                sink += 3;
            break;
        default:
            if (type > 200)
                sink += type;
            break;
        }
        p += len;
        n -= len;
    }
    if (depth == 5)
        sink += sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    if (TOY_QUIET == 2)
        return 0;
    const char *us = getenv("CAROL_TEST_SLEEP_US");
    if (n >= 4 && memcmp(p, "MARK", 4) == 0) /* before it sleeps: whoever is cut short ran, too */
        mark(p, n);
    if (us)
        usleep((useconds_t)strtoul(us, NULL, 10));
    if (n < 4)
        return 0;
    if (memcmp(p, "GATE", 4) == 0)
        gate(p, n);
    else if (p[0] >= 0xf0 && !TOY_QUIET)
        crash(p, n);
    else if (memcmp(p, "BOOM", 4) == 0 && n == 6 && p[4] * 256 + p[5] == 0x2a17) {
        tell_crash(p, n); /* who solves comparisons finds it before it is given */
        abort();
    } else if (fnv(p, 4) == HANG)
        for (;;)
            sleep(100);
    else
        records(p, n);
    return 0;
}

#ifdef TOY_MAIN
int main(int argc, char **argv)
{
    static uint8_t buf[1 << 20];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
    if (!f)
        return 1;
    size_t n = fread(buf, 1, sizeof buf, f);
    LLVMFuzzerTestOneInput(buf, n);
    return 0;
}
#endif
