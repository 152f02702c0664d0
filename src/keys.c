// SPDX-License-Identifier: GPL-2.0-only
/* keys.c - the table of keys: what series carry them, how they are read off a series, their order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "model.h"

#define CORE_MODULE "vmlinux" /* where a function without a module is, as --by and filters see it */

static const char no_name[] = "?"; /* of what has a key of its own but no name */

/* --- values of a series --- */

static bool text_value(struct key_value *v, const char *text)
{
	v->text = text;
	return text;
}

static bool number_value(struct key_value *v, uint64_t number)
{
	v->number = number;
	return true;
}

static bool group_value(const struct series *s, struct key_value *v)
{
	return text_value(v, flavour_name(s->flavour));
}

/* Name and number: a function and its address, a cgroup and nothing. */
static bool name_value(const struct series *s, struct key_value *v)
{
	v->number = s->key[0];
	return text_value(v, s->name[0] ? s->name[0] : no_name);
}

static bool module_value(const struct series *s, struct key_value *v)
{
	const char *core = s->name[0] ? CORE_MODULE : no_name;

	return text_value(v, s->name[1] ? s->name[1] : core);
}

static bool module_beside(const struct series *s, struct key_value *v)
{
	return text_value(v, s->name[1]);
}

static bool stage_value(const struct series *s, struct key_value *v)
{
	return text_value(v, stage_name((unsigned int)(s->key[1] >> 32)));
}

static bool first_value(const struct series *s, struct key_value *v)
{
	return number_value(v, s->key[0]);
}

static bool map_name_value(const struct series *s, struct key_value *v)
{
	return text_value(v, s->name[0]);
}

static bool unit_size_value(const struct series *s, struct key_value *v)
{
	return number_value(v, (uint32_t)s->key[1]) && v->number;
}

static bool thread_value(const struct series *s, struct key_value *v)
{
	return text_value(v, s->name[1]);
}

static bool class_value(const struct series *s, struct key_value *v)
{
	uint64_t class = s->key[0] >> 32;

	return class < KD_FC_COUNT && text_value(v, flusher_class_name((unsigned int)class));
}

/* 0 stands for several processes. */
static bool tgid_value(const struct series *s, struct key_value *v)
{
	return number_value(v, (uint32_t)s->key[0]) && v->number;
}

/* Version 2 has one only, without a number. */
static bool hierarchy_value(const struct series *s, struct key_value *v)
{
	return number_value(v, s->key[1]) && v->number;
}

static bool flusher_cgroup_id_value(const struct series *s, struct key_value *v)
{
	return number_value(v, s->key[1]) && v->number;
}

static bool flusher_cgroup_value(const struct series *s, struct key_value *v)
{
	return text_value(v, s->name[2]);
}

static bool lazy_value(const struct series *s, struct key_value *v)
{
	return s->flags & (KD_SERIES_LAZY | KD_SERIES_EAGER) &&
	       number_value(v, s->flags & KD_SERIES_LAZY ? 1 : 0);
}

/* --- the table --- */

#define DIM(d) (1u << (d))
#define MAIN DIM(KD_DIM_MAIN)
#define FLUSHER DIM(KD_DIM_FLUSHER)
#define ALL_DIMS (DIM(KD_DIM_COUNT) - 1)
#define WITH(key) KEY_BIT(KEY_##key)

static const struct key_info keys[KEY_COUNT] = {
	[KEY_FLAVOUR] = { .name = "flavour",
			  .type = KEY_TEXT,
			  .dims = ALL_DIMS,
			  .of_rest = true,
			  .value = group_value },
	[KEY_SUBSYSTEM] = { .name = "subsystem",
			    .type = KEY_TEXT,
			    .dims = ALL_DIMS,
			    .of_rest = true,
			    .column = true,
			    .value = group_value },
	[KEY_FUNC] = { .name = "func",
		       .type = KEY_SYMBOL,
		       .dims = MAIN,
		       .with = WITH(MODULE),
		       .value = name_value },
	[KEY_CALLER] = { .name = "caller",
			 .type = KEY_SYMBOL,
			 .dims = MAIN,
			 .with = WITH(MODULE),
			 .link = "from",
			 .value = name_value },
	[KEY_MODULE] = { .name = "module",
			 .type = KEY_TEXT,
			 .dims = MAIN,
			 .value = module_value,
			 .beside = module_beside },
	[KEY_STAGE] = { .name = "stage",
			.type = KEY_TEXT,
			.dims = MAIN,
			.of_rest = true,
			.link = "to",
			.value = stage_value },
	[KEY_MAP_ID] = { .name = "map_id",
			 .type = KEY_NUMBER,
			 .dims = MAIN,
			 .with = WITH(MAP_NAME),
			 .link = "for map",
			 .value = first_value },
	[KEY_MAP_NAME] = { .name = "map_name",
			   .type = KEY_TEXT,
			   .dims = MAIN,
			   .noted = true,
			   .link = "for map",
			   .value = map_name_value },
	[KEY_UNIT_SIZE] = { .name = "unit_size",
			    .type = KEY_NUMBER,
			    .dims = MAIN,
			    .link = "of size",
			    .value = unit_size_value },
	[KEY_CGROUP_ID] = { .name = "cgroup_id",
			    .type = KEY_NUMBER,
			    .dims = MAIN,
			    .with = WITH(CGROUP) | WITH(HIERARCHY),
			    .link = "for cgroup",
			    .value = first_value },
	[KEY_CGROUP] = { .name = "cgroup",
			 .type = KEY_TEXT,
			 .dims = MAIN,
			 .with = WITH(CGROUP_ID) | WITH(HIERARCHY),
			 .noted = true,
			 .link = "for",
			 .value = name_value },
	[KEY_HIERARCHY] = { .name = "hierarchy",
			    .type = KEY_NUMBER,
			    .dims = MAIN,
			    .noted = true,
			    .link = "in hierarchy",
			    .value = hierarchy_value },
	[KEY_FLUSHER] = { .name = "flusher",
			  .type = KEY_TEXT,
			  .dims = FLUSHER,
			  .with = WITH(FLUSHER_THREAD) | WITH(FLUSHER_CLASS) | WITH(TGID) |
				  WITH(FLUSHER_CGROUP_ID) | WITH(FLUSHER_CGROUP),
			  .link = "by",
			  .value = name_value },
	[KEY_FLUSHER_THREAD] = { .name = "flusher_thread",
				 .type = KEY_TEXT,
				 .dims = FLUSHER,
				 .noted = true,
				 .link = "by",
				 .value = thread_value },
	[KEY_FLUSHER_CLASS] = { .name = "flusher_class",
				.type = KEY_TEXT,
				.dims = FLUSHER,
				.noted = true,
				.link = "for",
				.value = class_value },
	[KEY_TGID] = { .name = "tgid",
		       .type = KEY_NUMBER,
		       .dims = FLUSHER,
		       .noted = true,
		       .link = "by",
		       .value = tgid_value },
	[KEY_FLUSHER_CGROUP_ID] = { .name = "flusher_cgroup_id",
				    .type = KEY_NUMBER,
				    .dims = FLUSHER,
				    .with = WITH(FLUSHER_CGROUP),
				    .link = "in cgroup",
				    .value = flusher_cgroup_id_value },
	[KEY_FLUSHER_CGROUP] = { .name = "flusher_cgroup",
				 .type = KEY_TEXT,
				 .dims = FLUSHER,
				 .with = WITH(FLUSHER_CGROUP_ID),
				 .noted = true,
				 .link = "in",
				 .value = flusher_cgroup_value },
	[KEY_CPU] = { .name = "cpu",
		      .type = KEY_NUMBER,
		      .dims = DIM(KD_DIM_CPU),
		      .link = "on",
		      .value = first_value },
	[KEY_LAZY] = { .name = "lazy",
		       .type = KEY_BOOL,
		       .dims = MAIN,
		       .of_rest = true,
		       .value = lazy_value },
	[KEY_OTHER] = { .name = "other", .type = KEY_BOOL },
};
_Static_assert(KEY_COUNT <= 32, "each key has a bit");

const struct key_info *key_info(enum key_name key)
{
	return &keys[key];
}

const char *key_text(enum key_name key)
{
	return (unsigned int)key < KEY_COUNT ? keys[key].name : "?";
}

int key_by_name(const char *name, enum key_name *key)
{
	unsigned int i;

	for (i = 0; i < KEY_COUNT; i++) {
		if (!strcmp(keys[i].name, name)) {
			*key = (enum key_name)i;
			return 0;
		}
	}
	return -ENOENT;
}

const char *key_list(void)
{
	static char list[512];
	size_t used = 0;
	int i;

	for (i = 0; i < KEY_OTHER && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 keys[i].name);
	return list;
}

unsigned int key_dims(unsigned int bits)
{
	unsigned int dims = ALL_DIMS;

	for (; bits; bits &= bits - 1)
		dims &= keys[__builtin_ctz(bits)].dims;
	return dims;
}

unsigned int key_main(unsigned int bits)
{
	unsigned int i, main = 0;

	for (i = 0; i < KEY_COUNT; i++)
		if (bits >> i & 1 && keys[i].dims & MAIN && keys[i].type != KEY_BOOL)
			main |= KEY_BIT(i);
	return main;
}

bool key_has(const struct keys *k, enum key_name key)
{
	return k->has >> key & 1;
}

bool key_is_unnamed(const struct key_value *v)
{
	return v->text == no_name;
}

/* --- of a measure --- */

enum key_name key_group(unsigned int measure)
{
	const struct measure_info *info = measure_info(measure);
	enum key_name key;

	return info && !key_by_name(info->group_key, &key) ? key : KEY_NONE;
}

unsigned int key_of_measure(unsigned int measure)
{
	const struct measure_info *info = measure_info(measure);
	enum key_name group = key_group(measure);

	return (info ? info->keys : 0) | (group == KEY_NONE ? 0 : KEY_BIT(group));
}

/* --- of a series --- */

static bool carries(const struct series *s, enum key_name key)
{
	return keys[key].dims >> s->dim & 1 && (!(s->flags & KD_SERIES_OTHER) || keys[key].of_rest);
}

bool key_get(const struct series *s, enum key_name key, struct key_value *v)
{
	*v = (struct key_value){ 0 };
	return carries(s, key) && keys[key].value(s, v);
}

static bool get_beside(const struct series *s, enum key_name key, struct key_value *v)
{
	*v = (struct key_value){ 0 };
	return carries(s, key) && (keys[key].beside ? keys[key].beside : keys[key].value)(s, v);
}

void key_set(struct keys *k, const struct series *s, enum key_name key)
{
	unsigned int with = keys[key].with;

	if (!key_get(s, key, &k->v[key]))
		return;
	k->has |= KEY_BIT(key);
	if (keys[key].type == KEY_SYMBOL)
		k->address = k->v[key].number;
	for (; with; with &= with - 1) {
		key = (enum key_name)__builtin_ctz(with);
		if (get_beside(s, key, &k->v[key]))
			k->has |= KEY_BIT(key);
	}
}

const char *key_value(const struct series *s, enum key_name key, char *buf, size_t size)
{
	struct key_value v;

	if (!key_get(s, key, &v))
		return NULL;
	if (keys[key].type == KEY_BOOL)
		return v.number ? "true" : "false";
	if (keys[key].type != KEY_NUMBER)
		return v.text;
	snprintf(buf, size, "%" PRIu64, v.number);
	return buf;
}

/* --- order --- */

static int compare_values(enum key_type type, bool has_a, const struct key_value *a, bool has_b,
			  const struct key_value *b)
{
	if (!has_a || !has_b)
		return has_a - has_b;
	if (type == KEY_NUMBER || type == KEY_BOOL)
		return (a->number > b->number) - (a->number < b->number);
	return strcmp(a->text, b->text);
}

int key_compare(const struct series *a, const struct series *b, enum key_name by)
{
	unsigned int with = keys[by].with;
	struct key_value va, vb;
	bool has_a = key_get(a, by, &va), has_b = key_get(b, by, &vb);
	int cmp = compare_values(keys[by].type, has_a, &va, has_b, &vb);

	for (; !cmp && with; with &= with - 1) {
		by = (enum key_name)__builtin_ctz(with);
		has_a = get_beside(a, by, &va);
		has_b = get_beside(b, by, &vb);
		cmp = compare_values(keys[by].type, has_a, &va, has_b, &vb);
	}
	return cmp;
}
