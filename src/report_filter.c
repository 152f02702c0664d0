// SPDX-License-Identifier: GPL-2.0-only
/* report_filter.c - which reports of long waits are shown: those that match. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "catalog.h"
#include "model.h"
#include "report_filter.h"
#include "tally.h"
#include "verdict.h"

static const char *const names[REPORT_KEYS] = {
	[REPORT_CAUSE] = "cause",     [REPORT_COMM] = "comm",     [REPORT_PID] = "pid",
	[REPORT_CPU] = "cpu",         [REPORT_CGROUP] = "cgroup", [REPORT_FUNC] = "func",
	[REPORT_FLAVOUR] = "flavour",
};

int report_key_by_name(const char *name, enum report_key *key)
{
	for (unsigned int i = 0; i < REPORT_KEYS; i++)
		if (!strcmp(names[i], name)) {
			*key = (enum report_key)i;
			return 0;
		}
	return -ENOENT;
}

const char *report_key_name(enum report_key key)
{
	return names[key];
}

const char *report_key_list(void)
{
	return "cause, comm, pid, cpu, cgroup, func, flavour";
}

static bool fits(const char *glob, const char *text)
{
	return text && *text && !fnmatch(glob, text, 0);
}

static bool fits_number(const char *glob, bool known, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	return known && fits(glob, text);
}

static bool finding_matches(const struct finding *f, const struct report_filter *by)
{
	char comm[sizeof(f->who.comm) + 1] = "";

	switch (by->key) {
	case REPORT_CAUSE:
		return fits(by->glob, cause_name(f->cause));
	case REPORT_COMM:
		memcpy(comm, f->who.comm, sizeof(f->who.comm));
		return fits(by->glob, comm);
	case REPORT_PID:
		return fits_number(by->glob, f->who.pid, f->who.pid);
	default:
		return fits_number(by->glob, f->who.cpu != KD_CPU_NONE, f->who.cpu);
	}
}

static bool matches(const struct model *m, const struct holdup *h, const struct verdict *v,
		    const struct report_filter *by)
{
	char func[TALLY_FUNC];
	bool any = false;

	switch (by->key) {
	case REPORT_FUNC:
		return fits(by->glob, tally_func(func, sizeof(func), h, v));
	case REPORT_FLAVOUR:
		return fits(by->glob, flavour_name(h->rec.flavour));
	case REPORT_CGROUP:
		return v->is.who.cgroup &&
		       fits(by->glob, pending_text(&m->pending, KD_NAME_CGROUP, KD_SRC_CALL_RCU,
						   v->is.who.cgroup, 0));
	default:
		any = finding_matches(&v->is, by);
		for (size_t i = 0; i < v->nalso && !any; i++)
			any = finding_matches(&v->also[i], by);
		return any;
	}
}

bool report_matches(const struct model *m, const struct holdup *h,
		    const struct report_filter *filters, size_t n)
{
	struct verdict v;

	if (!n)
		return true;
	verdict_in(&v, m, h);
	for (size_t i = 0; i < n; i++)
		if (!matches(m, h, &v, &filters[i]))
			return false;
	return true;
}
