// SPDX-License-Identifier: GPL-2.0-only
/* samples.c - the table of samples; who fills it from captures: samples_read.c. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "samples.h"
#include "text.h"

/* --- statistics of histograms --- */

static const struct {
	const char *name;
	double q; /* of a quantile, else 0 */
	uint64_t needs;
} stats[] = {
	[STAT_MEAN] = { "mean", 0, 1 },         [STAT_P50] = { "p50", 0.5, 20 },
	[STAT_P90] = { "p90", 0.9, 100 },       [STAT_P99] = { "p99", 0.99, 1000 },
	[STAT_P999] = { "p999", 0.999, 10000 }, [STAT_MAX] = { "max", 0, 1 },
	[STAT_RATE] = { "rate", 0, 1 },         [STAT_PEAK] = { "peak", 0, 1 },
	[STAT_VALUE] = { "value", 0, 1 },
};
_Static_assert(sizeof(stats) / sizeof(stats[0]) == STAT_COUNT, "each statistic has its row");

const char *stat_name(enum sample_stat stat)
{
	return stats[stat].name;
}

int stat_by_name(const char *name, enum sample_stat *stat)
{
	unsigned int i;

	for (i = 0; i < STAT_COUNT; i++) {
		if (!strcmp(stats[i].name, name)) {
			*stat = (enum sample_stat)i;
			return 0;
		}
	}
	return -ENOENT;
}

uint64_t stat_needs(enum sample_stat stat)
{
	return stats[stat].needs;
}

/* The bucket in which the sample of this rank (1 = first) is, and how many lie below it. */
static unsigned int bucket_at(const struct hist *h, double rank, uint64_t *below)
{
	unsigned int i;

	*below = 0;
	for (i = 0; i < KD_HIST_BUCKETS - 1; i++) {
		if ((double)(*below + h->bucket[i]) >= rank)
			break;
		*below += h->bucket[i];
	}
	return i;
}

static double quantile(const struct hist *h, uint64_t n, double q)
{
	uint64_t below;
	double rank = q * (double)n, low, high;
	unsigned int b = bucket_at(h, rank, &below);

	low = (double)hist_low(b);
	high = (double)hist_high(b);
	if (h->min <= h->max) { /* known */
		low = fmax(low, (double)h->min);
		high = fmin(high, (double)h->max);
	}
	if (!h->bucket[b] || high <= low)
		return low;
	return low + (high - low) * (rank - (double)below) / (double)h->bucket[b];
}

double stat_of_hist(const struct hist *h, enum sample_stat stat)
{
	uint64_t n = hist_count(h);

	if (n < stats[stat].needs)
		return NAN;
	switch (stat) {
	case STAT_MEAN:
		return (double)h->sum / (double)n;
	case STAT_MAX:
		return h->min <= h->max ? (double)h->max : NAN;
	default:
		return stats[stat].q > 0 ? quantile(h, n, stats[stat].q) : NAN;
	}
}

double stat_resolution(const struct hist *h, enum sample_stat stat)
{
	uint64_t n = hist_count(h), below;
	double low, width;
	unsigned int b;

	if (!(stats[stat].q > 0) || !n)
		return 0;
	b = bucket_at(h, stats[stat].q * (double)n, &below);
	low = (double)hist_low(b);
	width = ((double)hist_high(b) - low) / fmax(low, 1);
	/* Alone in its bucket it can be anywhere there; among others on both sides, hardly. */
	return width * fmax(0.5, (double)h->bucket[b] / (double)n);
}

/* --- segments --- */

static int reserve_cells(struct sample_segments *s, size_t more)
{
	size_t room = s->room ? s->room : 256;
	struct sample_cell *cells;

	while (room < s->ncells + more)
		room *= 2;
	if (room == s->room)
		return 0;
	cells = reallocarray(s->cells, room, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	s->cells = cells;
	s->room = room;
	return 0;
}

static void append_cell(struct sample_segments *s, struct sample_segment *g, uint16_t bucket,
			uint64_t count)
{
	s->cells[s->ncells++] = (struct sample_cell){ bucket, count };
	g->n++;
}

/* Two neighbours as one, their cells in the order of buckets. */
static struct sample_segment join(struct sample_segments *to, const struct sample_cell *cells,
				  const struct sample_segment *a, const struct sample_segment *b)
{
	struct sample_segment g = { .first = (uint32_t)to->ncells,
				    .sum = a->sum + b->sum,
				    .max = a->max > b->max ? a->max : b->max };
	uint32_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		const struct sample_cell *x = i < a->n ? &cells[a->first + i] : NULL;
		const struct sample_cell *y = k < b->n ? &cells[b->first + k] : NULL;

		if (x && y && x->bucket == y->bucket) {
			append_cell(to, &g, x->bucket, x->count + y->count);
			i++;
			k++;
		} else if (!y || (x && x->bucket < y->bucket)) {
			append_cell(to, &g, x->bucket, x->count);
			i++;
		} else {
			append_cell(to, &g, y->bucket, y->count);
			k++;
		}
	}
	return g;
}

/* Halves their number. Each is then twice as long, and the last perhaps not. */
static int merge_neighbours(struct sample_segments *s)
{
	struct sample_segments to = { 0 };
	static const struct sample_segment nothing;
	size_t i;

	if (reserve_cells(&to, s->ncells + 1))
		return -ENOMEM;
	for (i = 0; i < s->n; i += 2)
		to.s[to.n++] =
			join(&to, s->cells, &s->s[i], i + 1 < s->n ? &s->s[i + 1] : &nothing);
	free(s->cells);
	*s = to;
	return 0;
}

int segments_add(struct sample_segments *s, const struct hist *h)
{
	struct sample_segment *g;
	unsigned int i;

	if (s->n == SEGMENTS_MAX && merge_neighbours(s))
		return -ENOMEM;
	if (reserve_cells(s, KD_HIST_BUCKETS))
		return -ENOMEM;
	g = &s->s[s->n++];
	*g = (struct sample_segment){ .first = (uint32_t)s->ncells, .sum = h->sum, .max = h->max };
	for (i = 0; i < KD_HIST_BUCKETS; i++)
		if (h->bucket[i])
			append_cell(s, g, (uint16_t)i, h->bucket[i]);
	return 0;
}

void segments_free(struct sample_segments *s)
{
	if (s)
		free(s->cells);
	free(s);
}

/* --- the table --- */

void samples_init(struct samples *t)
{
	memset(t, 0, sizeof(*t));
}

static void free_subject(struct sample_subject *s)
{
	size_t i;

	free(s->source);
	free(s->measure);
	free(s->name);
	for (i = 0; i < s->npairs; i++)
		free(s->pairs[i].value);
}

static void free_file(struct sample_file *f)
{
	size_t i;

	for (i = 0; i < f->nfacts; i++) {
		free(f->facts[i].name);
		free(f->facts[i].value);
	}
	for (i = 0; i < f->nplan; i++) {
		free(f->plan[i].source);
		free(f->plan[i].measure);
		free(f->plan[i].flavour);
		free(f->plan[i].reason);
	}
	free(f->facts);
	free(f->plan);
	free(f->path);
	free(f->cut);
}

void samples_free(struct samples *t)
{
	size_t i, k;

	for (i = 0; i < t->nsubjects; i++)
		free_subject(&t->subjects[i]);
	for (i = 0; i < t->nruns; i++) {
		for (k = 0; k < t->runs[i].nvalues; k++)
			segments_free(t->runs[i].values[k].segments);
		free(t->runs[i].values);
		free(t->runs[i].disturbed);
	}
	for (i = 0; i < t->nfiles; i++)
		free_file(&t->files[i]);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < t->nnames[k]; i++)
			free(t->names[k][i]);
		free(t->names[k]);
	}
	segments_free(t->trash.segments);
	free(t->subjects);
	free(t->runs);
	free(t->files);
	samples_init(t);
}

/* Room for one more in an array of n that only grows. */
static void *grown(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * n : 1, size);
}

static int refuse(struct samples *t, const char *what)
{
	if (!t->refused)
		log_warn("too many %s in these captures: the rest is left out", what);
	t->refused = true;
	return -E2BIG;
}

static int number_of(struct samples *t, int kind, const char *name)
{
	char **names;
	size_t i;

	for (i = 0; i < t->nnames[kind]; i++)
		if (!strcmp(t->names[kind][i], name))
			return (int)i;
	names = grown(t->names[kind], t->nnames[kind], sizeof(*names));
	if (!names)
		return -ENOMEM;
	t->names[kind] = names;
	names[i] = strdup(name);
	if (!names[i])
		return -ENOMEM;
	t->nnames[kind]++;
	return (int)i;
}

int samples_host(struct samples *t, const char *name)
{
	return number_of(t, 0, name);
}

int samples_boot(struct samples *t, const char *name)
{
	return number_of(t, 1, name);
}

static void make_name(char *buf, size_t size, const struct sample_subject *s)
{
	size_t i;

	snprintf(buf, size, "%s.%s", s->source, s->measure);
	for (i = 0; i < s->npairs; i++)
		text_append(buf, size, "%s%s=%s", i ? "," : "[", s->pairs[i].name,
			    s->pairs[i].value);
	if (s->npairs)
		text_append(buf, size, "]");
}

static int copy_subject(struct sample_subject *to, const struct sample_subject *from,
			const char *name)
{
	bool failed;
	size_t i;

	*to = *from;
	to->name = strdup(name);
	to->source = strdup(from->source);
	to->measure = strdup(from->measure);
	failed = !to->name || !to->source || !to->measure;
	for (i = 0; i < to->npairs; i++) {
		to->pairs[i].value = strdup(from->pairs[i].value);
		failed |= !to->pairs[i].value;
	}
	if (failed)
		free_subject(to);
	return failed ? -ENOMEM : 0;
}

int samples_subject(struct samples *t, const struct sample_subject *like)
{
	struct sample_subject *subjects;
	char name[2048];
	size_t i;

	make_name(name, sizeof(name), like);
	for (i = 0; i < t->nsubjects; i++)
		if (!strcmp(t->subjects[i].name, name))
			return (int)i;
	if (t->nsubjects >= SAMPLES_SUBJECTS_MAX)
		return refuse(t, "rows");
	subjects = grown(t->subjects, t->nsubjects, sizeof(*subjects));
	if (!subjects)
		return -ENOMEM;
	t->subjects = subjects;
	if (copy_subject(&subjects[i], like, name))
		return -ENOMEM;
	t->nsubjects++;
	return (int)i;
}

int samples_run(struct samples *t, enum sample_side side, uint32_t host, uint32_t boot)
{
	struct sample_run *runs;

	if (t->nruns >= SAMPLES_RUNS_MAX)
		return refuse(t, "runs");
	runs = grown(t->runs, t->nruns, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	t->runs = runs;
	runs[t->nruns] = (struct sample_run){
		.side = (uint8_t)side, .host = host, .boot = boot, .cost_ns = NAN, .scale = 1
	};
	return (int)t->nruns++;
}

struct sample_values *samples_values(struct samples *t, size_t run, size_t subject)
{
	struct sample_run *r = &t->runs[run];
	struct sample_values *values;
	size_t i, k;

	if (subject >= r->nvalues) {
		if (t->nvalues + (subject + 1 - r->nvalues) > SAMPLES_VALUES_MAX) {
			refuse(t, "values");
			return &t->trash;
		}
		t->nvalues += subject + 1 - r->nvalues;
		values = reallocarray(r->values, subject + 1, sizeof(*values));
		if (!values)
			return NULL;
		for (i = r->nvalues; i <= subject; i++) {
			memset(&values[i], 0, sizeof(values[i]));
			for (k = 0; k < STAT_COUNT; k++)
				values[i].v[k] = NAN;
		}
		r->values = values;
		r->nvalues = subject + 1;
	}
	return &r->values[subject];
}

double samples_get(const struct samples *t, const struct sample_run *r, size_t subject,
		   enum sample_stat stat)
{
	double v = subject < r->nvalues ? r->values[subject].v[stat] : NAN;
	uint8_t better = t->subjects[subject].better;

	if (stat == STAT_RATE || better == KD_BETTER_NONE)
		return v;
	return better == KD_BETTER_LOWER ? v * r->scale : v / r->scale;
}
