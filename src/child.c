// SPDX-License-Identifier: GPL-2.0-only
/* child.c - the command that is measured, and what it prints. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalog.h"
#include "child.h"
#include "log.h"

#define MARK "kdefer-metric"

void child_init(struct child *c)
{
	memset(c, 0, sizeof(*c));
	c->pidfd = c->go = c->failed = c->out = -1;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* --- start and end --- */

/* In the child: waits for the word to go, then becomes the command. */
static void __attribute__((noreturn))
become(const struct child *c, int go, int failed, int out, const sigset_t *mask)
{
	char byte;
	int err;

	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (read(go, &byte, 1) != 1)
		_exit(125); /* the watcher gave up before the start */
	if (out >= 0) {
		dup2(out, STDOUT_FILENO);
		setenv(CHILD_METRICS_ENV, "1", 1);
	}
	execvp(c->argv[0], c->argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) < 0)
		_exit(125);
	_exit(err == ENOENT ? 127 : 126);
}

static void close_pipe(int p[2])
{
	close_fd(&p[0]);
	close_fd(&p[1]);
}

static int spawn(struct child *c, const sigset_t *mask, int go[2], int failed[2], int out[2])
{
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return -errno;
	if (c->on_value && pipe2(out, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		become(c, go[0], failed[1], out[1], mask);
	}
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	return -errno;
}

int child_spawn(struct child *c, char *const *argv, const sigset_t *mask)
{
	int go[2] = { -1, -1 }, failed[2] = { -1, -1 }, out[2] = { -1, -1 };
	int err;

	c->argv = argv;
	c->status = 0;
	err = spawn(c, mask, go, failed, out);
	if (err) {
		close_pipe(go);
		close_pipe(failed);
		close_pipe(out);
		return log_err(err, "cannot start a process for the command: %s", strerror(-err));
	}
	close_fd(&go[0]);
	close_fd(&failed[1]);
	close_fd(&out[1]);
	c->go = go[1];
	c->failed = failed[0];
	c->out = out[0];
	c->pending_at = c->pending_len = c->line_len = 0;
	if (c->out >= 0)
		fcntl(c->out, F_SETFL, O_NONBLOCK);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return 0;
}

void child_go(struct child *c)
{
	int err = 0;

	if (write(c->go, "", 1) != 1)
		log_warn("the command did not start");
	close_fd(&c->go);
	if (read(c->failed, &err, sizeof(err)) == sizeof(err))
		log_msg(LOG_ERROR, "cannot run %s: %s", c->argv[0], strerror(err));
	close_fd(&c->failed);
}

bool child_runs(const struct child *c)
{
	return c->pid;
}

static int exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void child_signal(const struct child *c, int sig)
{
	if (c->pid)
		kill(c->pid, sig);
}

void child_drop(struct child *c)
{
	close_fd(&c->go);
	close_fd(&c->failed);
}

/* --- its figures --- */

/* The next word, ended by a NUL; NULL: no more. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r");
	size_t len = strcspn(word, " \t\r");

	*at = word + len;
	if (**at)
		*(*at)++ = '\0';
	return len ? word : NULL;
}

static int parse_better(const char *word, enum kd_better *better)
{
	return word ? better_by_name(word, better) : -EINVAL;
}

/* Decimal and finite: what strtod() takes beyond that is no figure of a benchmark. */
static int parse_number(const char *word, double *value)
{
	char *end;

	if (!word || word[strspn(word, "0123456789+-.eE")])
		return -EINVAL;
	*value = strtod(word, &end);
	return *end || end == word || !isfinite(*value) ? -EINVAL : 0;
}

int child_parse_value(char *line, struct child_value *v)
{
	char *at = line, *word = next_word(&at);

	if (!word || strcmp(word, MARK))
		return 0;
	v->name = next_word(&at);
	v->text = next_word(&at);
	v->unit = next_word(&at);
	if (!v->name || parse_number(v->text, &v->value) || !v->unit ||
	    parse_better(next_word(&at), &v->better) || next_word(&at))
		return -EINVAL;
	return 1;
}

static int end_line(struct child *c)
{
	char text[CHILD_LINE];
	struct child_value v;
	int got;

	if (c->line_len == CHILD_LINE || strncmp(c->line, MARK, strlen(MARK))) {
		c->line_len = 0;
		return 0;
	}
	c->line[c->line_len] = '\0';
	c->line_len = 0;
	memcpy(text, c->line, sizeof(text));
	got = child_parse_value(text, &v);
	if (got > 0)
		return c->on_value(c->ctx, &v);
	if (got < 0 && !c->malformed++)
		log_warn("no figures: \"%s\"; right is: " MARK " NAME VALUE UNIT lower|higher|none",
			 c->line);
	return 0;
}

static int hear(struct child *c, const char *text, size_t len)
{
	int err = 0;

	for (; len && !err; text++, len--) {
		if (*text == '\n')
			err = end_line(c);
		else if (c->line_len < CHILD_LINE - 1)
			c->line[c->line_len++] = *text;
		else
			c->line_len = CHILD_LINE;
	}
	return err;
}

/* --- its output --- */

/* What reads ours has gone or failed: the command gets to see the same. */
static void stop_reading(struct child *c, int err)
{
	if (err != -EPIPE) {
		log_warn("cannot pass on the output of %s: %s", c->argv[0], strerror(-err));
		c->cut = true;
	}
	c->pending_len = 0;
	close_fd(&c->out);
}

static bool is_ready(int fd, short events, int timeout)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, timeout) > 0;
}

/* Writes what is pending; no more than a pipe with room takes at once, so that it does not block. */
static bool pass_on(struct child *c, bool wait)
{
	ssize_t n;

	while (c->pending_len) {
		if (!is_ready(STDOUT_FILENO, POLLOUT, wait ? -1 : 0) && !wait)
			return false;
		n = write(STDOUT_FILENO, c->pending + c->pending_at, c->pending_len);
		if (n >= 0) {
			c->pending_at += (size_t)n;
			c->pending_len -= (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			stop_reading(c, -errno);
		} else if (errno == EAGAIN && !wait) {
			return false;
		}
	}
	return true;
}

/* All that is there by now. `wait`: however long our reader takes. */
static int pump(struct child *c, bool wait)
{
	ssize_t n;
	int err = 0;

	while (!err && c->out >= 0 && pass_on(c, wait) && c->out >= 0) {
		n = read(c->out, c->pending, sizeof(c->pending));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		if (!n) {
			close_fd(&c->out);
			break;
		}
		c->pending_at = 0;
		c->pending_len = (size_t)n;
		err = hear(c, c->pending, (size_t)n);
	}
	return err;
}

void child_poll(const struct child *c, struct pollfd p[2])
{
	p[0] = (struct pollfd){ .fd = c->pid ? c->pidfd : -1, .events = POLLIN };
	if (c->pending_len)
		p[1] = (struct pollfd){ .fd = STDOUT_FILENO, .events = POLLOUT };
	else
		p[1] = (struct pollfd){ .fd = c->out, .events = POLLIN };
}

/* What it left behind in the pipe; what others may still write there has no reader. */
static int finish(struct child *c, int status)
{
	int err = pump(c, true);

	close_fd(&c->out);
	if (!err && c->on_value && c->line_len)
		err = end_line(c);
	close_fd(&c->pidfd);
	c->status = exit_status(status);
	c->pid = 0;
	return err;
}

int child_serve(struct child *c)
{
	int status, err = pump(c, false);

	if (!c->pid || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return err;
	return err ? err : finish(c, status);
}
