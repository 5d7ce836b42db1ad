/* fault: the tables of faults.  No code decides what they say but the search for their words. */
#include "triage/fault.h"

#include "base/die.h"
#include "base/str.h"

#include <signal.h>
#include <string.h>

struct words {
    const char *words; /* the text begins with them, or has them in it */
    struct fault f;
};

#define CRASH TRIAGE_CRASH
#define MEMORY(says, called)                                                                       \
    {                                                                                              \
        says,                                                                                      \
        {                                                                                          \
            called, CRASH, 125, 787, true, .access = true                                          \
        }                                                                                          \
    }

/* What AddressSanitizer says, at the beginning of its line; longer words before those they begin with. */
static const struct words asan[] = {
    MEMORY("heap-buffer-overflow", "heap-buffer-overflow"),
    MEMORY("stack-buffer-overflow", "stack-buffer-overflow"),
    MEMORY("stack-buffer-underflow", "stack-buffer-underflow"),
    MEMORY("dynamic-stack-buffer-overflow", "dynamic-stack-buffer-overflow"),
    MEMORY("global-buffer-overflow", "global-buffer-overflow"),
    MEMORY("container-overflow", "container-overflow"),
    MEMORY("intra-object-overflow", "intra-object-overflow"),
    {"heap-use-after-free", {"use-after-free", CRASH, 416, 416, true, .access = true}},
    {"stack-use-after-return", {"stack-use-after-return", CRASH, 562, 562, true, .access = true}},
    {"stack-use-after-scope", {"stack-use-after-scope", CRASH, 825, 825, true, .access = true}},
    {"use-after-poison", {"use-after-poison", CRASH, 119, 119, true, .access = true}},
    {"unknown-crash", {"unknown-crash", CRASH, 119, 119, true, .access = true}},
    {"initialization-order-fiasco", {"initialisation-order", CRASH, 758, 758, false}},
    {"attempting double-free", {"double-free", CRASH, 415, 415, true}},
    {"attempting free on address which was not", {"bad-free", CRASH, 590, 590, true}},
    {"attempting to call malloc_usable_size", {"bad-malloc-usable-size", CRASH, 590, 590, true}},
    {"alloc-dealloc-mismatch", {"alloc-dealloc-mismatch", CRASH, 762, 762, true}},
    {"new-delete-type-mismatch", {"new-delete-type-mismatch", CRASH, 762, 762, true}},
    {"memcpy-param-overlap", {"overlapping-copy", CRASH, 475, 475, true}},
    {"strcpy-param-overlap", {"overlapping-copy", CRASH, 475, 475, true}},
    {"strcat-param-overlap", {"overlapping-copy", CRASH, 475, 475, true}},
    {"negative-size-param", {"negative-size", CRASH, 195, 195, true}},
    {"invalid-pointer-pair", {"invalid-pointer-pair", CRASH, 823, 823, true}},
    {"odr-violation", {"odr-violation", CRASH, 758, 758, false}},
    {"bad-__sanitizer_annotate", {"bad-annotation", CRASH, 758, 758, false}},
    {"stack-overflow", {"stack-overflow", CRASH, 674, 674, false, .no_line = true}},
    {"requested allocation size", {"allocation-too-big", TRIAGE_OOM, 789, 789, false}},
    {"allocator is out of memory", {"out-of-memory", TRIAGE_OOM, 789, 789, false}},
    {"out of memory: allocator is trying to allocate",
     {"out-of-memory", TRIAGE_OOM, 789, 789, false}},
    {"allocator exhausted", {"out-of-memory", TRIAGE_OOM, 789, 789, false}},
    {"specified RSS limit exceeded",
     {"out-of-memory", TRIAGE_OOM, 400, 400, false, .no_line = true}},
    {"hard rss limit exhausted", {"out-of-memory", TRIAGE_OOM, 400, 400, false, .no_line = true}},
    {"calloc parameters overflow", {"calloc-overflow", CRASH, 190, 190, false}},
    {"reallocarray parameters overflow", {"calloc-overflow", CRASH, 190, 190, false}},
    {"pvalloc parameters overflow", {"calloc-overflow", CRASH, 190, 190, false}},
    {"invalid alignment requested", {"invalid-alignment", CRASH, 475, 475, false}},
    {"invalid allocation alignment", {"invalid-alignment", CRASH, 475, 475, false}},
    {"detected memory leaks", {"memory-leak", CRASH, 401, 401, false}},
    {"use-of-uninitialized-value", {"uninitialised-value", CRASH, 457, 457, true}},
    {"SEGV", {"SEGV", CRASH, 125, 787, true, .access = true}}, /* refined by its address */
    {"BUS", {"bus-error", CRASH, 125, 787, true, .access = true}},
    {"FPE", {"division-by-zero", CRASH, 369, 369, false}},
    {"ILL", {"illegal-instruction", CRASH, 0, 0, false}},
    {"TRAP", {"trap", CRASH, 0, 0, false}},
    {"ABRT", {"abort", CRASH, 617, 617, false}}, /* refined by what was printed before */
};

/* What UndefinedBehaviorSanitizer says, anywhere in its line; the last one takes every other. */
static const struct words ubsan[] = {
    {"division by zero", {"division-by-zero", CRASH, 369, 369, false}},
    {"out of bounds for type", {"index-out-of-bounds", CRASH, 129, 129, true}},
    {"insufficient space for an object", {"object-size", CRASH, 125, 787, true, .access = true}},
    {"does not point to an object of type", {"bad-type", CRASH, 843, 843, true}},
    {"through pointer to incorrect function type", {"bad-function-type", CRASH, 843, 843, true}},
    {"null pointer", {"null-pointer", CRASH, 476, 476, false}},
    {"declared to never be null", {"null-argument", CRASH, 476, 476, false}},
    {"misaligned address", {"misaligned-pointer", CRASH, 758, 758, false}},
    {"integer overflow", {"integer-overflow", CRASH, 190, 190, false}},
    {"cannot be represented in type", {"integer-overflow", CRASH, 190, 190, false}},
    {"shift", {"bad-shift", CRASH, 1335, 1335, false}},
    {"not a valid value for type", {"invalid-value", CRASH, 758, 758, false}},
    {"outside the range of representable values", {"bad-conversion", CRASH, 681, 681, false}},
    {"implicit conversion", {"bad-conversion", CRASH, 681, 681, false}},
    {"overflowed to", {"pointer-overflow", CRASH, 823, 823, true}},
    {"variable length array bound", {"bad-array-size", CRASH, 131, 131, true}},
    {"", {"undefined-behaviour", CRASH, 758, 758, false}},
};

/* What is printed before an abort. */
static const struct words aborts[] = {
    {"stack smashing detected", {"stack-smashed", CRASH, 787, 787, true}},
    {"*** buffer overflow detected ***", {"buffer-overflow", CRASH, 787, 787, true}},
    {"double free", {"double-free", CRASH, 415, 415, true}},
    {"free(): invalid", {"bad-free", CRASH, 590, 590, true}},
    {"munmap_chunk(): invalid", {"bad-free", CRASH, 590, 590, true}},
    {"corrupted", {"heap-corrupted", CRASH, 787, 787, true}},
    {"malloc(): ", {"heap-corrupted", CRASH, 787, 787, true}},
    {"' failed.", {"assertion", CRASH, 617, 617, false}},
    {"terminate called", {"uncaught-exception", CRASH, 248, 248, false}},
    {"libc++abi: terminating", {"uncaught-exception", CRASH, 248, 248, false}},
    {"pure virtual method called", {"pure-virtual-call", CRASH, 843, 843, true}},
};

static const struct words others[] = {
    {"null-pointer", {"null-pointer", CRASH, 476, 476, false, .access = true}},
    {"wild-pointer", {"wild-pointer", CRASH, 125, 787, true, .access = true}},
    {"bad-free", {"bad-free", CRASH, 590, 590, true}},
    {"wild-jump", {"wild-jump", CRASH, 822, 822, true}},
    {"null-jump", {"null-jump", CRASH, 476, 476, false}},
    {"allocation-failed", {"allocation-failed", CRASH, 789, 789, false}},
    {"big-frame", {"stack-overflow", CRASH, 789, 789, false}},
    {"hang", {"hang", TRIAGE_HANG, 834, 834, false, .no_line = true}},
    {"out-of-memory", {"out-of-memory", TRIAGE_OOM, 400, 400, false, .no_line = true}},
    {"unknown", {"sanitizer-error", CRASH, 0, 0, true}},
};

/* A signal alone tells little: memory faults may be anything. */
static const struct {
    int signo;
    struct fault f;
} signals[] = {
    {SIGSEGV, {"SIGSEGV", CRASH, 119, 119, true}},  {SIGBUS, {"SIGBUS", CRASH, 119, 119, true}},
    {SIGFPE, {"SIGFPE", CRASH, 369, 369, false}},   {SIGILL, {"SIGILL", CRASH, 0, 0, false}},
    {SIGABRT, {"SIGABRT", CRASH, 617, 617, false}}, {SIGTRAP, {"SIGTRAP", CRASH, 0, 0, false}},
    {SIGSYS, {"SIGSYS", CRASH, 0, 0, false}},       {0, {"signal", CRASH, 0, 0, false}},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const struct fault *fault_of_asan(const char *text)
{
    for (size_t i = 0; i < COUNT(asan); i++)
        if (str_starts(text, asan[i].words))
            return &asan[i].f;
    return NULL;
}

const struct fault *fault_of_ubsan(const char *text)
{
    size_t i = 0;
    while (!strstr(text, ubsan[i].words))
        i++;
    return &ubsan[i].f;
}

const struct fault *fault_of_abort(const char *text, const char **at)
{
    for (size_t i = 0; i < COUNT(aborts); i++)
        if ((*at = strstr(text, aborts[i].words)))
            return &aborts[i].f;
    return NULL;
}

const struct fault *fault_of_signal(int signo)
{
    size_t i = 0;
    while (signals[i].signo && signals[i].signo != signo)
        i++;
    return &signals[i].f;
}

const struct fault *fault_named(const char *name)
{
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(others[i].words, name) == 0)
            return &others[i].f;
    BUG("no such fault");
}
