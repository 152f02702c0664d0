// SPDX-License-Identifier: GPL-2.0-only
/* kernel_try.c - what the kernel lets us load, found out by loading tiny programs. Attaches nothing. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>

#include "kernel.h"

/* The verifier's last line that says something, for a person. */
static void keep_log(struct kernel *k, char *log)
{
	char *line, *save = NULL, *last = NULL;

	for (line = strtok_r(log, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (*line && strncmp(line, "processed ", 10))
			last = line;
	snprintf(k->fentry_log, sizeof(k->fentry_log), "%s", last ? last : "");
}

int kernel_try_fentry(struct kernel *k, const char *function)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	char log[4096] = "";
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .log_buf = log, .log_size = sizeof(log), .log_level = 1);
	int fd, id = k->btf ? btf__find_by_name_kind(k->btf, function, BTF_KIND_FUNC) : -1;

	k->fentry = UNKNOWN;
	if (id <= 0)
		return -ENOENT;
	opts.attach_btf_id = (__u32)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "kd_probe", "GPL", insns, 2, &opts);
	k->fentry = fd >= 0 ? YES : NO;
	k->fentry_err = fd >= 0 ? 0 : -fd;
	keep_log(k, log);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : fd;
}

int kernel_try_read(struct kernel *k)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "kd_probe", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	k->read_kernel = fd >= 0 ? YES : NO;
	k->read_kernel_err = fd >= 0 ? 0 : -fd;
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : fd;
}

/* A patch shows each function that it replaces as a folder "NAME,POSITION" of its object. */
bool kernel_livepatched(const char *dir, const char *function, char *buf, size_t size)
{
	char pattern[256];
	const char *patch;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/*/*/%s,*", dir, function);
	if (glob(pattern, 0, NULL, &g))
		return false;
	patch = g.gl_pathv[0] + strlen(dir) + 1;
	snprintf(buf, size, "%.*s", (int)strcspn(patch, "/"), patch);
	globfree(&g);
	return true;
}
