// SPDX-License-Identifier: GPL-2.0-only
/* empty.c - holds the two programs of empty.bpf.c attached until it is told to end: the floor. */
#include <stdio.h>
#include <unistd.h>

#include "empty.skel.h"

int main(void)
{
	struct empty_bpf *skel = empty_bpf__open_and_load();

	if (!skel || empty_bpf__attach(skel)) {
		fprintf(stderr, "empty: cannot attach\n");
		return 1;
	}
	pause();
	return 0;
}
