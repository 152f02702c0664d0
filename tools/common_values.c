// SPDX-License-Identifier: GPL-2.0-only
/* common_values.c - reads the values of options that several commands take. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/defer.h"
#include "catalog.h"
#include "common.h"
#include "log.h"

#define BIT(n) (1u << (n))
#define NAME_LEN 64 /* longer than any name that is known */
#define SAMPLE_MAX (1u << 20)

/* --- lists --- */

/*
 * The next name of a comma list. 1; 0 at its end; -EINVAL (logged) for an empty name. What is
 * longer than any known name is cut: unknown all the same.
 */
static int next_name(const char *option, const char **list, char *name, size_t size)
{
	size_t len;

	if (!*list)
		return 0;
	len = strcspn(*list, ",");
	if (!len)
		return log_err(-EINVAL, "--%s: there is an empty name in the list", option);
	snprintf(name, size, "%.*s", (int)len, *list);
	*list = (*list)[len] ? *list + len + 1 : NULL;
	return 1;
}

/* Appends a name to a list for a message. */
static void add_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

/* --- sources --- */

/* What the plan knows no way to get yet is not there to be asked for. */
static bool is_planned(unsigned int measure)
{
	size_t i;

	for (i = 0; i < plan_table_len; i++)
		if (plan_table[i].measure == measure)
			return true;
	return false;
}

static bool has_measures(unsigned int source)
{
	const struct measure_info *info;
	unsigned int i;

	for (i = 0; (info = measure_info(i)); i++)
		if (info->source == source && is_planned(i))
			return true;
	return false;
}

/* Flavours of measures by name: short for this flavour of all measures of the sources of RCU. */
static const struct {
	const char *name;
	enum kd_flavour flavour;
} shorts[] = {
	{ "rcu_tasks_trace", KD_FL_TASKS_TRACE },
};

static int unknown_source(const char *name)
{
	char known[256] = "";
	unsigned int i;

	for (i = 0; i < KD_SRC_COUNT; i++)
		if (has_measures(i))
			add_name(known, sizeof(known), source_name(i));
	for (i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++)
		add_name(known, sizeof(known), shorts[i].name);
	return log_err(-EINVAL, "--sources: unknown source \"%s\"; known: %s", name, known);
}

static int unknown_measure(unsigned int source, const char *name)
{
	const struct measure_info *info;
	char known[256] = "";
	unsigned int i;

	for (i = 0; (info = measure_info(i)); i++)
		if (info->source == source && is_planned(i))
			add_name(known, sizeof(known), info->name);
	return log_err(-EINVAL, "--sources: %s has no measure \"%s\"; known: %s",
		       source_name(source), name, known);
}

static bool add_short(uint32_t *flavours, const char *name)
{
	const struct measure_info *info;
	size_t i;
	unsigned int m;

	for (i = 0; i < sizeof(shorts) / sizeof(shorts[0]) && strcmp(shorts[i].name, name); i++)
		;
	if (i == sizeof(shorts) / sizeof(shorts[0]))
		return false;
	for (m = 0; (info = measure_info(m)); m++)
		if (is_planned(m) &&
		    (info->source == KD_SRC_CALL_RCU || info->source == KD_SRC_RCU_GP))
			flavours[m] |= BIT(shorts[i].flavour);
	return true;
}

/* flavours: by measure, those that are asked for of it. named: measures asked for one by one. */
static int add_source(uint32_t *flavours, uint64_t *named, char *name)
{
	char *measure = strchr(name, '.');
	const struct measure_info *info;
	unsigned int source, i;

	if (add_short(flavours, name))
		return 0;
	if (measure)
		*measure++ = '\0';
	if (source_by_name(name, &source) || !has_measures(source))
		return unknown_source(name);
	if (measure && (measure_by_name(source, measure, &i) || !is_planned(i)))
		return unknown_measure(source, measure);
	if (measure) {
		flavours[i] = UINT32_MAX;
		*named |= 1ULL << i;
	}
	for (i = 0; !measure && (info = measure_info(i)); i++)
		if (info->source == source && is_planned(i))
			flavours[i] = UINT32_MAX;
	return 0;
}

int parse_sources(void *into, const char *list)
{
	struct plan_request *want = into;
	uint32_t flavours[KD_M_COUNT] = { 0 };
	char name[NAME_LEN];
	uint64_t named = 0;
	unsigned int m;
	int err;

	while ((err = next_name("sources", &list, name, sizeof(name))) > 0) {
		err = add_source(flavours, &named, name);
		if (err)
			return err;
	}
	want->sources = 0;
	want->measures = 0;
	want->named = named;
	for (m = 0; m < KD_M_COUNT; m++) {
		want->hidden[m] = ~flavours[m];
		if (!flavours[m])
			continue;
		want->measures |= 1ULL << m;
		want->sources |= BIT(measure_info(m)->source);
	}
	return err;
}

/* --- backends --- */

static int unknown_backend(const char *name)
{
	char known[256] = "";
	enum backend b;

	for (b = BACKEND_NONE + 1; b < BACKEND_COUNT; b++)
		add_name(known, sizeof(known), backend_name(b));
	return log_err(-EINVAL, "--backends: unknown backend \"%s\"; known: %s", name, known);
}

int parse_backends(void *into, const char *list)
{
	struct plan_request *want = into;
	char name[NAME_LEN];
	enum backend b;
	int err;

	want->backends = 0;
	while ((err = next_name("backends", &list, name, sizeof(name))) > 0) {
		if (backend_by_name(name, &b) || b == BACKEND_NONE)
			return unknown_backend(name);
		want->backends |= BIT(b);
	}
	return err;
}

/* --- keys --- */

int parse_by(void *into, const char *list)
{
	unsigned int *by = into;
	char name[NAME_LEN];
	enum key_name key;
	int err;

	*by = 0;
	while ((err = next_name("by", &list, name, sizeof(name))) > 0) {
		if (key_by_name(name, &key) || key == KEY_OTHER)
			return log_err(-EINVAL, "--by: unknown key \"%s\"; known: %s", name,
				       key_list());
		*by |= BIT(key);
	}
	return err;
}

/* Words for what has keys of other names, as lists and the kernel's own tools call it. */
static const struct filter aliases[] = {
	{ .name = "pid", .key = KEY_TGID },
	{ .name = "comm", .key = KEY_FLUSHER, .also = KEY_BIT(KEY_FLUSHER_THREAD) },
	{ .name = "map", .key = KEY_MAP_NAME, .also = KEY_BIT(KEY_MAP_ID) },
};

static int find_filter(const char *name, struct filter *f)
{
	char known[512] = "";
	enum key_name key;
	size_t i;

	for (i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		add_name(known, sizeof(known), aliases[i].name);
		if (!strcmp(aliases[i].name, name)) {
			*f = aliases[i];
			return 0;
		}
	}
	if (key_by_name(name, &key) || key == KEY_OTHER)
		return log_err(-EINVAL, "--filter: unknown key \"%s\"; known: %s, %s", name,
			       key_list(), known);
	*f = (struct filter){ .key = key };
	return 0;
}

int parse_filter(void *into, const char *text)
{
	struct filter_list *list = into;
	const char *equals = strchr(text, '=');
	struct filter f;
	char name[NAME_LEN];
	int err;

	if (!equals || equals == text || !equals[1])
		return log_err(-EINVAL, "--filter: \"%s\" is no KEY=GLOB; use e.g. func=nf_*",
			       text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	err = find_filter(name, &f);
	if (err)
		return err;
	if (list->n == FILTERS_MAX)
		return log_err(-EINVAL, "--filter: more than %d of them", FILTERS_MAX);
	f.glob = equals + 1;
	list->f[list->n++] = f;
	return 0;
}

int parse_sample(void *into, const char *text)
{
	uint64_t *sample = into, n = 0;
	const char *s = text;

	if (!strncmp(s, "1/", 2))
		for (s += 2; *s >= '0' && *s <= '9' && n <= SAMPLE_MAX; s++)
			n = n * 10 + (uint64_t)(*s - '0');
	if (*s || !n || n > SAMPLE_MAX)
		return log_err(-EINVAL, "--sample: \"%s\" is no share; use 1/N, N from 1 to %u",
			       text, SAMPLE_MAX);
	*sample = n;
	return 0;
}

int parse_budget(void *into, const char *text)
{
	double *budget = into, percent;
	char *end;

	percent = strtod(text, &end);
	if (*end == '%')
		end++;
	if (end == text || *end || !isdigit((unsigned char)*text) || !(percent <= 100))
		return log_err(-EINVAL,
			       "--budget: \"%s\" is no share of a CPU; use per cent, from 0 (none) "
			       "to 100",
			       text);
	*budget = percent / 100;
	return 0;
}
