// SPDX-License-Identifier: GPL-2.0-only
/* memalloc_layout.c - the lists of this kernel's struct bpf_mem_cache, as its BTF has them. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "memalloc_layout.h"

/* How each is used: kernel/bpf/memalloc.c of every version that we know. */
static const struct {
	const char *name;
	enum kd_list list;
	enum ml_kind kind;
} known[] = {
	{ "free_llist", KD_LIST_FREE_LLIST, ML_COUNTED },
	{ "free_llist_extra", KD_LIST_FREE_LLIST_EXTRA, ML_OWNED },
	{ "free_by_rcu", KD_LIST_FREE_BY_RCU, ML_OWNED },
	{ "waiting_for_gp", KD_LIST_WAITING_FOR_GP, ML_WAITING },
	{ "free_by_rcu_ttrace", KD_LIST_FREE_BY_RCU_TTRACE, ML_SHARED },
	{ "waiting_for_gp_ttrace", KD_LIST_WAITING_FOR_GP_TTRACE, ML_WAITING },
};

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_typedef(t) || btf_is_mod(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool is_list_head(const struct btf *btf, const struct btf_type *t)
{
	return t && btf_is_struct(t) &&
	       !strcmp(btf__name_by_offset(btf, t->name_off), "llist_head");
}

/* A number whose name has a word that says that it counts: "free_by_rcu_cnt". */
static bool is_counter(const struct btf_type *t, const char *name)
{
	static const char *const words[] = { "cnt", "count", "len", "nr" };

	if (!t || !btf_is_int(t) || t->size != 4 || !strcmp(name, "free_cnt"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(name, words[i]);
		size_t len = strlen(words[i]);

		if (at && (at == name || at[-1] == '_') && (!at[len] || at[len] == '_'))
			return true;
	}
	return false;
}

/* Objects gather in a list until a callback takes them further; a field says that it is queued. */
static const struct {
	enum kd_list list;
	const char *field;
} queued[] = {
	{ KD_LIST_FREE_BY_RCU, "call_rcu_in_progress" },
	{ KD_LIST_FREE_BY_RCU_TTRACE, "call_rcu_ttrace_in_progress" },
};

static void note_queued(struct ml_layout *l, const char *name, uint32_t offset)
{
	for (size_t i = 0; i < sizeof(queued) / sizeof(queued[0]); i++)
		for (uint32_t at = 0; at < l->n && !strcmp(name, queued[i].field); at++)
			if (l->list[at].list == queued[i].list)
				l->list[at].queued = (uint16_t)offset;
}

/* Numbers of 32 bits alone, atomic_t among them: programs read words. */
static void find_queued(struct ml_layout *l, const struct btf *btf, const struct btf_type *t)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const struct btf_type *type = resolve(btf, m->type);
		uint32_t offset = btf_member_bit_offset(t, i) / 8;

		if (type && (btf_is_int(type) || btf_is_struct(type)) && type->size == 4 &&
		    offset % 4 == 0 && offset + 4 <= ML_CACHE_WORDS * sizeof(uint64_t))
			note_queued(l, btf__name_by_offset(btf, m->name_off), offset);
	}
}

static void add(struct ml_layout *l, const char *name, uint32_t offset, bool head)
{
	struct ml_list *list = &l->list[l->n];

	if (l->n == ML_LISTS || offset + 8 > l->cache_size ||
	    offset + 8 > ML_CACHE_WORDS * sizeof(uint64_t)) {
		l->left_out++;
		return;
	}
	*list = (struct ml_list){ .offset = (uint16_t)offset,
				  .list = (uint16_t)(KD_LIST_UNKNOWN + l->n),
				  .kind = head ? ML_SHARED : ML_NUMBER };
	for (size_t i = 0; head && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name)) {
			list->list = known[i].list;
			list->kind = known[i].kind;
		}
	snprintf(l->name[l->n++], sizeof(l->name[0]), "%s", name);
}

/* Types of maps by number: "hash" for BPF_MAP_TYPE_HASH. The first of several names of a number. */
static void add_type(struct ml_layout *l, const char *name, uint32_t number)
{
	static const char prefix[] = "BPF_MAP_TYPE_";
	char *to;

	if (number >= ML_TYPES || strncmp(name, prefix, strlen(prefix)) || *l->type[number])
		return;
	to = l->type[number];
	snprintf(to, sizeof(l->type[0]), "%s", name + strlen(prefix));
	for (; *to; to++)
		*to = (char)tolower(*to);
	if (!strcmp(l->type[number], "rhash"))
		l->type_rhash = number;
}

static void add_types(struct ml_layout *l, const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "bpf_map_type", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		add_type(l, btf__name_by_offset(btf, btf_enum(t)[i].name_off),
			 (uint32_t)btf_enum(t)[i].val);
}

static uint32_t struct_size(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 ? btf__type_by_id(btf, (uint32_t)id)->size : 0;
}

int memalloc_layout(const struct btf *btf, struct ml_layout *l)
{
	int id = btf ? btf__find_by_name_kind(btf, "bpf_mem_cache", BTF_KIND_STRUCT) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	memset(l, 0, sizeof(*l));
	if (!t)
		return -ENOENT;
	l->cache_size = t->size;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const struct btf_type *type = resolve(btf, m->type);
		const char *name = btf__name_by_offset(btf, m->name_off);
		bool head = is_list_head(btf, type);

		if (head || is_counter(type, name))
			add(l, name, btf_member_bit_offset(t, i) / 8, head);
	}
	find_queued(l, btf, t);
	l->sizes = struct_size(btf, "bpf_mem_caches") / l->cache_size;
	add_types(l, btf);
	return l->n ? 0 : -ENOENT;
}
