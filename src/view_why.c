// SPDX-License-Identifier: GPL-2.0-only
/* view_why.c - a report of a wait that was too long: cause, who, phases, evidence, what may help. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "wait_limits.h"
#include "plan.h"
#include "tally.h"
#include "verdict.h"
#include "view_why.h"

#define WORDS 700
#define SAFE_COMM 65
#define FRAMES 12

/* --- head --- */

static const char *fact(const struct model *m, const char *name, char *buf, size_t size)
{
	const char *value = model_fact(m, name);

	return fmt_safe(buf, size, value && *value ? value : "?");
}

static void put_kernel(struct sheet *s, const struct model *m)
{
	const struct verdict_host host = verdict_host_of(m);
	char a[WORDS], b[WORDS], c[WORDS];

	sheet_field(s, "kernel", "%s %s (%s)", fact(m, "kernel", a, sizeof(a)),
		    fact(m, "machine", b, sizeof(b)), fact(m, "kernel_version", c, sizeof(c)));
	sheet_field(s, "settings", "preempt=%s, %sHZ=%s, %s CPUs", fact(m, "preempt", a, sizeof(a)),
		    !host.preempt_rcu_known ? ""
		    : host.preempt_rcu      ? "preemptible RCU, "
					    : "RCU not preemptible, ",
		    fact(m, "hz", b, sizeof(b)), fact(m, "cpus_online", c, sizeof(c)));
	if (model_fact(m, "hypervisor"))
		sheet_field(s, "hypervisor", "%s", fact(m, "hypervisor", a, sizeof(a)));
	if (model_fact(m, "cmdline"))
		sheet_field(s, "boot options", "%s", fact(m, "cmdline", a, sizeof(a)));
}

/* Limits that are the same in one go. */
static void put_limits(struct sheet *s, const struct model *m)
{
	char text[WORDS] = "", time[FMT_LEN];
	const char *name, *other;
	uint64_t ns, same;
	size_t i, k;

	for (i = 0; limits_told(m, i, &name, &ns); i++) {
		for (k = 0; limits_told(m, k, &other, &same) && same != ns; k++)
			;
		if (k < i)
			continue; /* stands with that one */
		text_append(text, sizeof(text), "%s%s (%s", *text ? ", " : "",
			    fmt_ns(time, sizeof(time), ns), name);
		for (k = i + 1; limits_told(m, k, &other, &same); k++)
			if (same == ns)
				text_append(text, sizeof(text), ", %s", other);
		text_append(text, sizeof(text), ")");
	}
	if (*text)
		sheet_field(s, "longer than", "%s", text);
}

/* A row of the plan that has something to say: why it is off, or what does not show though it is on. */
static bool says(const struct scope *sc, const struct plan_row *row, bool on, const char *reason)
{
	const struct measure_info *info = measure_info(row->measure);

	return info && info->holdup && (row->state == PLAN_ON) == on && (!on || *row->reason) &&
	       scope_has(sc, row->measure, row->flavour) &&
	       (!reason || !strcmp(row->reason, reason));
}

/* "rcu_gp (rcu, tasks), call_rcu (rcu)": all rows with this reason. */
static void put_names(char *text, size_t size, const struct model *m, const struct scope *sc,
		      bool on, const char *reason)
{
	const struct plan_row *before = NULL;

	*text = '\0';
	for (size_t i = 0; i < m->nplan; i++) {
		const struct plan_row *row = &m->plan[i];
		const char *fl = flavour_name(row->flavour);

		if (!says(sc, row, on, reason))
			continue;
		if (before && before->source == row->source)
			text_append(text, size, ", %s", fl ? fl : "?");
		else
			text_append(text, size, "%s%s%s%s", before ? "), " : "",
				    source_name(row->source), " (", fl ? fl : "all");
		before = row;
	}
	text_append(text, size, ")");
}

/* Reasons that several rows share are said once. */
static void put_rows_of_plan(struct sheet *s, const struct model *m, const struct scope *sc,
			     bool on)
{
	char names[WORDS], reason[WORDS], fix[WORDS];
	size_t i, k;

	for (i = 0; i < m->nplan; i++) {
		const struct plan_row *row = &m->plan[i];

		if (!says(sc, row, on, NULL))
			continue;
		for (k = 0; k < i && !says(sc, &m->plan[k], on, row->reason); k++)
			;
		if (k < i)
			continue;
		put_names(names, sizeof(names), m, sc, on, row->reason);
		sheet_field(s, on ? "in part" : "not watched", "%s: %s%s%s", names,
			    *row->reason ? fmt_safe(reason, sizeof(reason), row->reason)
					 : "no reason was recorded",
			    *row->fix ? "; " : "", fmt_safe(fix, sizeof(fix), row->fix));
	}
}

/* A limit of what this version, or the one that recorded, has no way to watch. */
static void put_unwatched(struct sheet *s, const struct model *m)
{
	const char *name;
	uint64_t ns;

	for (unsigned int source = 0; source < KD_SRC_COUNT; source++) {
		size_t len = strlen(source_name(source));
		bool limited = false, planned = false;

		for (size_t i = 0; limits_told(m, i, &name, &ns); i++)
			limited |= !strncmp(name, source_name(source), len) && name[len] == '.';
		for (size_t i = 0; i < m->nplan; i++)
			planned |= m->plan[i].measure == holdup_measure(source)->id;
		if (limited && !planned)
			sheet_field(s, "not watched", "%s: there is no way to do that yet",
				    source_name(source));
	}
}

/* What is left out was told of all the same: it is in captures. */
static void put_filters(struct sheet *s, const struct scope *sc)
{
	char text[WORDS] = "", glob[WORDS];

	for (size_t i = 0; i < sc->nreports; i++)
		text_append(text, sizeof(text), "%s%s=%s", *text ? ", " : "",
			    report_key_name(sc->reports[i].key),
			    fmt_safe(glob, sizeof(glob), sc->reports[i].glob));
	if (*text)
		sheet_field(s, "shown only", "%s", text);
}

void view_why_head(struct sheet *s, const struct why_head *w)
{
	const struct model *m = w->model;
	uint64_t real = model_realtime(m, m->start_ns);
	char text[WORDS], name[WORDS], when[FMT_LEN];

	sheet_title(s, "kdefer why: waits that were too long");
	sheet_field(s, "command", "%s", fmt_safe(text, sizeof(text), w->command_line));
	sheet_field(s, "by", "kdefer %s", w->version);
	if (w->file) {
		sheet_field(s, "capture", "%s", fmt_safe(text, sizeof(text), w->file));
		if (model_fact(m, "command_line"))
			sheet_field(s, "recorded by", "%s: kdefer %s",
				    fact(m, "command_line", text, sizeof(text)),
				    fact(m, "kdefer", name, sizeof(name)));
	}
	sheet_field(s, "host", "%s", fact(m, "hostname", text, sizeof(text)));
	put_kernel(s, m);
	if (m->started && real)
		sheet_field(s, "since", "%s", fmt_time(when, sizeof(when), real));
	put_limits(s, m);
	put_filters(s, w->scope);
	put_rows_of_plan(s, m, w->scope, false);
	put_unwatched(s, m);
	put_rows_of_plan(s, m, w->scope, true);
}

/* --- one report --- */

/* "rcu grace period 1234", "callback __d_free", "flush of memory". */
static void put_what(char *buf, size_t size, const struct holdup *h)
{
	const struct kd_rec_holdup *r = &h->rec;
	const char *fl = flavour_name(r->flavour);
	char name[4 * sizeof(r->name) + 1];

	fmt_safe(name, sizeof(name), r->name);
	snprintf(buf, size, "%s%s%s", fl ? fl : "", fl ? " " : "", wait_name(r->what));
	if (r->what == KD_WAIT_GP && r->seq)
		text_append(buf, size, " %" PRId64, (int64_t)r->seq); /* as the kernel prints it */
	if (*name)
		text_append(buf, size, "%s %s", r->what == KD_WAIT_GP ? " of" : "", name);
}

static void put_who(char *buf, size_t size, const struct culprit *c)
{
	char comm[SAFE_COMM];

	*buf = '\0';
	if (c->cpu != KD_CPU_NONE)
		text_append(buf, size, "CPU %" PRIu32, c->cpu);
	if (!c->pid)
		return;
	text_append(buf, size, "%s%s", *buf ? ", " : "",
		    *c->comm ? fmt_safe(comm, sizeof(comm), c->comm) : "a task");
	text_append(buf, size, " (pid %" PRIu32, c->pid);
	if (c->tgid && c->tgid != c->pid)
		text_append(buf, size, ", of process %" PRIu32, c->tgid);
	text_append(buf, size, ")");
}

static unsigned int percent(const struct finding *f, const struct holdup *h)
{
	return (unsigned int)(100 * verdict_share(f, h) + 0.5);
}

char *view_why_line(char *buf, size_t size, const struct model *m, const struct holdup *h)
{
	char what[WORDS], who[WORDS], time[FMT_LEN];
	struct verdict v;

	verdict_in(&v, m, h);
	put_what(what, sizeof(what), h);
	put_who(who, sizeof(who), &v.is.who);
	snprintf(buf, size, "%s took %s%s: %s", what,
		 h->rec.flags & KD_HOLDUP_LOWER ? "at least " : "",
		 fmt_ns(time, sizeof(time), holdup_ns(h)), cause_name(v.is.cause));
	if (v.is.cause != CAUSE_UNKNOWN)
		text_append(buf, size, " (%u%%)%s%s%s", percent(&v.is, h),
			    v.is.certain ? "" : ", not certain", *who ? ", " : "", who);
	return buf;
}

static void put_times(struct sheet *s, const struct model *m, const struct holdup *h)
{
	uint64_t real = model_realtime(m, h->rec.begin_ns);
	char when[FMT_LEN], time[FMT_LEN], over[FMT_LEN];

	sheet_field(s, "began", "%s; took %s%s, over %s%s%s",
		    real ? fmt_time(when, sizeof(when), real) : "?",
		    h->rec.flags & KD_HOLDUP_LOWER ? "at least " : "",
		    fmt_ns(time, sizeof(time), holdup_ns(h)),
		    fmt_ns(over, sizeof(over), h->rec.threshold_ns),
		    h->rec.flags & KD_HOLDUP_ONGOING ? "; not over when watching ended" : "",
		    h->rec.flags & KD_HOLDUP_KDEFER ? "; made by attaching or detaching a kdefer"
						    : "");
}

/* Its path, or its number where it was gone before it could be looked up. */
static void put_cgroup(struct sheet *s, const char *label, const struct model *m, uint64_t id)
{
	const char *path = pending_text(&m->pending, KD_NAME_CGROUP, KD_SRC_CALL_RCU, id, 0);
	char text[WORDS];

	if (path && *path)
		sheet_field(s, label, "%s", fmt_safe(text, sizeof(text), path));
	else if (id)
		sheet_field(s, label, "number %" PRIu64 ", whose path is not known", id);
}

static void put_waiter(struct sheet *s, const struct model *m, const struct holdup *h)
{
	const struct kd_rec_holdup *r = &h->rec;
	char comm[SAFE_COMM];

	if (r->pid)
		sheet_field(s, "waited", "%s (pid %" PRIu32 ")",
			    fmt_safe(comm, sizeof(comm), r->comm), r->pid);
	if (r->source == KD_SRC_RSTAT)
		put_cgroup(s, "flushed", m, r->cgroup);
}

static void put_phases(struct sheet *s, const struct holdup *h)
{
	char text[WORDS] = "", time[FMT_LEN];

	for (unsigned int i = 0; i < KD_PH_COUNT; i++) {
		uint64_t ns = holdup_phase(h, i);

		if (ns != KD_UNKNOWN && ns)
			text_append(text, sizeof(text), "%s%s %s", *text ? ", " : "", phase_text(i),
				    fmt_ns(time, sizeof(time), ns));
	}
	if (*text)
		sheet_field(s, "phases", "%s", text);
}

static void put_finding(struct sheet *s, const char *label, const struct finding *f,
			const struct holdup *h)
{
	char time[FMT_LEN];

	sheet_field(s, label, "%s, %u%% of %s%s: %s", cause_name(f->cause), percent(f, h),
		    fmt_ns(time, sizeof(time), holdup_ns(h)), f->certain ? "" : ", not certain",
		    cause_text(f->cause));
}

static void put_cause(struct sheet *s, const struct model *m, const struct holdup *h,
		      const struct verdict *v)
{
	char who[WORDS], other[WORDS];

	if (v->is.cause == CAUSE_UNKNOWN) {
		sheet_field(s, "cause", "unknown: %s", cause_text(CAUSE_UNKNOWN));
		sheet_field(s, "needed", "%s", v->need);
		return;
	}
	put_finding(s, "cause", &v->is, h);
	put_who(who, sizeof(who), &v->is.who);
	put_who(other, sizeof(other), &v->is.other);
	if (*who)
		sheet_field(s, "who", "%s", who);
	put_cgroup(s, "in cgroup", m, v->is.who.cgroup);
	if (v->is.other.pid)
		sheet_field(s,
			    v->is.cause == CAUSE_PREEMPTED_READER ||
					    v->is.cause == CAUSE_TASK_NOT_SWITCHING
				    ? "in its stead"
				    : "starved",
			    "%s", other);
	sheet_field(s, "seen", "%s", v->is.why);
}

static void put_candidates(struct sheet *s, const struct verdict *v)
{
	char text[WORDS] = "", who[WORDS];

	for (size_t i = 0; i < v->ncandidates; i++) {
		put_who(who, sizeof(who), &v->candidates[i]);
		text_append(text, sizeof(text), "%s%s", i ? "; " : "", who);
	}
	if (*text)
		sheet_field(s, "candidates", "%s", text);
}

static void put_also(struct sheet *s, const struct holdup *h, const struct verdict *v)
{
	for (size_t i = 0; i < v->nalso; i++)
		sheet_field(s, "also", "%s, %u%%%s: %s", cause_name(v->also[i].cause),
			    percent(&v->also[i], h), v->also[i].certain ? "" : ", not certain",
			    v->also[i].why);
}

static void put_stack(struct sheet *s, const struct verdict *v)
{
	char frame[128], safe[WORDS];

	if (!v->is.seen)
		return;
	for (size_t i = 0; i < FRAMES && witness_frame(v->is.seen, i, frame, sizeof(frame)); i++)
		sheet_field(s, i ? "" : "stack", "%s", fmt_safe(safe, sizeof(safe), frame));
}

void view_why_report(struct sheet *s, const struct model *m, const struct holdup *h)
{
	char line[2 * WORDS], time[FMT_LEN];
	struct verdict v;

	verdict_in(&v, m, h);
	sheet_heading(s, view_why_line(line, sizeof(line), m, h));
	put_times(s, m, h);
	put_waiter(s, m, h);
	put_cause(s, m, h, &v);
	if (v.alone_ns != KD_UNKNOWN && v.is.cause != CAUSE_UNKNOWN)
		sheet_field(s, "alone", "for the last %s", fmt_ns(time, sizeof(time), v.alone_ns));
	put_candidates(s, &v);
	put_also(s, h, &v);
	put_phases(s, h);
	for (size_t i = 0; i < v.nlines; i++)
		sheet_field(s, i ? "" : "evidence", "%s", v.line[i]);
	put_stack(s, &v);
	if (*cause_remedy(v.is.cause))
		sheet_field(s, "may help", "%s", cause_remedy(v.is.cause));
}

/* --- sums --- */

#define WHAT_COLUMNS 24 /* what a mail has room for beside the other columns */

static int add_row(const struct sheet *s, struct table *t, const struct tally_row *r)
{
	char comm[SAFE_COMM], func[4 * TALLY_FUNC + 1], count[FMT_LEN], sum[FMT_LEN], max[FMT_LEN];
	char what[WORDS], cut[WORDS];

	fmt_safe(comm, sizeof(comm), r->comm);
	fmt_safe(func, sizeof(func), r->func);
	snprintf(what, sizeof(what), "%s%s%s", *comm || *func ? comm : "-",
		 *comm && *func ? ": " : "", func);
	text_cut(cut, sizeof(cut), what, s->markdown ? sizeof(cut) : WHAT_COLUMNS);
	return sheet_row(t, (const char *[]){ cause_name(r->cause), cut,
					      fmt_count(count, sizeof(count), r->count),
					      fmt_ns(sum, sizeof(sum), r->part_ns),
					      fmt_ns(max, sizeof(max), r->max_ns) });
}

static int put_rows(struct sheet *s, const struct tally *t)
{
	static const struct table_column columns[] = {
		{ "CAUSE", false, 0 },     { "TASK: FUNCTION", false, 0 }, { "WAITS", true, 0 },
		{ "IN THE WAY", true, 0 }, { "LONGEST", true, 0 },
	};
	struct table table;
	int err = 0;

	table_init(&table, columns, 5);
	for (size_t i = 0; i < t->n && !err; i++)
		err = add_row(s, &table, &t->row[i]);
	if (!err)
		sheet_table(s, &table);
	table_free(&table);
	return err;
}

static void put_lost(struct sheet *s, const struct model *m, const struct scope *sc)
{
	char n[FMT_LEN], time[FMT_LEN];
	unsigned int source, what;

	for (source = 0; source < KD_SRC_COUNT; source++)
		for (what = 0; what < KD_LOST_COUNT; what++) {
			uint64_t lost = scope_lost(m, sc, source, what);

			if (lost && scope_has_source(sc, source) &&
			    scope_may_lose(sc, source, what))
				sheet_field(s, "lost", "%s: %s %s (%s)", source_name(source),
					    fmt_count(n, sizeof(n), lost), lost_name(what),
					    lost_help(what));
		}
	if (m->holdups.left_out)
		sheet_field(s, "left out",
			    "%" PRIu64 " shorter reports, %s in all: there were too many",
			    m->holdups.left_out,
			    fmt_ns(time, sizeof(time), m->holdups.left_out_ns));
	if (m->holdups.ended_without)
		sheet_field(s, "left out", "%" PRIu64 " samples of waits whose end was not told",
			    m->holdups.ended_without);
	if (m->incomplete)
		sheet_field(s, "cut short", "%" PRIu64 " readings of the kernel's tables",
			    m->incomplete);
}

int view_why_summary(struct sheet *s, const struct model *m, const struct scope *sc)
{
	char length[FMT_LEN];
	struct tally t;
	int err = tally_make(&t, m, sc);

	if (err)
		return err;
	sheet_heading(s, "SUMMARY");
	sheet_field(s, "watched",
		    "for %s: %" PRIu64 " wait%s over the limits, %" PRIu64 " unexplained",
		    fmt_ns(length, sizeof(length), scope_length_ns(m, sc)), t.reports,
		    t.reports == 1 ? "" : "s", t.unknown);
	put_lost(s, m, sc);
	if (t.n) {
		sheet_line(s, "%s", "");
		err = put_rows(s, &t);
	}
	free(t.row);
	return err;
}

int view_why_worst(struct sheet *s, const struct model *m, const struct scope *sc, size_t most)
{
	const struct holdup **list;
	char line[2 * WORDS];
	struct tally t;
	size_t n;
	int err = tally_make(&t, m, sc);

	if (!err && t.n) {
		sheet_heading(s, "LONG WAITS BY CAUSE");
		err = put_rows(s, &t);
	}
	free(t.row);
	if (err || !t.n)
		return err;
	err = tally_worst(m, sc, most, &list, &n);
	if (err)
		return err;
	sheet_heading(s, "THE LONGEST OF THESE (kdefer why --input explains each)");
	for (size_t i = 0; i < n; i++)
		sheet_line(s, "%s%s", s->markdown ? "- " : "",
			   view_why_line(line, sizeof(line), m, list[i]));
	free(list);
	return 0;
}
