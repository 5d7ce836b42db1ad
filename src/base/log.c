/* log: one line per call to stderr or to a sink.  Keeps no files. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level max_level = LOG_INFO;
static log_sink_fn *sink;
static void *sink_arg;

void log_set_level(enum log_level level)
{
    max_level = level;
}

void log_to(log_sink_fn *fn, void *arg)
{
    sink = fn;
    sink_arg = arg;
}

static void emit(enum log_level level, const char *tag, const char *fmt, va_list ap)
{
    char line[2048];
    if (level > max_level)
        return;
    vsnprintf(line, sizeof line, fmt, ap);
    if (sink)
        sink(sink_arg, level, line);
    else
        fprintf(stderr, "carol: %s%s\n", tag, line);
}

#define LOG_FUNCTION(name, level, tag)                                                             \
    void name(const char *fmt, ...)                                                                \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        emit(level, tag, fmt, ap);                                                                 \
        va_end(ap);                                                                                \
    }

LOG_FUNCTION(log_warn, LOG_WARN, "warning: ")
LOG_FUNCTION(log_info, LOG_INFO, "")
LOG_FUNCTION(log_debug, LOG_DEBUG, "debug: ")
