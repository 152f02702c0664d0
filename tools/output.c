// SPDX-License-Identifier: GPL-2.0-only
/* output.c - writes pieces to standard output, and knows how wide it is. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "log.h"
#include "output.h"
#include "text.h"

static int say_why(int err)
{
	if (err == -EPIPE) /* the reader had enough */
		return err;
	return log_err(err, "cannot write to standard output: %s", strerror(-err));
}

void output_init(struct output *o)
{
	memset(o, 0, sizeof(*o));
	o->fd = STDOUT_FILENO;
}

int output_apart(struct output *o)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd < 0)
		return say_why(-errno);
	o->fd = fd;
	return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? say_why(-errno) : 0;
}

FILE *output_begin(struct output *o)
{
	if (o->err)
		return NULL;
	o->piece = open_memstream(&o->text, &o->len);
	if (!o->piece)
		o->err = log_err(-ENOMEM, "out of memory");
	return o->piece;
}

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) { /* somebody made it non-blocking: ssh does */
			poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int output_end(struct output *o)
{
	bool whole;

	if (!o->piece)
		return o->err;
	whole = !ferror(o->piece);
	if (fclose(o->piece) || !whole)
		o->err = log_err(-ENOMEM, "out of memory");
	o->piece = NULL;
	if (!o->err) {
		o->err = write_all(o->fd, o->text, o->len);
		if (o->err)
			say_why(o->err);
	}
	free(o->text);
	o->text = NULL;
	return o->err;
}

static size_t env_columns(void)
{
	const char *s = getenv("COLUMNS");
	unsigned long n;
	char *end;

	if (!s || *s < '0' || *s > '9')
		return 0;
	n = strtoul(s, &end, 10);
	return *end ? 0 : n;
}

size_t output_width(void)
{
	size_t width = env_columns();
	struct winsize ws;

	if (!width && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws))
		width = ws.ws_col;
	if (!width)
		return TEXT_WIDTH_DEFAULT;
	if (width < TEXT_WIDTH_MIN)
		return TEXT_WIDTH_MIN;
	return width > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : width;
}

int output_check(void)
{
	bool closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	int fd;

	do /* the lowest free descriptor is taken, so this fills the holes */
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	return closed ? log_err(-EBADF, "standard output is closed") : 0;
}

int output_finish(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	return say_why(errno ? -errno : -EIO);
}
