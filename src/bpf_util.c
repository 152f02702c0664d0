// SPDX-License-Identifier: GPL-2.0-only
/* bpf_util.c - what every source does with libbpf. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "bpf_util.h"
#include "file.h"
#include "log.h"

/* The last line that libbpf printed about a failed load and that says more than that it failed. */
static char load_said[256];

static void keep_line(const char *line, size_t len)
{
	static const char *const noise[] = { "libbpf: failed to load object",
					     "libbpf: failed to load BPF skeleton",
					     "-- BEGIN",
					     "-- END",
					     "processed ",
					     "libbpf: prog '" };
	size_t i;

	while (len && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	if (!len)
		return;
	for (i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
		if (!strncmp(line, noise[i], strlen(noise[i])))
			return;
	snprintf(load_said, sizeof(load_said), "%.*s", (int)len, line);
}

static int on_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text, *line;
	int n;

	if (level == LIBBPF_DEBUG)
		return 0;
	/* The verifier's log comes as one message, and its reason stands at the end. */
	n = vasprintf(&text, fmt, ap);
	if (n < 0)
		return n;
	line = text;
	while (*line) {
		size_t len = strcspn(line, "\n");

		keep_line(line, len);
		if (log_enabled(LOG_DEBUG))
			log_debug("%.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
	free(text);
	return n;
}

void bpf_util_quiet(void)
{
	libbpf_set_print(on_print);
}

const struct bpf_object_open_opts *bpf_util_open_opts(void)
{
	static struct bpf_object_open_opts opts = { .sz = sizeof(opts) };
	__u32 id;

	if (bpf_btf_get_next_id(0, &id) == -EPERM)
		opts.btf_custom_path = "/sys/kernel/btf/vmlinux";
	return &opts;
}

int bpf_util_load(struct bpf_object *obj)
{
	load_said[0] = '\0';
	return bpf_object__load(obj);
}

int bpf_util_load_skeleton(struct bpf_object_skeleton *skel)
{
	load_said[0] = '\0';
	return bpf_object__load_skeleton(skel);
}

const char *bpf_util_load_error(int err)
{
	static char text[400];

	snprintf(text, sizeof(text), "%s%s%s", strerror(-err), *load_said ? ": " : "", load_said);
	return text;
}

static int run(int prog_fd, uint64_t args[4], uint32_t flags, int cpu, uint32_t *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = 4 * sizeof(uint64_t),
		    .flags = flags, .cpu = (__u32)cpu);
	int err = bpf_prog_test_run_opts(prog_fd, &opts);

	if (!err && ret)
		*ret = opts.retval;
	return err;
}

int bpf_util_run(int prog_fd, uint64_t args[4], uint32_t *ret)
{
	return run(prog_fd, args, 0, 0, ret);
}

int bpf_util_run_on(int prog_fd, uint64_t args[4], int cpu, uint32_t *ret)
{
	return run(prog_fd, args, BPF_F_TEST_RUN_ON_CPU, cpu, ret);
}

/* Reads to the end, into a buffer that grows. */
static int read_all(int fd, char **buf, size_t *used)
{
	size_t room = 65536;
	ssize_t got = 1;

	*buf = NULL;
	*used = 0;
	while (got > 0) {
		char *more = *buf && *used < room ? *buf : realloc(*buf, *buf ? (room *= 2) : room);

		if (!more)
			return -ENOMEM;
		*buf = more;
		do
			got = read(fd, *buf + *used, room - *used);
		while (got < 0 && (errno == EINTR || errno == EAGAIN));
		if (got > 0)
			*used += (size_t)got;
	}
	return got < 0 ? -errno : 0;
}

int bpf_util_iterator(int prog_fd)
{
	int link = bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, NULL), fd;

	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	close(link);
	return fd;
}

int bpf_util_iterate(int prog_fd, size_t size, void **array, size_t *n)
{
	int fd = bpf_util_iterator(prog_fd), err;
	size_t used = 0;
	char *buf = NULL;

	if (fd < 0)
		return fd;
	err = read_all(fd, &buf, &used);
	close(fd);
	if (err) {
		free(buf);
		return err;
	}
	*array = buf;
	*n = used / size;
	return 0;
}

uint64_t bpf_util_fd_bytes(int map_fd)
{
	char path[64], value[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map_fd);
	if (file_field(path, "memlock", value, sizeof(value)))
		return 0;
	return strtoull(value, NULL, 10);
}

uint64_t bpf_util_map_bytes(const struct bpf_object *obj, const char *except)
{
	struct bpf_map *m;
	uint64_t sum = 0;

	bpf_object__for_each_map (m, obj)
		if (strcmp(bpf_map__name(m), except))
			sum += bpf_util_fd_bytes(bpf_map__fd(m));
	return sum;
}

uint64_t bpf_util_missed(int prog_fd)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &len) ? 0 : info.recursion_misses;
}
