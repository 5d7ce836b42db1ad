/* term: what the terminal behind a descriptor can show. */
#ifndef CAROL_CLI_TERM_H
#define CAROL_CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>

struct term_size {
    int columns, rows;
};

/* A terminal that understands cursor movements: not a file, a pipe, or TERM=dumb. */
bool term_draws(int fd);
/* Its size now; 80x24 where it does not tell. */
struct term_size term_size(int fd);
/* Does the user's locale (LC_ALL, LC_CTYPE, LANG, the first that is set) use UTF-8? */
bool term_utf8(void);
/* Length in bytes of the first `columns` characters of a line. */
size_t term_clip(const char *line, size_t len, int columns);

#endif
