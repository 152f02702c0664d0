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
#include "plan_check.h"
#include "stream.h"

const char *plan_state_name(enum plan_state s)
{
	static const char *const names[] = { "off", "expected", "on" };

	return (unsigned int)s <= PLAN_ON ? names[s] : "off";
}

static const char *const backends[BACKEND_COUNT] = {
	[BACKEND_NONE] = "none",     [BACKEND_TP_BTF] = "tp_btf", [BACKEND_FENTRY] = "fentry",
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

/* Keeps the reason of the best way when none works. */
static void resolve(struct plan_entry *e, const struct kernel *k, const struct plan_request *want)
{
	struct plan_entry best = *e;
	bool tried = false;

	for (const struct plan_way *w = e->measure->ways; w->hooks; w++) {
		if (!(want->backends >> w->backend & 1))
			continue;
		if (!plan_check_way(k, e, w)) {
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
		plan_refuse(e, "allow another backend", "none of the backends allowed can give it");
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

void plan_attached(struct plan *p, const char *program, int err, const char *reason,
		   const char *fix)
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
			snprintf(e->reason, sizeof(e->reason), "without %.80s (%.40s: %.100s)",
				 h->without, h->target, reason);
		} else {
			plan_refuse(e, fix, "%s: %s", h->target, reason);
		}
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
		if ((e->hooks >> i & 1) && *e->way->hooks[i].target && !is_named(e, i))
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
		const char *const texts[] = { backend_name(e->way ? e->way->backend : BACKEND_NONE),
					      hooks, e->reason, e->fix };
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

static int add_all(struct name_set *set, const char *const *list)
{
	int err = 0;

	for (; list && *list && !err; list++)
		err = name_set_add(set, *list);
	return err;
}

static int add_way(struct name_set *set, const struct plan_way *w)
{
	int err = add_all(set, w->symbols);

	for (const struct plan_hook *h = w->hooks; h->program && !err; h++)
		err = name_set_add(set, h->target);
	return err;
}

/* Every name of the table, put together once; NULL: no memory. */
static const struct name_set *wanted_names(void)
{
	static struct name_set *set;
	int err;

	if (set)
		return set;
	set = name_set_new();
	err = set ? add_all(set, plan_global_symbols) : -ENOMEM;
	for (size_t i = 0; i < plan_table_len && !err; i++)
		for (const struct plan_way *w = plan_table[i].ways; w->hooks && !err; w++)
			err = add_way(set, w);
	if (err) {
		name_set_free(set);
		set = NULL;
	} else {
		name_set_seal(set);
	}
	return set;
}

/* Asked of each of a hundred thousand names. What the compiler added to one begins with a dot. */
bool plan_wants(const char *name, size_t len)
{
	const struct name_set *set = wanted_names();
	char cut[128];
	size_t n = strcspn(name, ".");

	n = n < len ? n : len;
	if (!set || n >= sizeof(cut))
		return !set;
	memcpy(cut, name, n);
	cut[n] = '\0';
	return name_set_has(set, cut);
}

/* Whether the kernel takes fentry programs at all is a fact of its own: one load tells. */
static void try_first_hook(struct kernel *k)
{
	for (size_t i = 0; i < plan_table_len; i++)
		for (const struct plan_way *w = plan_table[i].ways; w->hooks; w++)
			if (w->backend == BACKEND_FENTRY &&
			    kernel_has_func(k, w->hooks[0].target)) {
				kernel_try_fentry(k, w->hooks[0].target);
				return;
			}
}

static bool may_load(const struct kernel *k)
{
	return kernel_has_cap(k, KERNEL_CAP_BPF) && kernel_has_cap(k, KERNEL_CAP_PERFMON);
}

int plan_probe_state(struct kernel *k)
{
	int err = kernel_probe(k, plan_wants);

	if (!err && may_load(k))
		kernel_try_read(k);
	return err;
}

bool plan_only_state(const struct plan_request *want)
{
	const struct measure_info *m;

	for (unsigned int i = 0; (m = measure_info(i)); i++)
		if (!m->pending && want->measures >> i & 1 && want->sources >> m->source & 1)
			return false;
	return true;
}

int plan_probe(struct kernel *k, bool thorough, uint64_t limit_ns, int (*stopped)(void))
{
	int err = plan_probe_state(k);

	if (!err && k->read_kernel == YES)
		kernel_see_tasks(k, limit_ns, stopped);
	if (err || k->tasks_gp_overdue)
		return err;
	err = kernel_probe_ftrace(k, plan_wants, thorough);
	if (!err && may_load(k))
		try_first_hook(k);
	return err;
}
