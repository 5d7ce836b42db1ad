/* syms: names of functions from the symbol tables of the loaded files, and which of them work on
 * memory.  Only for the dump. */
#include "cov.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The calls that count as memory operations, by address: the loader has put the same addresses into
 * the compiler's table.  Weak: what the program does not use need not be there. */
/* clang-format off */
#define MEMORY_FUNCTIONS(X) \
    X(calloc) X(malloc) X(realloc) X(free) X(memcpy) X(memmove) X(memchr) X(memset) X(memcmp) \
    X(strcpy) X(strncpy) X(strerror) X(strlen) X(strcat) X(strncat) X(strcmp) X(strspn) \
    X(strcoll) X(strncmp) X(strxfrm) X(strstr) X(strchr) X(strcspn) X(strpbrk) X(strrchr) \
    X(strtok) X(strtok_r) X(strerror_r) X(__memcpy_chk) X(__memmove_chk) X(__memset_chk) \
    X(__strcpy_chk) X(__strncpy_chk) X(__strcat_chk) X(__strncat_chk) X(_Znwm) X(_Znam) \
    X(_ZnwmRKSt9nothrow_t) X(_ZnamRKSt9nothrow_t) X(_ZnwmSt11align_val_t) X(_ZnamSt11align_val_t) \
    X(_ZdlPv) X(_ZdaPv) X(_ZdlPvm) X(_ZdaPvm) X(_ZdlPvSt11align_val_t) X(_ZdaPvSt11align_val_t) \
    X(_ZdlPvmSt11align_val_t) X(_ZdaPvmSt11align_val_t)
/* clang-format on */

#define DECLARE(name) extern char carol_cov_ref_##name[] __asm__(#name) __attribute__((weak));
MEMORY_FUNCTIONS(DECLARE)
#define ADDRESS(name) carol_cov_ref_##name,
static char *const memory_functions[] = {MEMORY_FUNCTIONS(ADDRESS)};

bool carol_cov_is_memory(uintptr_t addr)
{
    for (size_t i = 0; i < sizeof memory_functions / sizeof *memory_functions; i++)
        if (addr && (uintptr_t)memory_functions[i] == addr)
            return true;
    return false;
}

bool carol_cov_is_wrapper(const char *name)
{
    static const char *const parts[] = {"alloc",   "free",    "memcpy", "memmove",
                                        "memset",  "strcpy",  "strcat", "strdup",
                                        "strncpy", "strncat", "strndup"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcasestr(name, parts[i]))
            return true;
    return false;
}

static int find_load(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    uintptr_t *addr = arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && *addr >= lo && *addr - lo < p->p_memsz) {
            *addr = info->dlpi_addr;
            return 1;
        }
    }
    return 0;
}

uintptr_t carol_cov_load_address(uintptr_t addr)
{
    return dl_iterate_phdr(find_load, &addr) ? addr : 0;
}

static void add_table(struct cov_syms *s, const unsigned char *file, size_t size,
                      const ElfW(Shdr) * symtab, const ElfW(Shdr) * strtab, uintptr_t load)
{
    if (symtab->sh_offset + symtab->sh_size > size || strtab->sh_offset + strtab->sh_size > size)
        return;
    const ElfW(Sym) *sym = (const void *)(file + symtab->sh_offset);
    size_t n = symtab->sh_size / sizeof *sym;
    struct cov_sym *v = realloc(s->v, (s->n + n) * sizeof *v);
    if (!v)
        return;
    s->v = v;
    for (size_t i = 0; i < n; i++)
        if (ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC && sym[i].st_shndx != SHN_UNDEF &&
            sym[i].st_value && sym[i].st_name < strtab->sh_size)
            v[s->n++] = (struct cov_sym){load + sym[i].st_value,
                                         (const char *)file + strtab->sh_offset + sym[i].st_name};
}

/* .symtab where there is one (it has the static functions), else .dynsym. */
static void add_file(struct cov_syms *s, const char *path, uintptr_t load)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    const unsigned char *file = MAP_FAILED;
    if (fstat(fd, &st) == 0 && (size_t)st.st_size > sizeof(ElfW(Ehdr)))
        file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0); /* names stay there */
    close(fd);
    if (file == MAP_FAILED)
        return;
    size_t size = (size_t)st.st_size;
    const ElfW(Ehdr) *eh = (const void *)file;
    if (memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 || eh->e_shentsize != sizeof(ElfW(Shdr)) ||
        eh->e_shoff > size || eh->e_shoff + (size_t)eh->e_shnum * sizeof(ElfW(Shdr)) > size)
        return;
    const ElfW(Shdr) *sh = (const void *)(file + eh->e_shoff);
    for (unsigned want = SHT_SYMTAB;; want = SHT_DYNSYM) {
        for (size_t i = 0; i < eh->e_shnum; i++)
            if (sh[i].sh_type == want && sh[i].sh_link < eh->e_shnum) {
                add_table(s, file, size, &sh[i], &sh[sh[i].sh_link], load);
                return;
            }
        if (want == SHT_DYNSYM)
            return;
    }
}

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    const char *path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
    add_file(arg, path, info->dlpi_addr);
    return 0;
}

static int by_addr(const void *a, const void *b)
{
    const struct cov_sym *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void carol_cov_syms_load(struct cov_syms *s)
{
    dl_iterate_phdr(add_object, s);
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_addr);
}

const char *carol_cov_syms_name(const struct cov_syms *s, uintptr_t addr)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->v[mid].addr < addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n && s->v[lo].addr == addr ? s->v[lo].name : NULL;
}
