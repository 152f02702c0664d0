// SPDX-License-Identifier: GPL-2.0-only
/* plan.c - resolves the table against facts about a kernel, and says why what cannot be had is off. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "kernel.h"
#include "plan.h"
#include "stream.h"

const char *plan_state_name(enum plan_state s)
{
	static const char *const names[] = { "off", "expected", "on" };

	return (unsigned int)s <= PLAN_ON ? names[s] : "off";
}

static const char *const backends[BACKEND_COUNT] = {
	[BACKEND_NONE] = "none", [BACKEND_TP_BTF] = "tp_btf", [BACKEND_FENTRY] = "fentry",
	[BACKEND_KPROBE] = "kprobe", [BACKEND_STATE] = "state",
};

const char *backend_name(enum backend b)
{
	return (unsigned int)b < BACKEND_COUNT ? backends[b] : "none";
}

int backend_by_name(const char *name, enum backend *b)
{
	for (unsigned int i = BACKEND_NONE + 1; i < BACKEND_COUNT; i++)
		if (!strcmp(name, backends[i])) {
			*b = i;
			return 0;
		}
	return -ENOENT;
}

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

void plan_refuse(struct plan_entry *e, const char *fix, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->reason, sizeof(e->reason), fmt, ap);
	va_end(ap);
	snprintf(e->fix, sizeof(e->fix), "%s", fix ? fix : "");
	e->state = PLAN_OFF;
	e->way = NULL;
	e->hooks = 0;
}

static int check_rights(const struct kernel *k, struct plan_entry *e)
{
	bool bpf = kernel_has_cap(k, KERNEL_CAP_BPF), perfmon = kernel_has_cap(k, KERNEL_CAP_PERFMON);

	if (bpf && perfmon)
		return 0;
	return refuse(e, k->root ? "give this root the capabilities (a container took them away?)" :
				   "run it as root (sudo), or with these capabilities",
		      "%s%s%s missing%s", bpf ? "" : "CAP_BPF", !bpf && !perfmon ? " and " : "",
		      perfmon ? "" : "CAP_PERFMON", k->root ? "" : ": not root");
}

static int check_btf(const struct kernel *k, struct plan_entry *e)
{
	if (k->btf)
		return 0;
	if (k->btf_err == -EACCES || k->btf_err == -EPERM)
		return refuse(e, "make /sys/kernel/btf/vmlinux readable", "no right to read the kernel's BTF");
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
		return refuse(e, "run it outside of this container",
			      "the kernel refuses %s: capabilities of a user namespace do not count", what);
	if (k->lockdown_confidentiality == YES)
		return refuse(e, "boot without lockdown=confidentiality",
			      "kernel lockdown (confidentiality) refuses %s", what);
	return refuse(e, "allow them in that policy",
		      "the kernel refuses %s (%s) although CAP_BPF and CAP_PERFMON are held: a security "
		      "module or policy says no%s%.60s%s", what, strerror(err), *k->lsm ? " (at work: " : "",
		      k->lsm, *k->lsm ? ")" : "");
}

/* Every program of ours reads kernel memory. */
static int check_read(const struct kernel *k, struct plan_entry *e)
{
	static const char what[] = "programs that read kernel memory";

	if (k->read_kernel != NO)
		return 0;
	/* A forbidden helper looks like one that is not there. */
	if (k->read_kernel_err == EPERM || k->read_kernel_err == EACCES || k->lockdown_confidentiality == YES)
		return refuse_policy(k, e, what, k->read_kernel_err);
	return refuse(e, "a kernel built with CONFIG_BPF_EVENTS=y", "the kernel refuses %s (%s)", what,
		      strerror(k->read_kernel_err));
}

static void overdue_text(const struct kernel *k, char *buf, size_t size)
{
	snprintf(buf, size, "a Tasks RCU grace period has been held up for %llu.%llu s, by a task that does not "
		 "leave the kernel", (unsigned long long)(k->tasks_gp_ns / 1000000000),
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
		return refuse(e, "a kernel built with CONFIG_FUNCTION_TRACER=y and "
			      "DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y", "the kernel refuses fentry programs (%s%s%s)",
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
			return refuse(e, NULL, "%s was changed by the compiler (%s)", name, suffixed);
		if (kernel_has_text(k, name) == YES)
			return refuse(e, NULL, "%s is not in the kernel's BTF", name);
		return refuse(e, NULL, "this kernel has no function %s (absent, or inlined)", name);
	}
	if (kernel_has_text(k, name) == NO && suffixed)
		return refuse(e, NULL, "%s was changed by the compiler (%s)", name, suffixed);
	if (kernel_has_text(k, name) == NO)
		return refuse(e, NULL, "%s is in BTF but has no symbol (inlined or renamed by the compiler)",
			      name);
	if (kernel_traceable(k, name) == NO)
		return refuse(e, NULL, "%s cannot be traced (notrace)", name);
	return 0;
}

static int check_hook(const struct kernel *k, struct plan_entry *e, enum backend b, const char *target)
{
	if (b == BACKEND_TP_BTF)
		return kernel_has_tp(k, target) ? 0 :
			refuse(e, NULL, "this kernel has no tracepoint %s", target);
	return check_function(k, e, target);
}

static int check_hooks(const struct kernel *k, struct plan_entry *e, const struct plan_way *way)
{
	char missing[PLAN_TEXT] = "";
	bool one_of = false, any = false;
	size_t used = 0;
	int err;

	e->hooks = 0;
	for (int i = 0; way->hooks[i].program; i++) {
		const struct plan_hook *h = &way->hooks[i];

		if (h->case_type && !kernel_has_field(k, h->case_type, h->case_field))
			continue;
		err = check_hook(k, e, way->backend, h->target);
		one_of |= h->need == HOOK_ONE_OF;
		any |= h->need == HOOK_ONE_OF && !err;
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
	snprintf(e->reason, sizeof(e->reason), "%s", missing);
	e->fix[0] = '\0';
	return 0;
}

static int check_needs(const struct kernel *k, struct plan_entry *e, const struct plan_way *way)
{
	for (const struct plan_field *f = way->fields; f && f->type; f++)
		if (!kernel_has_field(k, f->type, f->field))
			return refuse(e, NULL, "this kernel's struct %s has no field %s", f->type, f->field);
	for (const char *const *s = way->symbols; s && *s; s++)
		if (kernel_has_data(k, *s) == NO)
			return refuse(e, "a kernel built with CONFIG_KALLSYMS_ALL=y",
				      "the symbol %s has no address in kallsyms", *s);
	return 0;
}

static int check_way(const struct kernel *k, struct plan_entry *e, const struct plan_way *way)
{
	int err = check_rights(k, e);

	if (!err)
		err = check_btf(k, e);
	if (!err)
		err = check_read(k, e);
	if (!err && way->backend == BACKEND_FENTRY)
		err = check_fentry(k, e);
	if (!err)
		err = check_needs(k, e, way);
	return err ? err : check_hooks(k, e, way);
}

/* Keeps the reason of the best way when none works. */
static void resolve(struct plan_entry *e, const struct kernel *k, const struct plan_request *want)
{
	struct plan_entry best = *e;
	bool tried = false;

	for (const struct plan_way *w = e->measure->ways; w->hooks; w++) {
		if (!(want->backends >> w->backend & 1))
			continue;
		if (!check_way(k, e, w)) {
			e->way = w;
			e->state = PLAN_EXPECTED;
			return;
		}
		if (!tried)
			best = *e;
		tried = true;
	}
	*e = best;
	e->way = NULL;
	e->hooks = 0;
	e->state = PLAN_OFF;
	if (!tried)
		refuse(e, "allow another backend", "none of the backends allowed can give it");
}

int plan_resolve(struct plan *p, const struct kernel *k, const struct plan_request *want)
{
	p->n = 0;
	p->entry = calloc(plan_table_len, sizeof(*p->entry));
	if (!p->entry)
		return -ENOMEM;
	for (size_t i = 0; i < plan_table_len; i++) {
		const struct plan_measure *m = &plan_table[i];

		if (!(want->sources >> m->source & 1) || !(want->measures >> m->measure & 1))
			continue;
		if (m->flavour != KD_FL_NONE && !(want->flavours >> m->flavour & 1))
			continue;
		if (want->hidden[m->measure] >> m->flavour & 1)
			continue;
		p->entry[p->n].measure = m;
		resolve(&p->entry[p->n++], k, want);
	}
	return 0;
}

void plan_free(struct plan *p)
{
	free(p->entry);
	p->entry = NULL;
	p->n = 0;
}

bool plan_any_on(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->entry[i].state != PLAN_OFF)
			return true;
	return false;
}

/* Index of a program in the way that a row uses, or -1. */
static int hook_of(const struct plan_entry *e, const char *program)
{
	for (int i = 0; e->way && e->way->hooks[i].program; i++)
		if ((e->hooks >> i & 1) && !strcmp(e->way->hooks[i].program, program))
			return i;
	return -1;
}

bool plan_uses(const struct plan *p, unsigned int source, const char *program)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->entry[i].measure->source == source && hook_of(&p->entry[i], program) >= 0)
			return true;
	return false;
}

void plan_drop_hook(struct plan *p, unsigned int source, const char *program)
{
	for (size_t i = 0; i < p->n; i++) {
		int hook = hook_of(&p->entry[i], program);

		if (p->entry[i].measure->source == source && hook >= 0)
			p->entry[i].hooks &= ~(1u << hook);
	}
}

void plan_attached(struct plan *p, const char *program, int err, const char *reason, const char *fix)
{
	for (size_t i = 0; i < p->n; i++) {
		struct plan_entry *e = &p->entry[i];
		int hook = hook_of(e, program);
		const struct plan_hook *h;

		if (hook < 0)
			continue;
		h = &e->way->hooks[hook];
		if (!err) {
			e->state = PLAN_ON;
		} else if (h->need == HOOK_OPTIONAL) {
			e->hooks &= ~(1u << hook);
			snprintf(e->reason, sizeof(e->reason), "without %.80s (%.40s: %.100s)", h->without,
				 h->target, reason);
		} else {
			plan_refuse(e, fix, "%s: %s", h->target, reason);
		}
	}
}

/* EBUSY has several causes, which the kernel does not tell apart. */
static const char *busy_reason(const struct kernel *k, const char *target)
{
	if (kernel_traceable(k, target) == NO)
		return "it cannot be traced (notrace)";
	if (kernel_livepatched(target))
		return "it is livepatched";
	return "it cannot be traced (notrace), or another tracer holds it";
}

static const char *attach_reason(const struct kernel *k, const char *target, int err)
{
	switch (-err) {
	case EBUSY:
		return busy_reason(k, target);
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
	reason[0] = fix[0] = '\0';
	if (err == -ETIME && k->tasks_gp == YES) {
		overdue_text(k, reason, PLAN_TEXT);
		snprintf(fix, PLAN_TEXT, "%s", OVERDUE_FIX);
	} else if (err == -ETIME) {
		snprintf(reason, PLAN_TEXT, "not attached in time: the kernel is very busy, or held up");
		snprintf(fix, PLAN_TEXT, "a longer --attach-timeout");
	} else if (err) {
		snprintf(reason, PLAN_TEXT, "%s", attach_reason(k, target, err));
		if (err == -E2BIG)
			snprintf(fix, PLAN_TEXT, "end other tools that hook it (bpftool link shows them)");
	}
}

/* Both ends of a function are hooks of their own, but one name. */
static bool is_named(const struct plan_entry *e, int hook)
{
	const struct plan_hook *hooks = e->way->hooks;

	for (int i = 0; i < hook; i++)
		if ((e->hooks >> i & 1) && !strcmp(hooks[i].target, hooks[hook].target))
			return true;
	return false;
}

void plan_hooks(const struct plan_entry *e, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int i = 0; e->way && e->way->hooks[i].program && used < size; i++)
		if ((e->hooks >> i & 1) && !is_named(e, i))
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " " : "",
						 e->way->hooks[i].target);
}

int plan_emit(const struct plan *p, struct stream *s)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	int err = 0;

	for (size_t i = 0; i < p->n && !err; i++) {
		const struct plan_entry *e = &p->entry[i];
		const struct measure_info *info = measure_info(e->measure->measure);
		char hooks[1024];
		const char *const texts[] = { backend_name(e->way ? e->way->backend : BACKEND_NONE), hooks,
					      e->reason, e->fix };
		const struct kd_rec *rec;

		plan_hooks(e, hooks, sizeof(hooks));
		rec = stream_make_text(buf, KD_REC_PLAN,
				       e->measure->source | (uint64_t)e->measure->measure << 8 |
					       (uint64_t)e->measure->flavour << 16 |
					       (uint64_t)e->state << 24 |
					       (uint64_t)(info ? info->meaning : 0) << 32,
				       0, texts, 4);
		err = stream_record(s, rec, rec->len);
	}
	return err;
}

static bool matches(const char *want, const char *name, size_t len)
{
	size_t n = strlen(want);

	return n <= len && !strncmp(want, name, n) && (n == len || name[n] == '.');
}

bool plan_wants(const char *name, size_t len)
{
	for (size_t i = 0; i < plan_table_len; i++)
		for (const struct plan_way *w = plan_table[i].ways; w->hooks; w++) {
			for (const struct plan_hook *h = w->hooks; h->program; h++)
				if (matches(h->target, name, len))
					return true;
			for (const char *const *s = w->symbols; s && *s; s++)
				if (matches(*s, name, len))
					return true;
		}
	return false;
}

/* Whether the kernel takes fentry programs at all is a fact of its own: one load tells. */
static void try_first_hook(struct kernel *k)
{
	for (size_t i = 0; i < plan_table_len; i++)
		for (const struct plan_way *w = plan_table[i].ways; w->hooks; w++)
			if (w->backend == BACKEND_FENTRY && kernel_has_func(k, w->hooks[0].target)) {
				kernel_try_fentry(k, w->hooks[0].target);
				return;
			}
}

static bool may_load(const struct kernel *k)
{
	return kernel_has_cap(k, KERNEL_CAP_BPF) && kernel_has_cap(k, KERNEL_CAP_PERFMON);
}

int plan_probe_names(struct kernel *k, bool (*wanted)(const char *name, size_t len), bool thorough)
{
	int err = kernel_probe(k, wanted, thorough);

	if (err || !may_load(k))
		return err;
	kernel_try_read(k);
	try_first_hook(k);
	return 0;
}

int plan_probe(struct kernel *k, bool thorough)
{
	return plan_probe_names(k, plan_wants, thorough);
}

void plan_probe_tasks(struct kernel *k, uint64_t limit_ns, int (*stopped)(void))
{
	if (may_load(k) && k->read_kernel == YES)
		kernel_see_tasks(k, limit_ns, stopped);
}
