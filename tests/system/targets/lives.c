/* lives: a target that ends or disturbs its process in every way, by the first byte of its input.  It says in the file
 * CAROL_TEST_LOG what it did, once per process.  With -DLIVES_EMPTY it does not even survive the empty input, with
 * -DLIVES_NEWLINE not a newline.  With -DLIVES_NOWHERE all it does is jump to nowhere, from eight places; with
 * -DLIVES_ONCE it hangs once, in the first process of all; with -DLIVES_LOST it hangs without a stack. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static void (*volatile wild)(void) = (void (*)(void))0x1234;
static volatile unsigned sink;

static void tell(char what)
{
    static char told[256];
    const char *path = getenv("CAROL_TEST_LOG");
    int fd = path && !told[(uint8_t)what] ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;
    told[(uint8_t)what] = 1;
    if (fd < 0)
        return;
    ssize_t n = write(fd, &what, 1);
    (void)n;
    close(fd);
}

__attribute__((noinline)) static unsigned recur(unsigned n)
{
    volatile char room[4096];
    room[n % sizeof room] = (char)n;
    return n == UINT32_MAX ? 0 : recur(n + 1) + (unsigned)room[0];
}

/* Over everything that is on the stack, the words of the command line too. */
__attribute__((noinline)) static void smash(void)
{
    volatile char first = 0;
    for (volatile char *at = &first;; at++)
        *at = 'x';
}

static void make_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(5);
    waitpid(pid, NULL, 0);
}

static void free_twice(void)
{
    char *volatile p = malloc(2000), *volatile q = p;
    free(p);
    free(q);
}

static void on_signal(int signo)
{
    sink += (unsigned)signo;
}

/* Neither an alarm nor any other signal is to disturb what comes now. */
static void go_deaf(void)
{
    sigset_t all;
    sigfillset(&all);
    alarm(0);
    signal(SIGALRM, on_signal);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Whoever has this process next may get a signal. */
static void leave_a_timer(void)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    signal(SIGPROF, on_signal);
    setitimer(ITIMER_PROF, &soon, NULL);
}

/* With an alarm that waits until somebody lets it through. */
static void hang_once(void)
{
    static unsigned calls;
    const char *path = getenv("CAROL_TEST_LOG");
    sigset_t some;
    if (++calls != 5000 || !path || access(path, F_OK) == 0)
        return;
    tell('1');
    sigemptyset(&some);
    sigaddset(&some, SIGALRM);
    sigprocmask(SIG_BLOCK, &some, NULL);
    raise(SIGALRM);
    for (;;)
        sink++;
}

static void hang_without_stack(void)
{
#ifdef __x86_64__
    __asm__ volatile("xor %esp, %esp; xor %ebp, %ebp; 1: jmp 1b");
#endif
    for (;;)
        sink++;
}

#define FROM(n)                                                                                    \
    __attribute__((noinline)) static void from_##n(void)                                           \
    {                                                                                              \
        wild();                                                                                    \
        sink += n;                                                                                 \
    }
FROM(1)
FROM(2)
FROM(3)
FROM(4) FROM(5) FROM(6) FROM(7) FROM(8)

    static void jump(uint8_t what)
{
    switch (what % 16) {
    case 1: from_1(); break;
    case 2: from_2(); break;
    case 3: from_3(); break;
    case 4: from_4(); break;
    case 5: from_5(); break;
    case 6: from_6(); break;
    case 7: from_7(); break;
    case 8: from_8(); break;
    default: break;
    }
}

static void act(uint8_t what)
{
    switch (what) {
    case 'A': tell('A'); abort();
    case 'B': tell('B'); __builtin_trap();
    case 'C':
        tell('C');
        sink += (unsigned)chdir("/");
        break;
    case 'D':
        tell('D');
        free_twice();
        break;
    case 'E': tell('E'); exit(3);
    case 'F':
        tell('F');
        make_child();
        break;
    case 'G':
        tell('G');
        sink += malloc(8 << 20) != NULL;
        break;
    case 'H':
        tell('H');
        for (;;)
            sink++;
    case 'J':
        tell('J');
        wild();
        break;
    case 'K':
        tell('K');
        go_deaf();
        for (;;)
            sink++;
    case 'O':
        tell('O');
        sink += (unsigned)open("/dev/null", O_RDONLY);
        break;
    case 'P':
        tell('P');
        leave_a_timer();
        abort();
    case 'Q': tell('Q'); _exit(4);
    case 'R':
        tell('R');
        sink += recur(0);
        break;
    case 'S':
        tell('S');
        smash();
        break;
    default: break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef LIVES_EMPTY
    if (!size)
        abort();
#endif
#ifdef LIVES_NEWLINE
    if (size == 1 && data[0] == '\n')
        abort();
#endif
#ifdef LIVES_ONCE
    hang_once();
    return 0;
#endif
#ifdef LIVES_LOST
    if (size > 2 && data[0] % 16 == 2)
        hang_without_stack();
    return 0;
#endif
#ifdef LIVES_NOWHERE
    if (size)
        jump(data[0]);
    return 0;
#endif
    (void)jump;
    (void)hang_once;
    (void)hang_without_stack;
    if (size > 2)
        act(data[0]);
    return 0;
}
