// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare_facts.c - what the hosts of both sides were: what people compare (the kernel), what must be
 * equal (the hardware, the load), and which measures mean the same on both sides.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "model.h"
#include "text.h"

/* What makes numbers incomparable, unless the caller says that it is what varies. */
static const char *const must_equal[] = { "machine",    "cpu_model", "cpus_online", "numa_nodes",
					  "hypervisor", "command",   "sampling" };

/* Another one each time, or said elsewhere. */
static const char *const no_difference[] = { "hostname",       "boot_id",         "start",
					     "realtime_ns",    "monotonic_ns",    "boottime_ns",
					     "kernel_version", "command_line",    SESSION_SETTLE_NS,
					     "preempt_from",   SAMPLING_BY_BUDGET };

static bool is_in(const char *name, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

#define IS_IN(name, list) is_in(name, list, sizeof(list) / sizeof((list)[0]))

bool compare_must_equal(const char *name)
{
	return IS_IN(name, must_equal);
}

const char *compare_must_equal_list(void)
{
	static char list[256];
	size_t i;

	if (!*list)
		for (i = 0; i < sizeof(must_equal) / sizeof(must_equal[0]); i++)
			text_append(list, sizeof(list), "%s%s", i ? ", " : "", must_equal[i]);
	return list;
}

static const char *fact_of(const struct sample_file *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->nfacts; i++)
		if (!strcmp(f->facts[i].name, name))
			return f->facts[i].value;
	return "";
}

static const char *or_none(const char *value)
{
	return *value ? value : "(none)";
}

/* --- what must be equal --- */

static int check_must(struct comparison *c, const char *name, size_t file)
{
	const struct sample_file *first = &c->t->files[0], *f = &c->t->files[file];
	const char *a = fact_of(first, name), *b = fact_of(f, name);

	if (c->incomparable || !strcmp(a, b) || is_in(name, c->conf.varies, c->conf.nvaries))
		return 0;
	if (asprintf(&c->incomparable,
		     "%s differs: %s in %s, %s in %s (--varies %s compares all the same)", name,
		     or_none(a), first->path, or_none(b), f->path, name) < 0) {
		c->incomparable = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Each capture has shares of its own then, whatever the thinnest was. */
static int check_changing(struct comparison *c, size_t file)
{
	const struct sample_file *f = &c->t->files[file];
	bool changes = *fact_of(f, SAMPLING_BY_BUDGET) && strcmp(fact_of(f, "sampling"), "1/1");

	if (c->incomparable || !changes || is_in("sampling", c->conf.varies, c->conf.nvaries))
		return 0;
	if (asprintf(&c->incomparable,
		     "sampling changed, down to %s, to stay within the budget in %s (--varies "
		     "sampling compares all the same)",
		     fact_of(f, "sampling"), f->path) < 0) {
		c->incomparable = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int check_all_must(struct comparison *c)
{
	size_t i, k;
	int err = 0;

	for (i = 0; !err && i < c->t->nfiles; i++)
		err = check_changing(c, i);

	for (k = 0; k < sizeof(must_equal) / sizeof(must_equal[0]); k++)
		for (i = 1; !err && i < c->t->nfiles; i++)
			err = check_must(c, must_equal[k], i);
	return err;
}

/* --- differences --- */

/* The value that all files of a side share; "(several)" where they do not. */
static const char *value_of(const struct comparison *c, enum sample_side side, const char *name)
{
	const char *value = NULL, *v;
	size_t i;

	for (i = 0; i < c->t->nfiles; i++) {
		if (!c->t->files[i].side[side])
			continue;
		v = fact_of(&c->t->files[i], name);
		if (value && strcmp(value, v))
			return "(several)";
		value = v;
	}
	return value ? value : "";
}

static bool has_word(const char *words, const char *word, size_t len)
{
	const char *at;

	for (at = words; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (strcspn(at, " ") == len && !strncmp(at, word, len))
			return true;
	}
	return false;
}

/* " -quiet" for each word that only `a` has. */
static void add_words(char *buf, size_t size, char sign, const char *a, const char *b)
{
	size_t len;

	for (a += strspn(a, " "); *a; a += strspn(a, " ")) {
		len = strcspn(a, " ");
		if (!has_word(b, a, len))
			text_append(buf, size, " %c%.*s", sign, (int)len, a);
		a += len;
	}
}

static int add_difference(struct comparison *c, const char *name)
{
	const char *a = value_of(c, SIDE_BASE, name), *b = value_of(c, SIDE_NEW, name);
	char words[2048] = "";

	if (!strcmp(a, b))
		return 0;
	if (strcmp(name, "cmdline"))
		return compare_say(&c->differences, &c->ndifferences, "%s: %s -> %s", name,
				   or_none(a), or_none(b));
	add_words(words, sizeof(words), '-', a, b);
	add_words(words, sizeof(words), '+', b, a);
	return compare_say(&c->differences, &c->ndifferences, "%s:%s", name,
			   *words ? words : " the same words in another order");
}

/* Each name once, of whichever file has it. */
static int add_differences(struct comparison *c)
{
	const struct sample_fact *fact;
	size_t i, k, before;
	bool again;
	int err = 0;

	for (i = 0; !err && i < c->t->nfiles; i++) {
		for (k = 0; !err && k < c->t->files[i].nfacts; k++) {
			fact = &c->t->files[i].facts[k];
			for (again = false, before = 0; before < i; before++)
				again |= *fact_of(&c->t->files[before], fact->name) != '\0';
			if (!again && !IS_IN(fact->name, no_difference))
				err = add_difference(c, fact->name);
		}
	}
	return err;
}

/* --- warnings and notes --- */

static int warn_of_same_kernel(struct comparison *c)
{
	const char *a = value_of(c, SIDE_BASE, "build_id"), *b = value_of(c, SIDE_NEW, "build_id");

	if (c->t->paired || !*a || *a == '(' || strcmp(a, b))
		return 0;
	return compare_say(&c->warnings, &c->nwarnings,
			   "both sides ran the same kernel build (%s, build id %.12s): if kernels "
			   "were to be compared, the wrong one was booted",
			   value_of(c, SIDE_NEW, "kernel"), a);
}

static int warn_of_cut_files(struct comparison *c)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < c->t->nfiles; i++)
		if (c->t->files[i].cut)
			err = compare_say(&c->warnings, &c->nwarnings, "%s: %s",
					  c->t->files[i].path, c->t->files[i].cut);
	return err;
}

static int note_unknown_noise(struct comparison *c)
{
	if (c->level == LEVEL_INTERVAL) {
		if (compare_say(&c->notes, &c->nnotes,
				"each side has one run: what runs differ by is not known, the "
				"intervals within them stand in for it"))
			return -ENOMEM;
	}
	if (!c->unknown)
		return 0;
	return compare_say(
		&c->notes, &c->nnotes,
		"each side has one %s: what %ss differ by is not known, so only a change "
		"beyond %.3g%% counts (--boot-noise)",
		c->unknown, c->unknown, c->conf.boot_noise * 100);
}

static int note_unknown_cost(struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->t->nruns; i++)
		if (!isnan(c->t->runs[i].cost_ns))
			return 0;
	return compare_say(&c->notes, &c->nnotes,
			   "what kdefer itself cost each event was not measured, so it is not held "
			   "against the changes");
}

int compare_facts(struct comparison *c)
{
	int err = check_all_must(c);

	if (!err)
		err = add_differences(c);
	if (!err)
		err = warn_of_same_kernel(c);
	if (!err)
		err = warn_of_cut_files(c);
	if (!err)
		err = note_unknown_noise(c);
	return err ? err : note_unknown_cost(c);
}

/* --- measures --- */

static const char *group_of(const struct sample_subject *s)
{
	size_t i;

	for (i = 0; i < s->npairs; i++)
		if (!strcmp(s->pairs[i].name, "flavour") || !strcmp(s->pairs[i].name, "subsystem"))
			return s->pairs[i].value;
	return "";
}

static const struct sample_plan *plan_of(const struct sample_file *f,
					 const struct sample_subject *s)
{
	const struct sample_plan *p, *found = NULL;
	size_t i;

	for (i = 0; i < f->nplan; i++) {
		p = &f->plan[i];
		if (strcmp(p->source, s->source) || strcmp(p->measure, s->measure))
			continue;
		/* The sum over lists is of all flavours: one of them is enough. */
		if (s->kind == SUBJECT_LEVEL ? found && found->on
					     : *p->flavour && strcmp(p->flavour, group_of(s)))
			continue;
		found = p;
	}
	return found;
}

int compare_barred(const struct comparison *c, size_t subject, char *why, size_t size)
{
	const struct sample_subject *s = &c->t->subjects[subject];
	const struct sample_plan *p, *first = NULL;
	size_t i;

	if (c->incomparable) {
		snprintf(why, size, "%s", c->incomparable);
		return 1;
	}
	for (i = 0; s->kind <= SUBJECT_LEVEL && i < c->t->nfiles; i++) {
		p = plan_of(&c->t->files[i], s);
		if (!c->t->files[i].nplan)
			continue;
		if (!p || !p->on) {
			snprintf(why, size, "not measured in %s%s%s", c->t->files[i].path,
				 p && *p->reason ? ": " : "", p ? p->reason : "");
			return 1;
		}
		if (first && first->meaning != p->meaning) {
			snprintf(why, size, "its definition is number %u in %s and %u in %s",
				 first->meaning, c->t->files[0].path, p->meaning,
				 c->t->files[i].path);
			return 1;
		}
		first = first ? first : p;
	}
	return 0;
}
