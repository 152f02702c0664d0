// SPDX-License-Identifier: GPL-2.0-only
/* bench_pull.c - has the kernel run a program of a load. */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bench_pull.h"
#include "log.h"

static const char *const names[] = { "any", "getpgid", "test_run" };

int bench_pull_parse(void *how, const char *name)
{
	for (int i = BENCH_BY_ANY; i <= BENCH_BY_RUN; i++)
		if (!strcmp(name, names[i])) {
			*(enum bench_pull_how *)how = (enum bench_pull_how)i;
			return 0;
		}
	return log_err(-EINVAL, "bench: --trigger: \"%s\" is none; use getpgid, test_run or any",
		       name);
}

const char *bench_pull_name(const struct bench_pull *t)
{
	return names[t->how];
}

int bench_pull_prepare(struct bpf_map *work, unsigned int n)
{
	return bpf_map__set_max_entries(work, n);
}

static size_t mapped(const struct bench_pull *t)
{
	return t->n * sizeof(*t->work);
}

void bench_pull_claim(const struct bench_pull *t, unsigned int index)
{
	__atomic_store_n(&t->work[index].pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
}

int bench_pull_once(const struct bench_pull *t, enum bench_op op, unsigned int index)
{
	uint64_t args[4] = { BENCH_CALL((uint32_t)op, index) };
	union bpf_attr attr;

	if (t->how == BENCH_BY_CALL) {
		syscall(SYS_getpgid, (long)args[0]); /* finds no such process */
		return 0;
	}
	memset(&attr, 0, sizeof(attr.test));
	attr.test.prog_fd = (uint32_t)t->run_fd;
	attr.test.ctx_in = (uintptr_t)args;
	attr.test.ctx_size_in = sizeof(args);
	return syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attr, sizeof(attr.test)) ? -errno : 0;
}

/* Whether a pull leads to a run. */
static bool works(struct bench_pull *t)
{
	uint64_t before = t->work[0].runs;
	bool ran;

	bench_pull_claim(t, 0);
	bench_pull_once(t, BENCH_PROBE, 0);
	ran = __atomic_load_n(&t->work[0].runs, __ATOMIC_RELAXED) == before + 1;
	memset(&t->work[0], 0, sizeof(t->work[0]));
	return ran;
}

static int try_call(struct bench_pull *t, const struct bpf_program *call)
{
	t->link = bpf_program__attach(call);
	if (!t->link)
		return -errno;
	t->how = BENCH_BY_CALL;
	if (works(t))
		return 0;
	bpf_link__destroy(t->link);
	t->link = NULL;
	return -ENOTSUP;
}

int bench_pull_open(struct bench_pull *t, enum bench_pull_how want, struct bpf_map *work,
		    struct bpf_program *call, struct bpf_program *run)
{
	int err;
	void *at;

	*t = (struct bench_pull){ .n = bpf_map__max_entries(work), .run_fd = bpf_program__fd(run) };
	at = mmap(NULL, mapped(t), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(work), 0);
	if (at == MAP_FAILED)
		return log_err(-errno, "cannot map the counts of a load: %s", strerror(errno));
	t->work = at;
	err = want == BENCH_BY_RUN ? -ENOTSUP : try_call(t, call);
	if (!err)
		return 0;
	if (want == BENCH_BY_CALL)
		return log_err(
			-ENODEV,
			"the tracepoint of getpgid() cannot be used here (%s); try --trigger "
			"test_run",
			strerror(-err));
	t->how = BENCH_BY_RUN;
	return works(t) ? 0 : log_err(-ENODEV, "this kernel does not run the program of the load");
}

void bench_pull_sum(const struct bench_pull *t, struct bench_work *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < t->n; i++) {
		const struct bench_work *w = &t->work[i];

		sum->runs += __atomic_load_n(&w->runs, __ATOMIC_RELAXED);
		sum->updates += __atomic_load_n(&w->updates, __ATOMIC_RELAXED);
		sum->lookups += __atomic_load_n(&w->lookups, __ATOMIC_RELAXED);
		sum->deletes += __atomic_load_n(&w->deletes, __ATOMIC_RELAXED);
		for (int f = 0; f < BENCH_FAILURES; f++)
			sum->failed[f] += __atomic_load_n(&w->failed[f], __ATOMIC_RELAXED);
	}
}

void bench_pull_close(struct bench_pull *t)
{
	if (t->work)
		munmap(t->work, mapped(t));
	bpf_link__destroy(t->link);
	memset(t, 0, sizeof(*t));
}
