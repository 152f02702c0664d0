// SPDX-License-Identifier: GPL-2.0-only
/* doctor.c - `kdefer doctor`: what can be measured here and how; what not, why, what would help. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_util.h"
#include "catalog.h"
#include "commands.h"
#include "common.h"
#include "doc.h"
#include "format.h"
#include "host.h"
#include "kernel.h"
#include "log.h"
#include "output.h"
#include "text.h"
#include "view_parts.h"

#ifndef KDEFER_VERSION
#define KDEFER_VERSION "unknown"
#endif

struct doctor_command {
	struct common common; /* first: see common.h */
	struct model model;   /* host and plan, as they would be in a capture */
	struct kernel kernel;
	struct output out;
};

/* Of the output options those that fit: there are no intervals and no captures of a doctor. */
static const struct opt doctor_options[] = {
	{ .name = "json", .type = OPT_FLAG, .help = "one JSON document",
	  .offset = offsetof(struct common, json) },
	{ .name = "ndjson", .type = OPT_FLAG, .help = "the same document on one line",
	  .offset = offsetof(struct common, ndjson) },
	{ .name = "backends", .type = OPT_CALL, .value = "LIST",
	  .help = "what would be left with these only: tp_btf, fentry, kprobe, state",
	  .offset = offsetof(struct common, want), .call = parse_backends },
	{ 0 },
};

static const struct opt *const tables[] = { source_options, doctor_options, NULL };

static const struct opts_command doctor_opts = {
	.name = "doctor",
	.summary = "Show what can be measured here, what not, and what would help.",
	.usage = "[-s SOURCES] [--backends LIST] [--json | --ndjson]",
	.tables = tables,
};

/* --- what the tool may and can --- */

static enum tri tri(bool yes)
{
	return yes ? YES : NO;
}

/* One by one what measures stand on. In the order in which a person would look. */
static const struct ability {
	const char *key, *text;
} abilities[] = {
	{ "cap_bpf", "CAP_BPF" },
	{ "cap_perfmon", "CAP_PERFMON" },
	{ "cap_syslog", "CAP_SYSLOG (names of functions)" },
	{ "btf", "BTF of this kernel" },
	{ "kallsyms", "kernel symbols" },
	{ "traceable", "list of traceable functions" },
	{ "fentry", "fentry programs load" },
	{ "ftrace", "function tracing switched on" },
	{ "no_lockdown", "no lockdown for confidentiality" },
};
#define ABILITIES (sizeof(abilities) / sizeof(abilities[0]))

static void ask(const struct kernel *k, enum tri has[ABILITIES])
{
	enum tri lockdown = k->lockdown_confidentiality;
	const enum tri answers[ABILITIES] = {
		tri(kernel_has_cap(k, KERNEL_CAP_BPF)),
		tri(kernel_has_cap(k, KERNEL_CAP_PERFMON)),
		tri(kernel_has_cap(k, KERNEL_CAP_SYSLOG)),
		tri(k->btf),
		tri(k->text),
		tri(k->traceable),
		k->fentry,
		k->ftrace_enabled,
		lockdown == UNKNOWN ? UNKNOWN : tri(lockdown == NO),
	};

	memcpy(has, answers, sizeof(answers));
}

/* --- JSON --- */

static void doc_abilities(struct json *j, const struct kernel *k)
{
	enum tri has[ABILITIES];
	size_t i;

	ask(k, has);
	json_kopen(j, "abilities", '{');
	for (i = 0; i < ABILITIES; i++) {
		if (has[i] == UNKNOWN)
			json_knull(j, abilities[i].key);
		else
			json_kbool(j, abilities[i].key, has[i] == YES);
	}
	json_close(j);
}

static int put_document(const struct doctor_command *d, FILE *out, const char *error)
{
	const struct scope sc = common_scope(&d->common, false);
	struct json j;

	json_init(&j, out, d->common.json);
	doc_open(&j, doctor_opts.name);
	if (error)
		doc_error(&j, error);
	doc_host(&j, &d->model);
	doc_abilities(&j, &d->kernel);
	doc_plan(&j, &d->model, &sc);
	json_close(&j);
	return json_end(&j);
}

/* --- text --- */

static void put_host(FILE *out, const struct model *m, size_t width)
{
	static const struct {
		const char *before, *fact, *after;
	} parts[] = {
		{ " on ", "hostname", "" },    { ": Linux ", "kernel", "" },
		{ " ", "machine", "" },        { ", ", "cpus_online", " CPUs" },
		{ ", HZ=", "hz", "" },         { ", preempt=", "preempt", "" },
	};
	char text[1024] = "kdefer " KDEFER_VERSION, value[256];
	size_t i, used;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const char *fact = model_fact(m, parts[i].fact);

		used = strlen(text);
		if (fact)
			snprintf(text + used, sizeof(text) - used, "%s%s%s", parts[i].before,
				 fmt_safe(value, sizeof(value), fact), parts[i].after);
	}
	text_wrap(out, text, 0, 2, width);
}

static void put_field(FILE *out, const char *label, const char *kernel_text, size_t width)
{
	char text[1024];

	if (*kernel_text)
		text_field(out, label, fmt_safe(text, sizeof(text), kernel_text), width);
}

static void put_row(FILE *out, const struct model *m, const struct plan_row *row, size_t width)
{
	const struct measure_info *info = measure_info(row->measure);
	char name[VIEW_NAME];

	view_name(name, sizeof(name), m, row->source, row->measure, row->flavour);
	fprintf(out, "\n%s: %s\n", name, plan_state_name(row->state));
	put_field(out, "what:", info ? info->what : "", width);
	if (row->state != PLAN_OFF)
		put_field(out, "backend:", row->backend, width);
	put_field(out, "hooks:", row->hooks, width);
	put_field(out, row->state == PLAN_OFF ? "why:" : "but:", row->reason, width);
	put_field(out, "fix:", row->fix, width);
}

static void put_abilities(FILE *out, const struct kernel *k)
{
	static const char *const words[] = { [NO] = "no", [YES] = "yes", [UNKNOWN] = "unknown" };
	enum tri has[ABILITIES];
	size_t i;

	ask(k, has);
	fputc('\n', out);
	for (i = 0; i < ABILITIES; i++)
		fprintf(out, "%-7s  %s\n", words[has[i]], abilities[i].text);
}

static size_t count_usable(const struct model *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->nplan; i++)
		n += m->plan[i].state != PLAN_OFF;
	return n;
}

static void put_text(const struct doctor_command *d, FILE *out)
{
	size_t i, width = output_width(), usable = count_usable(&d->model);
	char text[160];

	put_host(out, &d->model, width);
	for (i = 0; i < d->model.nplan; i++)
		put_row(out, &d->model, &d->model.plan[i], width);
	put_abilities(out, &d->kernel);
	snprintf(text, sizeof(text), "%zu of %zu measures can be had here%s", usable,
		 d->model.nplan, usable ? ", by all signs: a measurement will try" : "");
	fputc('\n', out);
	text_wrap(out, text, 0, 2, width);
}

/* --- the command --- */

/* The same records as a measurement begins with, so that plan and host look the same everywhere. */
static int examine(struct doctor_command *d)
{
	struct plan plan = { 0 };
	struct stream s;
	int err;

	bpf_util_quiet();
	stream_init(&s, model_record, &d->model);
	err = plan_probe(&d->kernel, true);
	if (!err)
		err = host_emit(&d->kernel, &s);
	if (!err)
		err = plan_resolve(&plan, &d->kernel, &d->common.want);
	if (!err)
		err = plan_emit(&plan, &s);
	plan_free(&plan);
	return err ? log_err(err, "cannot look at this kernel: %s", strerror(-err)) : 0;
}

static int show(struct doctor_command *d)
{
	bool document = d->common.json || d->common.ndjson, usable = count_usable(&d->model);
	const char *error = usable ? NULL : "nothing that was asked for can be measured here";
	FILE *out = output_begin(&d->out);
	int err;

	if (!out)
		return EXIT_FAILED;
	if (document)
		put_document(d, out, error);
	else
		put_text(d, out);
	err = output_end(&d->out);
	if (err && err != -EPIPE)
		return EXIT_FAILED;
	return usable ? EXIT_DONE : EXIT_NOTHING;
}

static int doctor_run(int argc, char **argv)
{
	struct doctor_command d = { 0 };
	bool json = wants_json(argc, argv);
	struct opts_rest rest;
	int err, code;

	common_init(&d.common);
	output_init(&d.out);
	err = opts_parse(&doctor_opts, argc, argv, &d, &rest);
	if (err > 0)
		return EXIT_DONE;
	if (err || common_check(&d.common, doctor_opts.name))
		return common_fail(&d.out, doctor_opts.name, json, EXIT_USAGE);
	model_init(&d.model);
	err = examine(&d);
	code = err ? common_fail(&d.out, doctor_opts.name, json, EXIT_FAILED) : show(&d);
	model_free(&d.model);
	kernel_free(&d.kernel);
	return code;
}

const struct command command_doctor = { &doctor_opts, doctor_run };
