// SPDX-License-Identifier: GPL-2.0-only
/* kernel.c - questions about a kernel, answered from the facts that were gathered. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "kernel.h"

void kernel_free(struct kernel *k)
{
	btf__free(k->btf);
	name_set_free(k->text);
	name_set_free(k->global);
	name_set_free(k->data);
	name_set_free(k->traceable);
	for (size_t i = 0; i < k->nsrcu; i++)
		free(k->srcu[i].name);
	free(k->srcu);
	memset(k, 0, sizeof(*k));
}

void kernel_forget_types(struct kernel *k)
{
	btf__free(k->btf);
	k->btf = NULL;
}

int kernel_recall_types(struct kernel *k)
{
	if (!k->btf)
		k->btf = btf__load_vmlinux_btf();
	return k->btf ? 0 : -ENOENT;
}

const char *preempt_from_name(const struct kernel *k)
{
	static const char *const names[] = {
		[PREEMPT_SHOWN] = "kernel", [PREEMPT_BUILT] = "config", [PREEMPT_BOOTED] = "boot"
	};

	return names[k->preempt_from];
}

bool kernel_has_cap(const struct kernel *k, unsigned int cap)
{
	bool stands_for = cap == KERNEL_CAP_BPF || cap == KERNEL_CAP_PERFMON;

	if (k->caps >> cap & 1)
		return true;
	return stands_for && k->caps >> KERNEL_CAP_SYS_ADMIN & 1;
}

bool kernel_has_func(const struct kernel *k, const char *name)
{
	return k->btf && btf__find_by_name_kind(k->btf, name, BTF_KIND_FUNC) > 0;
}

bool kernel_has_tp(const struct kernel *k, const char *name)
{
	char type[128];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return k->btf && btf__find_by_name_kind(k->btf, type, BTF_KIND_TYPEDEF) > 0;
}

/* Members of anonymous structures count as members of the one around them. */
static const struct btf_member *find_member(const struct btf *btf, __u32 id, const char *field,
					    int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m, *found = NULL;

	if (!t || depth > 8 || !btf_is_composite(t))
		return NULL;
	m = btf_members(t);
	for (int i = 0; i < btf_vlen(t) && !found; i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		if (!name || !*name)
			found = find_member(btf, m[i].type, field, depth + 1);
		else if (!strcmp(name, field))
			found = &m[i];
	}
	return found;
}

static const struct btf_member *field_of(const struct kernel *k, const char *type,
					 const char *field)
{
	int id = k->btf ? btf__find_by_name_kind(k->btf, type, BTF_KIND_STRUCT) : -1;

	return id > 0 ? find_member(k->btf, (__u32)id, field, 0) : NULL;
}

bool kernel_has_field(const struct kernel *k, const char *type, const char *field)
{
	return field_of(k, type, field);
}

enum tri kernel_has_value(const struct kernel *k, const char *enumeration, const char *value)
{
	int id = k->btf ? btf__find_by_name_kind(k->btf, enumeration, BTF_KIND_ENUM) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(k->btf, (__u32)id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(k->btf, btf_enum(t)[i].name_off), value))
			return YES;
	return t ? NO : UNKNOWN;
}

int kernel_field_at(const struct kernel *k, const char *type, const char *field)
{
	int id = k->btf ? btf__find_by_name_kind(k->btf, type, BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(k->btf, (__u32)id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(k->btf, btf_members(t)[i].name_off);

		if (name && !strcmp(name, field))
			return (int)(btf_member_bit_offset(t, (__u32)i) / 8);
	}
	return -ENOENT;
}

const struct btf_type *kernel_field_type(const struct kernel *k, const char *type,
					 const char *field)
{
	const struct btf_member *m = field_of(k, type, field);
	const struct btf_type *t = m ? btf__type_by_id(k->btf, m->type) : NULL;

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(k->btf, t->type);
	return t;
}

static const struct btf_type *percpu_section(const struct kernel *k)
{
	int id = k->btf ? btf__find_by_name_kind(k->btf, ".data..percpu", BTF_KIND_DATASEC) : -1;

	return id > 0 ? btf__type_by_id(k->btf, (__u32)id) : NULL;
}

int kernel_percpu_at(const struct kernel *k, const char *variable)
{
	const struct btf_type *t = percpu_section(k);

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_var_secinfo *v = &btf_var_secinfos(t)[i];
		const struct btf_type *var = btf__type_by_id(k->btf, v->type);
		const char *name = var ? btf__name_by_offset(k->btf, var->name_off) : NULL;

		if (name && !strcmp(name, variable))
			return (int)v->offset;
	}
	return -ENOENT;
}

int kernel_percpu_each(const struct kernel *k, const char *type,
		       int (*each)(void *ctx, const char *variable, uint32_t at), void *ctx)
{
	int id = k->btf ? btf__find_by_name_kind(k->btf, type, BTF_KIND_STRUCT) : -1, ret = 0;
	const struct btf_type *t = percpu_section(k);

	for (int i = 0; id > 0 && t && i < btf_vlen(t) && !ret; i++) {
		const struct btf_var_secinfo *v = &btf_var_secinfos(t)[i];
		const struct btf_type *var = btf__type_by_id(k->btf, v->type);

		if (var && btf_is_var(var) && var->type == (__u32)id)
			ret = each(ctx, btf__name_by_offset(k->btf, var->name_off), v->offset);
	}
	return ret;
}

static enum tri has_name(const struct name_set *set, const char *name)
{
	if (!set)
		return UNKNOWN;
	return name_set_has(set, name) ? YES : NO;
}

enum tri kernel_has_text(const struct kernel *k, const char *name)
{
	return has_name(k->text, name);
}

enum tri kernel_is_global(const struct kernel *k, const char *name)
{
	return has_name(k->global, name);
}

/* The type letters of kallsyms are no guide: newer kernels list data as text. */
enum tri kernel_has_data(const struct kernel *k, const char *name)
{
	enum tri data = has_name(k->data, name);

	return data == YES ? YES : has_name(k->text, name) == YES ? YES : data;
}

enum tri kernel_traceable(const struct kernel *k, const char *name)
{
	return has_name(k->traceable, name);
}

const char *kernel_suffixed(const struct kernel *k, const char *name)
{
	char prefix[160];

	if (!k->text)
		return NULL;
	snprintf(prefix, sizeof(prefix), "%s.", name);
	return name_set_prefix(k->text, prefix);
}
