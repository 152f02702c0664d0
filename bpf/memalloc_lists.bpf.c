/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memalloc_lists.bpf.c - freed BPF memory: how long the lists of each allocator are, on each CPU.
 *
 * Nothing is hooked. kd_maps finds the maps that have an allocator; kd_sweep, run on a CPU with its
 * interrupts off, reads that CPU's lists, many maps in a run; kd_walk goes on with a list that is too
 * long for one run.
 *
 * Objects are added to the head of a list and a list is taken as a whole, so what is behind a node
 * stands still as long as the node is on the list. A walk over several runs therefore goes on where
 * it was, and each run first counts from the head of now to the head of before. If that is not found
 * the list has been taken since, and the walk begins anew.
 *
 * A map can go at any time. Its id is zeroed when nothing holds it any more, before any of it is
 * freed: if it still has its id after its lists were read, it was there all the time.
 */
#include "memalloc_maps.bpf.h"
#include "memalloc_lists.h"

#define RUN_NS 300000 /* no new cache is begun after it: a run is an interrupt */

const volatile struct ml_list lists[ML_LISTS];
const volatile __u32 nr_lists =
	1; /* never 0: the verifier of 6.18 trips over a loop that is known not to run */
/*
 * Of one cache in so many, another one each look, free_llist is walked too and held against its counter:
 * a test of the whole way of reading. Of all it would cost several times what the rest costs.
 */
#define CHECK_ONE_OF 16

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ml_shared);
} shared SEC(".maps");

__u64 map_fops; /* file operations of maps: what those of ours have */

static __always_inline struct ml_shared *shared_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&shared, &zero);
}

/* --- where things are --- */

/* arg[0] = a file descriptor of a map: what do files of maps look like? */
SEC("raw_tp")
int kd_fops(struct kd_run_args *args)
{
	struct task_struct *self = (void *)bpf_get_current_task();
	struct file *file =
		(void *)word_at((__u64)(BPF_CORE_READ(self, files, fdt, fd) + args->arg[0]));

	map_fops = (__u64)BPF_CORE_READ(file, f_op);
	return 0;
}

SEC("iter/task_file")
int kd_files(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct ml_holder h = {};
	struct bpf_map *map;

	if (!task || !file || !map_fops || (__u64)BPF_CORE_READ(file, f_op) != map_fops)
		return 0;
	h.tgid = BPF_CORE_READ(task, tgid);
	map = BPF_CORE_READ(file, private_data);
	h.id = BPF_CORE_READ(map, id);
	bpf_probe_read_kernel_str(h.comm, sizeof(h.comm), &task->comm);
	bpf_seq_write(ctx->meta->seq, &h, sizeof(h));
	return 0;
}

/* --- counting nodes --- */

struct walk {
	__u64 node; /* to be counted next; 0: the end */
	__u64 stop; /* counting ends before it; 0: at the end */
	__u64 n;
	__u64 last; /* that was counted; 0: none */
	__u64 torn; /* a node could not be read */
};

static long walk_step(__u32 i, struct walk *w)
{
	__u64 next = 0;

	if (!w->node || w->node == w->stop)
		return 1;
	w->n++;
	w->last = w->node;
	if (bpf_probe_read_kernel(&next, sizeof(next), (void *)w->node)) {
		w->torn = 1;
		return 1;
	}
	w->node = next;
	return 0;
}

/* Verified once, for all callers. */
__noinline int walk(struct walk *given, __u32 most)
{
	struct walk w;

	if (!given)
		return 0;
	w = *given;
	bpf_loop(most, walk_step, &w, 0);
	*given = w;
	return 0;
}

/* --- all lists of a CPU --- */

struct hashing {
	struct ml_shared *s;
	__u64 state;
};

static long hash_word(__u32 i, struct hashing *h)
{
	h->state = (h->state ^ h->s->raw[i & (ML_CACHE_WORDS - 1)]) * 0x9e3779b97f4a7c15ULL;
	h->state ^= h->state >> 29;
	return 0;
}

static __always_inline __u32 cache_size(void)
{
	__u32 size = bpf_core_type_size(struct bpf_mem_cache),
	      most = ML_CACHE_WORDS * sizeof(__u64);

	return size < most ? size : most;
}

/* Of the cache in s->raw; never 0. */
static __noinline __u64 hash_cache(struct ml_shared *s)
{
	struct hashing h = { .s = s };

	if (!s)
		return 0;
	bpf_loop(cache_size() / sizeof(__u64), hash_word, &h, 0);
	return h.state | 1;
}

/* A cache into s->raw. 0: done. */
static __noinline int read_cache(struct ml_shared *s, __u64 address)
{
	return s ? bpf_probe_read_kernel(s->raw, cache_size(), (void *)address) : 1;
}

struct sweep {
	struct ml_shared *s;
	__u64 address; /* of the cache under way, on this CPU */
	__u64 distance;
	__u64 deadline;
	__u64 state;       /* of that cache; 0: not asked for yet */
	__u32 first, next; /* caches of the window */
	__u32 nodes;       /* that may still be followed */
	__u32 place;       /* enum ml_place */
	__u32 unit_size, percpu_size;
};

static __always_inline __u32 raw_number(struct ml_shared *s, __u32 offset)
{
	__u64 word = s->raw[(offset >> 3) & (ML_CACHE_WORDS - 1)];

	return offset & 4 ? word >> 32 : (__u32)word;
}

static __noinline int sweep_walk(struct sweep *sw, struct ml_row *row, __u32 offset)
{
	struct walk w = { .node = row->head };

	walk(&w, sw->nodes & (2 * ML_NODES - 1));
	sw->nodes -= w.n;
	row->length = w.torn ? 0 : w.n;
	row->cursor = w.torn ? row->head : w.node;
	row->tail = w.last;
	if (row->cursor || word_at(sw->address + offset) != row->head)
		row->flags |= ML_MORE;
	return 0;
}

static __noinline int sweep_check(struct sweep *sw, __u64 head, __u32 count)
{
	struct walk w = { .node = head };

	walk(&w, sw->nodes & (2 * ML_NODES - 1));
	sw->nodes -= w.n;
	if (w.node || word_at(sw->address) != head) {
		sw->s->unchecked++;
		return 0;
	}
	sw->s->checked++;
	sw->s->torn += w.n != count;
	return 0;
}

static long sweep_list(__u32 i, struct sweep *sw)
{
	struct ml_shared *s = sw->s;
	const volatile struct ml_list *l = &lists[i & (ML_LISTS - 1)];
	__u32 offset = l->offset, kind = l->kind, at = s->rows;
	__u64 head = s->raw[(offset >> 3) & (ML_CACHE_WORDS - 1)];
	struct ml_row row = {
		.cache = sw->next,
		.list = i,
		.flags = sw->place == ML_ON_CPU ? ML_LOCAL : 0,
		.unit_size = sw->unit_size,
		.percpu_size = sw->percpu_size,
	};

	if (l->queued && raw_number(s, l->queued))
		row.flags |= ML_QUEUED;
	if (kind == ML_NUMBER) {
		row.length = raw_number(s, offset);
	} else if (kind == ML_COUNTED) {
		row.length = raw_number(s, bpf_core_field_offset(struct bpf_mem_cache, free_cnt));
		if ((sw->next + s->look) % CHECK_ONE_OF == 0 && sw->place == ML_ON_CPU)
			sweep_check(sw, head, row.length);
	} else if (head) {
		row.head = head;
		if (!sw->state)
			sw->state = hash_cache(s);
		row.state = sw->state;
		sweep_walk(sw, &row, offset);
	}
	if (!row.length && !(row.flags & ML_MORE))
		return 0;
	if (at < ML_ROWS) {
		s->row[at & (ML_ROWS - 1)] = row;
		s->rows = at + 1;
	}
	return 0;
}

static __always_inline bool still_there(__u64 map, __u32 id)
{
	return !map || BPF_CORE_READ((struct bpf_map *)map, id) == id;
}

static long sweep_cache(__u32 i, struct sweep *sw)
{
	struct ml_shared *s = sw->s;
	__u32 at = sw->first + i, before = s->rows;
	struct ml_cache *c;

	sw->next = at;
	if (before > ML_ROWS - ML_LISTS || !sw->nodes || sw->nodes > ML_NODES ||
	    (i && bpf_ktime_get_ns() > sw->deadline))
		return 1;
	c = &s->cache[at & (ML_WINDOW - 1)];
	sw->address = c->cache + sw->distance;
	sw->state = 0;
	if (!read_cache(s, sw->address)) {
		sw->unit_size =
			raw_number(s, bpf_core_field_offset(struct bpf_mem_cache, unit_size));
		sw->percpu_size =
			raw_number(s, bpf_core_field_offset(struct bpf_mem_cache, percpu_size));
		bpf_loop(nr_lists, sweep_list, sw, 0);
	}
	if (!still_there(c->map, c->id)) {
		s->rows = before;
		s->vanished++;
	}
	sw->next = at + 1;
	return 0;
}

SEC("raw_tp")
int kd_sweep(struct kd_run_args *args)
{
	__u64 began = bpf_ktime_get_ns();
	struct sweep sw = {
		.s = shared_get(),
		.first = args->arg[0],
		.distance = args->arg[2],
		.place = args->arg[3],
		.nodes = ML_NODES,
		.deadline = began + RUN_NS,
	};
	__u32 end = args->arg[1];

	if (!sw.s || end > ML_WINDOW || sw.first >= end)
		return end;
	sw.s->rows = sw.s->vanished = sw.s->torn = sw.s->checked = sw.s->unchecked = 0;
	sw.next = sw.first;
	bpf_loop(end - sw.first, sweep_cache, &sw, 0);
	sw.s->nodes = ML_NODES - sw.nodes;
	sw.s->took_ns = bpf_ktime_get_ns() - began;
	return sw.next;
}

/* --- one long list --- */

/* From the head of now to that of before. True: goes on behind it. */
static __noinline int walk_catch_up(struct ml_row *row, __u64 head, __u32 *left)
{
	struct walk w = { .node = head, .stop = row->head };

	walk(&w, *left & (2 * ML_NODES - 1));
	*left -= w.n;
	row->head = head;
	if (w.node && w.node == w.stop) {
		row->length += w.n;
		return 1;
	}
	row->length = w.torn ? 0 : w.n;
	row->cursor = w.torn ? head : w.node;
	row->tail = w.last;
	return 0;
}

SEC("raw_tp")
int kd_walk(struct kd_run_args *args)
{
	__u64 address, head, at, began = bpf_ktime_get_ns();
	struct ml_shared *s = shared_get();
	__u32 left = ML_NODES, queued;
	struct ml_row row;
	struct walk w = {};

	if (!s)
		return 0;
	row = s->job.row;
	at = lists[row.list & (ML_LISTS - 1)].offset;
	address = s->job.cache.cache + args->arg[0];
	head = word_at(address + at);
	if (!head) {
		row.head = row.cursor = row.tail = row.length = 0;
	} else if (head == row.head || walk_catch_up(&row, head, &left)) {
		w.node = row.cursor;
		walk(&w, left & (2 * ML_NODES - 1));
		row.length = w.torn ? 0 : row.length + w.n;
		row.cursor = w.torn ? head : w.node;
		row.tail = w.last ? w.last : row.tail;
		s->job.restarts += w.torn;
	} else {
		s->job.restarts++;
	}
	row.flags &= ~(ML_MORE | ML_LOCAL | ML_QUEUED);
	if (row.cursor || word_at(address + at) != row.head)
		row.flags |= ML_MORE;
	if (args->arg[1] == ML_ON_CPU)
		row.flags |= ML_LOCAL;
	s->job.state = read_cache(s, address) ? 0 : hash_cache(s);
	queued = lists[row.list & (ML_LISTS - 1)].queued;
	if (!s->job.state || (queued && raw_number(s, queued)))
		row.flags |= ML_QUEUED;
	s->job.gone = !still_there(s->job.cache.map, s->job.cache.id);
	s->job.row = row;
	s->walked = ML_NODES - left + w.n;
	s->took_ns = bpf_ktime_get_ns() - began;
	return 0;
}

/* --- to the ring --- */

struct sending {
	struct ml_shared *s;
	__u32 sent;
};

static long send_one(__u32 i, struct sending *to)
{
	struct kd_rec_pending *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r)
		return 1;
	*r = to->s->send[i & (ML_SEND - 1)];
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	to->sent++;
	return 0;
}

SEC("raw_tp")
int kd_send(struct kd_run_args *args)
{
	struct sending to = { .s = shared_get() };

	if (to.s)
		bpf_loop(args->arg[0] > ML_SEND ? ML_SEND : args->arg[0], send_one, &to, 0);
	return to.sent;
}
