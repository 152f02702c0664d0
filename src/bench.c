// SPDX-License-Identifier: GPL-2.0-only
/* bench.c - the list of loads. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "bench.h"
#include "bench_loads.h"
#include "log.h"

const struct bench_load *const bench_loads[] = {
	&bench_htab_mem,   //
	&bench_map_update, //
	&bench_map_dump,   //
	&bench_trigger,    //
	&bench_callbacks,  //
	&bench_hold,       //
	&bench_rstat,      //
	NULL,
};

const struct bench_load *bench_find(const char *name)
{
	for (size_t i = 0; bench_loads[i]; i++)
		if (!strcmp(bench_loads[i]->name, name))
			return bench_loads[i];
	return NULL;
}

int bench_no_map(const struct bench_load *load, uint64_t entries, int err)
{
	const char *fix = err == -EPERM ? " (run it as root, or with CAP_BPF and CAP_PERFMON)" : "";

	return log_err(err == -EPERM ? -ENODEV : err,
		       "%s: cannot make a map of %" PRIu64 " elements: %s%s", load->name, entries,
		       strerror(-err), fix);
}
