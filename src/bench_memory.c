// SPDX-License-Identifier: GPL-2.0-only
/* bench_memory.c - memory of a map over a window. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_memory.h"
#include "file.h"

/* --- a map that a cgroup is charged for --- */

static int send_fd(int socket, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &msg, 0) < 0 ? -errno : 0;
}

static int receive_fd(int socket)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec io = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = room,
		.msg_controllen = sizeof(room),
	};
	struct cmsghdr *c;
	int fd;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) <= 0)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void __attribute__((noreturn))
member(const struct bench_cgroup *g, int (*make)(void *ctx), void *ctx, int socket)
{
	int err, fd = -1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	err = bench_cgroup_join(g);
	if (!err && make) {
		fd = make(ctx);
		err = fd < 0 ? fd : send_fd(socket, fd);
	}
	_exit(err ? -err & 0x7f : 0);
}

/* In a process that joins the cgroup and ends: what make() made there, 0 without it, or -errno. */
static int in_member(const struct bench_cgroup *g, int (*make)(void *ctx), void *ctx)
{
	int s[2], status = 0, fd = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s))
		return -errno;
	pid = fork();
	if (!pid)
		member(g, make, ctx, s[1]);
	close(s[1]);
	if (pid > 0 && make)
		fd = receive_fd(s[0]);
	close(s[0]);
	if (pid < 0)
		return -EAGAIN;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
	return fd;
}

int bench_memory_map(const struct bench_cgroup *g, int (*make)(void *ctx), void *ctx,
		     uint64_t *base)
{
	int err;

	*base = 0;
	if (!*g->path)
		return make(ctx);
	err = in_member(g, NULL, NULL);
	if (!err)
		err = bench_cgroup_usage(g, base);
	return err ? err : in_member(g, make, ctx);
}

/* --- the window --- */

static void peak_path(const struct bench_cgroup *g, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", g->path,
		 g->version == 2 ? "memory.peak" : "memory.max_usage_in_bytes");
}

/*
 * v1, and v2 since 6.12 for who has the file open, can begin a peak anew. Else it is that since the
 * cgroup was made.
 */
static void reset_peak(struct bench_memory *m)
{
	char path[PATH_MAX + 64];

	peak_path(m->g, path, sizeof(path));
	m->peak_fd = open(path, O_RDWR | O_CLOEXEC);
	if (m->peak_fd >= 0 && write(m->peak_fd, "0", 1) == 1)
		return;
	if (m->peak_fd >= 0)
		close(m->peak_fd);
	m->peak_fd = -1;
	if (file_u64(path, &m->peak_before))
		m->peak_before = UINT64_MAX; /* the kernel knows no peak */
}

void bench_memory_begin(struct bench_memory *m, const struct bench_cgroup *g, uint64_t base,
			uint64_t now_ns)
{
	*m = (struct bench_memory){ .g = g, .base = base, .last_ns = now_ns, .peak_fd = -1 };
	if (!*g->path)
		return;
	reset_peak(m);
	m->unread = bench_cgroup_usage(g, &m->last) != 0;
	m->start = m->most = m->last;
}

/* What was used since the last sample is taken for the middle of the two. */
void bench_memory_sample(struct bench_memory *m, uint64_t now_ns)
{
	double ns = (double)(now_ns - m->last_ns), middle;
	uint64_t bytes;

	if (!*m->g->path)
		return;
	if (bench_cgroup_usage(m->g, &bytes)) {
		m->unread++;
		return;
	}
	middle = ((double)m->last + (double)bytes) / 2;
	m->sum += middle * ns;
	m->squares += middle * middle * ns;
	m->ns += now_ns - m->last_ns;
	m->samples++;
	m->last = bytes;
	m->last_ns = now_ns;
	if (bytes > m->most)
		m->most = bytes;
}

static bool read_peak(const struct bench_memory *m, uint64_t *bytes)
{
	char path[PATH_MAX + 64], text[32] = "";
	uint64_t since_made;

	if (m->peak_fd >= 0) {
		if (pread(m->peak_fd, text, sizeof(text) - 1, 0) <= 0)
			return false;
		*bytes = strtoull(text, NULL, 10);
		return true;
	}
	peak_path(m->g, path, sizeof(path));
	/* One that did not move was before the window. */
	if (m->peak_before == UINT64_MAX || file_u64(path, &since_made) ||
	    since_made <= m->peak_before)
		return false;
	*bytes = since_made;
	return true;
}

void bench_memory_end(struct bench_memory *m, uint64_t now_ns)
{
	uint64_t bytes = m->most;

	if (!*m->g->path)
		return;
	bench_memory_sample(m, now_ns);
	m->peak_from = read_peak(m, &bytes) ? "kernel" : "samples";
	if (bytes < m->most)
		bytes = m->most;
	m->peak = bytes > m->base ? bytes - m->base : 0;
	if (m->peak_fd >= 0)
		close(m->peak_fd);
	m->peak_fd = -1;
}

double bench_memory_mean(const struct bench_memory *m)
{
	double mean = m->ns ? m->sum / (double)m->ns - (double)m->base : 0;

	return mean > 0 ? mean : 0;
}

double bench_memory_sd(const struct bench_memory *m)
{
	double mean, variance;

	if (!m->ns)
		return 0;
	mean = m->sum / (double)m->ns;
	variance = m->squares / (double)m->ns - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}
