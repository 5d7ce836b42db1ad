/* params: a scheduler's options, `--sched-opt key=value`.  One table per scheduler declares them and
 * drives reading, checking, printing and the help.
 *
 *     struct opts { double ridge; int64_t reset_ns; int update; };
 *     static const struct param params[] = {
 *         {"ridge", PARAM_REAL, offsetof(struct opts, ridge), 10, 1e-9, 1e9, NULL, "lambda"},
 *         {"reset", PARAM_TIME, offsetof(struct opts, reset_ns), 7200, 1, 1e9, NULL, "..."},
 *         {"update", PARAM_CHOICE, offsetof(struct opts, update), 0, 0, 0, "fractional|bernoulli", "..."},
 *         {0}};
 *     params_read(params, &opts, "bandfuzz", settings, e);
 *
 * A key may be written with its scheduler before it (bandfuzz.update).  Times are seconds at T_I = 120 s
 * and scale with T_I unless given. */
#ifndef CAROL_SCHED_PARAMS_H
#define CAROL_SCHED_PARAMS_H

#include "sched/sched.h"

#include <stddef.h>

enum param_kind {
    PARAM_REAL = 1, /* double */
    PARAM_COUNT,    /* int */
    PARAM_TIME,     /* int64_t nanoseconds; def, lo and hi in seconds */
    PARAM_CHOICE,   /* int: which of the words of `choices` */
};

struct param {
    const char *key; /* NULL: the end */
    enum param_kind kind;
    size_t at; /* offset in the options */
    double def, lo, hi;
    const char *choices; /* "one|two|three" */
    const char *what;    /* for the help */
};

/* Defaults, then what st->params asks for.  params NULL: there are no options. */
CAROL_MUST_CHECK int params_read(const struct param *params, void *opts, const char *scheduler,
                                 const struct sched_settings *st, struct err *e);
/* "key=value,...": every option, exactly. */
void params_print(const struct param *params, const void *opts, struct buf *out);
/* One line per option: key, default, range or words, meaning. */
void params_help(const struct param *params, struct buf *out);

#endif
