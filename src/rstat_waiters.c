// SPDX-License-Identifier: GPL-2.0-only
/*
 * rstat_waiters.c - how the locks of cgroup statistics tell who waits for them. A queued spinlock does;
 * under hypervisors that do not help its queue along the kernel spins without one.
 */
#include <string.h>

#include <bpf/btf.h>

#include "../bpf/defer.h"
#include "../bpf/rstat_state.h"
#include "file.h"
#include "kernel.h"
#include "rstat_waiters.h"
#include "text.h"

#define WIDE_CPUS 16384 /* from here on a lock's word is laid out otherwise */

static bool is_wide(const struct kernel *k)
{
	int id = btf__find_by_name_kind(k->btf, "cpumask", BTF_KIND_STRUCT);

	return id < 0 || btf__resolve_size(k->btf, (__u32)id) * 8 >= WIDE_CPUS;
}

/* Of x86 alone: other machines do not spin without a queue. */
static bool under_hypervisor(void)
{
	char flags[8192];

	return !file_field("/proc/cpuinfo", "flags", flags, sizeof(flags)) &&
	       strstr(flags, " hypervisor");
}

static void be_silent(struct rstat_waiters *w, const char *why)
{
	w->form = RSS_LOCK_SILENT;
	w->why = why;
}

void rstat_waiters_find(struct rstat_waiters *w, const struct kernel *k, bool by_subsys)
{
	*w = (struct rstat_waiters){ .form = RSS_LOCK_QUEUE, .by_subsys = by_subsys };
	w->global = k->at[KERNEL_RSTAT_LOCK];
	w->base = k->at[KERNEL_RSTAT_BASE_LOCK];
	if (!by_subsys && !w->global) {
		be_silent(w, "kallsyms shows no address of cgroup_rstat_lock");
	} else if (kernel_has_field(k, "spinlock", "lock")) { /* a kernel for real time */
		w->form = RSS_LOCK_MUTEX;
	} else if (kernel_percpu_at(k, "qnodes") < 0 ||
		   !kernel_has_field(k, "mcs_spinlock", "count") || is_wide(k)) {
		be_silent(w, "this kernel's spinlocks do not say in a known way who waits");
	} else {
		w->sure = !under_hypervisor();
		w->key = w->sure ? 0 : k->at[KERNEL_VIRT_SPIN_KEY];
	}
}

void rstat_waiters_key(struct rstat_waiters *w, bool on)
{
	w->sure = !on;
	if (on)
		be_silent(w, "under this hypervisor spinlocks have no queue that says who waits");
}

void rstat_waiters_note(const struct rstat_waiters *w, char *buf, size_t size)
{
	buf[0] = '\0';
	if (w->form == RSS_LOCK_SILENT) {
		text_append(buf, size, "without waiters: %s", w->why);
		return;
	}
	if (w->by_subsys && !w->base)
		text_append(buf, size,
			    "without waiters for base statistics: kallsyms shows no "
			    "address of rstat_base_lock");
	if (w->form == RSS_LOCK_QUEUE && !w->sure)
		text_append(buf, size,
			    "%swaiters are not exact: nothing says whether spinlocks have "
			    "queues under this hypervisor",
			    *buf ? "; " : "");
}
