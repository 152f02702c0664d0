/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a line for each BPF program, link and map that the kernel has now: what it is, id, name. With
 * --runs programs alone, and how often and for how many nanoseconds they ran while that was counted.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

static void put_prog(__u32 id, int runs)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0)
		return; /* gone meanwhile */
	if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
		printf("prog %u %s", id, info.name);
		if (runs)
			printf(" %llu %llu", info.run_cnt, info.run_time_ns);
		puts("");
	}
	close(fd);
}

static void put_map(__u32 id)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len))
		printf("map %u %s\n", id, info.name);
	close(fd);
}

int main(int argc, char **argv)
{
	int runs = argc > 1 && !strcmp(argv[1], "--runs");
	__u32 id;

	for (id = 0; !bpf_prog_get_next_id(id, &id);)
		put_prog(id, runs);
	if (runs)
		return 0;
	for (id = 0; !bpf_map_get_next_id(id, &id);)
		put_map(id);
	for (id = 0; !bpf_link_get_next_id(id, &id);)
		printf("link %u\n", id);
	return 0;
}
