// SPDX-License-Identifier: GPL-2.0-only
/* log.c - turns a message into one harmless line, and hands it to the sink. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

#define LOG_LINE 2048 /* longer messages are cut; the verifier's log, say, has no place here */

static void write_stderr(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	/* One call, so that lines of two processes on one terminal do not mix. */
	fprintf(stderr, "kdefer: %s\n", line);
}

static log_sink log_to = write_stderr;
static void *log_ctx;
static enum log_level log_max = LOG_INFO;
static char log_error[LOG_LINE];

void log_set_sink(log_sink sink, void *ctx)
{
	log_to = sink ? sink : write_stderr;
	log_ctx = sink ? ctx : NULL;
}

void log_set_level(enum log_level max)
{
	log_max = max;
}

bool log_enabled(enum log_level level)
{
	return level <= log_max;
}

/* U+2028..202E and U+2066..2069: a terminal obeys them by breaking or reordering the line. */
static bool rearranges(const unsigned char *s)
{
	if (s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

/*
 * Length of the character at s if it may reach a terminal as it is, else 0. Knows well-formed UTF-8
 * by itself (by the ranges of the second byte), since every other room may stand on this one.
 */
static size_t harmless(const unsigned char *s)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t len, i;

	if (s[0] >= 0x20 && s[0] < 0x7f)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xc2 || s[0] == 0xe0) /* no C1 controls, no overlong forms */
		low = 0xa0;
	else if (s[0] == 0xed) /* no surrogates */
		high = 0x9f;
	else if (s[0] == 0xf0) /* no overlong forms */
		low = 0x90;
	else if (s[0] == 0xf4) /* nothing above U+10FFFF */
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return rearranges(s) ? 0 : len;
}

/* Copies text to line (LOG_LINE bytes), \xNN for what is not harmless; false when it was cut. */
static bool make_harmless(char *line, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	const size_t room = LOG_LINE - sizeof("...");
	size_t len, used = 0;
	char hex[5];

	while (*s) {
		len = harmless(s);
		snprintf(hex, sizeof(hex), "\\x%02x", *s);
		if (used + (len ? len : 4) > room)
			break;
		memcpy(line + used, len ? (const void *)s : hex, len ? len : 4);
		used += len ? len : 4;
		s += len ? len : 1;
	}
	line[used] = '\0';
	return !*s;
}

/*
 * Backslashes stay single: callers pass names that fmt_safe() has escaped already. A newline at the
 * end goes, because libbpf's messages have one.
 */
static void make_line(char *line, const char *fmt, va_list args)
{
	char text[LOG_LINE];
	int len = vsnprintf(text, sizeof(text), fmt, args);
	bool whole = len >= 0 && (size_t)len < sizeof(text);
	size_t end;

	if (len < 0) /* an argument that printf refuses: the format still says what it was about */
		snprintf(text, sizeof(text), "%s", fmt);
	for (end = strlen(text); end && text[end - 1] == '\n'; end--)
		text[end - 1] = '\0';
	if (!make_harmless(line, text) || !whole)
		memcpy(line + strlen(line), "...", sizeof("..."));
}

static void say(enum log_level level, const char *fmt, va_list args)
{
	int saved = errno; /* callers log first and look at errno after */
	char line[LOG_LINE];

	if (!log_enabled(level))
		return;
	make_line(line, fmt, args);
	if (level == LOG_ERROR)
		memcpy(log_error, line, strlen(line) + 1);
	log_to(log_ctx, level, line);
	errno = saved;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(level, fmt, args);
	va_end(args);
}

int log_err(int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(LOG_ERROR, fmt, args);
	va_end(args);
	return err;
}

const char *log_last_error(void)
{
	return log_error;
}
