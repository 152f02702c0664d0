// SPDX-License-Identifier: GPL-2.0-only
/* wait_limits.c - waits that can be explained, and from which length on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "host.h"
#include "wait_limits.h"
#include "log.h"
#include "model.h"
#include "text.h"

#define MS 1000000ULL
#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define BIT(n) (1u << (n))
#define NAME 48

/*
 * Defaults are for hosts at work: what a healthy one does not reach. Grace periods of RCU take some
 * ticks and, while CPUs are busy, some ten milliseconds; those of the others have waits of their own.
 */
static const struct row {
	const char *name;
	uint8_t measure;
	uint8_t flavour; /* of grace periods, which have a limit each; else KD_FL_NONE */
	uint64_t ns;
} rows[] = {
	{ "rcu_gp.rcu", KD_M_RCU_GP_DURATION, KD_FL_RCU, 100 * MS },
	{ "rcu_gp.expedited", KD_M_RCU_GP_DURATION, KD_FL_EXPEDITED, 100 * MS },
	{ "rcu_gp.srcu", KD_M_RCU_GP_DURATION, KD_FL_SRCU, 1000 * MS },
	{ "rcu_gp.tasks", KD_M_RCU_GP_DURATION, KD_FL_TASKS, 2000 * MS },
	{ "rcu_gp.tasks_rude", KD_M_RCU_GP_DURATION, KD_FL_TASKS_RUDE, 2000 * MS },
	{ "rcu_gp.tasks_trace", KD_M_RCU_GP_DURATION, KD_FL_TASKS_TRACE, 1000 * MS },
	{ "rcu_gp.wait", KD_M_RCU_GP_WAIT, KD_FL_NONE, 1000 * MS },
	{ "call_rcu.latency", KD_M_CALL_RCU_LATENCY, KD_FL_NONE, 500 * MS },
	{ "call_rcu.run", KD_M_CALL_RCU_HOLDUP, KD_FL_NONE, 10 * MS },
	{ "rstat.flush", KD_M_RSTAT_FLUSH, KD_FL_NONE, 200 * MS },
	{ "rstat.wait", KD_M_RSTAT_WAIT, KD_FL_NONE, 50 * MS },
	{ "rstat.hold", KD_M_RSTAT_HOLD, KD_FL_NONE, 10 * MS },
};
_Static_assert(ROWS <= LIMITS_MAX, "struct limits has room");

const char *limits_defaults(void)
{
	static char text[512];

	if (*text)
		return text;
	for (size_t i = 0; i < ROWS; i++) {
		char time[FMT_LEN];

		text_append(text, sizeof(text), "%s%s=%s", i ? ", " : "", rows[i].name,
			    fmt_time_arg(time, sizeof(time), rows[i].ns));
	}
	return text;
}

/* --- --over --- */

/* "rcu_gp" stands for all of it, "rcu_gp.duration" for its grace periods. */
static bool is_called(const struct row *r, const char *name)
{
	size_t source = strcspn(r->name, ".");

	if (!strcmp(r->name, name))
		return true;
	if (r->flavour != KD_FL_NONE && !strcmp(name, "rcu_gp.duration"))
		return true;
	if (r->flavour == KD_FL_TASKS_TRACE && !strcmp(name, "rcu_tasks_trace"))
		return true;
	return strlen(name) == source && !strncmp(r->name, name, source);
}

static int take_limit(struct limits *l, const char *name, uint64_t ns)
{
	uint32_t named = 0;

	for (size_t i = 0; i < ROWS; i++)
		if (is_called(&rows[i], name)) {
			l->ns[i] = ns;
			named |= BIT(i);
		}
	if (!named)
		return log_err(
			-EINVAL,
			"--over: nothing is called \"%s\"; known: rcu_gp, call_rcu, rstat, %s",
			name, limits_defaults());
	l->named |= named;
	return 0;
}

static int take_item(struct limits *l, const char *item)
{
	const char *equals = strchr(item, '='), *time = equals ? equals + 1 : item;
	char name[NAME];
	uint64_t ns;

	if (fmt_parse_time(time, &ns) || !ns)
		return log_err(-EINVAL,
			       "--over: \"%s\" is no limit; use a time as 50ms, or NAME=TIME as "
			       "rcu_gp=100ms",
			       item);
	if (!equals) {
		l->rest_ns = ns;
		return 0;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(equals - item), item);
	return take_limit(l, name, ns);
}

int limits_parse(void *into, const char *text)
{
	struct limits *l = into;
	char item[2 * NAME];
	int err = 0;

	*l = (struct limits){ .given = true };
	for (size_t len; !err; text += len + 1) {
		len = strcspn(text, ",");
		snprintf(item, sizeof(item), "%.*s", (int)len, text);
		err = take_item(l, item);
		if (!text[len])
			break;
	}
	return err;
}

/* --- what is armed --- */

static bool is_asked(const struct row *r, const struct plan_request *want)
{
	/* How long callbacks run is no measure of its own: it goes with how long they wait. */
	unsigned int measure =
		r->measure == KD_M_CALL_RCU_HOLDUP ? KD_M_CALL_RCU_LATENCY : r->measure;
	unsigned int holdup = holdup_measure(measure_info(measure)->source)->id;
	uint64_t either = 1ULL << measure | 1ULL << holdup;
	uint32_t hidden = want->hidden[measure] & want->hidden[holdup];

	if (!(want->measures & either))
		return false;
	return r->flavour == KD_FL_NONE || !(hidden >> r->flavour & 1);
}

bool limits_any(const struct plan_request *want)
{
	for (size_t i = 0; i < ROWS; i++)
		if (is_asked(&rows[i], want))
			return true;
	return false;
}

/* Without sources those that were named are asked for, and a time without a name asks for all. */
static uint64_t limit_of(const struct limits *l, size_t i, bool sources)
{
	if (l->named >> i & 1)
		return l->ns[i];
	if (l->rest_ns)
		return l->rest_ns;
	return l->named && !sources ? 0 : rows[i].ns;
}

int limits_choose(struct limits *l, const struct plan_request *want, bool sources,
		  const char *command)
{
	bool any = false;

	for (size_t i = 0; i < ROWS; i++) {
		bool asked = is_asked(&rows[i], want);

		if (!asked && l->named >> i & 1 && l->ns[i] && sources)
			return log_err(-EINVAL,
				       "%s: --over %s: --sources does not ask for it; leave one of "
				       "them out",
				       command, rows[i].name);
		l->ns[i] = asked ? limit_of(l, i, sources) : 0;
		any |= l->ns[i] != 0;
	}
	if (any)
		return 0;
	return log_err(
		-EINVAL,
		"%s: --sources: no wait of these can be explained; use call_rcu, rcu_gp, rstat",
		command);
}

static void arm(const struct row *r, uint64_t ns, struct session_conf *conf)
{
	unsigned int holdup = holdup_measure(measure_info(r->measure)->source)->id;
	uint64_t *over = conf->over_ns;

	conf->want.sources |= BIT(measure_info(r->measure)->source);
	conf->want.measures |= 1ULL << holdup;
	if (r->flavour != KD_FL_NONE)
		conf->over_gp_ns[r->flavour] = ns;
	if (!over[r->measure] || ns < over[r->measure])
		over[r->measure] = ns;
	/* Of call_rcu this is the limit of a run. */
	if (holdup != r->measure && holdup != KD_M_CALL_RCU_HOLDUP &&
	    (!over[holdup] || ns < over[holdup]))
		over[holdup] = ns;
}

void limits_apply(const struct limits *l, struct session_conf *conf)
{
	uint32_t flavours = 0;

	memset(conf->over_ns, 0, sizeof(conf->over_ns));
	memset(conf->over_gp_ns, 0, sizeof(conf->over_gp_ns));
	for (size_t i = 0; i < ROWS; i++) {
		if (!l->ns[i])
			continue;
		arm(&rows[i], l->ns[i], conf);
		flavours |= rows[i].flavour != KD_FL_NONE ? BIT(rows[i].flavour) : 0;
	}
	/* Callers come with the flavours that they wait for. */
	if (!conf->over_ns[KD_M_RCU_GP_WAIT])
		conf->want.hidden[KD_M_RCU_GP_HOLDUP] = ~flavours;
}

/* --- in a stream --- */

#define FACT "over."

int limits_emit(const struct limits *l, struct stream *s)
{
	char name[NAME + sizeof(FACT)], value[24];
	int err = 0;

	for (size_t i = 0; i < ROWS && !err; i++) {
		if (!l->ns[i])
			continue;
		snprintf(name, sizeof(name), FACT "%s", rows[i].name);
		snprintf(value, sizeof(value), "%llu", (unsigned long long)l->ns[i]);
		err = host_fact(s, name, value);
	}
	return err;
}

bool limits_told(const struct model *m, size_t i, const char **name, uint64_t *ns)
{
	char fact[NAME + sizeof(FACT)];

	for (size_t row = 0; row < ROWS; row++) {
		snprintf(fact, sizeof(fact), FACT "%s", rows[row].name);
		*ns = model_fact_u64(m, fact, 0);
		*name = rows[row].name;
		if (*ns && !i--)
			return true;
	}
	return false;
}
