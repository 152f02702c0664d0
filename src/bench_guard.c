// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_guard.c - the process that cleans up. It reads orders from a pipe, one a line, and carries them
 * out when the other end is closed: by bench_guard_end(), or by the kernel when kdefer was killed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_guard.h"
#include "log.h"

#define RETRY_US 10000
#define RETRIES 1000 /* 10 s: what was killed may take a while to be gone */

/* --- in the process that cleans up --- */

static void kill_members(const char *cgroup)
{
	char path[PATH_MAX];
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 1)
			kill(pid, SIGKILL);
	if (f)
		fclose(f);
}

static void remove_cgroup(const char *path)
{
	for (int i = 0; i < RETRIES && rmdir(path) && errno != ENOENT; i++) {
		kill_members(path);
		usleep(RETRY_US);
	}
}

/* Files that a process of the load makes meanwhile are met by the next try. */
static void remove_folder(const char *path)
{
	for (int i = 0; i < RETRIES && rmdir(path) && errno != ENOENT; i++) {
		DIR *d = opendir(path);
		struct dirent *e;

		while (d && (e = readdir(d)))
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				unlinkat(dirfd(d), e->d_name, 0);
		if (d)
			closedir(d);
		if (i)
			usleep(RETRY_US);
	}
}

static void remove_mount(const char *path)
{
	for (int i = 0; i < RETRIES && umount2(path, 0) && errno == EBUSY; i++)
		usleep(RETRY_US);
}

/* False: it could not be written. One that is not there any more needs nothing. */
static bool write_setting(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written;

	if (fd < 0)
		return errno == ENOENT;
	written = write(fd, text, strlen(text)) >= 0;
	close(fd);
	return written;
}

/* "wPATH<tab>TEXT"; the others have no text. */
static bool carry_out(char *order)
{
	char *text = strchr(order, '\t');

	if (text)
		*text++ = '\0';
	switch (order[0]) {
	case 'c':
		remove_cgroup(order + 1);
		break;
	case 'd':
		remove_folder(order + 1);
		break;
	case 'f':
		unlink(order + 1);
		break;
	case 'm':
		remove_mount(order + 1);
		break;
	case 'w':
		return write_setting(order + 1, text);
	}
	return true;
}

static void __attribute__((noreturn)) guard(int from)
{
	char **order = NULL, *line = NULL;
	size_t n = 0, size = 0;
	FILE *in = fdopen(from, "r");
	bool done = true;
	ssize_t len;

	while (in && (len = getline(&line, &size, in)) > 0) {
		char **more = reallocarray(order, n + 1, sizeof(*order));

		if (!more)
			break;
		order = more;
		line[len - 1] = '\0';
		order[n++] = line;
		line = NULL;
		size = 0;
	}
	while (n)
		done &= carry_out(order[--n]);
	_exit(!done);
}

/* In a session of its own and deaf to all that ends kdefer; of its files only the pipe is kept. */
static void __attribute__((noreturn)) become_guard(int from)
{
	int null = open("/dev/null", O_RDWR);

	setsid();
	prctl(PR_SET_NAME, "kdefer-cleanup");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (from != STDERR_FILENO + 1)
		dup2(from, STDERR_FILENO + 1);
	syscall(SYS_close_range, STDERR_FILENO + 2, ~0U, 0);
	guard(STDERR_FILENO + 1);
}

/* --- in kdefer --- */

int bench_guard_start(struct bench_guard *g)
{
	int p[2];

	memset(g, 0, sizeof(*g));
	if (pipe2(p, O_CLOEXEC))
		return log_err(-errno, "cannot make a pipe: %s", strerror(errno));
	g->pid = fork();
	if (!g->pid) {
		close(p[1]);
		become_guard(p[0]);
	}
	close(p[0]);
	if (g->pid < 0) {
		int err = -errno;

		g->pid = 0;
		close(p[1]);
		return log_err(err, "cannot start a process that cleans up: %s", strerror(-err));
	}
	g->pipe = p[1];
	return 0;
}

static int order(struct bench_guard *g, char what, const char *path, const char *text)
{
	char line[PATH_MAX + 256];
	int len = snprintf(line, sizeof(line), "%c%s%s%s\n", what, path, text ? "\t" : "",
			   text ? text : "");
	char **made;

	if (len >= (int)sizeof(line) || strpbrk(path, "\n\t"))
		return log_err(-EINVAL, "%s: cannot be cleaned up by that name", path);
	if (!text) {
		made = reallocarray(g->made, g->n + 1, sizeof(*made));
		if (!made)
			return log_err(-ENOMEM, "out of memory");
		g->made = made;
		g->made[g->n] = strdup(path);
		g->n += g->made[g->n] != NULL;
	}
	if (write(g->pipe, line, (size_t)len) != len) /* whole: shorter than a page */
		return log_err(-EPIPE, "the process that cleans up is gone");
	return 0;
}

int bench_guard_cgroup(struct bench_guard *g, const char *path)
{
	return order(g, 'c', path, NULL);
}

int bench_guard_folder(struct bench_guard *g, const char *path)
{
	return order(g, 'd', path, NULL);
}

int bench_guard_file(struct bench_guard *g, const char *path)
{
	return order(g, 'f', path, NULL);
}

int bench_guard_mount(struct bench_guard *g, const char *path)
{
	return order(g, 'm', path, "");
}

int bench_guard_write(struct bench_guard *g, const char *path, const char *text)
{
	return order(g, 'w', path, text);
}

void bench_guard_end(struct bench_guard *g)
{
	int status = 0;

	if (!g || !g->pid)
		return;
	close(g->pipe);
	while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		log_warn("a setting that was changed for the load could not be put back");
	for (size_t i = 0; i < g->n; i++) {
		if (!access(g->made[i], F_OK))
			log_warn("%s is left behind: it could not be removed", g->made[i]);
		free(g->made[i]);
	}
	free(g->made);
	memset(g, 0, sizeof(*g));
}
