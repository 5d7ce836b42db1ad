/* driver: main() for a LLVMFuzzerTestOneInput harness in the families that have no fuzzer of their own
 * (plain, asan): runs it once on each file named, on each file of a directory named, or on standard
 * input.  Does not mutate, does not loop, and keeps libFuzzer's habit of ignoring -options. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
__attribute__((weak)) void LLVMFuzzerCleanup(void);

/* Tells `carol build` that a stripped program is a harness. */
__attribute__((used)) const char carol_driver_mark[] = "carol: LLVMFuzzerTestOneInput driver";

/* The input in memory of exactly its size, so that ASan sees one byte too far. */
static int run_stream(FILE *f, const char *name)
{
    size_t cap = 1 << 16, n = 0, got;
    uint8_t *p = malloc(cap);
    while (p && (got = fread(p + n, 1, cap - n, f)) > 0) {
        n += got;
        if (n == cap) {
            uint8_t *bigger = realloc(p, cap *= 2);
            if (!bigger)
                free(p);
            p = bigger;
        }
    }
    uint8_t *exact = p ? malloc(n ? n : 1) : NULL;
    if (!exact) {
        fprintf(stderr, "driver: no memory for %s\n", name);
        free(p);
        return 1;
    }
    memcpy(exact, p, n);
    free(p);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 0;
}

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    int rc = run_stream(f, path);
    fclose(f);
    return rc;
}

static int run_dir(const char *path)
{
    DIR *d = opendir(path);
    int rc = d ? 0 : 1;
    char sub[4096];
    struct stat st;
    for (struct dirent *e; d && (e = readdir(d));) {
        int n = snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);
        if (n > 0 && (size_t)n < sizeof sub && stat(sub, &st) == 0 && S_ISREG(st.st_mode))
            rc |= run_file(sub);
    }
    if (d)
        closedir(d);
    return rc;
}

__attribute__((weak)) int main(int argc, char **argv)
{
    int rc = 0, files = 0;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (argv[i][0] == '-' && argv[i][1])
            continue;
        files++;
        if (strcmp(argv[i], "-") == 0)
            rc |= run_stream(stdin, "standard input");
        else if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
            rc |= run_dir(argv[i]);
        else
            rc |= run_file(argv[i]);
    }
    if (!files)
        rc |= run_stream(stdin, "standard input");
    if (LLVMFuzzerCleanup)
        LLVMFuzzerCleanup();
    return rc;
}
