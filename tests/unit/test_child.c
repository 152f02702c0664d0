// SPDX-License-Identifier: GPL-2.0-only
/* The measured command: its end, its output passed on byte by byte, its figures. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "child.h"
#include "records.h"

static char heard[1024];
static struct child c;
static int ours; /* standard output as it was */

static int on_value(void *ctx, const struct child_value *v)
{
	static const char *const betters[] = { "none", "lower", "higher" };
	size_t used = strlen(heard);

	(void)ctx;
	snprintf(heard + used, sizeof(heard) - used, "%s=%g[%s] %s %s; ", v->name, v->value,
		 v->text, v->unit, betters[v->better]);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	forget_log();
	heard[0] = '\0';
	child_init(&c);
	c.on_value = on_value;
	fflush(stdout);
	ours = dup(STDOUT_FILENO);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dup2(ours, STDOUT_FILENO);
	close(ours);
	return 0;
}

/* Runs it with standard output into a file; what is in there afterwards. */
static char *run(const char *command)
{
	static char text[1 << 20];
	char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
	char path[] = "/tmp/kdefer-child-XXXXXX";
	int fd = mkstemp(path);
	struct pollfd p[2];
	ssize_t n;

	unlink(path);
	dup2(fd, STDOUT_FILENO);
	assert_int_equal(child_spawn(&c, argv, &(sigset_t){ 0 }), 0);
	child_go(&c);
	while (child_runs(&c)) {
		child_poll(&c, p);
		poll(p, 2, -1);
		assert_int_equal(child_serve(&c), 0);
	}
	dup2(ours, STDOUT_FILENO);
	n = pread(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[n] = '\0';
	return text;
}

static void test_output_and_status(void **state)
{
	const char *text;
	int i;

	(void)state;
	assert_string_equal(run("printf 'a\\nb'; exit 7"), "a\nb");
	assert_int_equal(c.status, 7);
	assert_string_equal(run("kill -9 $$"), "");
	assert_int_equal(c.status, 137);
	text = run("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done");
	assert_int_equal(c.status, 0);
	for (i = 0; i < 20000; i++) {
		char line[32];
		int len = snprintf(line, sizeof(line), "line %d\n", i);

		assert_memory_equal(text, line, (size_t)len);
		text += len;
	}
	assert_string_equal(text, "");
	assert_string_equal(heard, "");
}

static void test_cannot_run(void **state)
{
	char *missing[] = { "/nonexistent/x", NULL }, *no_program[] = { "/etc/passwd", NULL };

	(void)state;
	assert_int_equal(child_spawn(&c, missing, &(sigset_t){ 0 }), 0);
	child_go(&c);
	while (child_runs(&c))
		child_serve(&c);
	assert_int_equal(c.status, 127);
	assert_logged("cannot run /nonexistent/x: No such file or directory");
	assert_int_equal(child_spawn(&c, no_program, &(sigset_t){ 0 }), 0);
	child_go(&c);
	while (child_runs(&c))
		child_serve(&c);
	assert_int_equal(c.status, 126);
}

/* One that others started may hold the pipe as long as it likes. */
static void test_left_behind(void **state)
{
	(void)state;
	assert_string_equal(run("sleep 3 & echo done; exec true"), "done\n");
	assert_int_equal(c.status, 0);
}

static void test_figures(void **state)
{
	const char *text = "kdefer-metric ops 1234.50 1/s higher\nother\n"
			   "  kdefer-metric indented 1 s lower\n"
			   "kdefer-metric t -1e-3 ms lower\r\nkdefer-metric n 5 count none";
	char command[512];

	(void)state;
	snprintf(command, sizeof(command), "printf '%%s' '%s'", text);
	assert_string_equal(run(command), text);
	assert_string_equal(heard, "ops=1234.5[1234.50] 1/s higher; t=-0.001[-1e-3] ms lower; "
				   "n=5[5] count none; ");
	assert_int_equal(c.malformed, 0);
	assert_string_equal(logged, "");
}

static void test_no_figures(void **state)
{
	static const char *const lines[] = {
		"kdefer-metric",
		"kdefer-metric a",
		"kdefer-metric a 1",
		"kdefer-metric a 1 s",
		"kdefer-metric a 1 s better",
		"kdefer-metric a 1 s lower more",
		"kdefer-metric a x s lower",
		"kdefer-metric a 0x10 s lower",
		"kdefer-metric a nan s lower",
		"kdefer-metric a inf s lower",
		"kdefer-metric a 1e999 s lower",
		"kdefer-metric a 1.2.3 s lower",
		"kdefer-metric a - s lower",
		"kdefer-metric a 1e s lower",
	};
	struct child_value v;
	char line[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "%s", lines[i]);
		assert_int_equal(child_parse_value(line, &v), -EINVAL);
	}
	strcpy(line, "kdefer-metrics a 1 s lower");
	assert_int_equal(child_parse_value(line, &v), 0);
	strcpy(line, "");
	assert_int_equal(child_parse_value(line, &v), 0);
	run("echo kdefer-metric bad; echo kdefer-metric; echo kdefer-metric ok 1 s lower");
	assert_int_equal(c.malformed, 2);
	assert_string_equal(heard, "ok=1[1] s lower; ");
	assert_logged("no figures: \"kdefer-metric bad\"");
}

/* Whatever it prints, only whole lines of a sane length are figures. */
static void test_hostile_output(void **state)
{
	(void)state;
	run("printf 'kdefer-metric '; head -c 5000 /dev/zero | tr '\\0' x; echo ' 1 s lower'; "
	    "head -c 3000 /dev/urandom; echo; printf 'kdefer-metric \\033[2J\\377 1 \\001 none\\n'");
	assert_string_equal(heard, "\033[2J\377=1[1] \001 none; ");
}

/* Who reads ours has gone: the command sees that, as it would without us, and is waited for. */
static void test_reader_gone(void **state)
{
	char *argv[] = { "/bin/sh", "-c", "while echo x; do :; done 2>/dev/null; exit 9", NULL };
	struct pollfd p[2];
	int pipes[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(pipes), 0);
	dup2(pipes[1], STDOUT_FILENO);
	close(pipes[1]);
	close(pipes[0]);
	assert_int_equal(child_spawn(&c, argv, &(sigset_t){ 0 }), 0);
	child_go(&c);
	while (child_runs(&c)) {
		child_poll(&c, p);
		poll(p, 2, -1);
		child_serve(&c);
	}
	assert_true(c.status == 9 || c.status == 128 + SIGPIPE);
	assert_string_equal(logged, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_output_and_status), TEST(test_cannot_run), TEST(test_left_behind),
		TEST(test_figures),           TEST(test_no_figures), TEST(test_hostile_output),
		TEST(test_reader_gone),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
