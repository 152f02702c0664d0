// SPDX-License-Identifier: GPL-2.0-only
/* attach.c - the process that attaches programs, hands the links over, and detaches them. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
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
#include "rights.h"

#define SLOW_NS 1000000000ULL

struct attach {
	pid_t pid;
	int sock;
	size_t attached; /* links that the process holds, as far as it has said */
	bool stuck;      /* a job was not answered in time */
};

/* The word that no more is to be attached; else the number of a job to detach. */
#define ENOUGH UINT32_MAX

/* What the child says of each job, in order, when it is attached (the link travels beside) and detached. */
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
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = control.room,
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

/* --- the child --- */

/*
 * It outlives every signal that ends the tool: what is attached goes when the tool has said so, or is
 * gone. A terminal sends its signals to both.
 */
static void stand_apart(pid_t parent)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "kdefer-hooks");
	if (getppid() != parent)
		_exit(1);
}

/* Anything that the tool says, and its end too, means that it waits no more. */
static bool told_enough(int sock)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static void attach_jobs(int sock, struct attach_job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		jobs[i].link_fd = -1;
	for (size_t i = 0; i < n && !told_enough(sock); i++) {
		int fd = bpf_link_create(jobs[i].prog_fd, 0, jobs[i].attach_type, NULL);
		struct answer a = { .job = (uint32_t)i, .err = fd < 0 ? fd : 0 };

		if (told_enough(sock)) { /* too late */
			if (fd >= 0)
				close(fd);
			return;
		}
		jobs[i].link_fd = fd;
		if (send_answer(sock, a, fd))
			_exit(1);
	}
}

/* The last copies of our links, those of programs and tables, and the tool's output are not ours to hold. */
static void close_others(int sock, const struct attach_job *jobs, size_t n)
{
	int highest = (int)sysconf(_SC_OPEN_MAX), fd;

	for (fd = 0; fd < highest && fd < 1024; fd++) {
		bool link = false;

		for (size_t i = 0; i < n && !link; i++)
			link = jobs[i].link_fd == fd;
		if (fd != sock && !link)
			close(fd);
	}
}

static void detach(int sock, struct attach_job *job, uint32_t i)
{
	if (job->link_fd < 0)
		return;
	close(job->link_fd);
	job->link_fd = -1;
	send_answer(sock, (struct answer){ .job = i }, -1);
}

static void __attribute__((noreturn))
child(int sock, struct attach_job *jobs, size_t n, pid_t parent)
{
	uint32_t job;

	stand_apart(parent);
	attach_jobs(sock, jobs, n);
	close_others(sock, jobs, n);
	rights_drop(false);
	while (recv(sock, &job, sizeof(job), 0) == sizeof(job))
		if (job < n)
			detach(sock, &jobs[job], job);
	for (job = 0; job < n; job++)
		detach(sock, &jobs[job], job);
	_exit(0);
}

/* --- the tool --- */

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

void attach_drop(struct attach *a, size_t job)
{
	uint32_t number = (uint32_t)job;

	send(a->sock, &number, sizeof(number), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void collect(struct attach *a, struct attach_job *jobs, size_t n, uint64_t timeout_ns,
		    int (*stopped)(void))
{
	uint64_t end = clock_mono_ns() + timeout_ns;
	size_t done;

	for (done = 0; done < n; done++) {
		struct answer answer;
		int fd;

		if (!wait_readable(a->sock, end, stopped) || take_answer(a->sock, &answer, &fd) ||
		    answer.job >= n)
			break;
		jobs[answer.job].link_fd = fd;
		jobs[answer.job].err = answer.err ? answer.err : fd < 0 ? -EBADF : 0;
		a->attached += fd >= 0;
	}
	a->stuck = done < n;
	if (a->stuck)
		attach_drop(a, ENOUGH); /* heard when the kernel lets it go */
	for (size_t i = 0; stopped && stopped() && i < n; i++)
		if (jobs[i].err == -ETIME)
			jobs[i].err = -EINTR;
}

static int start(struct attach *a, struct attach_job *jobs, size_t n)
{
	pid_t parent = getpid();
	int sock[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		return -errno;
	a->pid = fork();
	err = a->pid < 0 ? -errno : 0;
	if (!a->pid) {
		close(sock[0]);
		child(sock[1], jobs, n, parent);
	}
	close(sock[1]);
	a->sock = sock[0];
	if (err)
		close(sock[0]);
	return err;
}

int attach_all(struct attach **out, struct attach_job *jobs, size_t n, uint64_t timeout_ns,
	       int (*stopped)(void))
{
	struct attach *a = calloc(1, sizeof(*a));
	int err;

	*out = NULL;
	for (size_t i = 0; i < n; i++) {
		jobs[i].link_fd = -1;
		jobs[i].err = -ETIME;
	}
	if (!a)
		return -ENOMEM;
	err = start(a, jobs, n);
	if (err) {
		free(a);
		return err;
	}
	collect(a, jobs, n, timeout_ns, stopped);
	*out = a;
	return 0;
}

/* What it says until it ends: one link less each time. 0, or -ETIME. */
static int see_it_end(struct attach *a, uint64_t timeout_ns, void (*slow)(size_t left))
{
	uint64_t slow_at = clock_mono_ns() + SLOW_NS, end = clock_mono_ns() + timeout_ns;
	struct answer answer;
	int fd;

	for (;;) {
		bool readable = wait_readable(a->sock, slow && slow_at < end ? slow_at : end, NULL);

		if (!readable && clock_mono_ns() >= end)
			return -ETIME;
		if (slow && clock_mono_ns() >= slow_at) {
			slow(a->attached);
			slow = NULL;
		}
		if (!readable)
			continue;
		if (take_answer(a->sock, &answer, &fd))
			return 0; /* it has closed its end */
		if (fd >= 0)
			close(fd); /* attached just as we had given up */
		a->attached -= a->attached > 0;
		end = clock_mono_ns() + timeout_ns;
	}
}

/* Stuck in the kernel it cannot be reaped: it is then left to init. */
static int reap(pid_t pid, uint64_t end)
{
	while (!waitpid(pid, NULL, WNOHANG)) {
		if (clock_mono_ns() >= end)
			return -ETIME;
		usleep(2000);
	}
	return 0;
}

int attach_end(struct attach *a, uint64_t timeout_ns, void (*slow)(size_t left))
{
	int err;

	if (!a)
		return 0;
	shutdown(a->sock, SHUT_WR);
	if (a->stuck)
		timeout_ns = 0;
	err = see_it_end(a, timeout_ns, slow);
	close(a->sock);
	if (!err)
		err = reap(a->pid, clock_mono_ns() + timeout_ns);
	free(a);
	return err;
}
