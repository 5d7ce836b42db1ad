// cases: one small fault per name, for make.py.  Lines below matter: the expected headers name them.
#include <assert.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char global[10];
int table[4] = {1, 2, 3, 4};
volatile int zero;
volatile size_t ten = 10;
char *volatile kept;
int *volatile escaped;

static void heap_read(void) { char *p = malloc(ten); kept = p; zero = p[ten]; }
static void heap_write(void) { int *p = malloc(ten * 4); kept = (char *)p; p[ten] = 1; }
static void heap_underflow(void) { char *p = malloc(ten); kept = p; p[-(int)ten / 10] = 1; }
static void heap_memcpy(void) { char *p = malloc(ten); kept = p; memcpy(p, table, ten + 6); }
static void heap_strlen(void) { char *p = malloc(ten); kept = p; memset(p, 'x', ten); zero = (int)strlen(p); }
static void stack_write(void) { char b[10]; kept = b; kept[ten + (size_t)zero] = 1; }
static void stack_read(void) { char b[10] = {0}; kept = b; zero = kept[ten]; }
static void stack_underflow(void) { char b[32]; kept = b; kept[-1 - zero] = 1; }
static void global_read(void) { zero = global[ten]; }
static void use_after_free(void) { char *p = malloc(ten); kept = p; free(p); zero = kept[2]; }
static void use_after_free_write(void) { char *p = malloc(ten); kept = p; free(p); kept[2] = 1; }
static void double_free(void) { char *p = malloc(ten); kept = p; free(p); free(kept); }
static void bad_free(void) { kept = global; free(kept + 1); }
static void use_after_scope(void) { { int x = 1; escaped = &x; } zero = *escaped; }
__attribute__((noinline)) static int *gone(void) { int x[4] = {1}; escaped = x; return escaped; }
static void use_after_return(void) { int *p = gone(); zero = *p; }
static void dynamic_stack(void) { char b[ten]; kept = b; kept[ten] = 1; }
static void null_read(void) { int *volatile p = NULL; zero = p[3]; }
static void null_write(void) { int *volatile p = NULL; p[3] = 1; }
static void wild_read(void) { char *volatile p = (char *)0x5000deadbeef; zero = p[0]; }
static void wild_write(void) { char *volatile p = (char *)0x5000deadbeef; p[0] = 1; }
static void high_read(void) { char *volatile p = (char *)0xfefefefefefefefe; zero = p[0]; }
static void null_call(void) { void (*volatile f)(void) = NULL; f(); }
static void wild_call(void) { void (*volatile f)(void) = (void (*)(void))0x500000001000; f(); }
static void division(void) { zero = (int)ten / zero; }
static int recurse_b(int n);
static int recurse_a(int n) { char b[100]; kept = b; return recurse_b(n + 1) + b[zero]; }
static int recurse_b(int n) { char b[200]; kept = b; return recurse_a(n + 1) + b[zero]; }
static void recursion(void) { zero = recurse_a(1); }
static void big_frame(void) { char b[ten * 10000000]; kept = b; b[0] = 1; }
static void allocation_too_big(void) { kept = malloc(ten << 50); kept[0] = 1; }
static void allocation_null(void) { kept = malloc(ten << 50); kept[0] = 1; }
static void calloc_overflow(void) { kept = calloc(ten << 58, 1 << 10); }
static void rss_limit(void) { for (;;) { kept = malloc(1 << 20); memset(kept, 1, 1 << 20); usleep(100); } }
static void leak(void) { kept = malloc(ten); kept = NULL; }
static void overlap(void) { char b[20] = {0}; kept = b; memcpy(kept + 1, kept, ten); }
static void negative_size(void) { char b[20] = {0}; kept = b; memmove(kept + 1, kept, (size_t)-(long)ten); }
static void assertion(void) { assert(zero == (int)ten); }
static void aborts(void) { abort(); }
static void trap(void) { __builtin_trap(); }
static void bus(void) { raise(SIGBUS); }
static void ub_shift(void) { zero = 1 << (ten * 4); }
static void ub_overflow(void) { volatile int m = 0x7fffffff; zero = m + (int)ten; }
static void ub_index(void) { zero = table[ten]; }
static void ub_division(void) { zero = (int)ten / zero; }
static void ub_null(void) { int *volatile p = NULL; zero = p[0]; }
static void ub_misaligned(void) { int *volatile p = (int *)(global + 1); zero = *p; }
static void ub_bool(void) { union { unsigned char c; _Bool b; } u; u.c = (unsigned char)ten; zero = u.b; }
static void ub_pointer(void) { char *volatile p = global; kept = p + (0 - ten); }
static void smashed(void) { char b[16]; kept = b; memset(kept, 'A', ten * 8); }
static void glibc_double_free(void) { char *p = malloc(ten); kept = p; free(p); free(kept); }
static void chatter(void) { for (int i = 0; i < 20; i++) fprintf(stderr, "#%d 0x1 in nobody /x/nowhere.c:1\n", i); null_read(); }
static void wild_free(void) { kept = (char *)0x54450100544501; free(kept); }
static void wild_free_low(void) { kept = (char *)(ten * 55000); free(kept); }
static void wild_realloc(void) { kept = (char *)0x54450100544501; kept = realloc(kept, ten); }

#define CASE(name) if (strcmp(argv[1], #name) == 0) name();
static int parse(char **argv)
{
    CASE(heap_read) CASE(heap_write) CASE(heap_underflow) CASE(heap_memcpy) CASE(heap_strlen) CASE(stack_write) CASE(stack_read)
    CASE(stack_underflow) CASE(global_read) CASE(use_after_free) CASE(use_after_free_write) CASE(double_free) CASE(bad_free)
    CASE(use_after_scope) CASE(use_after_return) CASE(dynamic_stack) CASE(null_read) CASE(null_write) CASE(wild_read) CASE(wild_write)
    CASE(high_read) CASE(null_call) CASE(wild_call) CASE(division) CASE(recursion) CASE(big_frame) CASE(allocation_too_big)
    CASE(allocation_null) CASE(calloc_overflow) CASE(rss_limit) CASE(leak) CASE(overlap) CASE(negative_size) CASE(assertion)
    CASE(aborts) CASE(trap) CASE(bus) CASE(ub_shift) CASE(ub_overflow) CASE(ub_index) CASE(ub_division) CASE(ub_null)
    CASE(ub_misaligned) CASE(ub_bool) CASE(ub_pointer) CASE(smashed) CASE(glibc_double_free) CASE(chatter)
    CASE(wild_free) CASE(wild_free_low) CASE(wild_realloc)
    return zero;
}
int main(int argc, char **argv) { return argc > 1 ? parse(argv) & 0 : 1; }
