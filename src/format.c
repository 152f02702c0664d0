// SPDX-License-Identifier: GPL-2.0-only
/* format.c - short forms of numbers and times, both ways, and strings that a terminal can bear. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "format.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define US_NS 1000ull
#define MS_NS (1000 * US_NS)
#define S_NS (1000 * MS_NS)
#define MIN_NS (60 * S_NS)
#define HOUR_NS (60 * MIN_NS)
#define DAY_NS (24 * HOUR_NS)
#define YEAR_NS (365 * DAY_NS)

#define KIB (1ull << 10)
#define MIB (1ull << 20)
#define GIB (1ull << 30)
#define TIB (1ull << 40)
#define PIB (1ull << 50)

/* --- numbers with a unit --- */

struct unit {
	const char *name;
	uint64_t size;
	uint64_t below; /* 1000: shown with three significant digits, 100: with two */
};

static const struct unit ns_units[] = {
	{ " ns", 1, 1000 },     { " us", US_NS, 1000 },   { " ms", MS_NS, 1000 },
	{ " s", S_NS, 1000 },   { " min", MIN_NS, 1000 }, { " h", HOUR_NS, 1000 },
	{ " d", DAY_NS, 1000 }, { NULL, 0, 0 },
};

/* An edge has 7 columns: hence a digit less with the longest unit, and years (2^63 ns: 292). */
static const struct unit edge_units[] = {
	{ " ns", 1, 1000 },     { " us", US_NS, 1000 },  { " ms", MS_NS, 1000 },
	{ " s", S_NS, 1000 },   { " min", MIN_NS, 100 }, { " h", HOUR_NS, 1000 },
	{ " d", DAY_NS, 1000 }, { " y", YEAR_NS, 1000 }, { NULL, 0, 0 },
};

static const struct unit byte_units[] = {
	{ " B", 1, 1000 },     { " KiB", KIB, 1000 }, { " MiB", MIB, 1000 }, { " GiB", GIB, 1000 },
	{ " TiB", TIB, 1000 }, { " PiB", PIB, 1000 }, { NULL, 0, 0 },
};

/* Of thousandths, so that rates below 1 keep their digits. */
static const struct unit rate_units[] = {
	{ "", 1000, 1000 },
	{ "k", 1000 * 1000ull, 1000 },
	{ "M", 1000 * 1000000ull, 1000 },
	{ "G", 1000 * 1000000000ull, 1000 },
	{ "T", 1000 * 1000000000000ull, 1000 },
	{ NULL, 0, 0 },
};

/* n in unit u, rounded, times a power of ten for the decimals that the unit's digits allow. */
static uint64_t scaled(uint64_t n, const struct unit *u, uint64_t *power)
{
	uint64_t whole = n / u->size, rest = n % u->size;

	*power = 1;
	while (u->size > 1 && (whole ? whole : 1) * *power * 10 < u->below)
		*power *= 10;
	return whole * *power + (rest * *power + u->size / 2) / u->size;
}

/* n in unit u, a thousand or more of them: rounded once, to three digits and zeros. */
static uint64_t three_digits(uint64_t n, const struct unit *u)
{
	uint64_t power = 1, step;

	while (n / u->size / power >= 1000)
		power *= 10;
	step = power * u->size;
	return (n / step + (n % step >= step / 2)) * power;
}

static char *format_unit(char *buf, size_t size, uint64_t n, const struct unit *u)
{
	uint64_t power, v = scaled(n, u, &power);

	/* Asked after rounding, so that 999.9 us is 1 ms. */
	while (u[1].name && v >= u[1].size / u->size * power)
		v = scaled(n, ++u, &power);
	if (!u[1].name && v >= 1000 * power)
		v = three_digits(n, u);
	while (power > 1 && v % 10 == 0) {
		v /= 10;
		power /= 10;
	}
	if (power > 1)
		snprintf(buf, size, "%" PRIu64 ".%0*" PRIu64 "%s", v / power, power > 10 ? 2 : 1,
			 v % power, u->name);
	else
		snprintf(buf, size, "%" PRIu64 "%s", v, u->name);
	return buf;
}

char *fmt_ns(char *buf, size_t size, uint64_t ns)
{
	return format_unit(buf, size, ns, ns_units);
}

char *fmt_edge_ns(char *buf, size_t size, uint64_t ns)
{
	return format_unit(buf, size, ns, edge_units);
}

char *fmt_bytes(char *buf, size_t size, uint64_t bytes)
{
	return format_unit(buf, size, bytes, byte_units);
}

char *fmt_rate(char *buf, size_t size, double per_s)
{
	if (!(per_s >= 0)) /* no rate: not a number, or a counter that went back */
		snprintf(buf, size, "-");
	else if (per_s > 0 && per_s < 0.01)
		snprintf(buf, size, "<0.01");
	else if (per_s >= 999e12)
		snprintf(buf, size, ">999T");
	else /* cut here, since it is rounded there */
		format_unit(buf, size, (uint64_t)(per_s * 1000), rate_units);
	return buf;
}

char *fmt_count(char *buf, size_t size, uint64_t n)
{
	char digits[24], grouped[32];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	int i, used = 0;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			grouped[used++] = ',';
		grouped[used++] = digits[i];
	}
	snprintf(buf, size, "%.*s", used, grouped);
	return buf;
}

/* --- points in time --- */

static void split_time(uint64_t realtime_ns, time_t *s, unsigned int *ns)
{
	*s = (time_t)(realtime_ns / S_NS);
	*ns = (unsigned int)(realtime_ns % S_NS);
}

char *fmt_rfc3339(char *buf, size_t size, uint64_t realtime_ns)
{
	char day[32] = "";
	unsigned int ns;
	struct tm tm;
	time_t s;

	split_time(realtime_ns, &s, &ns);
	if (gmtime_r(&s, &tm))
		strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf, size, "%s.%09uZ", day, ns);
	return buf;
}

char *fmt_time(char *buf, size_t size, uint64_t realtime_ns)
{
	char day[32] = "", zone[8] = "";
	unsigned int ns;
	struct tm tm;
	time_t s;

	split_time(realtime_ns, &s, &ns);
	if (localtime_r(&s, &tm)) {
		strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
		strftime(zone, sizeof(zone), "%z", &tm);
	}
	/* Cut, not rounded: a time must not be later than the event. */
	snprintf(buf, size, "%s.%03u %s", day, ns / (unsigned int)MS_NS, zone);
	return buf;
}

/* --- strings --- */

int fmt_utf8(const char *s, uint32_t *codepoint)
{
	static const uint32_t least[] = { 0, 1, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	int len, i;
	uint32_t c;

	len = u[0] < 0x80 ? 1 : u[0] >> 5 == 6 ? 2 : u[0] >> 4 == 14 ? 3 : u[0] >> 3 == 30 ? 4 : 0;
	if (!len)
		return 0;
	c = len == 1 ? u[0] : u[0] & (0x7fu >> len);
	for (i = 1; i < len; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (u[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*codepoint = c;
	return len;
}

/* What a terminal obeys instead of showing: controls, and what breaks or reorders the line. */
static bool commands_terminal(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

#define PIECE_LEN 20 /* four bytes as \xNN, and the NUL */

/* The harmless form of the character at *s, which moves on; returns its length. */
static size_t safe_piece(char *piece, const char **s)
{
	uint32_t c;
	int i, len = fmt_utf8(*s, &c);

	if (len && c == '\\') {
		memcpy(piece, "\\\\", 2);
		*s += 1;
		return 2;
	}
	if (len && !commands_terminal(c)) {
		memcpy(piece, *s, (size_t)len);
		*s += len;
		return (size_t)len;
	}
	if (!len)
		len = 1;
	for (i = 0; i < len; i++)
		snprintf(piece + 4 * i, PIECE_LEN - 4 * (size_t)i, "\\x%02x",
			 (unsigned char)(*s)[i]);
	*s += len;
	return 4 * (size_t)len;
}

char *fmt_safe(char *buf, size_t size, const char *s)
{
	char piece[PIECE_LEN];
	size_t len, used = 0;

	if (!size)
		return buf;
	while (*s) {
		len = safe_piece(piece, &s);
		if (len >= size - used)
			break;
		memcpy(buf + used, piece, len);
		used += len;
	}
	buf[used] = '\0';
	return buf;
}

struct range {
	uint32_t first, last;
};

/* The large blocks of combining and invisible characters; scripts rare in names are left out. */
static const struct range zero_width[] = {
	{ 0x300, 0x36f },     { 0x483, 0x489 },     { 0x591, 0x5bd },   { 0x5bf, 0x5bf },
	{ 0x5c1, 0x5c2 },     { 0x610, 0x61a },     { 0x64b, 0x65f },   { 0x670, 0x670 },
	{ 0x6d6, 0x6dc },     { 0x900, 0x902 },     { 0x93c, 0x93c },   { 0x941, 0x948 },
	{ 0x94d, 0x94d },     { 0xe31, 0xe31 },     { 0xe34, 0xe3a },   { 0xe47, 0xe4e },
	{ 0x1160, 0x11ff },   { 0x1ab0, 0x1ace },   { 0x1dc0, 0x1dff }, { 0x200b, 0x200f },
	{ 0x202a, 0x202e },   { 0x2060, 0x2064 },   { 0x2066, 0x206f }, { 0x20d0, 0x20f0 },
	{ 0x302a, 0x302d },   { 0x3099, 0x309a },   { 0xd7b0, 0xd7fb }, { 0xfb1e, 0xfb1e },
	{ 0xfe00, 0xfe0f },   { 0xfe20, 0xfe2f },   { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
	{ 0xe0001, 0xe007f }, { 0xe0100, 0xe01ef },
};

static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },   { 0x23e9, 0x23ec },
	{ 0x23f0, 0x23f0 },   { 0x23f3, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },   { 0x267f, 0x267f },   { 0x2693, 0x2693 },   { 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab },   { 0x26bd, 0x26be },   { 0x26c4, 0x26c5 },   { 0x26ce, 0x26ce },
	{ 0x26d4, 0x26d4 },   { 0x26ea, 0x26ea },   { 0x26f2, 0x26f3 },   { 0x26f5, 0x26f5 },
	{ 0x26fa, 0x26fa },   { 0x26fd, 0x26fd },   { 0x2705, 0x2705 },   { 0x270a, 0x270b },
	{ 0x2728, 0x2728 },   { 0x274c, 0x274c },   { 0x274e, 0x274e },   { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27b0, 0x27b0 },   { 0x27bf, 0x27bf },
	{ 0x2b1b, 0x2b1c },   { 0x2b50, 0x2b50 },   { 0x2b55, 0x2b55 },   { 0x2e80, 0x303e },
	{ 0x3041, 0x3247 },   { 0x3250, 0x4dbf },   { 0x4e00, 0xa4cf },   { 0xa960, 0xa97c },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6f },
	{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x18d08 }, { 0x1aff0, 0x1b2fb },
	{ 0x1f004, 0x1f004 }, { 0x1f0cf, 0x1f0cf }, { 0x1f18e, 0x1f18e }, { 0x1f191, 0x1f19a },
	{ 0x1f200, 0x1f320 }, { 0x1f32d, 0x1f335 }, { 0x1f337, 0x1f37c }, { 0x1f37e, 0x1f393 },
	{ 0x1f3a0, 0x1f3ca }, { 0x1f3cf, 0x1f3d3 }, { 0x1f3e0, 0x1f3f0 }, { 0x1f3f4, 0x1f3f4 },
	{ 0x1f3f8, 0x1f43e }, { 0x1f440, 0x1f440 }, { 0x1f442, 0x1f4fc }, { 0x1f4ff, 0x1f53d },
	{ 0x1f54b, 0x1f54e }, { 0x1f550, 0x1f567 }, { 0x1f57a, 0x1f57a }, { 0x1f595, 0x1f596 },
	{ 0x1f5a4, 0x1f5a4 }, { 0x1f5fb, 0x1f64f }, { 0x1f680, 0x1f6c5 }, { 0x1f6cc, 0x1f6cc },
	{ 0x1f6d0, 0x1f6d2 }, { 0x1f6d5, 0x1f6df }, { 0x1f6eb, 0x1f6ef }, { 0x1f6f4, 0x1f6ff },
	{ 0x1f7e0, 0x1f7f0 }, { 0x1f90c, 0x1f93a }, { 0x1f93c, 0x1f945 }, { 0x1f947, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x3fffd },
};

static bool in_ranges(const struct range *r, size_t n, uint32_t c)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t i = low + (high - low) / 2;

		if (c > r[i].last)
			low = i + 1;
		else
			high = i;
	}
	return low < n && c >= r[low].first;
}

size_t fmt_width(const char *s)
{
	size_t width = 0;
	uint32_t c;
	int len;

	for (; *s; s += len ? len : 1) {
		len = fmt_utf8(s, &c);
		if (!len) /* terminals show one replacement character */
			width++;
		else if (c >= 0x300 && in_ranges(zero_width, ARRAY_SIZE(zero_width), c))
			continue;
		else
			width += in_ranges(wide, ARRAY_SIZE(wide), c) ? 2 : 1;
	}
	return width;
}

char *fmt_bar(char *buf, size_t size, uint64_t n, uint64_t max, size_t width)
{
	size_t filled;

	if (!size)
		return buf;
	if (width > size - 1)
		width = size - 1;
	if (n >= max)
		filled = n ? width : 0;
	else
		filled = (size_t)((double)n / (double)max * (double)width);
	if (n && !filled && width)
		filled = 1;
	memset(buf, '@', filled);
	memset(buf + filled, ' ', width - filled);
	buf[width] = '\0';
	return buf;
}

/* --- what people type --- */

/* Longest first, for fmt_time_arg(); what comes after size 1 is only read. */
static const struct unit time_args[] = {
	{ "h", HOUR_NS, 0 }, { "m", MIN_NS, 0 }, { "s", S_NS, 0 }, { "ms", MS_NS, 0 },
	{ "us", US_NS, 0 },  { "ns", 1, 0 },     { "", S_NS, 0 },  { "min", MIN_NS, 0 },
	{ "d", DAY_NS, 0 },  { NULL, 0, 0 },
};

static const struct unit size_args[] = {
	{ "T", TIB, 0 },   { "G", GIB, 0 },   { "M", MIB, 0 },   { "k", KIB, 0 },
	{ "", 1, 0 },      { "K", KIB, 0 },   { "KiB", KIB, 0 }, { "MiB", MIB, 0 },
	{ "GiB", GIB, 0 }, { "TiB", TIB, 0 }, { NULL, 0, 0 },
};

/* Digits before the point; *s moves behind them. */
static int parse_whole(const char **s, uint64_t *whole)
{
	for (*whole = 0; **s >= '0' && **s <= '9'; ++*s)
		if (__builtin_mul_overflow(*whole, 10, whole) ||
		    __builtin_add_overflow(*whole, (uint64_t)(**s - '0'), whole))
			return -ERANGE;
	return 0;
}

/* Digits behind the point: fifteen are more than a double needs to hit any unit's last digit. */
static double parse_fraction(const char **s)
{
	double digits = 0, power = 1;

	for (; **s >= '0' && **s <= '9'; ++*s) {
		if (power >= 1e15)
			continue;
		digits = digits * 10 + (**s - '0');
		power *= 10;
	}
	return digits / power;
}

static const struct unit *find_arg(const struct unit *u, const char *name)
{
	for (; u->name; u++)
		if (!strcmp(u->name, name))
			return u;
	return NULL;
}

/* A number, perhaps with a fraction, and a unit. No sign, no space, no exponent. */
static int parse_arg(const struct unit *units, const char *s, uint64_t *value)
{
	const char *start = s, *point;
	const struct unit *u;
	double fraction = 0;
	uint64_t v, part;
	int err;

	err = parse_whole(&s, &v);
	s += strspn(s, "0123456789"); /* what is too large must still be a number */
	if (*s == '.') {
		point = s++;
		fraction = parse_fraction(&s);
		if (s == point + 1)
			return -EINVAL;
	}
	u = s == start ? NULL : find_arg(units, s);
	if (!u)
		return -EINVAL;
	part = (uint64_t)(fraction * (double)u->size + 0.5);
	if (err || __builtin_mul_overflow(v, u->size, &v) || __builtin_add_overflow(v, part, &v))
		return -ERANGE;
	*value = v;
	return 0;
}

int fmt_parse_time(const char *s, uint64_t *ns)
{
	return parse_arg(time_args, s, ns);
}

int fmt_parse_size(const char *s, uint64_t *bytes)
{
	return parse_arg(size_args, s, bytes);
}

static char *format_arg(char *buf, size_t size, uint64_t value, const struct unit *u)
{
	while (value % u->size)
		u++;
	snprintf(buf, size, "%" PRIu64 "%s", value / u->size, value ? u->name : "");
	return buf;
}

char *fmt_time_arg(char *buf, size_t size, uint64_t ns)
{
	return format_arg(buf, size, ns, time_args);
}

char *fmt_size_arg(char *buf, size_t size, uint64_t bytes)
{
	return format_arg(buf, size, bytes, size_args);
}
