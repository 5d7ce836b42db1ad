/* err: the one error idiom of Carol.
 *
 * A function that can fail returns int: 0 on success, a negative errno on failure, and takes a
 * `struct err *` as its last argument, which it fills with a message for a person: what happened,
 * why it matters, what to do.  The caller may pass NULL when it does not want the message.
 *
 *     struct err e = {0};
 *     if (fs_mkdirs(path, &e) < 0)
 *         return err_wrap(&e, "cannot prepare the campaign directory");
 *
 * Libraries never exit and never print; they return.  Only src/cli turns an error into an exit code.
 */
#ifndef CAROL_BASE_ERR_H
#define CAROL_BASE_ERR_H

#include <stdarg.h>

#define CAROL_MUST_CHECK __attribute__((warn_unused_result))
#define CAROL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* What the failure means for whoever typed the command (exit codes of METHOD §18). */
enum err_exit {
    ERR_EXIT_NONE = 0,
    ERR_EXIT_USAGE = 2,    /* the command or its input is wrong */
    ERR_EXIT_ENV = 3,      /* the machine lacks something; the message says the fix */
    ERR_EXIT_INTERNAL = 4, /* Carol is wrong */
};

struct err {
    int code;           /* negative errno; 0: no error */
    enum err_exit exit; /* which exit code the command ends with */
    char msg[1024];
};

/* Fill e and return code (a negative errno).  exit is ERR_EXIT_INTERNAL. */
int err_set(struct err *e, int code, const char *fmt, ...) CAROL_PRINTF(3, 4);
/* The same for wrong usage or wrong input (exit 2) and for a missing piece of the machine (exit 3). */
int err_usage(struct err *e, const char *fmt, ...) CAROL_PRINTF(2, 3);
int err_env(struct err *e, const char *fmt, ...) CAROL_PRINTF(2, 3);
/* errno-based: "<fmt>: <strerror>"; returns -errno. */
int err_sys(struct err *e, const char *fmt, ...) CAROL_PRINTF(2, 3);
/* Put "<fmt>: " before the message e already has; returns e->code. */
int err_wrap(struct err *e, const char *fmt, ...) CAROL_PRINTF(2, 3);

#endif
