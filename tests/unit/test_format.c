// SPDX-License-Identifier: GPL-2.0-only
/* test_format.c - the edges of every short form, and hostile strings. */
#define _XOPEN_SOURCE 700 /* wcwidth() */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include <cmocka.h>

#include "format.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define S 1000000000ull
#define MIN (60 * S)
#define HOUR (60 * MIN)
#define DAY (24 * HOUR)

typedef char *(*format_u64)(char *buf, size_t size, uint64_t v);

struct u64_case {
	uint64_t v;
	const char *text;
};

static void check_u64(format_u64 format, const struct u64_case *cases, size_t n)
{
	char buf[FMT_LEN];
	size_t i;

	for (i = 0; i < n; i++) {
		assert_ptr_equal(format(buf, sizeof(buf), cases[i].v), buf);
		assert_string_equal(buf, cases[i].text);
	}
}

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static uint64_t any_magnitude(void)
{
	uint64_t v = next_random();

	return v >> next_random() % 64;
}

/* --- times --- */

static void ns(void **state)
{
	static const struct u64_case cases[] = {
		{ 0, "0 ns" },
		{ 1, "1 ns" },
		{ 850, "850 ns" },
		{ 999, "999 ns" },
		{ 1000, "1 us" },
		{ 1004, "1 us" },
		{ 1005, "1.01 us" }, /* half goes up */
		{ 1500, "1.5 us" },
		{ 9994, "9.99 us" },
		{ 9995, "10 us" },
		{ 12300, "12.3 us" },
		{ 99949, "99.9 us" },
		{ 99950, "100 us" },
		{ 152000, "152 us" },
		{ 999499, "999 us" },
		{ 999500, "1 ms" }, /* never "1000 us" */
		{ 999999, "1 ms" },
		{ 1000000, "1 ms" },
		{ 152 * 1000000ull, "152 ms" },
		{ 999499999, "999 ms" },
		{ 999500000, "1 s" },
		{ 1520 * 1000000ull, "1.52 s" },
		{ 59 * S + 940000000, "59.9 s" },
		{ 59 * S + 950000000, "1 min" }, /* never "60 s" */
		{ MIN, "1 min" },
		{ 150 * S, "2.5 min" },
		{ 59 * MIN + 56 * S, "59.9 min" },
		{ 59 * MIN + 57 * S, "1 h" },
		{ HOUR, "1 h" },
		{ 90 * MIN, "1.5 h" },
		{ 23 * HOUR + 56 * MIN, "23.9 h" },
		{ 23 * HOUR + 57 * MIN, "1 d" },
		{ DAY, "1 d" },
		{ 36 * HOUR, "1.5 d" },
		{ 999 * DAY, "999 d" },
		{ 1234 * DAY, "1230 d" },
		{ 1235 * DAY, "1240 d" },
		{ 100000 * DAY, "100000 d" },
		{ 999 * DAY + 12 * HOUR, "1000 d" },
		{ 1014 * DAY + 23 * HOUR, "1010 d" }, /* rounded once: not by way of 1015 */
		{ UINT64_MAX, "214000 d" },
	};

	(void)state;
	check_u64(fmt_ns, cases, COUNT(cases));
}

/* What the text says, in ns; fails when it is not "NUMBER UNIT" with at most three digits that count. */
static double read_back(const char *text)
{
	static const struct {
		const char *name;
		double ns, below;
	} units[] = {
		{ "ns", 1, 1000 },     { "us", 1e3, 1000 },     { "ms", 1e6, 1000 },
		{ "s", 1e9, 60 },      { "min", 60e9, 60 },     { "h", 3600e9, 24 },
		{ "d", 86400e9, 1e6 }, { "y", 31536e12, 1000 },
	};
	const char *unit = strchr(text, ' '), *p;
	int digits = 0, zeros = 0;
	size_t i;

	assert_non_null(unit);
	for (p = text; p < unit; p++) {
		if (*p == '.')
			zeros = 0;
		else if (*p == '0' && digits)
			zeros++;
		else if (*p != '0')
			digits += zeros + 1, zeros = 0;
	}
	assert_in_range(digits, 0, 3);
	if (memchr(text, '.', (size_t)(unit - text)))
		assert_int_not_equal(unit[-1], '0');
	for (i = 0; i < COUNT(units); i++)
		if (!strcmp(unit + 1, units[i].name)) {
			assert_true(strtod(text, NULL) < units[i].below);
			return strtod(text, NULL) * units[i].ns;
		}
	fail_msg("no unit: \"%s\"", text);
	return 0;
}

/* Neighbours in any order of magnitude, and around every carry. */
static void ns_is_near_and_never_falls(void **state)
{
	static const uint64_t units[] = { 1, 1000, 1000000, S, MIN, HOUR, DAY };
	char buf[FMT_LEN];
	int i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		uint64_t unit = units[next_random() % COUNT(units)];
		uint64_t v = i % 2 ? any_magnitude() >> 1 : unit * (next_random() % 1200);
		uint64_t more = v + any_magnitude() % (v / 100 + 2);
		double first = read_back(fmt_ns(buf, sizeof(buf), v));

		if (fabs(first - (double)v) > (double)v * 0.00501)
			fail_msg("%llu became %s", (unsigned long long)v, buf);
		if (read_back(fmt_ns(buf, sizeof(buf), more)) < first)
			fail_msg("%llu fell to %s", (unsigned long long)more, buf);
	}
}

static void edges(void **state)
{
	static const struct u64_case cases[] = {
		{ 1, "1 ns" },
		{ 512, "512 ns" },
		{ 1024, "1.02 us" },
		{ 1ull << 19, "524 us" },
		{ 1048576, "1.05 ms" },
		{ 1ull << 30, "1.07 s" },
		{ 1ull << 35, "34.4 s" },
		{ 1ull << 36, "1.1 min" },
		{ 1ull << 37, "2.3 min" },
		{ 1ull << 41, "37 min" },
		{ 1ull << 42, "1.22 h" },
		{ 1ull << 47, "1.63 d" },
		{ 1ull << 57, "4.57 y" },
		{ 1ull << 63, "292 y" },
	};

	(void)state;
	check_u64(fmt_edge_ns, cases, COUNT(cases));
}

static void edges_differ_and_are_short(void **state)
{
	char texts[64][FMT_LEN];
	double before = 0, now;
	int i, j;

	(void)state;
	for (i = 0; i < 64; i++) {
		now = read_back(fmt_edge_ns(texts[i], sizeof(texts[i]), 1ull << i));
		assert_in_range(strlen(texts[i]), 4, 7);
		assert_true(fabs(now / (double)(1ull << i) - 1) < 0.05);
		assert_true(now > before);
		before = now;
		for (j = 0; j < i; j++)
			assert_string_not_equal(texts[i], texts[j]);
	}
}

/* --- other numbers --- */

static void counts(void **state)
{
	static const struct u64_case cases[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 12345, "12,345" },
		{ 123456, "123,456" },
		{ 1234567, "1,234,567" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};

	(void)state;
	check_u64(fmt_count, cases, COUNT(cases));
}

static void bytes(void **state)
{
	static const struct u64_case cases[] = {
		{ 0, "0 B" },
		{ 1000, "1000 B" },
		{ 1023, "1023 B" },
		{ 1024, "1 KiB" },
		{ 1536, "1.5 KiB" },
		{ 1258291, "1.2 MiB" },
		{ 1023 * 1024, "1023 KiB" },
		{ 1023 * 1024 + 511, "1023 KiB" },
		{ 1023 * 1024 + 512, "1 MiB" }, /* never "1024 KiB" */
		{ 64ull << 20, "64 MiB" },
		{ 5ull << 30, "5 GiB" },
		{ (5ull << 40) + (1ull << 38), "5.25 TiB" },
		{ 3ull << 50, "3 PiB" },
		{ 1ull << 60, "1020 PiB" },
	};

	(void)state;
	check_u64(fmt_bytes, cases, COUNT(cases));
}

static void rates(void **state)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "0" },
		{ 1e-300, "<0.01" },
		{ 0.0099, "<0.01" },
		{ 0.01, "0.01" },
		{ 0.0149, "0.01" },
		{ 0.25, "0.25" },
		{ 1, "1" },
		{ 9.999, "10" },
		{ 12.34, "12.3" },
		{ 850, "850" },
		{ 999.4, "999" },
		{ 999.6, "1k" },
		{ 12345, "12.3k" },
		{ 4.56e6, "4.56M" },
		{ 999e3, "999k" },
		{ 999e6, "999M" },
		{ 999e9, "999G" },
		{ 1e12, "1T" },
		{ 7.8e9, "7.8G" },
		{ 1.5e12, "1.5T" },
		{ 998e12, "998T" },
		{ 999e12, ">999T" },
		{ 1e300, ">999T" },
		{ INFINITY, ">999T" },
		{ -1, "-" },
		{ -INFINITY, "-" },
		{ NAN, "-" },
	};
	char buf[FMT_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_ptr_equal(fmt_rate(buf, sizeof(buf), cases[i].v), buf);
		assert_string_equal(buf, cases[i].text);
	}
}

/* --- points in time --- */

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

#define MOMENT 1769861107123456789ull /* 2026-01-31 12:05:07.123456789 UTC */

static void times(void **state)
{
	static const struct {
		const char *zone;
		uint64_t v;
		const char *text;
	} cases[] = {
		{ "XXX-1", MOMENT, "2026-01-31 13:05:07.123 +0100" },
		{ "XXX5:30", MOMENT, "2026-01-31 06:35:07.123 -0530" },
		{ "UTC0", MOMENT, "2026-01-31 12:05:07.123 +0000" },
		{ "UTC0", 0, "1970-01-01 00:00:00.000 +0000" },
		{ "UTC0", 999999999, "1970-01-01 00:00:00.999 +0000" }, /* cut, not rounded */
		{ "UTC0", 1000000, "1970-01-01 00:00:00.001 +0000" },
		{ "UTC0", UINT64_MAX, "2554-07-21 23:34:33.709 +0000" },
	};
	char buf[FMT_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		set_zone(cases[i].zone);
		assert_ptr_equal(fmt_time(buf, sizeof(buf), cases[i].v), buf);
		assert_string_equal(buf, cases[i].text);
	}
	unsetenv("TZ");
	tzset();
}

static void rfc3339(void **state)
{
	static const struct u64_case cases[] = {
		{ MOMENT, "2026-01-31T12:05:07.123456789Z" },
		{ 0, "1970-01-01T00:00:00.000000000Z" },
		{ 5, "1970-01-01T00:00:00.000000005Z" },
		{ UINT64_MAX, "2554-07-21T23:34:33.709551615Z" },
	};

	(void)state;
	set_zone("XXX-1"); /* has no say */
	check_u64(fmt_rfc3339, cases, COUNT(cases));
	unsetenv("TZ");
	tzset();
}

/* --- strings --- */

static const struct {
	const char *s;
	int len;
	uint32_t codepoint;
} utf8_cases[] = {
	{ "a", 1, 'a' },
	{ "\x7f", 1, 0x7f },
	{ "", 0, 0 },
	{ "\x80", 0, 0 }, /* a continuation alone */
	{ "\xbf", 0, 0 },
	{ "\xc0\x80", 0, 0 }, /* overlong NUL */
	{ "\xc1\xbf", 0, 0 },
	{ "\xc2\x80", 2, 0x80 },
	{ "\xdf\xbf", 2, 0x7ff },
	{ "\xdf", 0, 0 },
	{ "\xdf\x7f", 0, 0 },
	{ "\xdf\xc0", 0, 0 },
	{ "\xe0\x9f\xbf", 0, 0 }, /* overlong */
	{ "\xe0\xa0\x80", 3, 0x800 },
	{ "\xed\x9f\xbf", 3, 0xd7ff },
	{ "\xed\xa0\x80", 0, 0 }, /* surrogates */
	{ "\xed\xbf\xbf", 0, 0 },
	{ "\xee\x80\x80", 3, 0xe000 },
	{ "\xef\xbf\xbf", 3, 0xffff },
	{ "\xef\xbf", 0, 0 },
	{ "\xef", 0, 0 },
	{ "\xef\xbf"
	  "a",
	  0, 0 },
	{ "\xf0\x8f\xbf\xbf", 0, 0 }, /* overlong */
	{ "\xf0\x90\x80\x80", 4, 0x10000 },
	{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	{ "\xf4\x90\x80\x80", 0, 0 }, /* above the last one */
	{ "\xf5\x80\x80\x80", 0, 0 },
	{ "\xf8\x88\x80\x80\x80", 0, 0 },
	{ "\xff", 0, 0 },
	{ "\xf0\x9f\x98", 0, 0 },
	{ "\xf0\x9f\x98\x80", 4, 0x1f600 },
};

static void utf8(void **state)
{
	uint32_t c;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(utf8_cases); i++) {
		c = 0xdead;
		assert_int_equal(fmt_utf8(utf8_cases[i].s, &c), utf8_cases[i].len);
		assert_int_equal(c, utf8_cases[i].len ? utf8_cases[i].codepoint : 0xdead);
	}
}

static int encode(char *buf, uint32_t c)
{
	int i, len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	memset(buf, 0, 5);
	buf[0] = (char)(len == 1 ? c : (0xf00u >> len) | (c >> 6 * (len - 1)));
	for (i = 1; i < len; i++)
		buf[i] = (char)(0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
	return len;
}

/* Every code point: decoded, and passed on unless it is a command to the terminal. */
static void every_code_point(void **state)
{
	char in[5], out[FMT_LEN];
	uint32_t c, got;

	(void)state;
	for (c = 1; c < 0x110000; c++) {
		bool surrogate = c >= 0xd800 && c < 0xe000;
		bool passes = !surrogate && c >= 0x20 && !(c >= 0x7f && c < 0xa0) &&
			      !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069);
		int len = encode(in, c);

		got = 0;
		if (fmt_utf8(in, &got) != (surrogate ? 0 : len) || got != (surrogate ? 0 : c))
			fail_msg("U+%04X is decoded wrong", (unsigned int)c);
		fmt_safe(out, sizeof(out), in);
		if (c == '\\')
			assert_string_equal(out, "\\\\");
		else if (passes ? strcmp(out, in) : strlen(out) != 4 * (size_t)len)
			fail_msg("U+%04X became %s", (unsigned int)c, out);
	}
}

static void safe(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "call_rcu+0x1f [mod]", "call_rcu+0x1f [mod]" },
		{ "\033[2J", "\\x1b[2J" },
		{ "a\nb\tc\r\001\x7f", "a\\x0ab\\x09c\\x0d\\x01\\x7f" },
		{ "\\x41", "\\\\x41" },
		{ "\xc2\x9b"
		  "2J",
		  "\\xc2\\x9b2J" },
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },
		{ "\xff\xc3\xa9\xc3", "\\xff\xc3\xa9\\xc3" },
		{ "\xe4\xb8"
		  "b",
		  "\\xe4\\xb8b" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xf0\x80\x80\x8a", "\\xf0\\x80\\x80\\x8a" },
	};
	char buf[FMT_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_ptr_equal(fmt_safe(buf, sizeof(buf), cases[i].in), buf);
		assert_string_equal(buf, cases[i].out);
	}
}

/* The longest whole pieces that fit, whatever the size, and not a byte behind it. */
static void safe_cuts_between_characters(void **state)
{
	static const char in[] = "a\xc3\xa9\n\xe4\xb8\xad\\\xf0\x9f\x98\x80\xff\xc2\x80z";
	static const char *const pieces[] = {
		"a",     "\xc3\xa9",   "\\x0a", "\xe4\xb8\xad", "\\\\", "\xf0\x9f\x98\x80",
		"\\xff", "\\xc2\\x80", "z",
	};
	char buf[64], expect[64];
	size_t size, i;

	(void)state;
	for (size = 1; size < sizeof(buf); size++) {
		expect[0] = '\0';
		for (i = 0; i < COUNT(pieces); i++) {
			if (strlen(expect) + strlen(pieces[i]) >= size)
				break;
			memcpy(expect + strlen(expect), pieces[i], strlen(pieces[i]) + 1);
		}
		memset(buf, '#', sizeof(buf));
		fmt_safe(buf, size, in);
		assert_string_equal(buf, expect);
		for (i = size; i < sizeof(buf); i++)
			assert_int_equal(buf[i], '#');
	}
}

/* Any bytes at all give valid UTF-8 without a control. */
static void safe_of_random_bytes(void **state)
{
	char in[32], out[4 * sizeof(in)];
	const char *s;
	uint32_t c;
	size_t i;
	int n, len;

	(void)state;
	for (n = 0; n < 20000; n++) {
		for (i = 0; i < sizeof(in); i++)
			in[i] = (char)next_random();
		in[sizeof(in) - 1] = '\0';
		fmt_safe(out, 1 + next_random() % sizeof(out), in);
		for (s = out; *s; s += len) {
			len = fmt_utf8(s, &c);
			assert_true(len > 0);
			assert_true(c >= 0x20 && !(c >= 0x7f && c < 0xa0));
		}
	}
}

static void no_room(void **state)
{
	static const format_u64 formats[] = {
		fmt_ns,   fmt_edge_ns, fmt_count,    fmt_bytes,
		fmt_time, fmt_rfc3339, fmt_time_arg, fmt_size_arg,
	};
	char buf[16];
	size_t i, size;

	(void)state;
	for (size = 0; size < sizeof(buf); size++)
		for (i = 0; i < COUNT(formats) + 3; i++) {
			memset(buf, '#', sizeof(buf));
			if (i < COUNT(formats))
				formats[i](buf, size, 1234567890123456789ull);
			else if (i == COUNT(formats))
				fmt_safe(buf, size, "a name that is long enough");
			else if (i == COUNT(formats) + 1)
				fmt_bar(buf, size, 1, 2, 40);
			else
				fmt_rate(buf, size, 1.23e9);
			if (size)
				assert_non_null(memchr(buf, '\0', size));
			assert_int_equal(buf[size], '#');
		}
}

static void widths(void **state)
{
	static const struct {
		const char *s;
		size_t width;
	} cases[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "gr\xc3\xbc\xc3\x9f", 4 },
		{ "\xe4\xb8\xad\xe6\x96\x87", 4 }, /* CJK */
		{ "\xed\x95\x9c", 2 },             /* Hangul */
		{ "\xe3\x81\x82\xef\xbd\xb1", 3 }, /* kana, halfwidth kana */
		{ "\xef\xbc\xa1", 2 },             /* fullwidth A */
		{ "\xf0\x9f\x98\x80", 2 },         /* emoji */
		{ "\xe2\x9c\x94\xef\xb8\x8f", 1 }, /* check mark, variation selector */
		{ "e\xcc\x81", 1 },                /* e and a combining acute */
		{ "\xcb\xbf\xcd\xb0", 2 },         /* U+2FF, U+370: around the block */
		{ "a\xe2\x80\x8b"
		  "b",
		  2 },                                     /* zero-width space */
		{ "\xe1\x84\x80\xe1\x85\xa1", 2 },         /* conjoining Hangul */
		{ "\xe3\x80\xaa\xe3\x80\xb0", 2 },         /* combining and wide in one block */
		{ "\xe2\x96\x88", 1 },                     /* full block */
		{ "\xf0\xa0\x80\x80\xf0\xbf\xbf\xbd", 4 }, /* plane 2, last of plane 3 */
		{ "\xf3\xa0\x87\xaf\xf3\xa0\x87\xb0", 1 }, /* U+E01EF, U+E01F0 */
		{ "\xff"
		  "a",
		  2 },
		{ "\\x1b[2J", 7 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		assert_int_equal(fmt_width(cases[i].s), cases[i].width);
}

/* What newer editions of Unicode made wide, or what C libraries see differently. */
static bool width_is_disputed(uint32_t c)
{
	return (c >= 0x2630 && c <= 0x2637) || (c >= 0x268a && c <= 0x268f) ||
	       (c >= 0x3248 && c <= 0x324f) || (c >= 0x4dc0 && c <= 0x4dff);
}

/*
 * Code points whose width has been settled for long. Combining marks of some scripts are left out of
 * our table on purpose: 1 is right there, as long as it is not 2.
 */
static void widths_agree_with_wcwidth(void **state)
{
	char in[5];
	uint32_t c;
	int want, got, compared = 0;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		print_message("no locale C.UTF-8 here: no wcwidth() to compare with\n");
		skip();
	}
	for (c = 0xa0; c < 0x1f650; c++) {
		if (c == 0xd800) /* surrogates and private use */
			c = 0xf900;
		if (c == 0x10000) /* planes in motion */
			c = 0x1f300;
		want = wcwidth((wchar_t)c);
		if (want < 0 || width_is_disputed(c))
			continue;
		encode(in, c);
		got = (int)fmt_width(in);
		compared++;
		if (got != want && !(want == 0 && got == 1 && c >= 0x5c4 && c <= 0xabed))
			fail_msg("U+%04X: %d columns, not %d", (unsigned int)c, got, want);
	}
	setlocale(LC_CTYPE, "C");
	assert_true(compared > 50000);
}

static void bars(void **state)
{
	static const struct {
		uint64_t n, max;
		size_t width;
		const char *bar;
	} cases[] = {
		{ 0, 10, 5, "     " },
		{ 0, 0, 5, "     " },
		{ 10, 10, 5, "@@@@@" },
		{ 11, 10, 5, "@@@@@" },
		{ 3, 0, 2, "@@" },
		{ 5, 10, 4, "@@  " },
		{ 9, 10, 5, "@@@@ " }, /* full only when it is */
		{ 1, UINT64_MAX, 4, "@   " },
		{ UINT64_MAX, UINT64_MAX, 3, "@@@" },
		{ UINT64_MAX / 2, UINT64_MAX, 4, "@@  " },
		{ 1, 1, 0, "" },
	};
	char buf[FMT_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		assert_ptr_equal(
			fmt_bar(buf, sizeof(buf), cases[i].n, cases[i].max, cases[i].width), buf);
		assert_string_equal(buf, cases[i].bar);
	}
	assert_string_equal(fmt_bar(buf, 4, 1, 2, 10), "@  ");
	memset(buf, '#', sizeof(buf));
	assert_string_equal(fmt_bar(buf, 4, 1, 1, 4), "@@@");
	assert_int_equal(buf[4], '#');
	assert_string_equal(fmt_bar(buf, 4, 1, 1, 5), "@@@");
	assert_int_equal(buf[4], '#');
	assert_int_equal(buf[5], '#');
	assert_string_equal(fmt_bar(buf, 1, 1, 2, 10), "");
}

/* --- what people type --- */

struct parse_case {
	const char *s;
	int err;
	uint64_t v;
};

static void check_parse(int (*parse)(const char *, uint64_t *), const struct parse_case *cases,
			size_t n)
{
	uint64_t v;
	size_t i;

	for (i = 0; i < n; i++) {
		v = 0xdead;
		if (parse(cases[i].s, &v) != cases[i].err)
			fail_msg("\"%s\" returned another thing than %d", cases[i].s, cases[i].err);
		if (v != (cases[i].err ? 0xdead : cases[i].v))
			fail_msg("\"%s\" became %llu", cases[i].s, (unsigned long long)v);
	}
}

static void parse_time(void **state)
{
	static const struct parse_case cases[] = {
		{ "5", 0, 5 * S },
		{ "0", 0, 0 },
		{ "007", 0, 7 * S },
		{ "5s", 0, 5 * S },
		{ "100ms", 0, 100000000 },
		{ "10us", 0, 10000 },
		{ "42ns", 0, 42 },
		{ "3m", 0, 3 * MIN },
		{ "3min", 0, 3 * MIN },
		{ "2h", 0, 2 * HOUR },
		{ "1d", 0, DAY },
		{ "1.5s", 0, 1500000000 },
		{ "1.5", 0, 1500000000 },
		{ ".5s", 0, 500000000 },
		{ "0.1s", 0, 100000000 },
		{ "0.3ms", 0, 300000 },
		{ "1.000000001s", 0, 1000000001 },
		{ "0.123456789123456789123456789s", 0, 123456789 },
		{ "1.1h", 0, 66 * MIN },
		{ "0.7d", 0, DAY / 10 * 7 },
		{ "1.45ns", 0, 1 },
		{ "1.5ns", 0, 2 },
		{ "18446744073.709551615s", 0, UINT64_MAX },
		{ "18446744073709551615ns", 0, UINT64_MAX },
		{ "18446744073709551616ns", -ERANGE, 0 },
		{ "18446744073.709551616s", -ERANGE, 0 },
		{ "18446744074s", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "99999999999999999999999999x", -EINVAL, 0 }, /* no time, however large */
		{ "99999999999999999999999999.5s", -ERANGE, 0 },
		{ "18446744073709551615d", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ ".s", -EINVAL, 0 },
		{ "5.", -EINVAL, 0 },
		{ "5.s", -EINVAL, 0 },
		{ "1.2.3s", -EINVAL, 0 },
		{ "5x", -EINVAL, 0 },
		{ "5ss", -EINVAL, 0 },
		{ "5 s", -EINVAL, 0 },
		{ " 5s", -EINVAL, 0 },
		{ "5s ", -EINVAL, 0 },
		{ "5S", -EINVAL, 0 },
		{ "-5s", -EINVAL, 0 },
		{ "+5s", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
	};

	(void)state;
	check_parse(fmt_parse_time, cases, COUNT(cases));
}

/* More digits than a double can count to. */
static void parse_time_with_many_digits(void **state)
{
	char text[503] = "";
	uint64_t v = 0;

	(void)state;
	memset(text, '9', 500);
	text[1] = '.';
	assert_int_equal(fmt_parse_time(text, &v), 0);
	assert_int_equal(v, 10 * S);
	memset(text + 2, '0', 498);
	assert_int_equal(fmt_parse_time(text, &v), 0);
	assert_int_equal(v, 9 * S);
	memset(text, '9', 500);
	assert_int_equal(fmt_parse_time(text, &v), -ERANGE);
	text[500] = '.';
	assert_int_equal(fmt_parse_time(text, &v), -EINVAL);
}

static void parse_size(void **state)
{
	static const struct parse_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "4k", 0, 4096 },
		{ "4K", 0, 4096 },
		{ "4KiB", 0, 4096 },
		{ "64M", 0, 64ull << 20 },
		{ "64MiB", 0, 64ull << 20 },
		{ "1G", 0, 1ull << 30 },
		{ "1GiB", 0, 1ull << 30 },
		{ "2T", 0, 2ull << 40 },
		{ "2TiB", 0, 2ull << 40 },
		{ "1.5G", 0, 3ull << 29 },
		{ "0.1M", 0, 104858 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "16777216T", -ERANGE, 0 },
		{ "16777215T", 0, 16777215ull << 40 },
		{ "", -EINVAL, 0 },
		{ "k", -EINVAL, 0 },
		{ "4b", -EINVAL, 0 },
		{ "4 k", -EINVAL, 0 },
		{ "-4k", -EINVAL, 0 },
		{ "4ms", -EINVAL, 0 },
	};

	(void)state;
	check_parse(fmt_parse_size, cases, COUNT(cases));
}

static void args(void **state)
{
	static const struct u64_case time_cases[] = {
		{ 0, "0" },
		{ 1, "1ns" },
		{ 1500, "1500ns" },
		{ 2000, "2us" },
		{ 100000000, "100ms" },
		{ S, "1s" },
		{ 90 * S, "90s" },
		{ 2 * MIN, "2m" },
		{ HOUR, "1h" },
		{ DAY, "24h" },
		{ UINT64_MAX, "18446744073709551615ns" },
	};
	static const struct u64_case size_cases[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ 1000, "1000" },
		{ 4096, "4k" },
		{ 64ull << 20, "64M" },
		{ 3ull << 29, "1536M" },
		{ 1ull << 30, "1G" },
		{ 5ull << 40, "5T" },
	};

	(void)state;
	check_u64(fmt_time_arg, time_cases, COUNT(time_cases));
	check_u64(fmt_size_arg, size_cases, COUNT(size_cases));
}

static void args_read_back(void **state)
{
	static const uint64_t factors[] = { 1, 1000, 1024, S, MIN, 1ull << 20, 3600 };
	char buf[FMT_LEN];
	uint64_t v, got;
	int i;

	(void)state;
	for (i = 0; i < 50000; i++) {
		v = any_magnitude();
		v *= factors[next_random() % COUNT(factors)];
		got = ~v;
		assert_int_equal(fmt_parse_time(fmt_time_arg(buf, sizeof(buf), v), &got), 0);
		assert_int_equal(got, v);
		got = ~v;
		assert_int_equal(fmt_parse_size(fmt_size_arg(buf, sizeof(buf), v), &got), 0);
		assert_int_equal(got, v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ns),
		cmocka_unit_test(ns_is_near_and_never_falls),
		cmocka_unit_test(edges),
		cmocka_unit_test(edges_differ_and_are_short),
		cmocka_unit_test(counts),
		cmocka_unit_test(bytes),
		cmocka_unit_test(rates),
		cmocka_unit_test(times),
		cmocka_unit_test(rfc3339),
		cmocka_unit_test(utf8),
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(safe),
		cmocka_unit_test(safe_cuts_between_characters),
		cmocka_unit_test(safe_of_random_bytes),
		cmocka_unit_test(no_room),
		cmocka_unit_test(widths),
		cmocka_unit_test(widths_agree_with_wcwidth),
		cmocka_unit_test(bars),
		cmocka_unit_test(parse_time),
		cmocka_unit_test(parse_time_with_many_digits),
		cmocka_unit_test(parse_size),
		cmocka_unit_test(args),
		cmocka_unit_test(args_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
