/* SPDX-License-Identifier: GPL-2.0-only */
/* bench_loads.h - the loads of `kdefer bench`, for their list in bench.c. */
#ifndef KDEFER_BENCH_LOADS_H
#define KDEFER_BENCH_LOADS_H

struct bench_load;

extern const struct bench_load bench_htab_mem;
extern const struct bench_load bench_map_update;
extern const struct bench_load bench_map_dump;
extern const struct bench_load bench_trigger;
extern const struct bench_load bench_callbacks;
extern const struct bench_load bench_hold;
extern const struct bench_load bench_rstat;

#endif
