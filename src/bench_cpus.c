// SPDX-License-Identifier: GPL-2.0-only
/* bench_cpus.c - which CPUs a load runs on. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench_crew.h"
#include "cpus.h"
#include "log.h"

#define MOST 8192 /* that the kernel can be built for */

int bench_parse_affinity(void *into, const char *list)
{
	struct bench_cpus *c = into;
	int n;

	free(c->cpu);
	*c = (struct bench_cpus){ 0 };
	if (cpus_parse(list, &c->cpu, &n) || !n)
		return log_err(-EINVAL,
			       "bench: --affinity: \"%s\" is no list of CPUs; use e.g. 0-3,8",
			       list);
	c->n = (unsigned int)n;
	return 0;
}

static int allowed(struct bench_cpus *c)
{
	size_t size = CPU_ALLOC_SIZE(MOST);
	cpu_set_t *set = CPU_ALLOC(MOST);

	c->cpu = calloc(MOST, sizeof(*c->cpu));
	if (!set || !c->cpu) {
		CPU_FREE(set);
		return -ENOMEM;
	}
	CPU_ZERO_S(size, set);
	sched_getaffinity(0, size, set);
	for (int cpu = 0; cpu < MOST; cpu++)
		if (CPU_ISSET_S(cpu, size, set))
			c->cpu[c->n++] = cpu;
	CPU_FREE(set);
	return 0;
}

static int copy(const struct bench_cpus *asked, struct bench_cpus *c)
{
	c->cpu = calloc(asked->n, sizeof(*c->cpu));
	if (!c->cpu)
		return -ENOMEM;
	memcpy(c->cpu, asked->cpu, asked->n * sizeof(*c->cpu));
	c->n = asked->n;
	return 0;
}

int bench_choose_cpus(const struct bench_cpus *asked, uint64_t wanted, struct bench_cpus *out)
{
	int err;

	*out = (struct bench_cpus){ 0 };
	err = asked->n ? copy(asked, out) : allowed(out);
	if (err) {
		free(out->cpu);
		*out = (struct bench_cpus){ 0 };
		return log_err(err, "out of memory");
	}
	if (wanted > out->n) {
		log_err(-ENODEV, "needs %llu CPUs, one for each process, and %u can be used here",
			(unsigned long long)wanted, out->n);
		free(out->cpu);
		*out = (struct bench_cpus){ 0 };
		return -ENODEV;
	}
	if (wanted)
		out->n = (unsigned int)wanted;
	return 0;
}
