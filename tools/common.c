// SPDX-License-Identifier: GPL-2.0-only
/* common.c - options that several commands take, read into what the library asks for. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "../bpf/defer.h"
#include "catalog.h"
#include "common.h"
#include "doc.h"
#include "format.h"
#include "log.h"

#define BIT(n) (1u << (n))
#define NAME_LEN 64 /* longer than any name that is known */
#define SAMPLE_MAX (1u << 20)
#define MS 1000000ULL

#define FIELD(member) .offset = offsetof(struct common, member)

const struct opt source_options[] = {
	{ .name = "sources",
	  .letter = 's',
	  .type = OPT_CALL,
	  .value = "SOURCES",
	  .help = "what to measure: a comma list of SOURCE or SOURCE.MEASURE (default: all); "
		  "rcu_tasks_trace: this flavour of call_rcu and rcu_gp",
	  FIELD(want),
	  .call = parse_sources },
	{ 0 },
};

const struct opt split_options[] = {
	{ .name = "split",
	  .type = OPT_FLAG,
	  .help = "of rstat: also what flushes spend their time with: holds, waits, interrupts, "
		  "off the CPU",
	  FIELD(split) },
	{ 0 },
};

const struct opt over_options[] = {
	{ .name = "over",
	  .type = OPT_CALL,
	  .value = "LIMITS",
	  .help = "explain waits that are longer: TIME, or a comma list of NAME=TIME, which alone are "
		  "watched then; defaults:",
	  .help_list = limits_defaults,
	  FIELD(over),
	  .call = limits_parse },
	{ 0 },
};

const struct opt show_options[] = {
	{ .name = "by",
	  .type = OPT_CALL,
	  .value = "KEY",
	  .help = "break down by these keys: a comma list of",
	  .help_list = key_list,
	  FIELD(by),
	  .call = parse_by },
	{ .name = "filter",
	  .type = OPT_CALL,
	  .value = "KEY=GLOB",
	  .help = "only what matches, e.g. func=nf_*; several must all match",
	  FIELD(filters),
	  .call = parse_filter },
	{ .name = "top",
	  .type = OPT_U64,
	  .value = "N",
	  .help = "the N greatest keys; the rest is summed up as \"other\"",
	  FIELD(top),
	  .min = 1 },
	{ .name = "full", .type = OPT_FLAG, .help = "all keys", FIELD(full) },
	{ .name = "raw-addresses",
	  .type = OPT_FLAG,
	  .help = "show kernel addresses too",
	  FIELD(raw_addresses) },
	{ 0 },
};

const struct opt output_options[] = {
	{ .name = "json", .type = OPT_FLAG, .help = "one JSON document", FIELD(json) },
	{ .name = "ndjson",
	  .type = OPT_FLAG,
	  .help = "a JSON document a line for each interval",
	  FIELD(ndjson) },
	{ .name = "input",
	  .type = OPT_STR,
	  .value = "FILE",
	  .help = "show a capture instead of the running kernel",
	  FIELD(input) },
	{ .name = "follow",
	  .type = OPT_FLAG,
	  .help = "go on reading a capture that is still being written",
	  FIELD(follow) },
	{ 0 },
};

const struct opt measure_options[] = {
	{ .name = "backends",
	  .type = OPT_CALL,
	  .value = "LIST",
	  .help = "hook by these means only: tp_btf, fentry, kprobe, state",
	  FIELD(want),
	  .call = parse_backends },
	{ .name = "attach-timeout",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "what is not attached by then stays off (default 10s)",
	  FIELD(attach_timeout_ns),
	  .min = 10 * MS },
	{ .name = "max-memory",
	  .type = OPT_SIZE,
	  .value = "SIZE",
	  .help = "kernel memory to use at most (default 64M)",
	  FIELD(max_memory),
	  .min = 1 << 16 },
	{ .name = "sample",
	  .type = OPT_CALL,
	  .value = "1/N",
	  .help = "follow one of N events only, where there are very many",
	  FIELD(sample),
	  .call = parse_sample },
	{ 0 },
};

void common_init(struct common *c)
{
	memset(c, 0, sizeof(*c));
	c->want.sources = UINT32_MAX;
	c->want.measures = ~holdup_measures();
	c->want.backends = UINT32_MAX;
	c->want.flavours = UINT32_MAX;
	c->attach_timeout_ns = SESSION_ATTACH_TIMEOUT_NS;
	c->max_memory = SESSION_MAX_MEMORY;
	c->sample = 1;
}

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

/* --- together --- */

static unsigned int filtered_keys(const struct common *c)
{
	unsigned int keys = 0;
	size_t i;

	for (i = 0; i < c->filters.n; i++)
		keys |= BIT(c->filters.f[i].key);
	return keys;
}

/* Whether no series carries both. The odd one is set to the one that main series do not carry. */
static bool exclude_each_other(unsigned int *odd, unsigned int *other)
{
	unsigned int swap = *odd;

	if (key_dims(KEY_BIT(*odd) | KEY_BIT(*other)))
		return false;
	if (key_info((enum key_name)swap)->dims >> KD_DIM_MAIN & 1) {
		*odd = *other;
		*other = swap;
	}
	return true;
}

/*
 * The kernel side counts by CPU, by flusher and by the other keys apart: nothing knows two of these of
 * an event.
 */
static int check_pair(const struct common *c, const char *command, unsigned int a, unsigned int b)
{
	unsigned int filtered = filtered_keys(c), odd = a, other = b;
	static const char why[] = "cannot be combined: events are counted by one or the other";

	if (!exclude_each_other(&odd, &other))
		return 0;
	if (filtered >> odd & filtered >> other & 1)
		return log_err(-EINVAL, "%s: --filter %s and --filter %s %s", command,
			       key_text((enum key_name)odd), key_text((enum key_name)other), why);
	if (filtered >> odd & c->by >> other & 1)
		return log_err(-EINVAL, "%s: --filter %s and --by %s %s", command,
			       key_text((enum key_name)odd), key_text((enum key_name)other), why);
	if (c->by >> odd & filtered >> other & 1)
		return log_err(-EINVAL, "%s: --by %s and --filter %s %s", command,
			       key_text((enum key_name)odd), key_text((enum key_name)other), why);
	return 0;
}

static int check_keys(const struct common *c, const char *command)
{
	unsigned int a, b;
	int err = 0;

	for (a = 0; !err && a < KEY_OTHER; a++)
		for (b = 0; !err && b < a; b++)
			err = check_pair(c, command, a, b);
	return err;
}

/* Measures that come only if they are asked for, as bits. */
static uint64_t asked_only(void)
{
	const struct measure_info *info;
	uint64_t measures = 0;

	for (unsigned int i = 0; (info = measure_info(i)); i++)
		if (info->asked_only)
			measures |= 1ULL << i;
	return measures;
}

int common_check(const struct common *c, const char *command)
{
	if (c->split && (c->want.measures & asked_only()) != asked_only())
		return log_err(-EINVAL,
			       "%s: --split is about rstat as a whole: use -s rstat, or no -s",
			       command);
	if (c->json && c->ndjson)
		return log_err(-EINVAL, "%s: --json and --ndjson exclude each other", command);
	if (c->top && c->full)
		return log_err(-EINVAL, "%s: --top and --full exclude each other", command);
	if (c->follow && !c->input)
		return log_err(-EINVAL, "%s: --follow needs --input FILE", command);
	return check_keys(c, command);
}

/* Of the measures asked for, those that have every key that a filter is on. */
static uint64_t filtered_measures(const struct common *c)
{
	unsigned int filtered = filtered_keys(c), i;
	uint64_t measures = 0;

	if (!filtered)
		return c->want.measures;
	for (i = 0; measure_info(i); i++)
		if (c->want.measures >> i & 1 && !(filtered & ~key_of_measure(i)))
			measures |= 1ULL << i;
	return measures;
}

static int check_filters(const struct common *c, const char *command)
{
	char names[256] = "";
	size_t i;

	if (filtered_measures(c))
		return 0;
	for (i = 0; i < c->filters.n; i++)
		add_name(names, sizeof(names), key_text(c->filters.f[i].key));
	return log_err(-EINVAL, "%s: --filter: nothing that was asked for goes by %s", command,
		       names);
}

int common_choose(struct common *c, const char *command, bool pending)
{
	const struct measure_info *info;
	unsigned int i;

	for (i = 0; (info = measure_info(i)); i++) {
		if (info->pending == pending && !info->holdup)
			continue;
		c->want.measures &= ~(1ULL << i);
		if (c->want.named >> i & 1 && info->holdup)
			return log_err(-EINVAL, "%s: %s.%s is reports; kdefer why -s %s shows them",
				       command, source_name(info->source), info->name,
				       source_name(info->source));
		if (c->want.named >> i & 1)
			return log_err(
				-EINVAL,
				pending ? "%s: %s.%s is no list; kdefer hist -s %s shows it"
					: "%s: %s.%s is a list, and no time; kdefer lists -s %s shows it",
				command, source_name(info->source), info->name,
				source_name(info->source));
	}
	if (c->want.measures)
		return pending ? 0 : check_filters(c, command);
	if (pending)
		return log_err(-EINVAL,
			       "%s: --sources: none of these is a list (hist measures them)",
			       command);
	return log_err(-EINVAL,
		       "%s: --sources: these are lists, which kdefer lists shows, and no times",
		       command);
}

/* Reports of a source were asked for with any of its measures, and of their flavours. */
static void ask_for_holdups(struct plan_request *want)
{
	const struct measure_info *info;

	for (unsigned int i = 0; (info = measure_info(i)); i++) {
		unsigned int holdup = holdup_measure(info->source)->id;

		if (info->holdup || info->pending || holdup == KD_M_COUNT ||
		    !(want->measures >> i & 1))
			continue;
		want->hidden[holdup] = want->measures >> holdup & 1
					       ? want->hidden[holdup] & want->hidden[i]
					       : want->hidden[i];
		want->measures |= 1ULL << holdup;
	}
}

static bool sources_given(const struct common *c)
{
	return c->want.sources != UINT32_MAX;
}

int common_arm(struct common *c, const char *command)
{
	int err = limits_choose(&c->over, &c->want, sources_given(c), command);

	if (!err)
		ask_for_holdups(&c->want);
	return err;
}

int common_arm_some(struct common *c, const char *command)
{
	if (c->over.given || limits_any(&c->want))
		return common_arm(c, command);
	return 0;
}

void common_want_holdups(struct common *c)
{
	ask_for_holdups(&c->want);
}

int common_choose_holdups(struct common *c, const char *command)
{
	int err = common_arm(c, command);

	c->want.measures &= holdup_measures();
	return err;
}

void common_line(char *text, size_t size, int argc, char *const *argv)
{
	size_t used = (size_t)snprintf(text, size, "kdefer");

	for (int i = 0; i < argc && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, " %s", argv[i]);
}

struct query common_query(const struct common *c, bool interval, size_t top)
{
	struct query q = {
		.interval = interval,
		.by = c->by,
		.hidden = c->want.hidden,
		.filters = c->filters.f,
		.nfilters = c->filters.n,
	};

	/* A filter by what only series of another kind carry leaves no breakdown of main keys. */
	if (!q.by && !(key_dims(filtered_keys(c)) >> KD_DIM_MAIN & 1))
		q.by = filtered_keys(c) & ~KEY_GROUPS;
	if (!c->full)
		q.top = c->top ? (size_t)c->top : top;
	return q;
}

struct scope common_scope(const struct common *c, bool interval)
{
	return (struct scope){
		.interval = interval,
		.measures = c->want.measures,
		.hidden = c->want.hidden,
		.raw_addresses = c->raw_addresses,
	};
}

/* What a filter leaves out is not hooked either: measures without such keys, flavours, subsystems. */
static uint32_t filtered_groups(const struct common *c)
{
	uint32_t flavours = UINT32_MAX;

	for (size_t i = 0; i < c->filters.n; i++) {
		uint32_t matching = 0;

		if (!(KEY_GROUPS >> c->filters.f[i].key & 1))
			continue;
		for (unsigned int f = 0; f < KD_FL_COUNT; f++)
			if (flavour_name(f) && !fnmatch(c->filters.f[i].glob, flavour_name(f), 0))
				matching |= BIT(f);
		flavours &= matching;
	}
	return flavours;
}

/* Kinds of series besides the main ones that the keys asked for need, and each measure's own. */
static uint32_t wanted_dims(const struct common *c)
{
	unsigned int keys = c->by | filtered_keys(c), i;
	const struct measure_info *info;
	uint32_t dims = 0;

	for (i = 0; (info = measure_info(i)); i++)
		if (c->want.measures >> i & 1)
			keys |= info->by;
	for (i = 0; i < KEY_OTHER; i++)
		if (keys >> i & 1 && !(key_dims(KEY_BIT(i)) >> KD_DIM_MAIN & 1))
			dims |= key_dims(KEY_BIT(i));
	return dims;
}

void common_conf(const struct common *c, struct session_conf *conf)
{
	session_conf_init(conf);
	conf->want = c->want;
	conf->want.flavours &= filtered_groups(c);
	conf->want.measures &= filtered_measures(c);
	if (!c->split)
		conf->want.measures &= ~asked_only() | c->want.named;
	conf->attach_timeout_ns = c->attach_timeout_ns;
	conf->max_memory = c->max_memory;
	conf->sample = c->sample;
	conf->dims |= wanted_dims(c);
}
