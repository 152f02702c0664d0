// SPDX-License-Identifier: GPL-2.0-only
/*
 * rsflush.c - has a BPF program flush the statistics of one cgroup, again and again:
 *
 *   rsflush CGROUP TIMES
 *
 * Says how often it did. Ends with 77 where this kernel lets no program do so.
 */
#define _GNU_SOURCE 1
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rsflush.skel.h"

/* Which of both this kernel has shows when it is loaded. */
static struct rsflush_bpf *load(int which)
{
	struct rsflush_bpf *skel = rsflush_bpf__open();

	if (!skel)
		return NULL;
	bpf_program__set_autoload(skel->progs.rsflush_all, !which);
	bpf_program__set_autoload(skel->progs.rsflush_base, which);
	if (!rsflush_bpf__load(skel))
		return skel;
	rsflush_bpf__destroy(skel);
	return NULL;
}

int main(int argc, char **argv)
{
	union bpf_iter_link_info info = { .cgroup.order = BPF_CGROUP_ITER_SELF_ONLY };
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info,
			    .link_info_len = sizeof(info));
	struct rsflush_bpf *skel;
	struct bpf_link *link;
	int times = argc == 3 ? atoi(argv[2]) : 0, n;
	char buf[64];

	libbpf_set_print(NULL);
	if (!times)
		return 2;
	skel = load(0);
	if (!skel)
		skel = load(1);
	if (!skel)
		return 77;
	info.cgroup.cgroup_fd = (__u32)open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	link = bpf_program__attach_iter(bpf_program__autoload(skel->progs.rsflush_all)
						? skel->progs.rsflush_all
						: skel->progs.rsflush_base,
					&opts);
	if (!link)
		return 77;
	for (n = 0; n < times; n++) {
		int fd = bpf_iter_create(bpf_link__fd(link));

		if (fd < 0 || read(fd, buf, sizeof(buf)) < 0)
			return 1;
		close(fd);
	}
	printf("flushed %d\n", n);
	return 0;
}
