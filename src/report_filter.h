/* SPDX-License-Identifier: GPL-2.0-only */
/* report_filter.h - which reports of long waits are shown: those that match. */
#ifndef KDEFER_REPORT_FILTER_H
#define KDEFER_REPORT_FILTER_H

#include <stdbool.h>
#include <stddef.h>

struct holdup;
struct model;

enum report_key {
	REPORT_CAUSE, /* the main one, or another that is listed beside it */
	REPORT_COMM,  /* of whoever was in the way in one of these, as the next two */
	REPORT_PID,
	REPORT_CPU,
	REPORT_CGROUP,  /* of whoever was in the way mostly: its path */
	REPORT_FUNC,    /* as the report names it */
	REPORT_FLAVOUR, /* of RCU, or the subsystem of a flush */
	REPORT_KEYS,
};

struct report_filter {
	enum report_key key;
	const char *glob; /* fnmatch(3) pattern */
};

int report_key_by_name(const char *name, enum report_key *key); /* 0 or -ENOENT */
const char *report_key_name(enum report_key key);
const char *report_key_list(void); /* all of them, for a message */

/* Whether all of the filters match; what a report does not know matches none. */
bool report_matches(const struct model *m, const struct holdup *h,
		    const struct report_filter *filters, size_t n);

#endif
