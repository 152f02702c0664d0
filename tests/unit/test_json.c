// SPDX-License-Identifier: GPL-2.0-only
/* test_json.c - exact output, every misuse, write errors, and python's opinion of it all. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "json.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A document written to memory. */
struct doc {
	struct json j;
	FILE *out;
	char *text;
	size_t len;
};

static void doc_begin(struct doc *d, bool pretty)
{
	d->text = NULL;
	d->out = open_memstream(&d->text, &d->len);
	assert_non_null(d->out);
	json_init(&d->j, d->out, pretty);
}

static void doc_is(struct doc *d, const char *expect)
{
	assert_int_equal(json_end(&d->j), 0);
	fclose(d->out);
	assert_string_equal(d->text, expect);
	free(d->text);
}

/* --- exact output --- */

static void fill_sample(struct json *j)
{
	json_open(j, '{');
	json_kstr(j, "s", "text");
	json_kstr(j, "none", NULL);
	json_ku64(j, "n", 7);
	json_kdouble(j, "d", 0.5);
	json_kbool(j, "yes", true);
	json_kbool(j, "no", false);
	json_knull(j, "nil");
	json_kopen(j, "list", '[');
	json_u64(j, 1);
	json_i64(j, -2);
	json_open(j, '{');
	json_close(j);
	json_open(j, '[');
	json_close(j);
	json_open(j, '[');
	json_null(j);
	json_bool(j, true);
	json_str(j, "x");
	json_str(j, NULL);
	json_close(j);
	json_close(j);
	json_key(j, "last");
	json_open(j, '{');
	json_ku64(j, "in", 1);
	json_close(j);
	json_close(j);
}

static void compact(void **state)
{
	struct doc d;

	(void)state;
	doc_begin(&d, false);
	fill_sample(&d.j);
	doc_is(&d,
	       "{\"s\":\"text\",\"none\":null,\"n\":7,\"d\":0.5,\"yes\":true,\"no\":false,"
	       "\"nil\":null,\"list\":[1,-2,{},[],[null,true,\"x\",null]],\"last\":{\"in\":1}}\n");
}

static void pretty(void **state)
{
	struct doc d;

	(void)state;
	doc_begin(&d, true);
	fill_sample(&d.j);
	doc_is(&d, "{\n  \"s\": \"text\",\n  \"none\": null,\n  \"n\": 7,\n  \"d\": 0.5,\n"
		   "  \"yes\": true,\n  \"no\": false,\n  \"nil\": null,\n"
		   "  \"list\": [\n    1,\n    -2,\n    {},\n    [],\n"
		   "    [\n      null,\n      true,\n      \"x\",\n      null\n    ]\n  ],\n"
		   "  \"last\": {\n    \"in\": 1\n  }\n}\n");
}

static void scalars_are_documents(void **state)
{
	struct doc d;

	(void)state;
	doc_begin(&d, true);
	json_str(&d.j, "alone");
	doc_is(&d, "\"alone\"\n");
	doc_begin(&d, false);
	json_u64(&d.j, 0);
	doc_is(&d, "0\n");
}

static void integers_are_exact(void **state)
{
	struct doc d;

	(void)state;
	doc_begin(&d, false);
	json_open(&d.j, '[');
	json_u64(&d.j, 0);
	json_u64(&d.j, UINT64_MAX);
	json_u64(&d.j, (1ull << 53) + 1);
	json_i64(&d.j, INT64_MIN);
	json_i64(&d.j, INT64_MAX);
	json_i64(&d.j, -1);
	json_close(&d.j);
	doc_is(&d, "[0,18446744073709551615,9007199254740993,-9223372036854775808,"
		   "9223372036854775807,-1]\n");
}

static void doubles_are_short_and_exact(void **state)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ 0.1, "0.1" },
		{ -2.5, "-2.5" },
		{ 1e20, "1e+20" },
		{ 1e300, "1e+300" },
		{ 5e-324, "4.94065645841247e-324" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 123456789, "123456789" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
	};
	char expect[64];
	struct doc d;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		doc_begin(&d, false);
		json_double(&d.j, cases[i].v);
		snprintf(expect, sizeof(expect), "%s\n", cases[i].text);
		doc_is(&d, expect);
	}
}

/* --- locales of our own making: no host need have one with a comma --- */

static bool set_locale(const char *dir, const char *name)
{
	char command[512];

	snprintf(command, sizeof(command), "localedef -i %s -f UTF-8 %s/%s.UTF-8 >%s/log 2>&1",
		 name, dir, name, dir);
	if (system(command))
		return false;
	setenv("LOCPATH", dir, 1);
	snprintf(command, sizeof(command), "%s.UTF-8", name);
	return setlocale(LC_NUMERIC, command);
}

static void drop_locales(const char *dir)
{
	char command[512];

	setlocale(LC_NUMERIC, "C");
	unsetenv("LOCPATH");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* With the decimal point of that locale, of one byte or more; skips where there is no such locale. */
static void doubles_in_locale(const char *name, const char *half)
{
	char dir[] = "/tmp/kdefer-locale-XXXXXX", point[16] = "";
	struct doc d;

	assert_non_null(mkdtemp(dir));
	if (!set_locale(dir, name)) {
		drop_locales(dir);
		print_message("no localedef here, or no %s: cannot try its decimal point\n", name);
		skip();
	}
	snprintf(point, sizeof(point), "%.1f", 0.5);
	doc_begin(&d, false);
	json_open(&d.j, '[');
	json_double(&d.j, 0.5);
	json_double(&d.j, -1234.25);
	json_double(&d.j, 1.5e-9);
	json_double(&d.j, 1.0 / 3);
	json_double(&d.j, 3);
	json_close(&d.j);
	drop_locales(dir);
	assert_string_equal(point, half); /* else nothing was tried */
	doc_is(&d, "[0.5,-1234.25,1.5e-09,0.3333333333333333,3]\n");
}

static void doubles_with_a_decimal_comma(void **state)
{
	(void)state;
	doubles_in_locale("de_DE", "0,5");
}

static void doubles_with_a_point_of_two_bytes(void **state)
{
	(void)state;
	doubles_in_locale("ps_AF", "0\xd9\xab"
				   "5");
}

/* --- strings --- */

static void strings_are_escaped(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "a\"b\\c/d", "a\\\"b\\\\c/d" },
		{ "\n\t\r\b\f\001\037", "\\u000a\\u0009\\u000d\\u0008\\u000c\\u0001\\u001f" },
		{ "\x7f", "\\u007f" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009f\xc2\xa0" },
		{ "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7", "\\u2028\\u2029\xe2\x80\xa7" },
		{ "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x98\x80",
		  "gr\xc3\xbc\xc3\x9f \xe4\xb8\xad \xf0\x9f\x98\x80" },
		{ "\xff"
		  "a\xfe",
		  "\\ufffda\\ufffd" },
		{ "\xc3", "\\ufffd" },
		{ "\xe4\xb8", "\\ufffd\\ufffd" },
		{ "\xc0\xaf", "\\ufffd\\ufffd" },
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },
		{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
		{ "\xef\xbf\xbd", "\xef\xbf\xbd" },
	};
	char expect[256];
	struct doc d;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		doc_begin(&d, false);
		json_str(&d.j, cases[i].in);
		snprintf(expect, sizeof(expect), "\"%s\"\n", cases[i].out);
		doc_is(&d, expect);
		/* A key is escaped like any string. */
		doc_begin(&d, false);
		json_open(&d.j, '{');
		json_kbool(&d.j, cases[i].in, true);
		json_close(&d.j);
		snprintf(expect, sizeof(expect), "{\"%s\":true}\n", cases[i].out);
		doc_is(&d, expect);
	}
}

/* --- misuse --- */

static void value_without_key(struct json *j)
{
	json_open(j, '{');
	json_u64(j, 1);
}

static void string_without_key(struct json *j)
{
	json_open(j, '{');
	json_str(j, "x");
}

static void second_value_for_a_key(struct json *j)
{
	json_open(j, '{');
	json_ku64(j, "k", 1);
	json_null(j);
}

static void open_without_key(struct json *j)
{
	json_open(j, '{');
	json_open(j, '[');
}

static void close_of_nothing(struct json *j)
{
	json_close(j);
}

static void close_after_the_end(struct json *j)
{
	json_open(j, '[');
	json_close(j);
	json_close(j);
}

static void close_after_key(struct json *j)
{
	json_open(j, '{');
	json_key(j, "k");
	json_close(j);
}

static void key_in_array(struct json *j)
{
	json_open(j, '[');
	json_key(j, "k");
}

static void key_outside(struct json *j)
{
	json_key(j, "k");
}

static void two_keys(struct json *j)
{
	json_open(j, '{');
	json_key(j, "k");
	json_key(j, "l");
}

static void no_key(struct json *j)
{
	json_open(j, '{');
	json_key(j, NULL);
}

static void unknown_bracket(struct json *j)
{
	json_open(j, '(');
}

static void closing_bracket(struct json *j)
{
	json_open(j, '}');
}

static void second_document(struct json *j)
{
	json_u64(j, 1);
	json_u64(j, 2);
}

static void second_array(struct json *j)
{
	json_open(j, '[');
	json_close(j);
	json_open(j, '[');
}

static void too_deep(struct json *j)
{
	int i;

	for (i = 0; i <= JSON_DEPTH; i++)
		json_open(j, '[');
}

static void too_deep_with_keys(struct json *j)
{
	int i;

	json_open(j, '{');
	for (i = 0; i < JSON_DEPTH; i++)
		json_kopen(j, "k", '{');
}

static void (*const misuses[])(struct json *) = {
	value_without_key,
	string_without_key,
	second_value_for_a_key,
	open_without_key,
	close_of_nothing,
	close_after_the_end,
	close_after_key,
	key_in_array,
	key_outside,
	two_keys,
	no_key,
	unknown_bracket,
	closing_bracket,
	second_document,
	second_array,
	too_deep,
	too_deep_with_keys,
};

static void use_everything(struct json *j)
{
	fill_sample(j);
	json_double(j, 1.5);
	json_close(j);
	json_kopen(j, "k", '[');
	json_close(j);
}

static void misuse_stops_the_writer(void **state)
{
	struct doc d;
	size_t i, len;

	(void)state;
	for (i = 0; i < COUNT(misuses); i++) {
		doc_begin(&d, i % 2);
		misuses[i](&d.j);
		assert_int_equal(d.j.err, -EINVAL);
		fflush(d.out);
		len = d.len;
		use_everything(&d.j);
		assert_int_equal(json_end(&d.j), -EINVAL);
		assert_int_equal(d.j.err, -EINVAL);
		fclose(d.out);
		assert_int_equal(d.len, len);
		free(d.text);
	}
}

static void unfinished(void **state)
{
	struct doc d;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		doc_begin(&d, false);
		if (i) /* 0: nothing was written at all */
			json_open(&d.j, i == 1 ? '[' : '{');
		if (i == 3)
			json_key(&d.j, "k");
		assert_int_equal(json_end(&d.j), -EINVAL);
		fclose(d.out);
		assert_null(strchr(d.text, '\n'));
		free(d.text);
	}
}

static void deepest(void **state)
{
	char expect[2 * JSON_DEPTH + 2] = "";
	struct doc d;
	int i;

	(void)state;
	memset(expect, '[', JSON_DEPTH);
	memset(expect + JSON_DEPTH, ']', JSON_DEPTH);
	expect[2 * JSON_DEPTH] = '\n';
	doc_begin(&d, false);
	for (i = 0; i < JSON_DEPTH; i++)
		json_open(&d.j, '[');
	for (i = 0; i < JSON_DEPTH; i++)
		json_close(&d.j);
	doc_is(&d, expect);
}

/* --- files that cannot be written --- */

static void full_disk(void **state)
{
	FILE *out = fopen("/dev/full", "w");
	struct json j;

	(void)state;
	if (!out) {
		print_message("no /dev/full here\n");
		skip();
	}
	json_init(&j, out, false);
	fill_sample(&j);
	assert_int_equal(j.err, 0); /* it is still in the buffer */
	assert_int_equal(json_end(&j), -ENOSPC);
	fclose(out);

	out = fopen("/dev/full", "w");
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	json_init(&j, out, false);
	json_open(&j, '[');
	assert_int_equal(j.err, -ENOSPC);
	json_close(&j);
	json_close(&j); /* the first error stays */
	assert_int_equal(json_end(&j), -ENOSPC);
	fclose(out);
}

static void closed_pipe(void **state)
{
	struct json j;
	FILE *out;
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	out = fdopen(fds[1], "w");
	assert_non_null(out);
	close(fds[0]);
	json_init(&j, out, true);
	fill_sample(&j);
	assert_int_equal(json_end(&j), -EPIPE);
	fclose(out);
	signal(SIGPIPE, SIG_DFL);
}

/* --- python reads it back --- */

static bool have_python(void)
{
	if (!system("python3 -c 'import json' >/dev/null 2>&1"))
		return true;
	print_message("no python3 here: nobody to read the output back\n");
	return false;
}

static void run_python(const char *script, const char *path, char *answer, size_t size)
{
	char command[4096];
	FILE *in;
	size_t len;

	snprintf(command, sizeof(command), "python3 -c '%s' %s 2>&1", script, path);
	in = popen(command, "r");
	assert_non_null(in);
	len = fread(answer, 1, size - 1, in);
	answer[len] = '\0';
	if (pclose(in))
		fail_msg("python3: %s", answer);
}

static FILE *temp_file(char *path)
{
	int fd = mkstemp(path);
	FILE *out;

	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_non_null(out);
	return out;
}

/* Strings come back as hex, so that no terminal, locale or shell stands between. */
static void python_reads_what_was_meant(void **state)
{
	static const char script[] =
		"import json, sys\n"
		"d = json.load(open(sys.argv[1], encoding=\"utf-8\"))\n"
		"for s in d[\"strings\"]: print(s.encode(\"utf-8\").hex())\n"
		"for n in d[\"integers\"]: print(type(n).__name__, n)\n"
		"for x in d[\"doubles\"]: print(x == 0.1, x == 1/3, x == 5e-324, x is None)\n"
		"print(list(d), d[\"nested\"])\n";
	static const char *const strings[] = {
		"",     "plain",         "\"\\/\b\f\n\r\t\001", "\x7f\xc2\x85", "\xe2\x80\xa8",
		"\xff", "\xed\xa0\x80!", "\xf0\x9f\x98\x80",
	};
	char path[] = "/tmp/kdefer-json-XXXXXX", answer[4096];
	FILE *out;
	struct json j;
	size_t i;
	int err;

	(void)state;
	if (!have_python())
		skip();
	out = temp_file(path);
	json_init(&j, out, true);
	json_open(&j, '{');
	json_kopen(&j, "strings", '[');
	for (i = 0; i < COUNT(strings); i++)
		json_str(&j, strings[i]);
	json_close(&j);
	json_kopen(&j, "integers", '[');
	json_u64(&j, UINT64_MAX);
	json_i64(&j, INT64_MIN);
	json_close(&j);
	json_kopen(&j, "doubles", '[');
	json_double(&j, 0.1);
	json_double(&j, 1.0 / 3);
	json_double(&j, 5e-324);
	json_double(&j, NAN);
	json_close(&j);
	json_kopen(&j, "nested", '{');
	json_kopen(&j, "\"\n", '[');
	json_close(&j);
	json_close(&j);
	json_close(&j);
	err = json_end(&j);
	fclose(out);
	run_python(script, path, answer, sizeof(answer));
	unlink(path);
	assert_int_equal(err, 0);
	assert_string_equal(answer, "\n706c61696e\n225c2f080c0a0d0901\n7fc285\ne280a8\nefbfbd\n"
				    "efbfbdefbfbdefbfbd21\nf09f9880\n"
				    "int 18446744073709551615\nint -9223372036854775808\n"
				    "True False False False\nFalse True False False\n"
				    "False False True False\nFalse False False True\n"
				    "['strings', 'integers', 'doubles', 'nested'] {'\"\\n': []}\n");
}

static unsigned int next_random(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (unsigned int)(x >> 32);
}

/* Any call in any order, with any bytes: mostly misuse, sometimes a document. */
static void random_call(struct json *j)
{
	char bytes[8];
	size_t i;

	for (i = 0; i < sizeof(bytes) - 1; i++)
		bytes[i] = (char)next_random();
	bytes[next_random() % sizeof(bytes)] = '\0';
	bytes[sizeof(bytes) - 1] = '\0';
	switch (next_random() % 10) {
	case 0:
		json_open(j, '{');
		break;
	case 1:
		json_open(j, '[');
		break;
	case 2:
	case 3:
		json_close(j);
		break;
	case 4:
		json_key(j, bytes);
		break;
	case 5:
		json_str(j, bytes);
		break;
	case 6:
		json_ku64(j, bytes, next_random());
		break;
	case 7:
		json_kopen(j, bytes, next_random() & 1 ? '{' : '[');
		break;
	case 8:
		json_double(j, (double)next_random() / 1e3);
		break;
	case 9:
		json_kstr(j, bytes, bytes);
		break;
	}
}

static void python_reads_whatever_ended_well(void **state)
{
	static const char script[] =
		"import json, sys\n"
		"def no(c): raise ValueError(c)\n"
		"n = 0\n"
		"for l in open(sys.argv[1], encoding=\"utf-8\", newline=\"\\n\"):\n"
		"    json.loads(l, parse_constant=no); n += 1\n"
		"print(n)\n";
	char path[] = "/tmp/kdefer-json-XXXXXX", answer[4096], expect[32];
	int i, n, good = 0;
	struct doc d;
	FILE *out;

	(void)state;
	if (!have_python())
		skip();
	out = temp_file(path);
	for (i = 0; i < 50000; i++) {
		doc_begin(&d, false);
		for (n = (int)(1 + next_random() % 12); n; n--)
			random_call(&d.j);
		n = json_end(&d.j);
		fclose(d.out);
		if (!n) {
			fputs(d.text, out);
			good++;
		} else {
			assert_int_equal(n, -EINVAL);
			assert_null(strchr(d.text, '\n'));
		}
		free(d.text);
	}
	fclose(out);
	run_python(script, path, answer, sizeof(answer));
	unlink(path);
	assert_true(good > 500);
	snprintf(expect, sizeof(expect), "%d\n", good);
	assert_string_equal(answer, expect);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compact),
		cmocka_unit_test(pretty),
		cmocka_unit_test(scalars_are_documents),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(doubles_are_short_and_exact),
		cmocka_unit_test(doubles_with_a_decimal_comma),
		cmocka_unit_test(doubles_with_a_point_of_two_bytes),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(misuse_stops_the_writer),
		cmocka_unit_test(unfinished),
		cmocka_unit_test(deepest),
		cmocka_unit_test(full_disk),
		cmocka_unit_test(closed_pipe),
		cmocka_unit_test(python_reads_what_was_meant),
		cmocka_unit_test(python_reads_whatever_ended_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
