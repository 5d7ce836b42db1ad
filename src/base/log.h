/* log: lines for a person on stderr, prefixed "carol: ".  They can be silenced, and a terminal
 * screen can take them instead (log_to), so that they do not tear it. */
#ifndef CAROL_BASE_LOG_H
#define CAROL_BASE_LOG_H

#include "base/err.h"

enum log_level { LOG_NONE = 0, LOG_WARN, LOG_INFO, LOG_DEBUG };

typedef void log_sink_fn(void *arg, enum log_level level, const char *line);

void log_set_level(enum log_level level); /* default LOG_INFO */
void log_to(log_sink_fn *fn, void *arg);  /* NULL: stderr again */
void log_warn(const char *fmt, ...) CAROL_PRINTF(1, 2);
void log_info(const char *fmt, ...) CAROL_PRINTF(1, 2);
void log_debug(const char *fmt, ...) CAROL_PRINTF(1, 2);

#endif
