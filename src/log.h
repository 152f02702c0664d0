/* SPDX-License-Identifier: GPL-2.0-only */
/* log.h - the one way to say something to a person: a line on standard error. */
#ifndef KDEFER_LOG_H
#define KDEFER_LOG_H

#include <stdarg.h>
#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Where lines go; the default (NULL) writes "kdefer: TEXT" to standard error, up to LOG_INFO. */
typedef void (*log_sink)(void *ctx, enum log_level level, const char *line);
void log_set_sink(log_sink sink, void *ctx);
void log_set_level(enum log_level max);
bool log_enabled(enum log_level level);

/*
 * One line: what went wrong, why, what to do. Control characters, and bytes that are no UTF-8,
 * become \xNN; newlines at the end are dropped. errno stays as it was.
 */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Logs and returns err (a negative errno): a failure is said and passed on in one expression. */
int log_err(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_warn(...) log_msg(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_msg(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)

/* The last line logged at LOG_ERROR, or "": for the "error" document of --json. */
const char *log_last_error(void);

#endif
