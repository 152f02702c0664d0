// SPDX-License-Identifier: GPL-2.0-only
/* names.c - sorted sets of names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

struct name_set {
	char **name;
	size_t n, room;
	bool sealed;
};

struct name_set *name_set_new(void)
{
	return calloc(1, sizeof(struct name_set));
}

int name_set_add(struct name_set *s, const char *name)
{
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		char **grown = reallocarray(s->name, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->name = grown;
		s->room = room;
	}
	s->name[s->n] = strdup(name);
	if (!s->name[s->n])
		return -ENOMEM;
	s->n++;
	s->sealed = false;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void name_set_seal(struct name_set *s)
{
	if (s->n)
		qsort(s->name, s->n, sizeof(*s->name), by_name);
	s->sealed = true;
}

/* The first name that is not less than `name`. */
static size_t lower_bound(const struct name_set *s, const char *name)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(s->name[mid], name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool name_set_has(const struct name_set *s, const char *name)
{
	size_t at = lower_bound(s, name);

	return at < s->n && !strcmp(s->name[at], name);
}

const char *name_set_prefix(const struct name_set *s, const char *prefix)
{
	size_t at = lower_bound(s, prefix);

	return at < s->n && !strncmp(s->name[at], prefix, strlen(prefix)) ? s->name[at] : NULL;
}

void name_set_free(struct name_set *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->name[i]);
	free(s->name);
	free(s);
}
