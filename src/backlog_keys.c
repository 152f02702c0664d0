// SPDX-License-Identifier: GPL-2.0-only
/* backlog_keys.c - what lists are told apart by: names, and whether a filter takes them. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backlog_parts.h"
#include "catalog.h"
#include "text.h"

static const char *const key_texts[] = {
	[BACKLOG_FLAVOUR] = "flavour",
	[BACKLOG_SUBSYSTEM] = "subsystem",
	[BACKLOG_LIST] = "list",
	[BACKLOG_DOMAIN] = "domain",
	[BACKLOG_MAP] = "map",
	[BACKLOG_MAP_ID] = "map_id",
	[BACKLOG_MAP_NAME] = "map_name",
	[BACKLOG_ALLOCATOR] = "allocator",
	[BACKLOG_UNIT_SIZE] = "unit_size",
	[BACKLOG_CPU] = "cpu",
	[BACKLOG_PID] = "pid",
	[BACKLOG_COMM] = "comm",
};
_Static_assert(sizeof(key_texts) / sizeof(key_texts[0]) == BACKLOG_KEYS, "each key has its text");

const char *backlog_key_text(enum backlog_key key)
{
	return (unsigned int)key < BACKLOG_KEYS ? key_texts[key] : "?";
}

int backlog_key_by_name(const char *name, enum backlog_key *key)
{
	for (unsigned int i = 0; i < BACKLOG_KEYS; i++)
		if (!strcmp(key_texts[i], name)) {
			*key = (enum backlog_key)i;
			return 0;
		}
	return -ENOENT;
}

const char *backlog_key_list(void)
{
	static char list[256];

	list[0] = '\0';
	for (unsigned int i = 0; i < BACKLOG_KEYS; i++)
		text_append(list, sizeof(list), "%s%s", i ? ", " : "", key_texts[i]);
	return list;
}

/* --- names --- */

const char *backlog_list(const struct model *m, const struct backlog_row *r)
{
	const char *name;

	if (r->list < KD_LIST_UNKNOWN)
		return list_name(r->list);
	name = pending_text(&m->pending, KD_NAME_LIST, r->source, r->list, 0);
	return name && *name ? name : "?";
}

static const char *named(const struct model *m, const struct backlog_row *r, enum kd_name_of what,
			 int i)
{
	const char *text = pending_text(&m->pending, what, r->source, r->key, i);

	return text && *text ? text : NULL;
}

const char *backlog_domain(const struct model *m, const struct backlog_row *r)
{
	if (r->source != KD_SRC_CALL_RCU || !r->key)
		return NULL;
	return named(m, r, KD_NAME_DOMAIN, 0);
}

static bool is_map(const struct backlog_row *r)
{
	return r->source == KD_SRC_MEMALLOC && r->key && r->key < KD_KEY_GLOBAL;
}

bool backlog_map_id(const struct backlog_row *r, uint32_t *id)
{
	*id = (uint32_t)r->key;
	return is_map(r);
}

const char *backlog_map_name(const struct model *m, const struct backlog_row *r)
{
	return is_map(r) ? named(m, r, KD_NAME_MAP, 0) : NULL;
}

const char *backlog_allocator(const struct model *m, const struct backlog_row *r)
{
	if (r->source != KD_SRC_MEMALLOC || r->key < KD_KEY_GLOBAL)
		return NULL;
	return named(m, r, KD_NAME_MAP, 0);
}

const char *backlog_holder(const struct model *m, const struct backlog_row *r, int i)
{
	const char *text = is_map(r) ? named(m, r, KD_NAME_MAP, i + 2) : NULL;

	return text ? text : "";
}

/* --- filters --- */

static bool text_matches(const char *glob, const char *text)
{
	return text && !fnmatch(glob, text, 0);
}

static bool number_matches(const char *glob, bool known, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return known && text_matches(glob, text);
}

static bool group_matches(const struct backlog_filter *f, const struct backlog_row *r)
{
	bool subsystem = r->source == KD_SRC_RSTAT;

	return subsystem == (f->key == BACKLOG_SUBSYSTEM) &&
	       text_matches(f->glob, flavour_name(r->flavour));
}

/* "812 flowd": its number, or what stands behind that. A path that it is pinned at is neither. */
static bool holder_matches(const struct model *m, const struct backlog_filter *f,
			   const struct backlog_row *r)
{
	const char *holder;
	char pid[24];
	size_t len;

	for (int i = 0; *(holder = backlog_holder(m, r, i)); i++) {
		len = strspn(holder, "0123456789");
		snprintf(pid, sizeof(pid), "%.*s", (int)len, holder);
		if (!len || holder[len] != ' ')
			continue;
		if (text_matches(f->glob, f->key == BACKLOG_PID ? pid : holder + len + 1))
			return true;
	}
	return false;
}

static bool filter_matches(const struct model *m, const struct backlog_filter *f,
			   const struct backlog_row *r)
{
	uint32_t id;
	bool map = backlog_map_id(r, &id);

	switch (f->key) {
	case BACKLOG_FLAVOUR:
	case BACKLOG_SUBSYSTEM:
		return group_matches(f, r);
	case BACKLOG_LIST:
		return text_matches(f->glob, backlog_list(m, r));
	case BACKLOG_DOMAIN:
		return text_matches(f->glob, backlog_domain(m, r));
	case BACKLOG_MAP:
		return number_matches(f->glob, map, id) ||
		       text_matches(f->glob, backlog_map_name(m, r));
	case BACKLOG_MAP_ID:
		return number_matches(f->glob, map, id);
	case BACKLOG_MAP_NAME:
		return text_matches(f->glob, backlog_map_name(m, r));
	case BACKLOG_ALLOCATOR:
		return text_matches(f->glob, backlog_allocator(m, r));
	case BACKLOG_UNIT_SIZE:
		return number_matches(f->glob, r->unit_size, r->unit_size);
	case BACKLOG_CPU:
		return number_matches(f->glob, r->cpu != KD_CPU_NONE, r->cpu);
	case BACKLOG_PID:
	case BACKLOG_COMM:
		return holder_matches(m, f, r);
	case BACKLOG_KEYS:
		break;
	}
	return false;
}

bool backlog_matches(const struct model *m, const struct backlog_query *q,
		     const struct backlog_row *r)
{
	for (size_t i = 0; i < q->nfilters; i++)
		if (!filter_matches(m, &q->filters[i], r))
			return false;
	return true;
}
