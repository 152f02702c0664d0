// SPDX-License-Identifier: GPL-2.0-only
/* What an hour of a busy host takes as a capture: ticks as 8 CPUs under load give them, made here. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "histogram.h"
#include "model.h"
#include "records.h"
#include "sieve.h"

#define CPUS 8
#define FUNCTIONS 40 /* that hand over callbacks in each second */
#define CALLERS 15   /* of grace periods and their waits */
#define CGROUPS 20   /* flushed in each second, by 4 measures */
#define MAPS 6       /* BPF maps that free, with 3 lists a CPU that change */
#define TICKS 120
#define HOUR 3600
#define MOST (20ull << 20)

struct kept {
	struct hist total;
	uint64_t rate, least, spread;
};

static struct kept series[FUNCTIONS + CALLERS + 4 * CGROUPS];
#define SERIES (sizeof(series) / sizeof(series[0]))
static struct capture_writer *w;
static uint64_t seed = 4;

static struct sieve sieve;

static int to_capture(void *ctx, const struct kd_rec *rec)
{
	(void)ctx;
	return capture_write(w, rec);
}

/* What came in this second, then the groups that changed, as bpf/tick.bpf.h sends them. */
static void tick_series(struct stream *s, uint32_t id, struct kept *k)
{
	uint64_t n = k->rate / 2 + below(&seed, k->rate + 1), min = UINT64_MAX, max = 0, v, i;
	uint64_t groups = 0;

	for (i = 0; i < n; i++) {
		v = k->least + below(&seed, k->spread) * below(&seed, 1000) / 1000;
		hist_put(&k->total, hist_bucket(v), 1);
		k->total.sum += v;
		groups |= 1ull << (hist_bucket(v) / KD_HIST_SUB);
		min = v < min ? v : min;
		max = v > max ? v : max;
	}
	for (; groups; groups &= groups - 1)
		put_hist(s, id, (uint32_t)__builtin_ctzll(groups), k->total.bucket);
	if (n)
		put_stat(s, id, k->total.sum, min, max);
}

static void tick_lists(struct stream *s)
{
	uint32_t cpu, list, map;

	for (cpu = 0; cpu < CPUS; cpu++) {
		for (list = KD_LIST_DONE; list <= KD_LIST_NEXT; list++) {
			struct kd_rec_pending r = {
				.rec = HEADER(r, KD_REC_PENDING, 0),
				.source = KD_SRC_CALL_RCU,
				.flavour = KD_FL_RCU,
				.list = (__u16)list,
				.cpu = cpu,
				.flags = KD_PENDING_EXACT,
				.length = below(&seed, 3000),
				.bytes = KD_UNKNOWN,
				.age_ns = KD_UNKNOWN,
			};

			stream_record(s, &r, sizeof(r));
		}
		for (map = 0; map < MAPS; map++)
			for (list = 0; list < 3; list++) {
				struct kd_rec_pending r = {
					.rec = HEADER(r, KD_REC_PENDING, 0),
					.source = KD_SRC_MEMALLOC,
					.list = (__u16)(KD_LIST_FREE_LLIST + list),
					.cpu = cpu,
					.key = 100 + map,
					.unit_size = 64,
					.flags = KD_PENDING_EXACT,
					.length = below(&seed, 100),
					.age_ns = KD_UNKNOWN,
				};

				r.bytes = r.length * 64;
				stream_record(s, &r, sizeof(r));
			}
	}
}

/* Of the series at `first` and of those behind it that are of the same measure. */
static void tick_worst(struct stream *s, uint32_t first, uint64_t now)
{
	static const char *const stacks[] = {
		"bpf_trace_run3 __cgroup_rstat_lock cgroup_base_stat_cputime_show cpu_stat_show "
		"seq_read_iter vfs_read __x64_sys_pread64 do_syscall_64",
		"bpf_trace_run3 __cgroup_rstat_lock mem_cgroup_flush_stats memory_stat_format "
		"memory_stat_show seq_read_iter vfs_read ksys_read do_syscall_64",
	};
	uint32_t of = first < FUNCTIONS             ? FUNCTIONS
		      : first < FUNCTIONS + CALLERS ? CALLERS
						    : CGROUPS;
	uint32_t i;

	for (i = 0; i < CPUS * MODEL_WORST; i++) {
		struct kd_rec_worst_who r = {
			.worst = { .rec = { .kind = KD_REC_WORST,
					    .len = first < FUNCTIONS + CALLERS ? sizeof(r.worst)
									       : sizeof(r),
					    .id = first + (uint32_t)below(&seed, of) },
				   .mono_ns = now - below(&seed, 1000000000),
				   .value = 20000000 + below(&seed, 1000000000),
				   .cpu = i / MODEL_WORST },
			.pid = 7000 + (uint32_t)below(&seed, 40),
			.tgid = 7000,
			.comm = "cadvisor",
			.cgroup = 1 + below(&seed, 3),
		};

		memset(r.stack, (int)below(&seed, 256),
		       sizeof(r.stack)); /* left over in the ring */
		snprintf(r.stack, sizeof(r.stack), "%s", stacks[below(&seed, 2)]);
		r.stack[sizeof(r.stack) - 1] = '\0';
		stream_record(s, &r, r.worst.rec.len);
	}
}

static void tick_rest(struct stream *s, uint32_t tick, uint64_t now)
{
	struct kd_rec_self self = {
		.rec = HEADER(self, KD_REC_SELF, 0),
		.cpu_ns = tick * 2000000ull + below(&seed, 1000000),
		.rss_bytes = 5 << 20,
		.kernel_bytes = 20 << 20,
		.sample = 1,
	};
	struct kd_rec_tick end = {
		.rec = HEADER(end, KD_REC_TICK, 0),
		.mono_ns = now,
		.tick = tick,
		.complete = 1,
	};
	uint32_t i;

	for (i = 0; tick && i < SERIES; i++) /* each CPU has the ten worst of each measure */
		if (i == 0 || i == FUNCTIONS ||
		    (i >= FUNCTIONS + CALLERS && (i - FUNCTIONS - CALLERS) % CGROUPS == 0))
			tick_worst(s, i, now);
	for (i = 0; i < KD_SRC_COUNT; i++) {
		struct kd_rec_total done = {
			.rec = HEADER(done, KD_REC_COUNT, 0),
			.source = (__u16)i,
			.what = KD_CNT_DONE,
			.total = tick * 30000ull + below(&seed, 5000),
		};

		stream_record(s, &done, sizeof(done));
	}
	stream_record(s, &self, sizeof(self));
	stream_record(s, &end, sizeof(end));
}

static uint8_t measure_of(uint32_t series_id)
{
	static const uint8_t of_cgroups[] = { KD_M_RSTAT_FLUSH, KD_M_RSTAT_WAIT, KD_M_RSTAT_HOLD,
					      KD_M_RSTAT_WORK };

	if (series_id < FUNCTIONS)
		return KD_M_CALL_RCU_LATENCY;
	if (series_id < FUNCTIONS + CALLERS)
		return KD_M_RCU_GP_DURATION;
	return of_cgroups[(series_id - FUNCTIONS - CALLERS) / CGROUPS];
}

static void declare(struct stream *s)
{
	char name[64];
	uint32_t i;

	for (i = 0; i < SERIES; i++) {
		struct kept *k = &series[i];

		/* A few functions make most of it. */
		k->rate = i < FUNCTIONS ? 20000 / (i + 1) / (i + 1) + below(&seed, 40)
					: 1 + below(&seed, 30);
		k->least = i < FUNCTIONS + CALLERS ? 4000000 : 2000;
		k->spread = k->least * (2 + below(&seed, 8));
		hist_init(&k->total);
		snprintf(name, sizeof(name), "some_function_%u_rcu", i * 7919);
		put_series_of(s, i, measure_of(i), KD_FL_NONE, KD_DIM_MAIN, 0,
			      (uint64_t[]){ 0xffffffff81000000 + i * 4711, 0 }, name,
			      strlen(name) + 1);
	}
}

static void test_an_hour(void **state)
{
	char dir[] = "/tmp/kdefer-size-XXXXXX", file[64];
	uint64_t now = 1000000000000, begin, hour;
	struct stream s;
	struct stat st;
	uint32_t tick;
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/c", dir);
	sieve_init(&sieve, to_capture, NULL);
	stream_init(&s, sieve_record, &sieve);
	assert_int_equal(capture_create(&w, file, false), 0);
	declare(&s);
	tick_rest(&s, 0, now);
	assert_int_equal(capture_flush(w), 0);
	begin = capture_size(w);
	for (tick = 1; tick <= TICKS; tick++) {
		for (i = 0; i < SERIES; i++)
			tick_series(&s, (uint32_t)i, &series[i]);
		tick_lists(&s);
		now += 1000000000 + below(&seed, 100000);
		tick_rest(&s, tick, now);
		assert_int_equal(capture_flush(w), 0); /* as kdefer record does each second */
	}
	hour = begin + (capture_size(w) - begin) / TICKS * HOUR;
	assert_int_equal(capture_close(w), 0);
	sieve_free(&sieve);
	assert_int_equal(stat(file, &st), 0);
	unlink(file);
	rmdir(dir);
	print_message("# %llu bytes an hour, %llu a tick\n", (unsigned long long)hour,
		      (unsigned long long)(hour - begin) / HOUR);
	assert_true(hour < MOST);
	assert_true(hour > MOST / 50); /* or the load was none */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_an_hour) };

	return cmocka_run_group_tests_name("capture size", tests, NULL, NULL);
}
