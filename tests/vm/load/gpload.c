/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks for grace periods, a known number of times, one after another:
 *
 *   gpload sync N      membarrier(2), which calls synchronize_rcu()
 *   gpload pause N     the same, with 5 to 15 ms in between, in turn: something that comes at regular
 *                      intervals is met as often as its share of the time, whenever it began
 *   gpload inotify N   a watch that comes and goes: SRCU
 *   gpload multicast N a group that is joined and left: gives objects to kfree_rcu()
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sync_once(void)
{
	return (int)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static int pause_once(void)
{
	static unsigned int n;

	usleep(5000 + n++ * 6180 % 10000);
	return sync_once();
}

/* Marks are destroyed a moment later, all that have come together: so one at a time. */
static int inotify_once(void)
{
	int fd = inotify_init1(IN_CLOEXEC), watch;

	if (fd < 0)
		return -1;
	watch = inotify_add_watch(fd, "/tmp", IN_CREATE);
	if (watch < 0 || inotify_rm_watch(fd, watch))
		return -1;
	usleep(20000);
	return close(fd);
}

/* On the loopback device, which is number 1. */
static int multicast_once(void)
{
	struct ip_mreqn group = { .imr_ifindex = 1 };
	static int fd = -1;

	if (fd < 0)
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, "239.1.2.3", &group.imr_multiaddr);
	if (setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)))
		return -1;
	return setsockopt(fd, IPPROTO_IP, IP_DROP_MEMBERSHIP, &group, sizeof(group));
}

int main(int argc, char **argv)
{
	int (*once)(void) = NULL;

	if (argc == 3 && !strcmp(argv[1], "sync"))
		once = sync_once;
	if (argc == 3 && !strcmp(argv[1], "pause"))
		once = pause_once;
	if (argc == 3 && !strcmp(argv[1], "inotify"))
		once = inotify_once;
	if (argc == 3 && !strcmp(argv[1], "multicast"))
		once = multicast_once;
	if (!once) {
		fputs("usage: gpload sync|pause|inotify|multicast N\n", stderr);
		return 2;
	}
	for (long n = strtol(argv[2], NULL, 10); n > 0; n--)
		if (once()) {
			perror("gpload");
			return 1;
		}
	return 0;
}
