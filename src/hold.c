// SPDX-License-Identifier: GPL-2.0-only
/* hold.c - readers of RCU of known length. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench_callbacks.skel.h"
#include "bpf_util.h"
#include "hold.h"
#include "log.h"

struct hold {
	struct bench_callbacks_bpf *skel;
};

int hold_open(struct hold **out)
{
	struct hold *h = calloc(1, sizeof(*h));
	int err;

	*out = NULL;
	if (!h)
		return log_err(-ENOMEM, "out of memory");
	h->skel = bench_callbacks_bpf__open_opts(bpf_util_open_opts());
	err = h->skel ? bpf_util_load_skeleton(h->skel->skeleton) : -errno;
	if (err == -EPERM)
		err = log_err(
			-ENODEV,
			"the kernel refuses a program that is a reader of RCU: it takes CAP_BPF "
			"and CAP_PERFMON (run it as root), and no policy against it");
	else if (err)
		log_err(err, "cannot load the program that is a reader of RCU: %s",
			bpf_util_load_error(err));
	if (err) {
		hold_close(h);
		return err;
	}
	*out = h;
	return 0;
}

void hold_close(struct hold *h)
{
	if (!h)
		return;
	bench_callbacks_bpf__destroy(h->skel);
	free(h);
}

int64_t hold_once(struct hold *h, uint64_t length_ns)
{
	uint64_t args[4] = { length_ns };
	int err = bpf_util_run(bpf_program__fd(h->skel->progs.kd_hold), args, NULL);

	if (err)
		return err;
	return (int64_t)(h->skel->bss->ended_ns - h->skel->bss->started_ns);
}

void hold_release(struct hold *h)
{
	h->skel->bss->released = 1;
}
