// SPDX-License-Identifier: GPL-2.0-only
/* bench_htab_run.c - one case of the load htab-mem: map, producers, window. */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench_crew.h"
#include "bench_guard.h"
#include "bench_htab.h"
#include "bench_htab.skel.h"
#include "bench_htab_rows.h"
#include "bench_loads.h"
#include "bench_memory.h"
#include "bpf_util.h"
#include "file.h"
#include "log.h"
#include "watch.h"

#define STEP_NS 10000000ULL
#define RATES_LEAST 5 /* into how many parts a window is split at least, for the deviation */
#define TURN_NS 100000000L

static const enum bench_op ops[] = {
	[HTAB_NO_OP] = BENCH_NO_OP,
	[HTAB_OVERWRITE] = BENCH_OVERWRITE,
	[HTAB_ADD_DELETE] = BENCH_ADD_DELETE,
	[HTAB_PAIRS] = BENCH_ADD,
};

/* Whose turn it is: two processes on two CPUs, each of which waits for the other. */
struct turn {
	int deletes;
} __attribute__((aligned(64)));

struct producing {
	struct htab *h;
	struct htab_row *row;
	struct bench_htab_bpf *skel;
	struct bench_pull trigger;
	struct bench_cgroup cgroup;
	struct turn *turn; /* one for each pair, shared */
	unsigned int next_rate;
	uint64_t runs_then, then_ns; /* when the last rate was taken */
};

/* --- producers --- */

static void pass_turn(struct turn *t, int to)
{
	__atomic_store_n(&t->deletes, to, __ATOMIC_RELEASE);
	syscall(SYS_futex, &t->deletes, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* False: the load was stopped meanwhile. */
static bool await_turn(struct turn *t, int mine, const struct bench_seat *seat)
{
	const struct timespec most = { .tv_nsec = TURN_NS };

	while (!bench_seat_stopped(seat)) {
		int now = __atomic_load_n(&t->deletes, __ATOMIC_ACQUIRE);

		if (now == mine)
			return true;
		syscall(SYS_futex, &t->deletes, FUTEX_WAIT, now, &most, NULL, 0);
	}
	return false;
}

static int produce_in_turn(struct producing *p, struct bench_seat *seat)
{
	struct turn *t = &p->turn[seat->index / 2];
	int mine = seat->index % 2;

	while (await_turn(t, mine, seat)) {
		int err =
			bench_pull_once(&p->trigger, mine ? BENCH_DELETE : BENCH_ADD, seat->index);

		if (err)
			return err;
		seat->slot->count[0]++;
		pass_turn(t, !mine);
	}
	return 0;
}

static int produce_alone(struct producing *p, struct bench_seat *seat)
{
	enum bench_op op = ops[p->row->of];

	while (!bench_seat_stopped(seat)) {
		int err = bench_pull_once(&p->trigger, op, seat->index);

		if (err)
			return err;
		seat->slot->count[0]++;
	}
	return 0;
}

static int produce(void *ctx, struct bench_seat *seat)
{
	struct producing *p = ctx;
	int err;

	bench_pull_claim(&p->trigger, seat->index);
	bench_seat_wait(seat);
	err = p->turn ? produce_in_turn(p, seat) : produce_alone(p, seat);
	return err ? bench_seat_err(seat, err, "htab-mem: the kernel does not run the program: %s",
				    strerror(-err))
		   : 0;
}

/* --- the map --- */

static int make_map(void *ctx)
{
	const struct htab_options *o = ctx;
	LIBBPF_OPTS(bpf_map_create_opts, opts,
		    .map_flags = o->preallocated ? 0 : BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "kdefer_bench", sizeof(uint32_t),
				(uint32_t)o->value_size, (uint32_t)o->max_entries, &opts);

	return fd < 0 ? -errno : fd;
}

/* Without a cgroup all but the memory can be measured. */
static int make_cgroup(struct producing *p)
{
	uint64_t limit = p->h->limit;
	int err = bench_cgroup_make(&p->cgroup, p->h->run->guard, htab_case_name(p->row->of));

	if (err) {
		snprintf(p->row->no_memory, sizeof(p->row->no_memory), "%s", p->cgroup.why);
		return 0;
	}
	if (limit)
		err = bench_cgroup_limit(&p->cgroup, limit);
	if (err && p->h->o->limit)
		return log_err(err, "htab-mem: --limit cannot be set in %s: %s", p->cgroup.path,
			       strerror(-err));
	p->row->cgroup = p->cgroup.version;
	p->row->limit = err ? 0 : limit;
	return 0;
}

static int use_map(struct producing *p, int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	int err = bpf_map__reuse_fd(p->skel->maps.htab, fd);

	if (!err && bpf_obj_get_info_by_fd(fd, &info, &len))
		err = -errno;
	p->row->map_id = info.id;
	return err;
}

static int load(struct producing *p)
{
	int fd = bench_memory_map(&p->cgroup, make_map, (void *)p->h->o, &p->row->base), err;

	if (fd < 0)
		return bench_no_map(&bench_htab_mem, p->h->o->max_entries, fd);
	err = use_map(p, fd);
	close(fd);
	if (!err)
		err = bench_pull_prepare(p->skel->maps.work, p->row->producers);
	p->skel->rodata->keys = p->row->keys;
	p->skel->rodata->batch = p->row->batch;
	p->skel->rodata->step = p->row->shares;
	if (!err)
		err = bpf_util_load(p->skel->obj);
	return err ? log_err(err == -EPERM ? -ENODEV : err,
			     "htab-mem: the kernel does not load its program: %s",
			     bpf_util_load_error(err))
		   : 0;
}

static int prepare(struct producing *p)
{
	int err = make_cgroup(p);

	if (err)
		return err;
	p->skel = bench_htab_bpf__open();
	if (!p->skel)
		return log_err(-errno, "htab-mem: cannot open its program: %s", strerror(errno));
	err = load(p);
	if (!err)
		err = bench_pull_open(&p->trigger, p->h->o->trigger, p->skel->maps.work,
				      p->skel->progs.kb_htab_call, p->skel->progs.kb_htab_run);
	if (err)
		return err;
	p->row->trigger = bench_pull_name(&p->trigger);
	if (p->row->of != HTAB_PAIRS)
		return 0;
	p->turn = mmap(NULL, p->row->shares * sizeof(*p->turn), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->turn != MAP_FAILED)
		return 0;
	p->turn = NULL;
	return log_err(-ENOMEM, "out of memory");
}

/* --- the window --- */

static uint64_t rate_every(const struct producing *p)
{
	uint64_t part = p->h->o->duration_ns / RATES_LEAST;

	return part < 1000000000ULL ? part : 1000000000ULL;
}

static void take_rate(struct producing *p, uint64_t runs, uint64_t now_ns)
{
	double s = (double)(now_ns - p->then_ns) / 1e9;

	htab_add_rate(p->row, (double)(runs - p->runs_then) / s);
	p->runs_then = runs;
	p->then_ns = now_ns;
}

static int step(void *ctx, enum bench_when when, uint64_t now_ns)
{
	struct producing *p = ctx;
	struct htab_row *r = p->row;

	if (when == BENCH_BEGIN) {
		bench_lists_begin(&p->h->lists, r->map_id);
		bench_memory_begin(&r->memory, &p->cgroup, r->base, now_ns);
		bench_pull_sum(&p->trigger, &r->begin);
		p->then_ns = r->begin_ns = now_ns;
		p->runs_then = r->begin.runs;
		return 0;
	}
	if (when == BENCH_STEP) {
		bench_memory_sample(&r->memory, now_ns);
		if (now_ns - p->then_ns >= rate_every(p)) {
			struct bench_work all;

			bench_pull_sum(&p->trigger, &all);
			take_rate(p, all.runs, now_ns);
		}
		return 0;
	}
	bench_pull_sum(&p->trigger, &r->end);
	r->end_ns = now_ns;
	bench_memory_end(&r->memory, now_ns);
	if (now_ns - p->then_ns >= rate_every(p) / 2)
		take_rate(p, r->end.runs, now_ns);
	if (*p->cgroup.path && bench_cgroup_limit_hits(&p->cgroup, &r->limit_hits))
		r->limit_hits = 0;
	bench_lists_end(&p->h->lists);
	return 0;
}

/* --- what is in the map afterwards, by the kernel and by our counts --- */

static int count_elements(int fd, uint64_t *n)
{
	uint32_t key, *prev = NULL;

	for (*n = 0; !bpf_map_get_next_key(fd, prev, &key); (*n)++)
		prev = &key;
	return errno == ENOENT ? 0 : -errno;
}

static int check_elements(struct producing *p)
{
	uint64_t expected;
	int err = count_elements(bpf_map__fd(p->skel->maps.htab), &p->row->elements);

	if (err)
		return log_err(err, "htab-mem: cannot read its map: %s", strerror(-err));
	if (!htab_expected(p->row, &p->trigger, &expected) || expected == p->row->elements)
		return 0;
	return log_err(-EIO,
		       "htab-mem: %s left %llu elements, and by its counts it should be %llu: its "
		       "figures mean nothing",
		       htab_case_name(p->row->of), (unsigned long long)p->row->elements,
		       (unsigned long long)expected);
}

static int measure(struct producing *p)
{
	const struct bench_window w = {
		.what = htab_case_name(p->row->of),
		.warm_up_ns = p->h->o->warm_up_ns,
		.duration_ns = p->h->o->duration_ns,
		.step_ns = STEP_NS,
		.step = step,
		.ctx = p,
	};
	struct bench_crew crew = { 0 };
	int err = bench_crew_start(&crew, p->row->producers, p->h->cpus.cpu, produce, p), stopped;

	if (err)
		return err;
	bench_crew_go(&crew);
	err = bench_window(p->h->run, &crew, &w);
	/* One more look at how many calls there were, once nobody calls any more. */
	stopped = bench_crew_finish(&crew);
	p->row->calls = bench_crew_sum(&crew, 0);
	bench_crew_stop(&crew);
	bench_pull_sum(&p->trigger, &p->row->all);
	if (p->row->end_ns)
		p->row->looked = bench_lists_seen(&p->h->lists, &p->row->peaks);
	if (err && err != -EINTR)
		return err;
	return stopped ? stopped : check_elements(p) ?: err;
}

static void release(struct producing *p)
{
	if (p->turn)
		munmap(p->turn, p->row->shares * sizeof(*p->turn));
	bench_pull_close(&p->trigger);
	bench_htab_bpf__destroy(p->skel);
	/* What is still charged to it does not keep it. */
	bench_cgroup_remove(&p->cgroup);
}

static void init_row(const struct htab *h, enum htab_case of, struct htab_row *r)
{
	*r = (struct htab_row){ .of = of, .o = h->o, .producers = h->cpus.n };
	r->shares = of == HTAB_PAIRS ? r->producers / 2 : r->producers;
	r->keys = htab_share(h->o, r->shares ? r->shares : 1);
	r->batch = htab_batch(h->o, r->keys);
}

int htab_measure(struct htab *h, enum htab_case of)
{
	struct htab_row r;
	struct producing p = { .h = h, .row = &r };
	int err;

	init_row(h, of, &r);
	err = prepare(&p);
	if (!err)
		err = measure(&p);
	if ((!err || err == -EINTR) && r.end_ns)
		htab_put_row(h, &r);
	release(&p);
	return err;
}

int htab_absent(struct htab *h, enum htab_case of, const char *why)
{
	struct htab_row r;

	init_row(h, of, &r);
	htab_put_absent(h, &r, why);
	return 0;
}
