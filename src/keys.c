// SPDX-License-Identifier: GPL-2.0-only
/* keys.c - the keys that tell series apart: their names, values and order. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "keys.h"

#define CORE_MODULE "vmlinux" /* where a function without a module is, as --by and filters see it */
#define NO_NAME "?"           /* a function whose symbol was not to be had */

static const char *const key_texts[] = {
	[KEY_FLAVOUR] = "flavour", [KEY_LAZY] = "lazy", [KEY_FUNC] = "func",
	[KEY_MODULE] = "module",   [KEY_CPU] = "cpu",   [KEY_CALLER] = "caller",
	[KEY_OTHER] = "other",
};
_Static_assert(sizeof(key_texts) / sizeof(key_texts[0]) == KEY_COUNT, "each key has its text");

const char *key_text(enum key_name key)
{
	return (unsigned int)key < KEY_COUNT ? key_texts[key] : "?";
}

int key_by_name(const char *name, enum key_name *key)
{
	unsigned int i;

	for (i = 0; i < KEY_COUNT; i++) {
		if (!strcmp(key_texts[i], name)) {
			*key = (enum key_name)i;
			return 0;
		}
	}
	return -ENOENT;
}

/*
 * Only callbacks can be lazy, and only what is counted by function is counted by CPU. Of a measure
 * that the catalog does not know, nothing can be said.
 */
unsigned int key_of_measure(unsigned int measure)
{
	const struct measure_info *info = measure_info(measure);
	enum key_name main_key;

	if (!info || key_by_name(info->main_key, &main_key))
		return 1u << KEY_FLAVOUR;
	if (main_key == KEY_FUNC)
		return 1u << KEY_FLAVOUR | 1u << KEY_FUNC | 1u << KEY_MODULE | 1u << KEY_LAZY |
		       1u << KEY_CPU;
	return 1u << KEY_FLAVOUR | 1u << KEY_MODULE | 1u << main_key;
}

const char *key_func(const struct series *s)
{
	return s->func ? s->func : NO_NAME;
}

const char *key_module(const struct series *s)
{
	if (s->module)
		return s->module;
	return s->func ? CORE_MODULE : NO_NAME;
}

const char *key_value(const struct series *s, enum key_name key, char *buf, size_t size)
{
	bool has = key_of_measure(s->measure) >> key & 1;
	bool other = s->flags & KD_SERIES_OTHER;

	switch (key) {
	case KEY_FLAVOUR:
		return flavour_name(s->flavour);
	case KEY_LAZY:
		if (s->flags & KD_SERIES_LAZY)
			return "true";
		return s->flags & KD_SERIES_EAGER ? "false" : NULL;
	case KEY_FUNC:
	case KEY_CALLER:
		return has && s->dim == KD_DIM_MAIN && !other ? key_func(s) : NULL;
	case KEY_MODULE:
		return has && s->dim == KD_DIM_MAIN && !other ? key_module(s) : NULL;
	case KEY_CPU:
		if (s->dim != KD_DIM_CPU || other)
			return NULL;
		snprintf(buf, size, "%u", (unsigned int)s->key[0]);
		return buf;
	default:
		return NULL;
	}
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

int key_compare(const struct series *a, const struct series *b, enum key_name by)
{
	int cmp;

	switch (by) {
	case KEY_CPU:
		return (a->key[0] > b->key[0]) - (a->key[0] < b->key[0]);
	case KEY_LAZY:
		return !!(a->flags & KD_SERIES_LAZY) - !!(b->flags & KD_SERIES_LAZY);
	case KEY_MODULE:
		return strcmp(key_module(a), key_module(b));
	default:
		cmp = strcmp(key_func(a), key_func(b));
		return cmp ? cmp : compare_text(a->module, b->module);
	}
}
