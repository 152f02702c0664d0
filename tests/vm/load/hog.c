/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A task that stays in the kernel without ever switching voluntarily: reads of a gigabyte of random
 * bytes, one after another. It can be preempted, so RCU goes on, but a Tasks RCU grace period waits for
 * it as long as it lives; and it can be killed at any time. (A loop in user space would not do: the
 * tick that finds it there is a quiescent state.)
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>

#define PIECES 1024 /* as many as one call takes, all to the same place */

static char piece[1 << 20];

int main(void)
{
	static struct iovec all[PIECES];
	int fd = open("/dev/urandom", O_RDONLY);

	for (int i = 0; i < PIECES; i++)
		all[i] = (struct iovec){ piece, sizeof(piece) };
	while (readv(fd, all, PIECES) > 0)
		;
	perror("hog");
	return 1;
}
