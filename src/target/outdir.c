/* outdir: finds the targets in an $OUT directory.  Runs none of them. */
#include "target/outdir.h"

#include "base/die.h"
#include "base/fs.h"
#include "base/hash.h"
#include "target/elf.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file mapped to read; *n is 0 for an empty one. */
static const void *map_file(const char *path, size_t *n, struct err *e)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    const void *p = NULL;
    if (fd < 0 || fstat(fd, &st) < 0) {
        err_sys(e, "cannot read %s", path);
    } else {
        *n = (size_t)st.st_size;
        p = *n ? mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0) : "";
        if (p == MAP_FAILED) {
            err_sys(e, "cannot map %s", path);
            p = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return p;
}

static void unmap_file(const void *p, size_t n)
{
    if (n)
        munmap((void *)(uintptr_t)p, n);
}

int outdir_digest(const char *path, char hex[65], struct err *e)
{
    struct err mine = {0};
    size_t n = 0;
    const void *p = map_file(path, &n, e ? e : &mine);
    if (!p)
        return e ? e->code : mine.code;
    struct digest d;
    hash_bytes(p, n, &d);
    digest_hex(&d, hex);
    unmap_file(p, n);
    return 0;
}

static bool holds(const char *path, const char *mark)
{
    size_t n = 0;
    const void *p = map_file(path, &n, NULL);
    bool found = p && n && memmem(p, n, mark, strlen(mark));
    if (p)
        unmap_file(p, n);
    return found;
}

/* Symbols tell.  In a stripped program only the data of its engine does. */
static bool look(const char *path, struct out_target *t)
{
    static const char *const names[] = {"LLVMFuzzerTestOneInput", "main"};
    enum elf_def d[2];
    if (elf_look(path, names, d, 2) != ELF_PROGRAM)
        return false;
    bool stripped = d[0] == ELF_ABSENT && d[1] == ELF_ABSENT;
    t->harness = d[0] == ELF_STRONG || (stripped && holds(path, "LLVMFuzzerTestOneInput"));
    t->broken = d[0] == ELF_WEAK && d[1] == ELF_WEAK;
    return true;
}

int outdir_scan(const char *dir, struct out_list *l, struct err *e)
{
    struct strv names = {0};
    int rc = fs_list(dir, &names, e);
    *l = (struct out_list){0};
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        char *path = fs_join(dir, names.v[i]);
        struct out_target t = {0};
        struct stat st;
        if (!strchr(names.v[i], '.') && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
            (st.st_mode & 0111) && look(path, &t)) {
            t.name = xstrdup(names.v[i]);
            t.bytes = (uint64_t)st.st_size;
            rc = outdir_digest(path, t.build_id, e);
            l->v = xrealloc(l->v, (l->n + 1) * sizeof *l->v);
            l->v[l->n++] = t;
        }
        free(path);
    }
    strv_free(&names);
    return rc;
}

const struct out_target *out_find(const struct out_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].name, name) == 0)
            return &l->v[i];
    return NULL;
}

void out_free(struct out_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->v[i].name);
    free(l->v);
    *l = (struct out_list){0};
}
