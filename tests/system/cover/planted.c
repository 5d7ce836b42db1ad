/* planted: a fuzz target that does to the executor whatever its input says.  The first byte chooses;
 * each case passes through code of its own, so that its edges can be told apart. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#ifdef BIG
int big_switch(unsigned x);
#endif

static volatile int sink;
static char *volatile kept;

static int deep(int n)
{
    volatile char pad[4096];
    pad[0] = (char)n;
    return n ? deep(n + 1) + pad[0] : 0;
}

static void daemonise(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (;;)
                pause();
        }
        _exit(0);
    }
    wait(NULL);
}

static void on_segv(int sig)
{
    (void)sig;
    _exit(7);
}

static int parse(const uint8_t *d, size_t n)
{
    int sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (d[i] == '<')
            sum += 2;
        else if (d[i] == '>')
            sum -= 1;
        else if (d[i] > 127)
            sum ^= d[i];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)
{
    sink = parse(d, n);
#ifdef BIG
    if (n > 1)
        sink += big_switch(d[1]);
#endif
    if (!n)
        return 0;
    switch (d[0]) {
    case 'S': *(volatile int *)8 = 1; break;
    case 'A': abort();
    case 'O': sink = deep(1); break;
    case 'B': for (;;) sink++;
    case 'Z': for (;;) sleep(1000);
    case 'L': kept = malloc(8 << 20); memset(kept, 1, 8 << 20); break;
    case 'M': for (;;) { char *p = malloc(1 << 20); if (!p) abort(); memset(p, 1, 1 << 20); kept = p; }
    case 'X': exit(3);
    case 'Y': _exit(4);
    case 'K': kill(getpid(), SIGKILL); break;
    case 'F': if (fork() == 0) { sink = 5; for (;;) pause(); } break;
    case 'G': if (fork() == 0) return 0; break; /* the child comes back into the driver */
    case 'D': daemonise(); break;
    case 'C': for (int i = 0; i < 1024; i++) close(i); break;
    case 'H': signal(SIGSEGV, on_segv); *(volatile int *)8 = 2; break;
    case 'I': signal(SIGSEGV, on_segv); break;
    case 'P': kill(getppid(), SIGKILL); sleep(1); break;
    case 'T': kill(getppid(), SIGSTOP); sleep(1); break;
    case 'Q': kill(0, SIGKILL); break;
    case 'R': if (chdir("/")) sink = 1; break;
    case 'W': for (int i = 0; i < 1000; i++) { printf("noise %d\n", i); fflush(stdout); } break;
    default: sink = 9;
    }
    return 0;
}
