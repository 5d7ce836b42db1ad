/* dict: the dictionary reader.  Knows nothing of mutations. */
#include "dict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hex(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* Decode the value from behind its opening quote; -1: not closed or not understood. */
static int decode(const char *s, uint8_t *out, size_t room)
{
    size_t n = 0;
    for (; *s && *s != '"'; s++) {
        uint8_t c = (uint8_t)*s;
        if (c == '\\' && s[1] == 'x' && hex(s[2]) >= 0 && hex(s[3]) >= 0) {
            c = (uint8_t)(hex(s[2]) << 4 | hex(s[3]));
            s += 3;
        } else if (c == '\\' && (s[1] == '\\' || s[1] == '"')) {
            c = (uint8_t)*++s;
        } else if (c == '\\') {
            return -1;
        }
        if (n == room)
            return -1;
        out[n++] = c;
    }
    return *s == '"' ? (int)n : -1;
}

size_t dict_read(struct dict *d, const char *path)
{
    FILE *f = fopen(path, "re");
    char line[1024];
    while (f && d->n < DICT_TOKENS && fgets(line, sizeof line, f)) {
        const char *s = line + strspn(line, " \t"), *quote = strchr(s, '"');
        if (*s == '#' || !quote)
            continue;
        size_t room = DICT_BYTES - d->used;
        int n = decode(quote + 1, d->bytes + d->used, room > 128 ? 128 : room);
        if (n <= 0)
            continue;
        d->tokens[d->n++] = (struct darwin_token){d->bytes + d->used, (size_t)n};
        d->used += (size_t)n;
    }
    if (f)
        fclose(f);
    return d->n;
}
