// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_map_dump.c - what it takes to read all of a hash map: key by key, or in batches. Each dump is
 * checked against what was put in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bench.h"
#include "bench_loads.h"
#include "clock.h"
#include "format.h"
#include "log.h"
#include "watch.h"

#define SIZES_MAX 16
#define CAPACITY_MAX (1u << 24)

struct sizes {
	uint64_t of[SIZES_MAX];
	size_t n;
};

struct options {
	struct sizes elements, capacity;
	uint64_t cpu_time_ns;
};

/* "1,half,4k": numbers are as sizes (4k is 4096); 0 stands for half of the capacity, UINT64_MAX for all. */
static int parse_sizes(struct sizes *s, const char *list, const char *option, bool words)
{
	s->n = 0;
	while (*list) {
		size_t len = strcspn(list, ",");
		char word[32];
		uint64_t v = 0;

		snprintf(word, sizeof(word), "%.*s", (int)len, list);
		list += len + (list[len] == ',');
		if (s->n == SIZES_MAX)
			return log_err(-EINVAL, "bench map-dump: --%s: more than %d of them",
				       option, SIZES_MAX);
		if (words && !strcmp(word, "half"))
			v = 0;
		else if (words && !strcmp(word, "all"))
			v = UINT64_MAX;
		else if (fmt_parse_size(word, &v) || !v || v > CAPACITY_MAX)
			return log_err(-EINVAL,
				       "bench map-dump: --%s: \"%s\" is no number from 1 to 16M%s",
				       option, word, words ? ", nor half or all" : "");
		s->of[s->n++] = v;
	}
	return s->n ? 0 : log_err(-EINVAL, "bench map-dump: --%s: no number in \"\"", option);
}

static int parse_elements(void *into, const char *list)
{
	return parse_sizes(into, list, "elements", true);
}

static int parse_capacity(void *into, const char *list)
{
	return parse_sizes(into, list, "capacity", false);
}

#define FIELD(member) .offset = offsetof(struct options, member)

static const struct opt options[] = {
	{ .name = "elements",
	  .type = OPT_CALL,
	  .value = "LIST",
	  .help = "how many are in the map, also half or all of it (default 1)",
	  FIELD(elements),
	  .call = parse_elements },
	{ .name = "capacity",
	  .type = OPT_CALL,
	  .value = "LIST",
	  .help = "how many have room (default 1k,4k,16k,64k)",
	  FIELD(capacity),
	  .call = parse_capacity },
	{ .name = "cpu-time",
	  .type = OPT_TIME,
	  .value = "TIME",
	  .help = "dump again and again until one way has used this much CPU (default 500ms)",
	  FIELD(cpu_time_ns),
	  .min = 1000000,
	  .max = 600000000000 },
	{ 0 },
};

static void defaults(void *into)
{
	*(struct options *)into = (struct options){
		.elements = { { 1 }, 1 },
		.capacity = { { 1024, 4096, 16384, 65536 }, 4 },
		.cpu_time_ns = 500000000,
	};
}

static const struct bench_column columns[] = {
	{ .title = "ELEMENTS", .of = "elements" },
	{ .title = "CAPACITY", .of = "capacity" },
	{ .title = "READ BY" },
	{ .title = "WALL ns", .of = "wall" },
	{ .title = "CPU ns", .of = "cpu" },
	{ .title = "ITERATIONS", .of = "iterations", .rank = 1 },
	{ .title = "CALLS", .of = "calls", .rank = 2 },
	{ 0 },
};

/* --- a dump --- */

struct dump {
	int fd;
	uint32_t elements, capacity;
	uint32_t *keys;   /* `capacity` of them */
	uint64_t *values; /* the same */
	uint8_t *seen;    /* by key */
	uint32_t n;       /* elements found in the last one */
	uint64_t calls;   /* to the kernel, by it */
};

/* Fills keys and values. 0 or a negative errno. */
static int by_next_key(struct dump *d)
{
	uint32_t *prev = NULL;

	d->n = 0;
	for (d->calls = 1; d->n < d->capacity; d->calls += 2) {
		if (bpf_map_get_next_key(d->fd, prev, &d->keys[d->n]))
			return errno == ENOENT ? 0 : -errno;
		if (bpf_map_lookup_elem(d->fd, &d->keys[d->n], &d->values[d->n]))
			return -errno;
		prev = &d->keys[d->n++];
	}
	return bpf_map_get_next_key(d->fd, prev, &d->keys[0]) && errno == ENOENT ? 0 : -E2BIG;
}

typedef int (*batch_call)(int fd, void *in, void *out, void *keys, void *values, __u32 *count,
			  const struct bpf_map_batch_opts *opts);

static int by_batch(struct dump *d, batch_call call)
{
	uint64_t in, out; /* opaque; keys are smaller */
	bool first = true;

	d->n = 0;
	for (d->calls = 1;; d->calls++) {
		uint32_t count = d->capacity - d->n;
		int err = call(d->fd, first ? NULL : &in, &out, d->keys + d->n, d->values + d->n,
			       &count, NULL);

		if (err && errno != ENOENT)
			return -errno;
		d->n += count;
		if (err)
			return 0;
		if (d->n >= d->capacity)
			return 0;
		in = out;
		first = false;
	}
}

static int by_lookup_batch(struct dump *d)
{
	return by_batch(d, bpf_map_lookup_batch);
}

static int by_lookup_and_delete_batch(struct dump *d)
{
	return by_batch(d, bpf_map_lookup_and_delete_batch);
}

static const struct way {
	const char *name;
	int (*dump)(struct dump *d);
	bool deletes;
} ways[] = {
	{ "next_key+lookup", by_next_key, false },
	{ "lookup_batch", by_lookup_batch, false },
	{ "lookup_and_delete_batch", by_lookup_and_delete_batch, true },
};

/* Keys are 1 to `elements`, values ten times that. */
static int fill(struct dump *d)
{
	for (uint32_t key = 1; key <= d->elements; key++) {
		uint64_t value = 10ULL * key;

		if (bpf_map_update_elem(d->fd, &key, &value, BPF_ANY))
			return log_err(-errno, "cannot put element %u into a map of %u: %s", key,
				       d->capacity, strerror(errno));
	}
	return 0;
}

/* Every element once, as it was put in. */
static int verify(const struct dump *d, const struct way *way)
{
	uint32_t wrong = 0, twice = 0, n = 0;

	memset(d->seen, 0, d->elements + 1);
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t key = d->keys[i];

		if (!key || key > d->elements || d->values[i] != 10ULL * key)
			wrong++;
		else if (d->seen[key]++)
			twice++;
		else
			n++;
	}
	if (n == d->elements && !wrong && !twice)
		return 0;
	return log_err(
		-EIO,
		"map-dump: %s of a map with %u elements returned %u of them, %u twice and %u "
		"that are none: its times mean nothing",
		way->name, d->elements, n, twice, wrong);
}

/* --- many dumps --- */

struct spent {
	uint64_t wall_ns, cpu_ns, iterations;
};

static int dump_once(struct dump *d, const struct way *way, struct spent *s)
{
	uint64_t wall = clock_mono_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int err = way->dump(d);

	s->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	s->wall_ns += clock_mono_ns() - wall;
	s->iterations++;
	if (!err && d->n != d->elements)
		err = verify(d, way);
	return err;
}

/* What was taken out is put back between the dumps; that is not a part of any. */
static int dump_often(struct bench_run *run, struct dump *d, const struct way *way, uint64_t cpu_ns,
		      struct spent *s)
{
	struct spent first = { 0 };
	uint64_t begun = clock_mono_ns();
	int err = dump_once(d, way, &first); /* the first one finds cold caches */

	if (!err)
		err = verify(d, way);
	while (!err && s->cpu_ns < cpu_ns) {
		if (watch_signalled())
			return -EINTR;
		if (way->deletes)
			err = fill(d);
		if (!err)
			err = dump_once(d, way, s);
		if (run->progress && s->iterations % 64 == 0)
			run->progress(run->ctx, way->name, clock_mono_ns() - begun, 0);
	}
	return err ? err : verify(d, way);
}

static void put_row(struct bench_run *run, const struct dump *d, const struct way *way,
		    const struct spent *s, int err)
{
	static const struct {
		const char *name, *unit;
		enum kd_better better;
	} of[] = {
		{ "wall", "ns", KD_BETTER_LOWER },
		{ "cpu", "ns", KD_BETTER_LOWER },
		{ "iterations", "count", KD_BETTER_NONE },
		{ "calls", "count", KD_BETTER_NONE },
	};
	struct bench_row *row = bench_row(run->result, way->name);
	double n = s->iterations ? (double)s->iterations : 1;
	const double v[] = { (double)s->wall_ns / n, (double)s->cpu_ns / n, (double)s->iterations,
			     (double)d->calls };

	bench_key(row, "elements", d->elements);
	bench_key(row, "capacity", d->capacity);
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		if (err)
			bench_absent(row, of[i].name, of[i].unit, of[i].better,
				     "the kernel refuses it: %s", strerror(-err));
		else
			bench_value(row, of[i].name, v[i], of[i].unit, of[i].better);
	}
}

/* A way that this kernel does not have is absent with its reason, and the others go on. */
static int measure_way(struct bench_run *run, struct dump *d, const struct way *way,
		       uint64_t cpu_ns)
{
	struct spent s = { 0 };
	int err = fill(d);

	if (!err)
		err = dump_often(run, d, way, cpu_ns, &s);
	if (err == -EINTR || err == -EIO)
		return err;
	put_row(run, d, way, &s, err);
	return 0;
}

static int measure_map(struct bench_run *run, struct dump *d, uint64_t cpu_ns)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && !err; i++)
		err = measure_way(run, d, &ways[i], cpu_ns);
	return err;
}

static int with_map(struct bench_run *run, uint64_t elements, uint64_t capacity, uint64_t cpu_ns)
{
	struct dump d = {
		.elements = (uint32_t)(elements == UINT64_MAX ? capacity
				       : elements             ? elements
							      : capacity / 2 + capacity % 2),
		.capacity = (uint32_t)capacity,
	};
	int err = 0;

	d.keys = calloc(capacity, sizeof(*d.keys));
	d.values = calloc(capacity, sizeof(*d.values));
	d.seen = calloc(capacity + 1, 1);
	if (!d.keys || !d.values || !d.seen)
		err = log_err(-ENOMEM, "out of memory");
	d.fd = err ? -1
		   : bpf_map_create(BPF_MAP_TYPE_HASH, "kdefer_dump", sizeof(*d.keys),
				    sizeof(*d.values), d.capacity, NULL);
	if (!err && d.fd < 0)
		err = bench_no_map(&bench_map_dump, d.capacity, -errno);
	if (!err)
		err = measure_map(run, &d, cpu_ns);
	if (d.fd >= 0)
		close(d.fd);
	free(d.keys);
	free(d.values);
	free(d.seen);
	return err;
}

static int map_dump(struct bench_run *run, const void *of)
{
	const struct options *o = of;
	int err = 0;

	for (size_t e = 0; e < o->elements.n && !err; e++)
		for (size_t c = 0; c < o->capacity.n && !err; c++)
			err = with_map(run, o->elements.of[e], o->capacity.of[c], o->cpu_time_ns);
	return err;
}

static int check(const void *of)
{
	const struct options *o = of;

	for (size_t e = 0; e < o->elements.n; e++)
		for (size_t c = 0; c < o->capacity.n; c++)
			if (o->elements.of[e] != UINT64_MAX &&
			    o->elements.of[e] > o->capacity.of[c])
				return log_err(
					-EINVAL,
					"bench map-dump: --elements: %llu do not fit into a map of %llu",
					(unsigned long long)o->elements.of[e],
					(unsigned long long)o->capacity.of[c]);
	return 0;
}

const struct bench_load bench_map_dump = {
	.name = "map-dump",
	.summary = "What it takes to read all of a hash map: key by key, or in batches.",
	.usage = "[--elements LIST] [--capacity LIST] [--cpu-time TIME]",
	.does = "It makes one hash map after another and reads it on one CPU, at the full speed of "
		"that, for --cpu-time each way and map: 6 s with all defaults. The maps are of "
		"nobody else's, hold a few megabytes at most unless --capacity asks for more, and "
		"are gone with it. Nothing is hooked. Reading an almost empty map keeps a CPU in the "
		"kernel for tens of microseconds a time.",
	.options = options,
	.size = sizeof(struct options),
	.defaults = defaults,
	.check = check,
	.columns = columns,
	.run = map_dump,
};
