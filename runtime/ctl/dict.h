/* dict: reads an AFL dictionary (lines name="value" with \xNN, \\ and \" in the value). */
#ifndef CAROL_CTL_DICT_H
#define CAROL_CTL_DICT_H

#include "darwin_core.h"

#define DICT_TOKENS 1024
#define DICT_BYTES 32768

struct dict {
    struct darwin_token tokens[DICT_TOKENS];
    size_t n, used;
    uint8_t bytes[DICT_BYTES];
};

/* Lines that are not understood and what does not fit are left out; returns the number of tokens. */
size_t dict_read(struct dict *d, const char *path);

#endif
