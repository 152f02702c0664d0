/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_limits.h - from which length on a wait is explained: --over, its defaults, and what is armed by it.
 * What has no limit is not hooked.
 */
#ifndef KDEFER_WAIT_LIMITS_H
#define KDEFER_WAIT_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session.h"

struct model;

#define LIMITS_MAX 16

struct limits {
	uint64_t ns[LIMITS_MAX]; /* by row of the table; 0: not armed */
	uint64_t rest_ns;        /* a time without a name: for all that is not named; 0: none */
	uint32_t named;          /* bits: rows that were named */
	bool given;              /* --over was given at all */
};

/* Takes "50ms" or "rstat.hold=5ms,rcu_gp=100ms,200ms". 0, or -EINVAL (logged). For struct opt. */
int limits_parse(void *limits, const char *text);

/*
 * What is armed: of what was asked for, all with the limits given or their defaults; where names were
 * given and no sources, only these. `sources`: -s was given. 0, or -EINVAL (logged): a limit of what was
 * not asked for, or nothing is left to arm.
 */
int limits_choose(struct limits *l, const struct plan_request *want, bool sources,
		  const char *command);

/* Whether anything of what was asked for can be explained. */
bool limits_any(const struct plan_request *want);

/* Adds what is armed to what a session is asked for: measures, flavours, limits. */
void limits_apply(const struct limits *l, struct session_conf *conf);

/* As facts of the stream, "over.rstat.hold", ns. 0 or an error of the stream. */
int limits_emit(const struct limits *l, struct stream *s);

/* "rcu_gp.rcu=100ms,rstat.hold=10ms": all rows with their defaults, for help and man page. */
const char *limits_defaults(void);

/* The i-th row that a stream tells of (facts of limits_emit()): its name and limit. False past the end. */
bool limits_told(const struct model *m, size_t i, const char **name, uint64_t *ns);

#endif
