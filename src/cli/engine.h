/* engine: what the two halves of `carol engine` share: options, a place to work in, seeds. */
#ifndef CAROL_CLI_ENGINE_H
#define CAROL_CLI_ENGINE_H

#include "base/err.h"
#include "base/str.h"
#include "fuzzer/fuzzer.h"

#include <stdbool.h>
#include <stdint.h>

struct engine_opts {
    const char *build, *target, *seeds, *dict;
    const char *const *args; /* after --; NULL: none */
    uint64_t turns;
    int64_t turn_ns, pause_ns;
    uint32_t timeout_ms;
    uint64_t mem_bytes;
    bool json;
    struct strv names; /* of fuzzers */
};

struct engine_seeds {
    struct input *v; /* ids from 1 on; data owned */
    size_t n;
};
CAROL_MUST_CHECK int engine_read_seeds(const char *path, struct engine_seeds *s, struct err *e);
void engine_free_seeds(struct engine_seeds *s);

int engine_run(const struct engine_opts *o, const char *work, struct err *e);
/* 1: not all of them passed. */
int engine_selftest(const struct engine_opts *o, const char *work, struct err *e);

#endif
