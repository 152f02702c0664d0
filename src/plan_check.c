// SPDX-License-Identifier: GPL-2.0-only
/* plan_check.c - whether a way to get a measure can work, and if not, its true cause and what would help. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"
#include "plan.h"
#include "plan_check.h"

/* Says why not and what would help; returns -ENODEV so that a refusal is said and passed on at once. */
static int __attribute__((format(printf, 3, 4)))
refuse(struct plan_entry *e, const char *fix, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->reason, sizeof(e->reason), fmt, ap);
	va_end(ap);
	snprintf(e->fix, sizeof(e->fix), "%s", fix ? fix : "");
	return -ENODEV;
}

static int check_rights(const struct kernel *k, struct plan_entry *e)
{
	bool bpf = kernel_has_cap(k, KERNEL_CAP_BPF),
	     perfmon = kernel_has_cap(k, KERNEL_CAP_PERFMON);

	if (bpf && perfmon)
		return 0;
	return refuse(e,
		      k->root ? "give this root the capabilities (a container took them away?)"
			      : "run it as root (sudo), or with these capabilities",
		      "%s%s%s missing%s", bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "",
		      perfmon ? "" : "CAP_PERFMON", k->root ? "" : ": not root");
}

static int check_btf(const struct kernel *k, struct plan_entry *e)
{
	if (k->btf)
		return 0;
	if (k->btf_err == -EACCES || k->btf_err == -EPERM)
		return refuse(e, "make /sys/kernel/btf/vmlinux readable",
			      "no right to read the kernel's BTF");
	return refuse(e, "a kernel built with CONFIG_DEBUG_INFO_BTF=y, and sysfs mounted at /sys",
		      "this kernel shows no BTF (/sys/kernel/btf/vmlinux: %s)",
		      strerror(k->btf_err ? -k->btf_err : ENOENT));
}

/*
 * The kernel refused `what` although the capabilities are held: whose no is it? Lockdown and user
 * namespaces are seen; otherwise it is a policy that does not show itself.
 */
static int refuse_policy(const struct kernel *k, struct plan_entry *e, const char *what, int err)
{
	if (k->user_namespace)
		return refuse(
			e, "run it outside of this container",
			"the kernel refuses %s: capabilities of a user namespace do not count",
			what);
	if (k->lockdown_confidentiality == YES)
		return refuse(e, "boot without lockdown=confidentiality",
			      "kernel lockdown (confidentiality) refuses %s", what);
	return refuse(
		e, "allow them in that policy",
		"the kernel refuses %s (%s) although CAP_BPF and CAP_PERFMON are held: a security "
		"module or policy says no%s%.60s%s",
		what, strerror(err), *k->lsm ? " (at work: " : "", k->lsm, *k->lsm ? ")" : "");
}

/* What every program of ours uses, or those on functions; the kernel's own numbers for them are in BTF. */
static const struct {
	const char *enumeration, *value, *what, *since;
	bool fentry;
} features[] = {
	{ "bpf_map_type", "BPF_MAP_TYPE_RINGBUF", "no ring buffers", "5.8", false },
	{ "bpf_func_id", "BPF_FUNC_loop", "no bpf_loop()", "5.17", false },
	{ "bpf_attach_type", "BPF_TRACE_FENTRY", "no fentry programs", "5.5", true },
};

/* A kernel that is too old for what is asked, by what it has. */
static int check_age(const struct kernel *k, struct plan_entry *e, enum backend b)
{
	char fix[PLAN_TEXT];

	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if ((features[i].fentry && b != BACKEND_FENTRY) ||
		    kernel_has_value(k, features[i].enumeration, features[i].value) != NO)
			continue;
		snprintf(fix, sizeof(fix), "Linux %s or newer", features[i].since);
		return refuse(e, fix, "this kernel is too old: its BPF has %s", features[i].what);
	}
	return 0;
}

/* Every program of ours reads kernel memory. */
static int check_read(const struct kernel *k, struct plan_entry *e)
{
	static const char what[] = "programs that read kernel memory";

	if (k->read_kernel != NO)
		return 0;
	/* A forbidden helper looks like one that is not there. */
	if (k->read_kernel_err == EPERM || k->read_kernel_err == EACCES ||
	    k->lockdown_confidentiality == YES)
		return refuse_policy(k, e, what, k->read_kernel_err);
	return refuse(e, "a kernel built with CONFIG_BPF_EVENTS=y", "the kernel refuses %s (%s)",
		      what, strerror(k->read_kernel_err));
}

static void overdue_text(const struct kernel *k, char *buf, size_t size)
{
	snprintf(
		buf, size,
		"a Tasks RCU grace period has been held up for %llu.%llu s, by a task that does not "
		"leave the kernel",
		(unsigned long long)(k->tasks_gp_ns / 1000000000),
		(unsigned long long)(k->tasks_gp_ns / 100000000 % 10));
}

#define OVERDUE_FIX "end the task that loops in the kernel, then try again"

/* Function hooks as such: EPERM although the capabilities are held is somebody else's no. */
static int check_fentry(const struct kernel *k, struct plan_entry *e)
{
	char text[PLAN_TEXT];

	if (k->ftrace_enabled == NO)
		return refuse(e, "sysctl kernel.ftrace_enabled=1",
			      "function tracing is switched off here (kernel.ftrace_enabled=0)");
	if (k->fentry == NO && (k->fentry_err == EPERM || k->fentry_err == EACCES))
		return refuse_policy(k, e, "fentry programs", k->fentry_err);
	if (k->fentry == NO)
		return refuse(e,
			      "a kernel built with CONFIG_FUNCTION_TRACER=y and "
			      "DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y",
			      "the kernel refuses fentry programs (%s%s%s)",
			      strerror(k->fentry_err), *k->fentry_log ? ": " : "", k->fentry_log);
	if (!k->tasks_gp_overdue)
		return 0;
	overdue_text(k, text, sizeof(text));
	return refuse(e, OVERDUE_FIX, "%.200s: hooking would wait for it", text);
}

static int check_function(const struct kernel *k, struct plan_entry *e, const char *name)
{
	const char *why = plan_forbidden(name), *suffixed = kernel_suffixed(k, name);

	if (why)
		return refuse(e, NULL, "%s is never hooked: %s", name, why);
	if (!kernel_has_func(k, name)) {
		if (suffixed)
			return refuse(e, NULL, "%s was changed by the compiler (%s)", name,
				      suffixed);
		if (kernel_has_text(k, name) == YES)
			return refuse(e, NULL, "%s is not in the kernel's BTF", name);
		return refuse(e, NULL, "this kernel has no function %s (absent, or inlined)", name);
	}
	if (kernel_has_text(k, name) == NO && suffixed)
		return refuse(e, NULL, "%s was changed by the compiler (%s)", name, suffixed);
	if (kernel_has_text(k, name) == NO)
		return refuse(e, NULL,
			      "%s is in BTF but has no symbol (inlined or renamed by the compiler)",
			      name);
	if (kernel_traceable(k, name) == NO)
		return refuse(e, NULL, "%s cannot be traced (notrace)", name);
	return 0;
}

static int check_hook(const struct kernel *k, struct plan_entry *e, enum backend b,
		      const struct plan_hook *h)
{
	if (b == BACKEND_STATE) /* what it reads are the way's fields and symbols */
		return 0;
	if (b == BACKEND_TP_BTF || h->is_tp)
		return kernel_has_tp(k, h->target)
			       ? 0
			       : refuse(e, NULL, "this kernel has no tracepoint %s", h->target);
	if (h->global && kernel_is_global(k, h->target) == NO)
		return refuse(e, NULL, "this kernel has no function %s (absent, or inlined)",
			      h->target);
	return check_function(k, e, h->target);
}

static int check_hooks(const struct kernel *k, struct plan_entry *e, const struct plan_way *way)
{
	char missing[PLAN_TEXT] = "";
	const char *note = "";
	bool one_of = false, any = false;
	size_t used = 0;
	int err;

	e->hooks = 0;
	for (int i = 0; way->hooks[i].program; i++) {
		const struct plan_hook *h = &way->hooks[i];

		if (h->case_type && !kernel_has_field(k, h->case_type, h->case_field))
			continue;
		err = check_hook(k, e, way->backend, h);
		one_of |= h->need == HOOK_ONE_OF;
		any |= h->need == HOOK_ONE_OF && !err;
		if (!err && h->note)
			note = h->note;
		if (!err)
			e->hooks |= 1u << i;
		else if (h->need == HOOK_REQUIRED)
			return err;
		else if (h->need == HOOK_OPTIONAL && !strstr(missing, h->without))
			used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s",
						 used ? ", " : "without ", h->without);
		if (used >= sizeof(missing))
			used = sizeof(missing) - 1;
	}
	if (one_of && !any)
		return -ENODEV; /* the reason is that of the last one tried */
	snprintf(e->reason, sizeof(e->reason), "%.120s%s%.120s", note,
		 *note && *missing ? "; " : "", missing);
	e->fix[0] = '\0';
	return 0;
}

/* What facts are told by, and what leads to per-CPU data where the running task does not. */
const char *const plan_global_symbols[] = { "rcu_data", "runqueues", "__per_cpu_offset", NULL };

#define PERCPU "percpu:"

/* Per-CPU data is found by the running task, or by the kernel's table of offsets: bpf/percpu.bpf.h. */
static int check_percpu(const struct kernel *k, struct plan_entry *e, const char *variable)
{
	if (kernel_percpu_at(k, "runqueues") < 0)
		return refuse(e, NULL, "this kernel's BTF does not say where per-CPU data is");
	if (kernel_percpu_at(k, variable) < 0)
		return refuse(e, NULL, "this kernel has no per-CPU variable %s", variable);
	if (!kernel_has_field(k, "sched_entity", "cfs_rq") &&
	    (kernel_has_data(k, "runqueues") == NO || kernel_has_data(k, "__per_cpu_offset") == NO))
		return refuse(
			e, "a kernel built with CONFIG_KALLSYMS_ALL=y",
			"%s cannot be found: no group scheduling, and no addresses of data in "
			"kallsyms",
			variable);
	return 0;
}

static int check_symbol(const struct kernel *k, struct plan_entry *e, const char *symbol)
{
	if (!strncmp(symbol, PERCPU, strlen(PERCPU)))
		return check_percpu(k, e, symbol + strlen(PERCPU));
	if (kernel_has_data(k, symbol) == NO)
		return refuse(e, "a kernel built with CONFIG_KALLSYMS_ALL=y",
			      "the symbol %s has no address in kallsyms", symbol);
	return 0;
}

static int check_needs(const struct kernel *k, struct plan_entry *e, const struct plan_way *way)
{
	int err = 0;

	for (const struct plan_field *f = way->fields; f && f->type; f++)
		if (!kernel_has_field(k, f->type, f->field))
			return refuse(e, NULL, "this kernel's struct %s has no field %s", f->type,
				      f->field);
	for (const char *const *s = way->symbols; s && *s && !err; s++)
		err = check_symbol(k, e, *s);
	return err;
}

int plan_check_way(const struct kernel *k, struct plan_entry *e, const struct plan_way *way)
{
	int err = check_rights(k, e);

	if (!err)
		err = check_btf(k, e);
	if (!err)
		err = check_age(k, e, way->backend);
	if (!err)
		err = check_read(k, e);
	if (!err && way->backend == BACKEND_FENTRY)
		err = check_fentry(k, e);
	if (!err)
		err = check_needs(k, e, way);
	return err ? err : check_hooks(k, e, way);
}

/* --- what a real attach said --- */

/* EBUSY has several causes, which the kernel does not tell apart. */
static const char *busy_reason(const struct kernel *k, const char *target, char buf[PLAN_TEXT])
{
	char patch[64];

	if (kernel_traceable(k, target) == NO)
		return "it cannot be traced (notrace)";
	if (kernel_livepatched(k->livepatch ? k->livepatch : "/sys/kernel/livepatch", target, patch,
			       sizeof(patch))) {
		snprintf(buf, PLAN_TEXT, "it is livepatched (by %s)", patch);
		return buf;
	}
	return "it cannot be traced (notrace), or another tracer holds it";
}

static const char *attach_reason(const struct kernel *k, const char *target, int err,
				 char buf[PLAN_TEXT])
{
	switch (-err) {
	case EBUSY:
		return busy_reason(k, target, buf);
	case E2BIG:
		return "too many programs are attached to it already (the kernel takes 38)";
	case EPERM:
	case EACCES:
		return "a security module or policy refused the attach";
	case ENOENT:
		return "its address cannot be found";
	case ENODEV:
		return "function tracing is off (the kernel switched it off after a fault of its own)";
	case EINTR:
		return "stopped";
	case 524: /* the kernel's own ENOTSUPP */
		return "the kernel cannot hook a function of this shape";
	}
	return strerror(-err);
}

void plan_attach_reason(const struct kernel *k, const char *target, int err, char reason[PLAN_TEXT],
			char fix[PLAN_TEXT])
{
	char buf[PLAN_TEXT];

	reason[0] = fix[0] = '\0';
	if (err == -ETIME && k->tasks_gp == YES) {
		overdue_text(k, reason, PLAN_TEXT);
		snprintf(fix, PLAN_TEXT, "%s", OVERDUE_FIX);
	} else if (err == -ETIME) {
		snprintf(reason, PLAN_TEXT,
			 "not attached in time: the kernel is very busy, or held up");
		snprintf(fix, PLAN_TEXT, "a longer --attach-timeout");
	} else if (err) {
		snprintf(reason, PLAN_TEXT, "%s", attach_reason(k, target, err, buf));
		if (err == -E2BIG)
			snprintf(fix, PLAN_TEXT,
				 "end other tools that hook it (bpftool link shows them)");
	}
}
