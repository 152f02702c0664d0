// SPDX-License-Identifier: GPL-2.0-only
/* bench.c - the list of loads. */
#include <string.h>

#include "bench.h"
#include "bench_loads.h"

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
