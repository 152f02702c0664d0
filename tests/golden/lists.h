/* SPDX-License-Identifier: GPL-2.0-only */
/* lists.h - for make_capture.c: captures of pending lists, grace periods, names. */
#ifndef KDEFER_GOLDEN_LISTS_H
#define KDEFER_GOLDEN_LISTS_H

#include "maker.h"

#define EXACT KD_PENDING_EXACT
#define CUT KD_PENDING_TRUNCATED

struct a_list {
	uint8_t source, flavour;
	uint16_t list;
	uint32_t cpu, unit_size, flags;
	uint64_t key, length, bytes, age_ns;
};

static void put_list(struct maker *m, const struct a_list *l)
{
	struct kd_rec_pending r = {
		.rec = { .kind = KD_REC_PENDING, .len = sizeof(r) },
		.source = l->source,
		.flavour = l->flavour,
		.list = l->list,
		.cpu = l->cpu,
		.key = l->key,
		.unit_size = l->unit_size,
		.flags = l->flags,
		.length = l->length,
		.bytes = l->bytes,
		.age_ns = l->age_ns ? l->age_ns : KD_UNKNOWN,
	};

	put(m, &r.rec);
}

/* Callbacks do not say what they free. */
static void put_callbacks(struct maker *m, uint8_t flavour, uint16_t list, uint32_t cpu,
			  uint64_t length)
{
	put_list(m, &(struct a_list){ .source = KD_SRC_CALL_RCU,
				      .flavour = flavour,
				      .list = list,
				      .cpu = cpu,
				      .flags = EXACT,
				      .length = length,
				      .bytes = KD_UNKNOWN });
}

static void put_objects(struct maker *m, uint16_t list, uint32_t cpu, uint64_t map, uint32_t size,
			uint64_t length, uint64_t age_ns)
{
	put_list(m, &(struct a_list){ .source = KD_SRC_MEMALLOC,
				      .list = list,
				      .cpu = cpu,
				      .key = map,
				      .unit_size = size,
				      .flags = EXACT | (age_ns ? KD_PENDING_STRANDED : 0),
				      .length = length,
				      .bytes = length * size,
				      .age_ns = age_ns });
}

static void put_name(struct maker *m, enum kd_name_of what, unsigned int source, uint64_t number,
		     const char *const *texts, int n)
{
	put_text(m, KD_REC_NAME, what | (uint64_t)source << 8, number, texts, n);
}

static void put_owed(struct maker *m, uint8_t flavour, uint32_t cpu, uint32_t pid, const char *comm)
{
	struct kd_rec_owed r = {
		.rec = { .kind = KD_REC_OWED, .len = sizeof(r) },
		.flavour = flavour,
		.is_task = pid != 0,
		.cpu = cpu,
		.pid = pid,
		.tgid = pid,
	};

	memcpy(r.comm, comm, strlen(comm) < sizeof(r.comm) ? strlen(comm) : sizeof(r.comm) - 1);
	put(m, &r.rec);
}

static void put_gp(struct maker *m, uint8_t flavour, uint8_t state, uint64_t seq, uint64_t age_ns,
		   uint32_t cpus, uint32_t tasks)
{
	struct kd_rec_gp r = {
		.rec = { .kind = KD_REC_GP, .len = sizeof(r) },
		.flavour = flavour,
		.state = state,
		.cpus_owed = cpus,
		.tasks_owed = tasks,
		.flags = EXACT,
		.seq = seq,
		.age_ns = age_ns ? age_ns : KD_UNKNOWN,
	};

	put(m, &r.rec);
}

/* Callbacks that ran since boot. */
static void put_left(struct maker *m, uint64_t total)
{
	m->source = KD_SRC_CALL_RCU;
	put_total(m, KD_REC_COUNT, KD_CNT_LEFT, total);
}

/* Since the first look, at least. */
static void put_flow(struct maker *m, uint64_t looks, uint64_t in, uint64_t out, uint64_t size)
{
	m->source = KD_SRC_MEMALLOC;
	put_total(m, KD_REC_COUNT, KD_CNT_FLOW_LOOKS, looks);
	put_total(m, KD_REC_COUNT, KD_CNT_FLOW_IN, in);
	put_total(m, KD_REC_COUNT, KD_CNT_FLOW_OUT, out);
	put_total(m, KD_REC_COUNT, KD_CNT_FLOW_IN_BYTES, in * size);
	put_total(m, KD_REC_COUNT, KD_CNT_FLOW_OUT_BYTES, out * size);
}

static void put_plan_of(struct maker *m, unsigned int source, unsigned int measure,
			unsigned int flavour, enum plan_state state, const char *const *texts)
{
	m->source = (uint8_t)source;
	m->measure = (uint8_t)measure;
	m->flavour = (uint8_t)flavour;
	put_plan(m, state, texts);
}

static void put_plan_of_lists(struct maker *m)
{
	static const char *const on[] = { "state", "rcu_data.cblist", "", "" };
	static const char *const part[] = { "state", "srcu_data.srcu_cblist",
					    "domains built into the kernel alone", "" };
	static const char *const gp[] = { "state", "rcu_state.gp_seq", "", "" };
	static const char *const memory[] = { "state", "bpf_mem_cache", "", "" };
	static const char *const off[] = { "none", "", "this kernel has no per-CPU rstat_cpu", "" };

	put_plan_of(m, KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_RCU, PLAN_ON, on);
	put_plan_of(m, KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_SRCU, PLAN_ON, part);
	put_plan_of(m, KD_SRC_CALL_RCU, KD_M_CALL_RCU_PENDING, KD_FL_KFREE, PLAN_ON, on);
	put_plan_of(m, KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_RCU, PLAN_ON, gp);
	put_plan_of(m, KD_SRC_RCU_GP, KD_M_RCU_GP_PENDING, KD_FL_TASKS, PLAN_ON, gp);
	put_plan_of(m, KD_SRC_MEMALLOC, KD_M_MEMALLOC_PENDING, KD_FL_NONE, PLAN_ON, memory);
	put_plan_of(m, KD_SRC_RSTAT, KD_M_RSTAT_PENDING, KD_FL_SUB_ALL, PLAN_OFF, off);
}

static void begin_lists(struct maker *m)
{
	put_host(m);
	put_plan_of_lists(m);
	put_clock(m);
	put_self(m, 0, 1);
}

/*
 * A map that is filled and emptied; one whose freed objects nobody comes back for; CPU 3 in the way.
 * Three looks, a second apart.
 */
static int make_lists(const char *dir)
{
	static const char *const flows[] = { "flows",     "hash",        "812 flowd",
					     "812 flowd", "990 bpftool", "pin /sys/fs/bpf/flows" };
	static const char *const stranded[] = { "sessions", "hash", "812 flowd" };
	static const char *const global[] = { "bpf_global_ma", "" };
	static const char *const domain[] = { "fsnotify_mark_srcu" };
	struct maker m;
	uint32_t cpu;
	int err = begin(&m, dir, "lists.kdefer");

	if (err)
		return err;
	begin_lists(&m);
	for (cpu = 0; cpu < CPUS; cpu++) {
		put_callbacks(&m, KD_FL_RCU, KD_LIST_DONE, cpu, 0);
		put_callbacks(&m, KD_FL_RCU, KD_LIST_WAIT, cpu, 40 + cpu);
		put_callbacks(&m, KD_FL_RCU, KD_LIST_NEXT, cpu, 1200);
		put_objects(&m, KD_LIST_FREE_LLIST, cpu, 12, 64, 96, 0);
		put_objects(&m, KD_LIST_WAITING_FOR_GP_TTRACE, cpu, 12, 64, 30000, 0);
		put_objects(&m, KD_LIST_FREE_BY_RCU_TTRACE, cpu, 31, 256, 2900, 4 * S + cpu * MS);
		put_objects(&m, KD_LIST_FREE_LLIST, cpu, KD_KEY_GLOBAL, 32, 64, 0);
	}
	put_list(&m, &(struct a_list){ .source = KD_SRC_CALL_RCU,
				       .flavour = KD_FL_SRCU,
				       .list = KD_LIST_WAIT,
				       .cpu = 1,
				       .key = 0xffffffff82345678ULL,
				       .flags = EXACT,
				       .length = 3,
				       .bytes = KD_UNKNOWN });
	put_list(&m, &(struct a_list){ .source = KD_SRC_CALL_RCU,
				       .flavour = KD_FL_KFREE,
				       .list = KD_LIST_KFREE,
				       .cpu = 2,
				       .length = 510,
				       .bytes = KD_UNKNOWN });
	put_name(&m, KD_NAME_DOMAIN, KD_SRC_CALL_RCU, 0xffffffff82345678ULL, domain, 1);
	put_name(&m, KD_NAME_MAP, KD_SRC_MEMALLOC, 12, flows, 6);
	put_name(&m, KD_NAME_MAP, KD_SRC_MEMALLOC, 31, stranded, 3);
	put_name(&m, KD_NAME_MAP, KD_SRC_MEMALLOC, KD_KEY_GLOBAL, global, 2);
	put_owed(&m, KD_FL_RCU, 3, 0, "");
	put_gp(&m, KD_FL_RCU, KD_GP_WAITING, 418020, 12 * MS, 1, 0);
	put_gp(&m, KD_FL_TASKS, KD_GP_IDLE, 88, 0, 0, 0);
	put_left(&m, 7000000);
	put_tick(&m, 0);

	put_callbacks(&m, KD_FL_RCU, KD_LIST_NEXT, 3, 9000);
	put_objects(&m, KD_LIST_WAITING_FOR_GP_TTRACE, 3, 12, 64, 70000, 0);
	put_objects(&m, KD_LIST_FREE_BY_RCU, 3, 12, 64, 512, 0);
	put_owed(&m, KD_FL_RCU, 0, 0, "");
	put_owed(&m, KD_FL_RCU, 1, 0, "");
	put_owed(&m, KD_FL_RCU, 3, 0, "");
	put_owed(&m, KD_FL_RCU, 2, 4711, "kworker/2:1");
	put_gp(&m, KD_FL_RCU, KD_GP_WAITING, 418020, 1012 * MS, 3, 1);
	put_gp(&m, KD_FL_TASKS, KD_GP_WAITING, 92, 60 * MS, 0, 200);
	put_left(&m, 7000040);
	put_flow(&m, 1, 70512, 30000, 64); /* another batch on CPU 3 */
	put_self(&m, 0, 1);
	put_tick(&m, S);

	put_callbacks(&m, KD_FL_RCU, KD_LIST_NEXT, 3, 10);
	put_callbacks(&m, KD_FL_RCU, KD_LIST_DONE, 3, 8990);
	put_objects(&m, KD_LIST_WAITING_FOR_GP_TTRACE, 3, 12, 64, 0, 0);
	put_list(&m, &(struct a_list){ .source = KD_SRC_MEMALLOC,
				       .list = KD_LIST_FREE_LLIST,
				       .cpu = 2,
				       .key = 12,
				       .unit_size = 64,
				       .flags = CUT,
				       .length = 1024,
				       .bytes = 65536 });
	put_flow(&m, 2, 70512, 100000, 64);
	put_total(&m, KD_REC_LOST, KD_LOST_LOOK, 1);
	put_gp(&m, KD_FL_RCU, KD_GP_IDLE, 418024, 0, 0, 0);
	put_gp(&m, KD_FL_TASKS, KD_GP_IDLE, 92, 0, 0, 0);
	put_self(&m, 0, 1);
	put_tick(&m, S);
	return end(&m);
}

/* One look, then nothing more. */
static int make_once(const char *dir)
{
	struct maker m;
	int err = begin(&m, dir, "once.kdefer");

	if (err)
		return err;
	begin_lists(&m);
	put_callbacks(&m, KD_FL_RCU, KD_LIST_WAIT, 0, 40);
	put_tick(&m, 0);
	return end(&m);
}

/* Names that would like to be commands of a terminal, lines of ours, or no UTF-8 at all. */
static int make_hostile_lists(const char *dir)
{
	static const char *const map[] = { "a\x1b[31m\"b\\\xff\n", "ha\tsh", "1 \x1b]0;x\x07\"",
					   "pin /sys/fs/bpf/\xe2\x80\xae gnp", "no number at all" };
	static const char *const list[] = { "ne\x9b"
					    "w\n{}" };
	static const char *const domain[] = { "\"\\u0000\xc0\xaf" };
	struct maker m;
	int err = begin(&m, dir, "hostile-lists.kdefer");

	if (err)
		return err;
	begin_lists(&m);
	put_objects(&m, KD_LIST_UNKNOWN, 0, 7, 64, 5, 0);
	put_objects(&m, KD_LIST_UNKNOWN + 1, 0, 8, 64, 6, 0); /* nothing has a name */
	put_list(&m, &(struct a_list){ .source = KD_SRC_CALL_RCU,
				       .flavour = KD_FL_SRCU,
				       .list = KD_LIST_WAIT,
				       .cpu = 1,
				       .key = 0xffffffff82345678ULL,
				       .length = KD_PENDING_MOST,
				       .bytes = KD_PENDING_MOST });
	put_name(&m, KD_NAME_LIST, KD_SRC_MEMALLOC, KD_LIST_UNKNOWN, list, 1);
	put_name(&m, KD_NAME_MAP, KD_SRC_MEMALLOC, 7, map, 5);
	put_name(&m, KD_NAME_DOMAIN, KD_SRC_CALL_RCU, 0xffffffff82345678ULL, domain, 1);
	put_owed(&m, KD_FL_RCU, KD_CPU_NONE, 1, "\x1b[2J\xfe\n\"");
	put_gp(&m, KD_FL_RCU, KD_GP_WAITING, UINT64_MAX, 3 * S, 0, 1);
	put_tick(&m, 0);
	put_owed(&m, KD_FL_RCU, KD_CPU_NONE, 1, "\x1b[2J\xfe\n\"");
	put_gp(&m, KD_FL_RCU, KD_GP_WAITING, UINT64_MAX, 4 * S, 0, 1);
	put_tick(&m, S);
	return end(&m);
}

#endif
