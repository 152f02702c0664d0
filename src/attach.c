// SPDX-License-Identifier: GPL-2.0-only
/* attach.c - attaches programs in a child process that hands the links over. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "attach.h"
#include "clock.h"

/* What the child says of each job, in order; the link travels beside it. */
struct answer {
	uint32_t job;
	int32_t err;
};

union control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static int send_answer(int sock, struct answer a, int fd)
{
	union control control = { 0 };
	struct iovec io = { &a, sizeof(a) };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == sizeof(a) ? 0 : -errno;
}

static int take_answer(int sock, struct answer *a, int *fd)
{
	union control control = { 0 };
	struct iovec io = { a, sizeof(*a) };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.room,
			      .msg_controllen = sizeof(control.room) };
	ssize_t got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;

	*fd = -1;
	if (got != sizeof(*a))
		return got < 0 ? -errno : -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return 0;
}

/* Ends with the parent: nothing stays attached by a child that nobody listens to. */
static void __attribute__((noreturn)) child(int sock, const struct attach_job *jobs, size_t n, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (size_t i = 0; i < n; i++) {
		int fd = bpf_link_create(jobs[i].prog_fd, 0, jobs[i].attach_type, NULL);
		struct answer a = { .job = (uint32_t)i, .err = fd < 0 ? fd : 0 };

		if (send_answer(sock, a, fd))
			_exit(1);
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* True when something can be read in time. */
static bool wait_readable(int sock, uint64_t end, int (*stopped)(void))
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	uint64_t now;

	while ((now = clock_mono_ns()) < end && !(stopped && stopped())) {
		struct timespec left = clock_timespec(end - now);

		if (ppoll(&p, 1, &left, NULL) > 0)
			return true;
	}
	return false;
}

static void collect(int sock, struct attach_job *jobs, size_t n, uint64_t timeout_ns,
		    int (*stopped)(void))
{
	uint64_t end = clock_mono_ns() + timeout_ns;

	for (size_t done = 0; done < n; done++) {
		struct answer a;
		int fd;

		if (!wait_readable(sock, end, stopped) || take_answer(sock, &a, &fd) || a.job >= n)
			break;
		jobs[a.job].link_fd = fd;
		jobs[a.job].err = a.err ? a.err : fd < 0 ? -EBADF : 0;
	}
}

int attach_all(struct attach_job *jobs, size_t n, uint64_t timeout_ns, int (*stopped)(void))
{
	pid_t pid, parent = getpid();
	int sock[2];

	for (size_t i = 0; i < n; i++) {
		jobs[i].link_fd = -1;
		jobs[i].err = -ETIME;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		close(sock[0]);
		close(sock[1]);
		return err;
	}
	if (!pid)
		child(sock[1], jobs, n, parent);
	close(sock[1]);
	collect(sock[0], jobs, n, timeout_ns, stopped);
	for (size_t i = 0; stopped && stopped() && i < n; i++)
		if (jobs[i].err == -ETIME)
			jobs[i].err = -EINTR;
	close(sock[0]);
	kill(pid, SIGKILL);
	/* Stuck in the kernel it cannot be reaped: leave it to init rather than wait for it. */
	for (int tries = 0; tries < 20 && !waitpid(pid, NULL, WNOHANG); tries++)
		usleep(5000);
	return 0;
}
