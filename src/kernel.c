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
	name_set_free(k->data);
	name_set_free(k->traceable);
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
static bool has_member(const struct btf *btf, __u32 id, const char *field, int depth)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const struct btf_member *m;

	if (!t || depth > 8 || !btf_is_composite(t))
		return false;
	m = btf_members(t);
	for (int i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		if (name && *name ? !strcmp(name, field)
				  : has_member(btf, m[i].type, field, depth + 1))
			return true;
	}
	return false;
}

bool kernel_has_field(const struct kernel *k, const char *type, const char *field)
{
	int id = k->btf ? btf__find_by_name_kind(k->btf, type, BTF_KIND_STRUCT) : -1;

	return id > 0 && has_member(k->btf, id, field, 0);
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
