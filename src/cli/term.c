/* term: asks the environment and the terminal.  Draws nothing. */
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool term_draws(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

struct term_size term_size(int fd)
{
    struct winsize w;
    if (ioctl(fd, TIOCGWINSZ, &w) < 0 || w.ws_col == 0 || w.ws_row == 0)
        return (struct term_size){80, 24};
    return (struct term_size){w.ws_col, w.ws_row};
}

bool term_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v && *v)
            return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
    }
    return false;
}

size_t term_clip(const char *line, size_t len, int columns)
{
    size_t i = 0;
    while (i < len && columns > 0) {
        for (i++; i < len &&
                  ((unsigned char)line[i] & 0xc0) == 0x80;) /* the rest of a UTF-8 character */
            i++;
        columns--;
    }
    return i;
}
