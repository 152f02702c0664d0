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
#include "text.h"

#define BIT(n) (1u << (n))
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
	{ .name = "budget",
	  .type = OPT_CALL,
	  .value = "PERCENT",
	  .help = "what our own programs may take of each CPU: above it top and hist follow fewer "
		  "callbacks, record warns (default 1% of top and hist, else off; 0 = off)",
	  FIELD(budget),
	  .call = parse_budget },
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
	c->budget = -1;
}

double common_budget(const struct common *c, double otherwise)
{
	return c->budget < 0 ? otherwise : c->budget;
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
		text_append(names, sizeof(names), "%s%s", *names ? ", " : "",
			    key_text(c->filters.f[i].key));
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
	conf->budget = common_budget(c, 0);
	conf->budget_warns = true;
	conf->dims |= wanted_dims(c);
}
