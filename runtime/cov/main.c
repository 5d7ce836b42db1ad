/* main: the driver of LLVMFuzzerTestOneInput targets.  Linked in only when the program has no main of
 * its own.  Started by hand with files as arguments, it runs each once, as libFuzzer's does. */
#include "cov.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
int main(int argc, char **argv);

/* Tells the constructor in cov.c that main serves; see there. */
extern const char carol_cov_driver;
const char carol_cov_driver = 1;

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = 0, cap = 1 << 16;
    uint8_t *p = malloc(cap);
    for (size_t r; p && (r = fread(p + n, 1, cap - n, f)) > 0;)
        if ((n += r) == cap) {
            uint8_t *more = realloc(p, cap *= 2);
            if (!more)
                free(p);
            p = more;
        }
    fclose(f);
    if (!p) {
        fprintf(stderr, "%s: no memory\n", path);
        return 1;
    }
    uint8_t *exact = malloc(n ? n : 1); /* so that reading past the end shows */
    if (exact && n)
        __builtin_memcpy(exact, p, n);
    free(p);
    fprintf(stderr, "Running: %s (%zu bytes)\n", path, n);
    if (exact)
        LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 0;
}

__attribute__((weak)) int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    if (carol_cov_wanted())
        carol_cov_serve(LLVMFuzzerTestOneInput);
    int bad = 0, files = 0;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-') {
            files++;
            bad |= run_file(argv[i]);
        }
    if (!files)
        fprintf(stderr, "usage: %s FILE...  runs each file once through this fuzz target\n",
                argc > 0 ? argv[0] : "target");
    return bad;
}
