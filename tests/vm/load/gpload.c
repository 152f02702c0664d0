/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Asks for grace periods, a known number of times, one after another:
 *
 *   gpload sync N      membarrier(2), which calls synchronize_rcu()
 *   gpload inotify N   a watch that comes and goes: SRCU
 */
#define _GNU_SOURCE
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sync_once(void)
{
	return (int)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
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

int main(int argc, char **argv)
{
	int (*once)(void) = NULL;

	if (argc == 3 && !strcmp(argv[1], "sync"))
		once = sync_once;
	if (argc == 3 && !strcmp(argv[1], "inotify"))
		once = inotify_once;
	if (!once) {
		fputs("usage: gpload sync|inotify N\n", stderr);
		return 2;
	}
	for (long n = strtol(argv[2], NULL, 10); n > 0; n--)
		if (once()) {
			perror("gpload");
			return 1;
		}
	return 0;
}
