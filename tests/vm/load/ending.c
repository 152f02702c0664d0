/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ends a command from outside, and says how it took it:
 *
 *   ending SIGNAL [+]MS FILE COMMAND...   sends the signal MS after the command was started, or (+)
 *                                         after its first output. PIPE closes the pipe that it
 *                                         writes to instead
 *
 * The command's standard output goes to FILE. Prints one line: how long after the signal the last
 * of its output came, and it ended, and how it ended (128 + n: by signal n).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_MS 60000 /* for a command that does not end at all */

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "INT", SIGINT },
	{ "TERM", SIGTERM },
	{ "HUP", SIGHUP },
	{ "KILL", SIGKILL },
	{ "PIPE", 0 /* none is sent */ },
};

struct watched {
	pid_t pid;
	int pidfd, out, file;
	long bytes;
	double last_ms; /* when its last output came */
};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* Returns once the new program runs: until then a signal would end our own child, not the command. */
static int start(struct watched *w, char **argv)
{
	int out[2], begun[2];
	char byte;

	if (pipe2(out, O_CLOEXEC) || pipe2(begun, O_CLOEXEC))
		return -1;
	w->pid = fork();
	if (!w->pid) {
		dup2(out[1], STDOUT_FILENO);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(out[1]);
	close(begun[1]);
	if (w->pid < 0 || read(begun[0], &byte, 1) != 0)
		return -1;
	close(begun[0]);
	w->out = out[0];
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	return w->pidfd < 0 ? -1 : 0;
}

static void take_output(struct watched *w)
{
	char data[65536];
	ssize_t n = read(w->out, data, sizeof(data));

	if (n <= 0) {
		close(w->out);
		w->out = -1;
		return;
	}
	w->last_ms = now_ms();
	w->bytes += n;
	if (write(w->file, data, n) != n)
		perror("ending: cannot write");
}

/* Follows it until that time, or some output, or until it ends. Returns whether it has ended. */
static int follow(struct watched *w, double until_ms, long bytes)
{
	double left;

	while ((left = until_ms - now_ms()) > 0 && (!bytes || w->bytes < bytes)) {
		struct pollfd p[2] = { { .fd = w->pidfd, .events = POLLIN },
				       { .fd = w->out, .events = POLLIN } };

		if (poll(p, 2, (int)left + 1) < 0)
			return 0;
		if (p[1].revents)
			take_output(w);
		else if (p[0].revents)
			return 1;
	}
	return 0;
}

static void end(struct watched *w, int number)
{
	if (number) {
		kill(w->pid, number);
	} else {
		close(w->out);
		w->out = -1;
	}
}

static void report(const struct watched *w, const char *name, double sent_ms)
{
	int status;

	waitpid(w->pid, &status, 0);
	printf("signal %s bytes %ld output_ms %.1f exit_ms %.1f status %d\n", name, w->bytes,
	       w->bytes ? w->last_ms - sent_ms : 0, now_ms() - sent_ms,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

int main(int argc, char **argv)
{
	struct watched w = { .out = -1 };
	double sent_ms;
	size_t i = 0;
	int ended;

	while (argc > 4 && i < sizeof(signals) / sizeof(signals[0]) &&
	       strcmp(argv[1], signals[i].name))
		i++;
	if (argc <= 4 || i == sizeof(signals) / sizeof(signals[0])) {
		fputs("usage: ending INT|TERM|HUP|KILL|PIPE MS FILE COMMAND...\n", stderr);
		return 2;
	}
	w.file = open(argv[3], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
	if (w.file < 0 || start(&w, argv + 4)) {
		perror("ending");
		return 1;
	}
	ended = argv[2][0] == '+' && follow(&w, now_ms() + LONGEST_MS, 1);
	if (ended || follow(&w, now_ms() + strtod(argv[2], NULL), 0))
		fprintf(stderr, "ending: it ended by itself before the signal\n");
	sent_ms = now_ms();
	end(&w, signals[i].number);
	if (!follow(&w, sent_ms + LONGEST_MS, 0)) {
		fprintf(stderr, "ending: it does not end\n");
		kill(w.pid, SIGKILL);
	}
	report(&w, argv[1], sent_ms);
	return 0;
}
