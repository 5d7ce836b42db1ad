/* elf: the little Carol asks of object files: what kind of file, and does it define a symbol.
 * Reads the file only; a file that is no ELF, or a broken one, is ELF_NOT. */
#ifndef CAROL_TARGET_ELF_H
#define CAROL_TARGET_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum elf_type { ELF_NOT = 0, ELF_OBJECT, ELF_PROGRAM, ELF_LIBRARY };
enum elf_def { ELF_ABSENT = 0, ELF_WEAK, ELF_STRONG };

/* For each of n names: how path defines it (a stripped file defines nothing). */
enum elf_type elf_look(const char *path, const char *const *names, enum elf_def *defs, size_t n);
/* Can a library that is loaded with the program use its symbol? */
bool elf_exports(const char *path, const char *name);

#endif
