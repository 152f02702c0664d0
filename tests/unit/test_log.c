// SPDX-License-Identifier: GPL-2.0-only
/* test_log.c - one harmless line for every message, whatever is in its arguments. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "log.h"

struct heard {
	int lines;
	enum log_level level;
	char last[4096];
};

static void hear(void *ctx, enum log_level level, const char *line)
{
	struct heard *h = ctx;

	h->lines++;
	h->level = level;
	snprintf(h->last, sizeof(h->last), "%s", line);
	errno = EIO; /* as a sink that writes may leave it */
}

static int listen_to_log(void **state)
{
	static struct heard h;

	memset(&h, 0, sizeof(h));
	log_set_sink(hear, &h);
	log_set_level(LOG_INFO);
	*state = &h;
	return 0;
}

static int stop_listening(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	return 0;
}

static void passes_level_and_text(void **state)
{
	struct heard *h = *state;

	log_warn("%s: %d of %d", "ring", 3, 4);
	assert_int_equal(h->lines, 1);
	assert_int_equal(h->level, LOG_WARN);
	assert_string_equal(h->last, "ring: 3 of 4");
	log_info("i");
	assert_int_equal(h->level, LOG_INFO);
	log_msg(LOG_ERROR, "e");
	assert_int_equal(h->level, LOG_ERROR);
	assert_int_equal(h->lines, 3);
}

static void level_is_a_limit(void **state)
{
	struct heard *h = *state;

	assert_true(log_enabled(LOG_INFO));
	assert_false(log_enabled(LOG_DEBUG));
	log_debug("not heard");
	assert_int_equal(h->lines, 0);
	log_set_level(LOG_DEBUG);
	assert_true(log_enabled(LOG_DEBUG));
	log_debug("heard");
	assert_int_equal(h->lines, 1);
	assert_int_equal(h->level, LOG_DEBUG);
	log_set_level(LOG_ERROR);
	log_warn("not heard");
	assert_int_equal(h->lines, 1);
	log_msg(LOG_ERROR, "heard");
	assert_int_equal(h->lines, 2);
}

static void error_is_passed_on_and_remembered(void **state)
{
	struct heard *h = *state;

	assert_int_equal(log_err(-ENOENT, "cannot open %s", "x"), -ENOENT);
	assert_int_equal(h->level, LOG_ERROR);
	assert_string_equal(h->last, "cannot open x");
	assert_string_equal(log_last_error(), "cannot open x");
	log_warn("something else");
	assert_string_equal(log_last_error(), "cannot open x");
	/* What is remembered may be an argument of what is to be remembered. */
	log_msg(LOG_ERROR, "gave up: %s", log_last_error());
	assert_string_equal(log_last_error(), "gave up: cannot open x");
}

static void errno_survives(void **state)
{
	struct heard *h = *state;

	errno = ENOSPC;
	log_warn("%m");
	assert_int_equal(errno, ENOSPC);
	assert_string_equal(h->last, strerror(ENOSPC));
}

static void hostile_bytes_are_escaped(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain ~ text", "plain ~ text" },
		{ "a\nb", "a\\x0ab" },
		{ "tail\n\n", "tail" },
		{ "\n", "" },
		{ "\n a", "\\x0a a" },
		{ "\r\033[2J\a\t\x7f", "\\x0d\\x1b[2J\\x07\\x09\\x7f" },
		{ "back\\slash", "back\\slash" }, /* may come from fmt_safe() */
		{ "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x98\x80",
		  "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x98\x80" },
		{ "\xc2\x9b"
		  "2J",
		  "\\xc2\\x9b2J" }, /* C1: CSI */
		{ "\xc2\xa0", "\xc2\xa0" },
		{ "\x9b"
		  "2J",
		  "\\x9b2J" },
		{ "\xc3", "\\xc3" },          /* cut short */
		{ "\xc3\xc0", "\\xc3\\xc0" }, /* no continuation */
		{ "\xe4\xb8", "\\xe4\\xb8" },
		{ "\xf0\x9f\x98", "\\xf0\\x9f\\x98" },
		{ "\xe4\xb8"
		  "a",
		  "\\xe4\\xb8a" },
		{ "\xf0\x9f\x98"
		  "a",
		  "\\xf0\\x9f\\x98a" },
		{ "\xc0\x8a", "\\xc0\\x8a" }, /* overlong newline */
		{ "\xe0\x80\x8a", "\\xe0\\x80\\x8a" },
		{ "\xf0\x80\x80\x8a", "\\xf0\\x80\\x80\\x8a" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* surrogate */
		{ "\xed\x9f\xbf", "\xed\x9f\xbf" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* above U+10FFFF */
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		{ "\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80" },
		{ "\xe2\x80\xa8", "\\xe2\\x80\\xa8" }, /* line separator */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" }, /* right-to-left override */
		{ "\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf" },
		{ "\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9" },
		{ "\xe2\x81\xa5\xe2\x81\xaa", "\xe2\x81\xa5\xe2\x81\xaa" },
		{ "\xe1\x80\xa8\xe3\x81\xa6", "\xe1\x80\xa8\xe3\x81\xa6" },
	};
	struct heard *h = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		log_info("%s", cases[i].in);
		assert_string_equal(h->last, cases[i].out);
	}
}

/* Every code point, encoded here: what passes must be exactly what is neither control nor reordering. */
static void every_code_point(void **state)
{
	struct heard *h = *state;
	char in[5] = "";
	uint32_t c;

	for (c = 0x80; c < 0x110000; c++) {
		bool passes = c >= 0xa0 && !(c >= 0xd800 && c < 0xe000) &&
			      !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
		int len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		int i;

		memset(in, 0, sizeof(in));
		in[0] = (char)((0xf00 >> len) | (c >> 6 * (len - 1)));
		for (i = 1; i < len; i++)
			in[i] = (char)(0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
		log_info("%s", in);
		if (passes != !strcmp(h->last, in))
			fail_msg("U+%04X: \"%s\"", (unsigned int)c, h->last);
		if (!passes && (strlen(h->last) != 4 * (size_t)len || h->last[0] != '\\'))
			fail_msg("U+%04X: \"%s\"", (unsigned int)c, h->last);
	}
}

static void long_lines_are_cut(void **state)
{
	struct heard *h = *state;
	static char in[10000];
	size_t len;

	memset(in, 'x', sizeof(in) - 1);
	log_info("%s", in);
	len = strlen(h->last);
	assert_in_range(len, 1000, 2047);
	assert_string_equal(h->last + len - 4, "x...");

	/* Escapes make it four times as long, and are not cut apart. */
	memset(in, 1, sizeof(in) - 1);
	log_info("%s", in);
	len = strlen(h->last);
	assert_in_range(len, 1000, 2047);
	assert_string_equal(h->last + len - 7, "\\x01...");
	assert_int_equal((len - 3) % 4, 0);

	/* Neither are characters, wherever the cut falls among their bytes. */
	for (size_t lead = 0; lead < 3; lead++) {
		size_t i;

		memset(in, 0, sizeof(in));
		memset(in, 'a', lead);
		for (i = lead; i + 3 < sizeof(in); i += 3)
			memcpy(in + i, "\xe4\xb8\xad", 3);
		log_info("%s", in);
		len = strlen(h->last);
		assert_int_equal((len - lead) % 3, 0);
		assert_string_equal(h->last + len - 6, "\xe4\xb8\xad...");
	}
}

#define ROOM 2044 /* 2048 less "..." and the NUL */

/* A line that just fits is whole, one byte more is cut. */
static void whole_lines_are_not_cut(void **state)
{
	struct heard *h = *state;
	char in[ROOM + 2] = "";

	memset(in, 'y', ROOM);
	log_info("%s", in);
	assert_string_equal(h->last, in);
	in[ROOM] = 'y';
	log_info("%s", in);
	in[ROOM] = '\0';
	assert_memory_equal(h->last, in, ROOM);
	assert_string_equal(h->last + ROOM, "...");

	memset(in, 0, sizeof(in));
	memset(in, '\r', ROOM / 4);
	log_info("%s", in);
	assert_int_equal(strlen(h->last), ROOM);
	assert_string_equal(h->last + ROOM - 4, "\\x0d");
	in[ROOM / 4] = '\r';
	log_info("%s", in);
	assert_int_equal(strlen(h->last), ROOM + 3);
	assert_string_equal(h->last + ROOM - 4, "\\x0d...");
}

/* What was lost behind newlines is still missed, although the rest would fit. */
static void a_cut_among_newlines_shows(void **state)
{
	struct heard *h = *state;
	char in[3000] = "";

	memset(in, '\n', sizeof(in) - 2);
	in[0] = 'a';
	in[sizeof(in) - 2] = 'z';
	log_info("%s", in);
	assert_string_equal(h->last, "a...");
}

/* printf refuses a wide character that the locale does not have: the format is better than nothing. */
static void what_printf_refuses(void **state)
{
	static const wchar_t bad[] = { 0x7fffffff, 0 };
	struct heard *h = *state;

	log_info("cannot show \a%ls", bad);
	assert_string_equal(h->last, "cannot show \\x07%ls...");
	log_info("%s", ""); /* is no refusal */
	assert_string_equal(h->last, "");
}

/* What the default sink writes, read back through a pipe in place of standard error. */
static void default_goes_to_stderr(void **state)
{
	char got[200] = "";
	int fds[2], saved;
	ssize_t len;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	saved = dup(STDERR_FILENO);
	assert_true(saved >= 0);
	log_set_sink(NULL, NULL);
	dup2(fds[1], STDERR_FILENO);
	log_info("one\ntwo");
	log_debug("not at this level");
	dup2(saved, STDERR_FILENO);
	close(fds[1]);
	len = read(fds[0], got, sizeof(got) - 1);
	close(fds[0]);
	close(saved);
	assert_true(len > 0);
	assert_string_equal(got, "kdefer: one\\x0atwo\n");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, listen_to_log, stop_listening)
	const struct CMUnitTest tests[] = {
		TEST(passes_level_and_text),
		TEST(level_is_a_limit),
		TEST(error_is_passed_on_and_remembered),
		TEST(errno_survives),
		TEST(hostile_bytes_are_escaped),
		TEST(every_code_point),
		TEST(long_lines_are_cut),
		TEST(whole_lines_are_not_cut),
		TEST(a_cut_among_newlines_shows),
		TEST(what_printf_refuses),
		TEST(default_goes_to_stderr),
	};

	if (*log_last_error()) /* "" before the first error: no test can say so after another */
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
