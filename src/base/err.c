/* err: fills struct err.  Does not print and does not exit. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int fill(struct err *e, int code, enum err_exit ex, const char *fmt, va_list ap)
{
    if (code >= 0)
        code = -EIO;
    if (!e)
        return code;
    e->code = code;
    e->exit = ex;
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    return code;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    code = fill(e, code, ERR_EXIT_INTERNAL, fmt, ap);
    va_end(ap);
    return code;
}

int err_usage(struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int code = fill(e, -EINVAL, ERR_EXIT_USAGE, fmt, ap);
    va_end(ap);
    return code;
}

int err_env(struct err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int code = fill(e, -ENOENT, ERR_EXIT_ENV, fmt, ap);
    va_end(ap);
    return code;
}

int err_sys(struct err *e, const char *fmt, ...)
{
    int saved = errno;
    char what[768];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return err_set(e, -saved, "%s: %s", what, strerror(saved));
}

int err_wrap(struct err *e, const char *fmt, ...)
{
    if (!e)
        return -EIO;
    char head[512], tail[sizeof e->msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(head, sizeof head, fmt, ap);
    va_end(ap);
    memcpy(tail, e->msg, sizeof tail);
    int n = snprintf(e->msg, sizeof e->msg, "%s: ", head);
    if (n > 0 && (size_t)n < sizeof e->msg)
        snprintf(e->msg + n, sizeof e->msg - (size_t)n, "%.*s",
                 (int)(sizeof e->msg - (size_t)n - 1), tail);
    return e->code < 0 ? e->code : -EIO;
}
