// SPDX-License-Identifier: GPL-2.0-only
/*
 * ptyrun.c - runs a program on a terminal of its own and does what a script on standard input says:
 *
 *   ptyrun RAW PROGRAM [ARG...] <SCRIPT      RAW: all that the program wrote
 *
 *   size COLUMNSxROWS     the terminal gets this size
 *   keys TEXT             is typed; \e \r \t \\ and \xNN are known
 *   see TEXT              it shows up since the last keys; from time to time Ctrl-L is typed meanwhile
 *   pause MS
 *   sh COMMAND            is run by a shell
 *   end                   the program ends by itself
 *
 * Says on standard output what came of each: "seen TEXT", "missing TEXT", "ended STATUS", and the settings
 * of the terminal before and after as "before ..." and "after ...".
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define SEE_MS 60000
#define END_MS 60000
#define REDRAW_MS 1500

static int master, slave, raw, escape;
static char
	text[1 << 20]; /* what was written since the last keys, without commands to the terminal */
static size_t used;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Commands begin with an escape: CSI up to a letter, others are two or three bytes. */
static void take(unsigned char c)
{
	if (escape == 1) {
		escape = c == '[' || c == '?' ? 2 : c == '(' || c == ')' ? 3 : 0;
		return;
	}
	if (escape == 2 && c < '@')
		return;
	if (escape) {
		/* Attributes may change within a word; whatever else moves the cursor. */
		if (escape == 2 && c != 'm' && used + 1 < sizeof(text))
			text[used++] = ' ';
		escape = 0;
		return;
	}
	if (c == 27)
		escape = 1;
	else if (used + 1 < sizeof(text) && c != 15)
		text[used++] = c < ' ' ? ' ' : (char)c;
	text[used] = '\0';
}

/* Reads what there is, for at most ms. False when the other side is closed. */
static bool drain(int ms)
{
	struct pollfd p = { .fd = master, .events = POLLIN };
	unsigned char buf[4096];
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return true;
	n = read(master, buf, sizeof(buf));
	if (n <= 0)
		return false;
	if (write(raw, buf, (size_t)n) != n)
		die("raw");
	for (ssize_t i = 0; i < n; i++)
		take(buf[i]);
	return true;
}

static void pause_for(int ms)
{
	int64_t end = now_ms() + ms;

	while (now_ms() < end)
		drain((int)(end - now_ms()));
}

static void type(const char *keys)
{
	char buf[256];
	size_t n = 0;
	unsigned int code;

	for (; *keys && n < sizeof(buf); keys++) {
		char c = *keys;

		if (c == '\\' && keys[1]) {
			c = *++keys;
			if (c == 'x' && sscanf(keys + 1, "%2x", &code) == 1) {
				c = (char)code;
				keys += 2;
			} else {
				c = c == 'e' ? 27 : c == 'r' ? '\r' : c == 't' ? '\t' : c;
			}
		}
		buf[n++] = c;
	}
	used = 0;
	text[0] = '\0';
	if (write(master, buf, n) != (ssize_t)n)
		die("terminal");
}

static bool see(const char *what)
{
	int64_t end = now_ms() + SEE_MS, redraw = now_ms() + REDRAW_MS;

	while (!strstr(text, what) && now_ms() < end) {
		if (!drain(100))
			return strstr(text, what);
		if (now_ms() < redraw)
			continue;
		redraw = now_ms() + REDRAW_MS;
		if (write(master, "\x0c", 1) != 1)
			die("terminal");
	}
	return strstr(text, what);
}

static void resize(const char *size, pid_t pid)
{
	struct winsize w = { 0 };

	if (sscanf(size, "%hux%hu", &w.ws_col, &w.ws_row) != 2)
		die(size);
	used = 0;
	text[0] = '\0';
	ioctl(slave, TIOCSWINSZ, &w);
	if (pid)
		kill(pid, SIGWINCH); /* for one who begins later, the kernel does not */
}

static void say_settings(const char *when)
{
	struct termios t;

	if (tcgetattr(slave, &t))
		die("settings");
	printf("%s %x %x %x %x", when, t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag);
	for (size_t i = 0; i < NCCS; i++)
		printf(" %x", t.c_cc[i]);
	printf("\n");
	fflush(stdout);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	for (int i = 0; i < 3; i++)
		dup2(slave, i);
	setenv("TERM", "xterm-256color", 1);
	execvp(argv[0], argv);
	die(argv[0]);
	return 0;
}

static void end(pid_t pid)
{
	int64_t until = now_ms() + END_MS;
	int status = -1;

	while (!waitpid(pid, &status, WNOHANG) && now_ms() < until)
		drain(100);
	pause_for(200);
	printf("ended %d\n", status);
	if (status == -1)
		kill(pid, SIGKILL);
}

static void act(char *line, pid_t pid)
{
	char *arg = strchr(line, ' ');

	line[strcspn(line, "\n")] = '\0';
	if (arg)
		*arg++ = '\0';
	if (!arg)
		arg = line + strlen(line);
	if (!strcmp(line, "keys"))
		type(arg);
	else if (!strcmp(line, "see"))
		printf("%s %s\n", see(arg) ? "seen" : "missing", arg);
	else if (!strcmp(line, "size"))
		resize(arg, pid);
	else if (!strcmp(line, "pause"))
		pause_for(atoi(arg));
	else if (!strcmp(line, "end"))
		end(pid);
	else if (strcmp(line, "sh") || system(arg))
		printf("failed %s %s\n", line, arg);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[512];
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: see ptyrun.c\n");
		return 2;
	}
	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) || unlockpt(master))
		die("terminal");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	raw = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (slave < 0 || raw < 0)
		die(argv[1]);
	resize("80x24", 0);
	say_settings("before");
	pid = start(argv + 2);
	while (fgets(line, sizeof(line), stdin))
		act(line, pid);
	say_settings("after");
	return 0;
}
