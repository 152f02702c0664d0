// SPDX-License-Identifier: GPL-2.0-only
/* trigger.c - events made at will, and one program attached to them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "../bpf/bench_trigger.h"
#include "bench_crew.h"
#include "bench_trigger.skel.h"
#include "bpf_util.h"
#include "kernel.h"
#include "log.h"
#include "plan.h"
#include "plan_check.h"
#include "text.h"
#include "trigger.h"

#define TEST_TP "bpf_trigger_tp"
/*
 * Events of one run of the program: enough to hide what the run itself costs. And of system calls in
 * one go, which hide nothing.
 */
#define BATCH 1000
#define RENAMES 100

struct trigger {
	struct bench_trigger_bpf *skel;
	enum trigger_kind kind;
	enum trigger_maker maker;
	struct bpf_program *program; /* what is attached; NULL: nothing */
	struct bpf_link *link;
	int fire_fd;
};

static const struct {
	const char *name, *program;
} kinds[TRIGGER_KINDS] = {
	[TRIGGER_KPROBE] = { "kprobe", "kd_kprobe" },
	[TRIGGER_KRETPROBE] = { "kretprobe", "kd_kretprobe" },
	[TRIGGER_KPROBE_MULTI] = { "kprobe-multi", "kd_kprobe_multi" },
	[TRIGGER_KRETPROBE_MULTI] = { "kretprobe-multi", "kd_kretprobe_multi" },
	[TRIGGER_FENTRY] = { "fentry", "kd_fentry" },
	[TRIGGER_FEXIT] = { "fexit", "kd_fexit" },
	[TRIGGER_TP] = { "tp", "kd_tp" },
	[TRIGGER_RAW_TP] = { "raw_tp", "kd_raw_tp" },
	[TRIGGER_TP_BTF] = { "tp_btf", "kd_tp_btf" },
};

static const struct {
	const char *name, *target, *program;
} makers[TRIGGER_MAKERS] = {
	[TRIGGER_CALLS] = { "call", TRIGGER_FUNCTION, "kd_make_calls" },
	[TRIGGER_PASSES] = { "pass", TEST_TP, "kd_make_passes" },
	[TRIGGER_RENAMES] = { "rename", TRIGGER_RENAME_TP, NULL },
};

const char *trigger_name(enum trigger_kind k)
{
	return k < TRIGGER_KINDS ? kinds[k].name : "none";
}

const char *trigger_names(void)
{
	static char names[256];

	*names = '\0';
	for (unsigned int k = 0; k < TRIGGER_KINDS; k++)
		text_append(names, sizeof(names), "%s%s", k ? ", " : "", kinds[k].name);
	return names;
}

static int kind_by_name(const char *name, size_t len)
{
	for (int k = 0; k < TRIGGER_KINDS; k++)
		if (strlen(kinds[k].name) == len && !strncmp(kinds[k].name, name, len))
			return k;
	return -1;
}

int trigger_parse(const char *list, uint32_t *out)
{
	*out = 0;
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t len = strcspn(at, ",");
		int k = kind_by_name(at, len);

		if (k < 0)
			return log_err(-EINVAL,
				       "bench trigger: --attach: unknown way \"%.*s\"; known: %s",
				       (int)len, at, trigger_names());
		*out |= 1u << k;
	}
	return 0;
}

const char *trigger_maker_name(enum trigger_maker m)
{
	return makers[m].name;
}

const char *trigger_target(enum trigger_maker m)
{
	return makers[m].target;
}

/* --- why not --- */

static bool returns(enum trigger_kind k)
{
	return k == TRIGGER_KRETPROBE || k == TRIGGER_KRETPROBE_MULTI;
}

static bool of_kprobes(enum trigger_kind k)
{
	return k == TRIGGER_KPROBE || k == TRIGGER_KRETPROBE;
}

static bool of_fprobes(enum trigger_kind k)
{
	return k == TRIGGER_KPROBE_MULTI || k == TRIGGER_KRETPROBE_MULTI;
}

static bool of_trampolines(enum trigger_kind k)
{
	return k == TRIGGER_FENTRY || k == TRIGGER_FEXIT;
}

/* What the kernel has not got, by what it shows; NULL: it has all. */
static const char *lacks(enum trigger_kind k)
{
	if (of_kprobes(k) && access("/sys/bus/event_source/devices/kprobe/type", F_OK))
		return "this kernel shows no kprobe events (CONFIG_KPROBE_EVENTS, and sysfs at /sys)";
	if (of_fprobes(k) && libbpf_find_vmlinux_btf_id("register_fprobe", BPF_TRACE_FENTRY) <= 0)
		return "this kernel has no fprobes (CONFIG_FPROBE)";
	if (k == TRIGGER_TP && access("/sys/kernel/tracing/events", F_OK) &&
	    access("/sys/kernel/debug/tracing/events", F_OK))
		return "tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing";
	return NULL;
}

static bool is_function(const char *name, size_t len)
{
	return len == strlen(TRIGGER_FUNCTION) && !strncmp(name, TRIGGER_FUNCTION, len);
}

/* Rights, policies, what is switched off: as for everything that kdefer hooks. */
static bool refused(enum trigger_kind k, char reason[TRIGGER_REASON])
{
	static const struct plan_hook hooks[] = {
		{ "trigger", TRIGGER_FUNCTION, .need = HOOK_REQUIRED }, { 0 }
	};
	const struct plan_way way = {
		of_trampolines(k) ? BACKEND_FENTRY : BACKEND_STATE,
		hooks,
		NULL,
		NULL,
	};
	struct plan_entry e = { 0 };
	struct kernel kernel;
	int err;

	if (kernel_probe(&kernel, is_function))
		return false;
	err = kernel_probe_ftrace(&kernel, is_function, false);
	if (!err)
		kernel_try_fentry(&kernel, TRIGGER_FUNCTION);
	err = err ? 0 : plan_check_way(&kernel, &e, &way);
	kernel_free(&kernel);
	if (err)
		snprintf(reason, TRIGGER_REASON, "%s", e.reason);
	return err;
}

/* Why not: what a person can do something about comes first, and what the kernel answered last. */
static int absent(enum trigger_kind k, const char *step, const char *answer,
		  char reason[TRIGGER_REASON])
{
	const char *missing = lacks(k);

	if (missing)
		snprintf(reason, TRIGGER_REASON, "%s", missing);
	else if (!refused(k, reason))
		snprintf(reason, TRIGGER_REASON, "%s fails: %.200s", step, answer);
	return -ENODEV;
}

/* --- loading, attaching --- */

static void choose_programs(struct trigger *t)
{
	const char *maker = makers[t->maker].program;
	struct bpf_program *p;

	bpf_object__for_each_program (p, t->skel->obj) {
		const char *name = bpf_program__name(p);
		bool attached = t->kind < TRIGGER_KINDS && !strcmp(name, kinds[t->kind].program);

		bpf_program__set_autoload(p, attached || (maker && !strcmp(name, maker)));
		if (attached)
			t->program = p;
	}
}

static int load(struct trigger *t)
{
	t->skel = bench_trigger_bpf__open_opts(bpf_util_open_opts());
	if (!t->skel)
		return -errno;
	choose_programs(t);
	if (t->kind == TRIGGER_TP_BTF)
		bpf_program__set_attach_target(t->program, 0, makers[t->maker].target);
	return bpf_util_load_skeleton(t->skel->skeleton);
}

static struct bpf_link *attach_program(struct trigger *t)
{
	const char *target = makers[t->maker].target;
	LIBBPF_OPTS(bpf_kprobe_multi_opts, multi, .syms = &target, .cnt = 1,
		    .retprobe = returns(t->kind));

	switch (t->kind) {
	case TRIGGER_KPROBE:
	case TRIGGER_KRETPROBE:
		return bpf_program__attach_kprobe(t->program, returns(t->kind), target);
	case TRIGGER_KPROBE_MULTI:
	case TRIGGER_KRETPROBE_MULTI:
		return bpf_program__attach_kprobe_multi_opts(t->program, NULL, &multi);
	case TRIGGER_TP:
		return bpf_program__attach_tracepoint(
			t->program, t->maker == TRIGGER_PASSES ? "bpf_test_run" : "task", target);
	case TRIGGER_RAW_TP:
		return bpf_program__attach_raw_tracepoint(t->program, target);
	default:
		return bpf_program__attach_trace(t->program);
	}
}

static int attach(struct trigger *t, char reason[TRIGGER_REASON])
{
	int err;

	if (!t->program)
		return 0;
	t->link = attach_program(t);
	if (t->link)
		return 0;
	err = -errno;
	return absent(t->kind, "attaching", strerror(-err), reason);
}

static int find_maker(struct trigger *t)
{
	const char *name = makers[t->maker].program;

	t->fire_fd = -1;
	if (name)
		t->fire_fd = bpf_program__fd(bpf_object__find_program_by_name(t->skel->obj, name));
	return 0;
}

int trigger_open(struct trigger **out, enum trigger_kind k, enum trigger_maker m,
		 char reason[TRIGGER_REASON])
{
	struct trigger *t = calloc(1, sizeof(*t));
	int err;

	*out = NULL;
	if (!t)
		return log_err(-ENOMEM, "out of memory");
	t->kind = k;
	t->maker = m;
	err = load(t);
	if (err)
		err = absent(k, "loading", bpf_util_load_error(err), reason);
	else
		err = find_maker(t);
	if (!err)
		err = attach(t, reason);
	if (err) {
		trigger_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void trigger_close(struct trigger *t)
{
	if (!t)
		return;
	bpf_link__destroy(t->link);
	bench_trigger_bpf__destroy(t->skel);
	free(t);
}

/* Kernels have their test function since about 6.10, and only where they have networking. */
enum trigger_maker trigger_maker_of(enum trigger_kind k)
{
	static int passes = -1;
	char reason[TRIGGER_REASON];
	struct trigger *t;

	if (k < TRIGGER_TP)
		return TRIGGER_CALLS;
	if (passes < 0) {
		passes = libbpf_find_vmlinux_btf_id(TEST_TP, BPF_TRACE_RAW_TP) > 0 &&
			 !trigger_open(&t, TRIGGER_KINDS, TRIGGER_PASSES, reason);
		if (passes)
			trigger_close(t);
	}
	return passes ? TRIGGER_PASSES : TRIGGER_RENAMES;
}

/* --- events --- */

static int64_t rename_self(void)
{
	for (uint32_t i = 0; i < RENAMES; i++)
		if (prctl(PR_SET_NAME, BENCH_LOAD_COMM))
			return -errno;
	return RENAMES;
}

int64_t trigger_fire(struct trigger *t)
{
	uint64_t args[4] = { BATCH };
	uint32_t made = 0;
	int err;

	if (t->maker == TRIGGER_RENAMES)
		return rename_self();
	err = bpf_util_run(t->fire_fd, args, &made);
	return err ? err : (int64_t)made;
}

uint64_t trigger_hits(const struct trigger *t)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < TRIGGER_SLOTS; i++)
		sum += __atomic_load_n(&t->skel->bss->slots[i].hits, __ATOMIC_RELAXED);
	return sum;
}

/* --- missed --- */

/* Of bpf_link_info, what newer kernels fill in and the headers that we build with may not know. */
struct link_info {
	uint32_t type, id, prog_id, unused;
	union {
		struct {
			uint64_t addresses;
			uint32_t count, flags;
			uint64_t missed;
		} multi;
		struct {
			uint32_t type, unused;
			uint64_t name;
			uint32_t name_len, offset;
			uint64_t address, missed;
		} kprobe;
	};
};

static uint64_t link_missed(const struct trigger *t)
{
	struct link_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_link__fd(t->link), (void *)&info, &len))
		return 0;
	return of_fprobes(t->kind) ? info.multi.missed : info.kprobe.missed;
}

void trigger_kernel_missed(const struct trigger *t, struct trigger_missed *m)
{
	*m = (struct trigger_missed){ 0 };
	if (!t->program)
		return;
	m->recursion = bpf_util_missed(bpf_program__fd(t->program));
	if (of_kprobes(t->kind) || of_fprobes(t->kind))
		m->no_room = link_missed(t);
}
