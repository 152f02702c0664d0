// SPDX-License-Identifier: GPL-2.0-only
/* view_doctor.c - what doctor found, as text: what can be measured first, then what that stands on. */
#include <stdarg.h>
#include <string.h>

#include "catalog.h"
#include "format.h"
#include "kernel.h"
#include "plan.h"
#include "text.h"
#include "view_doctor.h"
#include "view_doctor_parts.h"
#include "view_parts.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

#define TEXT_LEN 2048

static void put_heading(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

/* "  NAME: VALUE", the name whole however long it is. */
static void put_fact(FILE *out, const char *name, const char *value, size_t width)
{
	char text[TEXT_LEN], safe[1024];

	snprintf(text, sizeof(text), "%s: %s", name, fmt_safe(safe, sizeof(safe), value));
	fputs("  ", out);
	text_wrap(out, text, 2, 4, width);
}

static void put_host(FILE *out, const struct view_doctor *v)
{
	static const struct {
		const char *before, *fact, *after;
	} parts[] = {
		{ " on ", "hostname", "" }, { ": Linux ", "kernel", "" },
		{ " ", "machine", "" },     { ", ", "cpus_online", " CPUs" },
		{ ", HZ=", "hz", "" },      { ", preempt=", "preempt", "" },
	};
	char text[1024] = "kdefer " KDEFER_VERSION, value[256];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *fact = model_fact(v->model, parts[i].fact);

		if (fact)
			text_append(text, sizeof(text), "%s%s%s", parts[i].before,
				    fmt_safe(value, sizeof(value), fact), parts[i].after);
	}
	text_wrap(out, text, 0, 2, v->width);
}

/* --- the plan --- */

static bool same_measure(const struct plan_row *a, const struct plan_row *b)
{
	return a->source == b->source && a->measure == b->measure;
}

/* Rows that are off for the same reason are said once. */
static bool same_refusal(const struct plan_row *a, const struct plan_row *b)
{
	return same_measure(a, b) && a->state == PLAN_OFF && b->state == PLAN_OFF &&
	       !strcmp(a->reason, b->reason) && !strcmp(a->fix, b->fix);
}

static void put_field(FILE *out, const char *label, const char *kernel_text, size_t width)
{
	char text[TEXT_LEN];

	if (*kernel_text)
		text_field(out, label, fmt_safe(text, sizeof(text), kernel_text), width);
}

static const char *flavour_text(const struct plan_row *row)
{
	const char *name = flavour_name(row->flavour);

	return name ? name : "all";
}

/* The row, and those after it that share its refusal. Returns how many. */
static size_t put_rows(FILE *out, const struct view_doctor *v, size_t i)
{
	const struct plan_row *row = &v->model->plan[i];
	char text[512] = "";
	size_t n = 1;

	text_append(text, sizeof(text), "%s", flavour_text(row));
	while (i + n < v->model->nplan && same_refusal(row, &v->model->plan[i + n]))
		text_append(text, sizeof(text), ", %s", flavour_text(&v->model->plan[i + n++]));
	text_append(text, sizeof(text), ": %s", plan_state_name(row->state));
	if (row->state != PLAN_OFF)
		text_append(text, sizeof(text), " (%s)", row->backend);
	fputs("  ", out);
	text_wrap(out, text, 2, 4, v->width);
	put_field(out, "  hooks:", row->hooks, v->width);
	put_field(out, row->state == PLAN_OFF ? "  why:" : "  but:", row->reason, v->width);
	put_field(out, "  fix:", row->fix, v->width);
	return n;
}

static void put_measure(FILE *out, const struct view_doctor *v, const struct plan_row *row)
{
	const struct measure_info *info = measure_info(row->measure);
	char text[TEXT_LEN];

	snprintf(text, sizeof(text), "%s.%s: %s", source_name(row->source), info ? info->name : "?",
		 info ? info->what : "?");
	fputc('\n', out);
	text_wrap(out, text, 0, 2, v->width);
}

static void put_plan(FILE *out, const struct view_doctor *v)
{
	const struct plan_row *row = v->model->plan;

	for (size_t i = 0; i < v->model->nplan;) {
		if (!i || !same_measure(&row[i - 1], &row[i]))
			put_measure(out, v, &row[i]);
		i += put_rows(out, v, i);
	}
}

/* --- what it stands on --- */

static void put_abilities(FILE *out, const struct view_doctor *v)
{
	static const char *const words[] = { [NO] = "no", [YES] = "yes", [UNKNOWN] = "unknown" };
	enum tri has[DOCTOR_ABILITIES];

	doctor_abilities(v->kernel, has);
	put_heading(out, "What kdefer may and can here");
	for (size_t i = 0; i < DOCTOR_ABILITIES; i++) {
		fprintf(out, "  %-7s  ", words[has[i]]);
		text_wrap(out, doctor_ability[i].text, 11, 11, v->width);
	}
	fputs("  ", out);
	text_wrap(
		out,
		"Every measure needs CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN), and no other right; "
		"names of functions are the kernel's own words.",
		2, 2, v->width);
}

static void put_variants(FILE *out, const struct view_doctor *v)
{
	struct variant variant[VARIANTS];
	char text[512];

	if (!v->kernel->btf)
		return; /* nothing to tell it by */
	facts_variants(v->kernel, variant);
	put_heading(out, "What this kernel does");
	for (size_t i = 0; i < VARIANTS; i++) {
		snprintf(text, sizeof(text), "%s%s%s%s", variant[i].text,
			 variant[i].name ? " [" : "", variant[i].name ? variant[i].name : "",
			 variant[i].name ? "]" : "");
		put_fact(out, variant[i].subject, text, v->width);
	}
}

static void put_facts(FILE *out, const struct view_doctor *v)
{
	put_heading(out, "Settings that matter");
	for (size_t i = 0; i < v->facts->n; i++)
		if (*v->facts->row[i].value)
			put_fact(out, v->facts->row[i].name, v->facts->row[i].value, v->width);
}

static void put_memory(FILE *out, const struct view_doctor *v)
{
	char least[FMT_LEN], taken[FMT_LEN], text[128];

	put_heading(out, "Kernel memory of the tables");
	for (unsigned int src = 0; src < KD_SRC_COUNT; src++) {
		const struct doctor_memory *m = &v->memory[src];

		if (!m->least && !m->taken)
			continue;
		snprintf(text, sizeof(text), "at least %s%s%s",
			 fmt_bytes(least, sizeof(least), m->least), m->taken ? ", by default " : "",
			 m->taken ? fmt_bytes(taken, sizeof(taken), m->taken) : "");
		put_fact(out, source_name(src), text, v->width);
	}
}

size_t view_doctor_usable(const struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nplan; i++)
		n += m->plan[i].state != PLAN_OFF;
	return n;
}

static void put_summary(FILE *out, const struct view_doctor *v)
{
	size_t usable = view_doctor_usable(v->model);
	char text[160];

	snprintf(text, sizeof(text), "%zu of %zu rows can be measured here%s", usable,
		 v->model->nplan,
		 !usable    ? ""
		 : v->tried ? ": tried"
			    : ", by all signs; --try attaches them");
	fputc('\n', out);
	text_wrap(out, text, 0, 2, v->width);
}

void view_doctor_text(FILE *out, const struct view_doctor *v)
{
	put_host(out, v);
	put_plan(out, v);
	put_abilities(out, v);
	put_variants(out, v);
	put_facts(out, v);
	put_memory(out, v);
	put_summary(out, v);
}
