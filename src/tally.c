// SPDX-License-Identifier: GPL-2.0-only
/* tally.c - which causes, tasks and functions took how much of the long waits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "series.h"
#include "tally.h"

/* --- the function --- */

/* The outermost with this prefix: of a BPF program the one that the kernel called. */
static bool frame_with(char *buf, size_t size, const struct kd_rec_witness *w, const char *prefix)
{
	char frame[TALLY_FUNC];
	bool any = false;

	for (size_t i = 0; witness_frame(w, i, frame, sizeof(frame)); i++)
		if (!strncmp(frame, prefix, strlen(prefix))) {
			snprintf(buf, size, "%s", frame);
			any = true;
		}
	return any;
}

/* A BPF program, the system call of a loop, else where it was seen most often. */
const char *tally_func(char *buf, size_t size, const struct holdup *h, const struct verdict *v)
{
	const struct kd_rec_witness *w = v->is.seen;

	snprintf(buf, size, "%s", h->rec.name);
	if (*buf && h->rec.what != KD_WAIT_GP)
		return buf;
	if (!w || !*w->stack)
		*buf = '\0';
	else if (!frame_with(buf, size, w, "bpf_prog_") &&
		 !(v->is.cause == CAUSE_KERNEL_LOOP && frame_with(buf, size, w, "__x64_sys_")) &&
		 !witness_frame(w, 0, buf, size))
		*buf = '\0';
	buf[strcspn(buf, "+")] = '\0'; /* where in it differs from sample to sample */
	return buf;
}

/* --- rows --- */

static struct tally_row *get(struct tally *t, const struct tally_row *like)
{
	struct tally_row *row;

	for (size_t i = 0; i < t->n; i++) {
		row = &t->row[i];
		if (row->source == like->source && row->flavour == like->flavour &&
		    row->cause == like->cause && !strcmp(row->comm, like->comm) &&
		    !strcmp(row->func, like->func))
			return row;
	}
	row = model_grown(t->row, t->n, sizeof(*row));
	if (!row)
		return NULL;
	t->row = row;
	row = &t->row[t->n++];
	*row = *like;
	return row;
}

static int add(struct tally *t, const struct model *m, const struct holdup *h)
{
	struct tally_row like, *row;
	struct verdict v;

	verdict_in(&v, m, h);
	memset(&like, 0, sizeof(like));
	like.source = h->rec.source;
	like.flavour = h->rec.flavour;
	like.cause = v.is.cause;
	memcpy(like.comm, v.is.who.comm, sizeof(like.comm));
	tally_func(like.func, sizeof(like.func), h, &v);
	row = get(t, &like);
	if (!row)
		return -ENOMEM;
	row->count++;
	row->uncertain += !v.is.certain;
	row->part_ns += v.is.part_ns;
	row->sum_ns += holdup_ns(h);
	row->max_ns = holdup_ns(h) > row->max_ns ? holdup_ns(h) : row->max_ns;
	t->reports++;
	t->unknown += v.is.cause == CAUSE_UNKNOWN;
	return 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct tally_row *a = pa, *b = pb;

	if (a->part_ns != b->part_ns)
		return a->part_ns < b->part_ns ? 1 : -1;
	return strcmp(a->func, b->func);
}

int tally_make(struct tally *t, const struct model *m, const struct scope *sc)
{
	int err = 0;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < m->holdups.n && !err; i++)
		if (scope_has_holdup(m, sc, &m->holdups.h[i]))
			err = add(t, m, &m->holdups.h[i]);
	if (err) {
		free(t->row);
		t->row = NULL;
	} else if (t->n) {
		qsort(t->row, t->n, sizeof(*t->row), by_time);
	}
	return err;
}

static int by_length(const void *pa, const void *pb)
{
	const struct holdup *a = *(const struct holdup *const *)pa;
	const struct holdup *b = *(const struct holdup *const *)pb;
	uint64_t x = holdup_ns(a), y = holdup_ns(b);

	return x != y ? (x < y ? 1 : -1) : a < b ? -1 : a > b;
}

int tally_worst(const struct model *m, const struct scope *sc, size_t most,
		const struct holdup ***list, size_t *n)
{
	*n = 0;
	*list = calloc(m->holdups.n + 1, sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (size_t i = 0; i < m->holdups.n; i++)
		if (scope_has_holdup(m, sc, &m->holdups.h[i]))
			(*list)[(*n)++] = &m->holdups.h[i];
	qsort(*list, *n, sizeof(**list), by_length);
	*n = *n < most ? *n : most;
	return 0;
}
