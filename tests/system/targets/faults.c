/* faults: a harness with planted defects, one per letter; the rest of the input is its data.  The comment at the end of a
 * line says what triage must make of the fault in that line: `DEFECT letter fault, CWE, class, how`. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void __sanitizer_set_death_callback(void (*callback)(void));

#define MEGABYTE ((size_t)1 << 20)
#define OWN __attribute__((noinline)) static

static void *volatile space;
static int32_t *volatile table = (int32_t[16]){1};
static volatile uint32_t sum;
static int *volatile nothing;
static void *volatile kept; /* what the optimiser must not see through */

struct note {
    uint64_t length;
    volatile uint32_t *text;
    char more[32];
};

OWN void null_read(void)
{
    sum += (uint32_t)*nothing; /* DEFECT n null-pointer read, CWE-476, crash, sure */
}

OWN void heap_over_read(void)
{
    space = malloc(2 * MEGABYTE);
    kept = malloc(16);
    memcpy(space, kept, MEGABYTE); /* DEFECT r heap-buffer-overflow read, CWE-125, withheld, sure */
}

OWN void heap_overwrite(void)
{
    kept = malloc(16);
    memset(kept, 1, MEGABYTE); /* DEFECT w heap-buffer-overflow write, CWE-787, withheld, sure */
}

OWN void stack_overwrite(void)
{
    char small[16];
    kept = small;
    memset(kept, 'A', 3000); /* DEFECT s stack-buffer-overflow write, CWE-787, withheld, sure */
}

OWN void use_after_free(void)
{
    struct note *n = malloc(sizeof *n);
    n->text = &sum;
    kept = n;
    free(n);
    sum += *((struct note *)kept)->text; /* DEFECT f use-after-free read, CWE-416, withheld, sure */
}

OWN void double_free(void)
{
    kept = malloc(24);
    free(kept);
    free(kept); /* DEFECT d double-free, CWE-415, withheld, sure */
}

OWN void division(uint32_t by)
{
    sum += 100 / by; /* DEFECT z division-by-zero, CWE-369, crash, sure */
}

OWN void allocation(uint32_t n)
{
    kept = malloc((size_t)n << 32);
    ((uint8_t *)kept)[n] = 1; /* DEFECT a allocation-failed, CWE-789, crash, sure */
    free(kept);
}

OWN uint32_t nested(const uint8_t *p, uint32_t depth)
{
    volatile uint8_t here[64];
    here[depth % 64] = p[0];
    return nested(p, depth + 1) + here[0]; /* DEFECT c stack-overflow, CWE-674, crash, sure */
}

OWN void index_from_file(uint32_t i)
{
    sum += (uint32_t)table[(size_t)i << 20]; /* DEFECT i wild-pointer read, CWE-125, withheld, sure */
}

OWN void product(uint32_t wide, uint32_t high)
{
    uint16_t size = (uint16_t)(wide * high);
    kept = malloc(size ? size : 1);
    memset(kept, 0, (size_t)wide * high); /* DEFECT o heap-buffer-overflow write, CWE-787, withheld, sure */
}

OWN void two_defects(volatile uint32_t which)
{
    if (which)
        *nothing = 1; /* DEFECT 1 null-pointer write, CWE-476, crash, sure */
    sum = 7 / which; /* DEFECT 2 division-by-zero, CWE-369, crash, sure */
}

OWN void shared(void)
{
    sum += (uint32_t)nothing[5]; /* DEFECT e null-pointer read, CWE-476, crash, sure */ /* DEFECT E null-pointer read, CWE-476, crash, sure */
}

OWN void entry_one(void)
{
    shared();
    sum++;
}

OWN void entry_two(void)
{
    shared();
    sum++;
}

/* Fails every other time: a file in the directory for temporary files remembers. */
OWN void flaky(void)
{
    char path[4096];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/faults-flaky", dir ? dir : "/tmp");
    if (unlink(path) == 0)
        sum += (uint32_t)nothing[1]; /* DEFECT y null-pointer read, CWE-476, crash, flaky */
    FILE *f = fopen(path, "w");
    if (f)
        fclose(f);
}

OWN void one_too_far(void)
{
    volatile uint8_t *p = malloc(24);
    kept = (void *)p;
    sum += p[24]; /* DEFECT p heap-buffer-overflow read, CWE-125, withheld, sanitizer */
    free(kept);
}

OWN void talkative(void)
{
    for (int i = 0; i < 50000; i++)
        fputs("a line that says nothing, again and again, so that the report is far behind it\n", stderr);
    sum += (uint32_t)nothing[2]; /* DEFECT v null-pointer read, CWE-476, crash, sure */
}

/* Only a child fails. */
OWN void forks(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        sum += (uint32_t)nothing[3]; /* DEFECT k null-pointer read, CWE-476, crash, sanitizer */
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    if (pid > 0 && fork() == 0)
        sleep(1); /* and another one stays behind */
}

OWN void assertion(uint32_t n)
{
    assert(n == 12345); /* DEFECT b assertion, CWE-617, crash, sure */
}

/* Two that triage meets only when it is given them: they need a word.  Under a sanitizer the first does not end. */
OWN void stuck(void)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    for (;;)
        sum++;
#endif
#endif
    *nothing = 4;
}

static void noise(void)
{
    static char line[65536];
    memset(line, '.', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 50 * 16; i++)
        fwrite(line, 1, sizeof line, stderr);
}

/* 50 MB before the report and 50 MB behind it. */
OWN void loud(void)
{
    noise();
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    __sanitizer_set_death_callback(noise);
#endif
#endif
    *nothing = 5;
}

OWN void turn(void)
{
    for (int i = 0; i < 1000; i++)
        sum += (uint32_t)i;
}

OWN void endless(void)
{
    for (sum = 0; sum != 0x80000000u;) /* DEFECT h hang, CWE-834, crash, hang */
        sum |= 1;
}

OWN void slow(void)
{
    for (int i = 0; i < 200000; i++)
        turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    if (n < 3 || p[0] != '%')
        return 0;
    if (n == 6 && memcmp(p, "%stuck", 6) == 0)
        stuck();
    if (n == 5 && memcmp(p, "%loud", 5) == 0)
        loud();
    switch (p[1]) {
    case 'n': null_read(); break;
    case 'r': heap_over_read(); break;
    case 'w': heap_overwrite(); break;
    case 's': stack_overwrite(); break;
    case 'f': use_after_free(); break;
    case 'd': double_free(); break;
    case 'z': division((uint32_t)p[2] - '0'); break;
    case 'a': allocation(p[2]); break;
    case 'c': sum += nested(p, 0); break;
    case 'i': index_from_file(p[2]); break;
    case 'o': product(0x400, 0x100 + 0x100u * p[2]); break;
    case '1': two_defects(1); break;
    case '2': two_defects(0); break;
    case 'e': entry_one(); break;
    case 'E': entry_two(); break;
    case 'y': flaky(); break;
    case 'p': one_too_far(); break;
    case 'v': talkative(); break;
    case 'k': forks(); break;
    case 'b': assertion(p[2]); break;
    case 'h': endless(); break;
    case 'l': slow(); break;
    }
    return 0;
}
