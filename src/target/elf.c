/* elf: symbols of one object file or program, through libelf.  Knows nothing of what they mean. */
#include "target/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

static enum elf_type type_of(Elf *elf)
{
    GElf_Ehdr h;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &h))
        return ELF_NOT;
    if (h.e_type == ET_REL)
        return ELF_OBJECT;
    if (h.e_type == ET_EXEC || (h.e_type == ET_DYN && h.e_entry != 0))
        return ELF_PROGRAM; /* a position-independent program is a DYN with an entry point */
    return h.e_type == ET_DYN ? ELF_LIBRARY : ELF_NOT;
}

static void look_in(Elf *elf, Elf_Scn *scn, unsigned table, const char *const *names,
                    enum elf_def *defs, size_t n)
{
    GElf_Shdr sh;
    Elf_Data *data = elf_getdata(scn, NULL);
    if (!gelf_getshdr(scn, &sh) || !data || sh.sh_entsize == 0 || sh.sh_type != table)
        return;
    size_t count = sh.sh_size / sh.sh_entsize;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym))
            break;
        const char *name = elf_strptr(elf, sh.sh_link, sym.st_name);
        int bind = GELF_ST_BIND(sym.st_info);
        if (!name || sym.st_shndx == SHN_UNDEF || bind == STB_LOCAL)
            continue;
        for (size_t k = 0; k < n; k++)
            if (strcmp(name, names[k]) == 0)
                defs[k] = bind == STB_WEAK && defs[k] != ELF_STRONG ? ELF_WEAK : ELF_STRONG;
    }
}

static enum elf_type look(const char *path, unsigned table, const char *const *names,
                          enum elf_def *defs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        defs[i] = ELF_ABSENT;
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ELF_NOT;
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    enum elf_type type = elf ? type_of(elf) : ELF_NOT;
    if (type != ELF_NOT)
        for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
            look_in(elf, s, table, names, defs, n);
    if (elf)
        elf_end(elf);
    close(fd);
    return type;
}

enum elf_type elf_look(const char *path, const char *const *names, enum elf_def *defs, size_t n)
{
    return look(path, SHT_SYMTAB, names, defs, n);
}

bool elf_exports(const char *path, const char *name)
{
    enum elf_def def;
    return look(path, SHT_DYNSYM, &name, &def, 1) != ELF_NOT && def != ELF_ABSENT;
}
