// SPDX-License-Identifier: GPL-2.0-only
/* source_util.c - what every source does with its object and its rows of the plan. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bpf_util.h"
#include "catalog.h"
#include "source.h"

/* Fills in the target of a program that some way of the table hooks; NULL: none does. */
static const char *hook_target(unsigned int source, const char *program)
{
	for (size_t i = 0; i < plan_table_len; i++) {
		if (plan_table[i].source != source)
			continue;
		for (const struct plan_way *w = plan_table[i].ways; w->hooks; w++)
			for (const struct plan_hook *h = w->hooks; h->program; h++)
				if (!strcmp(h->program, program))
					return h->target;
	}
	return NULL;
}

void source_choose_programs(struct bpf_object *obj, const struct plan *plan, unsigned int source)
{
	struct bpf_program *p;

	bpf_object__for_each_program (p, obj) {
		const char *name = bpf_program__name(p);

		bpf_program__set_autoload(p, !hook_target(source, name) ||
						     plan_uses(plan, source, name));
	}
}

size_t source_collect_hooks(struct bpf_object *obj, const struct plan *plan, unsigned int source,
			    struct source_hook *hooks, size_t max)
{
	struct bpf_program *p;
	size_t n = 0;

	bpf_object__for_each_program (p, obj) {
		const char *name = bpf_program__name(p), *target = hook_target(source, name);

		if (n < max && target && plan_uses(plan, source, name))
			hooks[n++] = (struct source_hook){
				.program = name,
				.target = target,
				.prog_fd = bpf_program__fd(p),
				.attach_type = (int)bpf_program__expected_attach_type(p),
			};
	}
	return n;
}

/* --- how often its programs ran --- */

#define CELLS 64 /* run_cells of bpf/runs.bpf.h: n, and room to the next line of the cache */
#define CELL_WORDS 8

/* Where a variable of the object's .bss is; -1: there is none of that name and size. */
static long bss_offset(const struct bpf_object *obj, const char *name, size_t size)
{
	const struct btf *btf = bpf_object__btf(obj);
	int id = btf ? btf__find_by_name_kind(btf, ".bss", BTF_KIND_DATASEC) : -1;
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, (unsigned int)id) : NULL;
	const struct btf_var_secinfo *v = section ? btf_var_secinfos(section) : NULL;

	for (unsigned int i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_type *var = btf__type_by_id(btf, v[i].type);

		if (v[i].size == size && !strcmp(btf__name_by_offset(btf, var->name_off), name))
			return v[i].offset;
	}
	return -1;
}

static struct bpf_map *bss_of(const struct bpf_object *obj)
{
	struct bpf_map *m;

	bpf_object__for_each_map (m, obj) {
		size_t len = strlen(bpf_map__name(m));

		if (len >= 4 && !strcmp(bpf_map__name(m) + len - 4, ".bss"))
			return m;
	}
	return NULL;
}

/* CPUs share a cell where there are more of them: what it has is at most that of each. */
int source_cell_runs(const struct bpf_object *obj, struct cpu_runs *by_cpu, int cpus)
{
	long at = bss_offset(obj, "run_cells", CELLS * CELL_WORDS * sizeof(uint64_t));
	struct bpf_map *m = bss_of(obj);
	char *value = at < 0 || !m ? NULL : calloc(1, bpf_map__value_size(m));
	uint32_t zero = 0;
	int err = value ? bpf_map_lookup_elem(bpf_map__fd(m), &zero, value) : -ENOENT;

	for (int i = 0; i < cpus && !err; i++) {
		uint64_t n;

		memcpy(&n, value + at + i % CELLS * CELL_WORDS * sizeof(n), sizeof(n));
		by_cpu[i].n += n;
	}
	free(value);
	return err;
}

bool source_serves(const struct source *src, const struct plan_entry *e)
{
	const struct measure_info *m = measure_info(e->measure->measure);

	return e->measure->source == src->id && !m->pending && m->holdup == src->holdup;
}

static void refuse(struct plan *plan, const struct source *src, const char *fmt, va_list ap)
{
	char reason[PLAN_TEXT];

	vsnprintf(reason, sizeof(reason), fmt, ap);
	for (size_t i = 0; i < plan->n; i++)
		if (plan->entry[i].state != PLAN_OFF && source_serves(src, &plan->entry[i]))
			plan_refuse(&plan->entry[i], NULL, "%s", reason);
}

void source_refuse(struct plan *plan, unsigned int source, const char *fmt, ...)
{
	const struct source src = { .id = source };
	va_list ap;

	va_start(ap, fmt);
	refuse(plan, &src, fmt, ap);
	va_end(ap);
}

void holdup_refuse(struct plan *plan, unsigned int source, const char *fmt, ...)
{
	const struct source src = { .id = source, .holdup = true };
	va_list ap;

	va_start(ap, fmt);
	refuse(plan, &src, fmt, ap);
	va_end(ap);
}

static bool sees_beginnings(const char *program)
{
	size_t len = strlen(program);

	return len > 3 && !strcmp(program + len - 3, "_in");
}

void beginnings_collect(struct beginnings *b, const struct source_hook *hooks, size_t n)
{
	b->n = 0;
	for (size_t i = 0; i < n && b->n < BEGINNINGS_MAX; i++)
		if (sees_beginnings(hooks[i].program))
			b->fd[b->n++] = hooks[i].prog_fd;
}

void beginnings_start(struct beginnings *b)
{
	for (size_t i = 0; i < b->n; i++)
		b->missed[i] = bpf_util_missed(b->fd[i]);
}

uint64_t beginnings_missed(const struct beginnings *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < b->n; i++)
		sum += bpf_util_missed(b->fd[i]) - b->missed[i];
	return sum;
}
