// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_bench.c - what all loads share: results as text, JSON and figures; processes and windows; memory
 * of a cgroup; what is taken away in the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench.h"
#include "bench_crew.h"
#include "bench_guard.h"
#include "bench_htab.h"
#include "bench_htab_rows.h"
#include "bench_memory.h"
#include "child.h"
#include "clock.h"
#include "log.h"

static char said[512];

static void keep(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	snprintf(said, sizeof(said), "%s", line);
}

static int setup(void **state)
{
	(void)state;
	*said = '\0';
	log_set_sink(keep, NULL);
	return 0;
}

/* --- results --- */

static const struct bench_column columns[] = {
	{ .title = "NAME" },
	{ .title = "SIZE", .of = "size" },
	{ .title = "k/s", .of = "speed", .scale = 1e3, .decimals = 2, .sd = true },
	{ .title = "COUNT", .of = "count" },
	{ .title = "NOBODY'S", .of = "nothing" },
	{ 0 },
};

static const struct bench_load load = { .name = "made", .columns = columns };

static void fill(struct bench_result *r)
{
	struct bench_row *row;

	bench_result_init(r);
	row = bench_row(r, "fast");
	bench_param(row, "room_bytes", 65536);
	bench_param(row, "window_ns", 1500000);
	bench_param_text(row, "trigger", "a\x1b[31mb");
	bench_key(row, "size", 1234);
	bench_value_sd(row, "speed", 123456, 789, "/s", KD_BETTER_HIGHER);
	bench_value(row, "count", 1234567, "count", KD_BETTER_NONE);
	row = bench_row(r, "slow");
	bench_param(row, "room_bytes", 65536);
	bench_param(row, "window_ns", 1600000);
	bench_param_text(row, "trigger", "a\x1b[31mb");
	bench_key(row, "size", 5);
	bench_value(row, "speed", 10, "/s", KD_BETTER_HIGHER);
	bench_absent(row, "count", "count", KD_BETTER_NONE, "%s of %d", "out", 7);
	bench_note(r, "note %d", 1);
}

static char *shown(void (*put)(FILE *out, const struct bench_result *r))
{
	struct bench_result r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fill(&r);
	assert_int_equal(r.err, 0);
	put(out, &r);
	fclose(out);
	bench_result_free(&r);
	return text;
}

static void put_text(FILE *out, const struct bench_result *r)
{
	view_bench(out, &load, r, 80);
}

static void as_text(void **state)
{
	char *text = shown(put_text);

	(void)state;
	assert_string_equal(text, "room 64 KiB, trigger a\\x1b[31mb\n"
				  "NAME   SIZE             k/s      COUNT\n"
				  "fast  1,234  123.46 +- 0.79  1,234,567\n"
				  "slow      5            0.01          -\n"
				  "slow: no count: out of 7\n"
				  "note 1\n");
	free(text);
}

static void put_figures(FILE *out, const struct bench_result *r)
{
	view_bench_metrics(out, &load, r);
}

/* A recorder hears them as they are meant, and of what is not there it hears nothing. */
static void as_figures(void **state)
{
	static const struct {
		const char *name;
		double value;
		enum kd_better better;
	} expected[] = {
		{ "made.fast.size=1234.speed", 123456, KD_BETTER_HIGHER },
		{ "made.fast.size=1234.count", 1234567, KD_BETTER_NONE },
		{ "made.slow.size=5.speed", 10, KD_BETTER_HIGHER },
	};
	char *text = shown(put_figures), *at = text;
	struct child_value v;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *line = strsep(&at, "\n");

		assert_non_null(line);
		assert_int_equal(child_parse_value(line, &v), 1);
		assert_string_equal(v.name, expected[i].name);
		assert_true(v.value == expected[i].value);
		assert_int_equal(v.better, expected[i].better);
	}
	assert_string_equal(at, "");
	free(text);
}

static void put_json(FILE *out, const struct bench_result *r)
{
	struct json j;

	json_init(&j, out, false);
	json_open(&j, '{');
	doc_bench(&j, &load, r);
	json_close(&j);
	assert_int_equal(json_end(&j), 0);
}

static void as_json(void **state)
{
	char *text = shown(put_json);

	(void)state;
	assert_non_null(
		strstr(text, "\"name\":\"made\",\"case\":\"fast\",\"params\":{\"room_bytes\":65536,"
			     "\"window_ns\":1500000,"));
	assert_non_null(strstr(text,
			       "\"speed\":{\"value\":123456,\"unit\":\"/s\",\"better\":\"higher\","
			       "\"stddev\":789}"));
	assert_non_null(strstr(text,
			       "\"count\":{\"value\":null,\"unit\":\"count\",\"better\":\"none\","
			       "\"reason\":\"out of 7\"}"));
	assert_non_null(strstr(text, "\"notes\":[\"note 1\"]"));
	free(text);
}

static bool names_the_case(const struct bench_load *l)
{
	for (const struct bench_column *c = l->columns; c->title; c++)
		if (!c->of)
			return true;
	return false;
}

/* What a row was made of, as bars below the table and as buckets. */
static void with_histogram(void **state)
{
	struct bench_result r;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct bench_row *row;
	struct hist h;

	(void)state;
	hist_init(&h);
	hist_add(&h, 1000);
	hist_add(&h, 1000);
	bench_result_init(&r);
	row = bench_row(&r, "fast");
	bench_value(row, "count", 2, "count", KD_BETTER_NONE);
	bench_hist(row, "read", "ns", &h);
	put_text(out, &r);
	put_json(out, &r);
	fclose(out);
	assert_non_null(strstr(text, "\nfast, each read\n"));
	assert_non_null(strstr(text, "[ 512 ns, 1.02 us)     2 |@@"));
	assert_non_null(strstr(text, "\"histograms\":{\"read\":{\"unit\":\"ns\",\"count\":2,"
				     "\"buckets\":[[960,1024,2]]}}"));
	bench_result_free(&r);
	free(text);
}

static void every_load_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; bench_loads[i]; i++) {
		const struct bench_load *l = bench_loads[i];

		assert_ptr_equal(bench_find(l->name), l);
		assert_true(strlen(l->summary) <= 90 && strlen(l->does) > 80);
		assert_null(strchr(l->name, ' '));
		assert_true(names_the_case(l));
		for (const struct opt *o = l->options; o->name; o++)
			assert_true(o->offset < l->size);
	}
	assert_null(bench_find("nothing"));
}

/* --- htab-mem --- */

static void shares(void **state)
{
	struct htab_options o = { .max_entries = 16384, .batch = 64 };

	(void)state;
	assert_int_equal(htab_share(&o, 8), 1024); /* half full */
	o.full = true;
	assert_int_equal(htab_share(&o, 8), 2048);
	assert_int_equal(htab_share(&o, 3), 5461); /* none has a key of another's */
	assert_int_equal(htab_batch(&o, 5461), 64);
	assert_int_equal(htab_batch(&o, 10), 10);
	o.batch = 0;
	assert_int_equal(htab_batch(&o, 5461), 5461);
	o.keys = 64;
	assert_int_equal(htab_share(&o, 8), 64);
	o = (struct htab_options){ .max_entries = 1 };
	assert_int_equal(htab_share(&o, 4), 1); /* never none */
}

static void what_is_left(void **state)
{
	struct bench_work work[2] = { { .updates = 100 }, { .updates = 7 } };
	struct bench_pull pull = { .work = work, .n = 2 };
	struct htab_row r = { .of = HTAB_OVERWRITE, .keys = 10 };
	uint64_t n;

	(void)state;
	bench_pull_sum(&pull, &r.all);
	assert_int_equal(r.all.updates, 107);
	assert_true(htab_expected(&r, &pull, &n));
	assert_int_equal(n, 10 + 7);
	r.all.failed[BENCH_FAILED_FULL] = 1; /* which key failed cannot be told */
	assert_false(htab_expected(&r, &pull, &n));
	r.of = HTAB_ADD_DELETE;
	r.all.deletes = 100;
	assert_true(htab_expected(&r, &pull, &n));
	assert_int_equal(n, 7);
	r.all.failed[BENCH_FAILED_BUSY] = 1;
	assert_false(htab_expected(&r, &pull, &n));
	r.of = HTAB_PAIRS; /* adds only what is not there */
	assert_true(htab_expected(&r, &pull, &n));
}

/* --- memory --- */

static char folder[] = "/tmp/kdefer-test-XXXXXX";

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_folder(void **state)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX"); // NOLINT: of the same length
	return setup(state) || !mkdtemp(folder);
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command); // NOLINT
}

/* A cgroup that cannot be read for a while has no mean. */
static void memory_that_is_gone(void **state)
{
	struct bench_cgroup g = { .version = 2 };
	struct bench_memory m;

	(void)state;
	snprintf(g.path, sizeof(g.path), "%s", folder);
	put_file("memory.current", "1000\n");
	bench_memory_begin(&m, &g, 0, 100);
	assert_int_equal(m.unread, 0);
	put_file("memory.current", "");
	bench_memory_sample(&m, 110);
	put_file("memory.current", "1000\n");
	bench_memory_end(&m, 140);
	assert_int_equal(m.unread, 1);
}

static void memory_over_time(void **state)
{
	struct bench_cgroup g = { .version = 2 };
	struct bench_memory m;

	(void)state;
	snprintf(g.path, sizeof(g.path), "%s", folder);
	put_file("memory.current", "1000\n");
	bench_memory_begin(&m, &g, 400, 100);
	put_file("memory.current", "3000\n");
	bench_memory_sample(&m, 110); /* 2000 for 10 */
	put_file("memory.current", "1000\n");
	bench_memory_end(&m, 140); /* 2000 for 30 */
	assert_true(fabs(bench_memory_mean(&m) - 1600) < 1e-6);
	assert_true(bench_memory_sd(&m) < 1e-3);
	assert_int_equal(m.peak, 2600);
	assert_string_equal(m.peak_from, "samples"); /* this kernel tells none */
	assert_int_equal(m.start, 1000);
}

/* One that can begin anew is of the window alone. */
static void peak_of_window(void **state)
{
	struct bench_cgroup g = { .version = 1 };
	struct bench_memory m;

	(void)state;
	snprintf(g.path, sizeof(g.path), "%s", folder);
	put_file("memory.usage_in_bytes", "1000\n");
	put_file("memory.max_usage_in_bytes", "9000\n");
	bench_memory_begin(&m, &g, 0, 100);
	put_file("memory.max_usage_in_bytes", "5000\n");
	bench_memory_end(&m, 200);
	assert_string_equal(m.peak_from, "kernel");
	assert_int_equal(m.peak, 5000);
}

/* One that was before the window, and cannot begin anew, says nothing of it. */
static void peak_before_window(void **state)
{
	struct bench_cgroup g = { .version = 2 };
	struct bench_memory m;
	char path[128];

	(void)state;
	snprintf(g.path, sizeof(g.path), "%s", folder);
	snprintf(path, sizeof(path), "%s/memory.peak", folder);
	assert_int_equal(symlink("/proc/sys/kernel/ngroups_max", path), 0); /* cannot be written */
	put_file("memory.current", "7\n");
	bench_memory_begin(&m, &g, 0, 100);
	assert_int_equal(m.peak_fd, -1);
	put_file("memory.current", "11\n");
	bench_memory_end(&m, 200);
	assert_string_equal(m.peak_from, "samples");
	assert_int_equal(m.peak, 11);
}

/* --- what is taken away --- */

static bool is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !access(path, F_OK);
}

static void tell(struct bench_guard *g)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/setting", folder);
	assert_int_equal(bench_guard_write(g, path, "as it was"), 0);
	snprintf(path, sizeof(path), "%s/files", folder);
	assert_int_equal(bench_guard_folder(g, path), 0);
	snprintf(path, sizeof(path), "%s/file", folder);
	assert_int_equal(bench_guard_file(g, path), 0);
	snprintf(path, sizeof(path), "%s/group", folder);
	assert_int_equal(bench_guard_cgroup(g, path), 0);
	snprintf(path, sizeof(path), "%s/group/inner", folder); /* made after, taken away before */
	assert_int_equal(bench_guard_cgroup(g, path), 0);
	snprintf(path, sizeof(path), "%s/never-made", folder);
	assert_int_equal(bench_guard_file(g, path), 0);
}

static void make_things(void)
{
	char path[128];

	for (const char *const *name =
		     (const char *const[]){ "files", "group", "group/inner", NULL };
	     *name; name++) {
		snprintf(path, sizeof(path), "%s/%s", folder, *name);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	put_file("setting", "new      ");
	put_file("files/one", "");
	put_file("files/two", "");
	put_file("file", "");
}

static void assert_clean(void)
{
	char path[128], text[32] = "";
	FILE *f;

	assert_false(is_there("files") || is_there("file") || is_there("group"));
	snprintf(path, sizeof(path), "%s/setting", folder);
	f = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "as it was");
}

static void taken_away(void **state)
{
	struct bench_guard g;
	char path[128];

	(void)state;
	assert_int_equal(bench_guard_start(&g), 0);
	tell(&g);
	make_things();
	bench_guard_end(&g);
	assert_clean();
	assert_string_equal(said, "");
	bench_guard_end(&g); /* once is enough */
	/* What cannot be put back is said, and keeps nothing else from being taken away. */
	assert_int_equal(bench_guard_start(&g), 0);
	put_file("file", "");
	snprintf(path, sizeof(path), "%s/file", folder);
	assert_int_equal(bench_guard_file(&g, path), 0);
	assert_int_equal(bench_guard_write(&g, folder, "no file"), 0);
	bench_guard_end(&g);
	assert_false(is_there("file"));
	assert_string_equal(said, "a setting that was changed for the load could not be put back");
}

static void taken_away_from_the_dead(void **state)
{
	int ready[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		struct bench_guard g;

		bench_guard_start(&g);
		tell(&g);
		make_things();
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_true(is_there("files"));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 1000 && (is_there("group") || is_there("files")); i++)
		usleep(10000);
	usleep(100000); /* the setting comes last */
	assert_clean();
}

/* --- processes and windows --- */

static int count_up(void *ctx, struct bench_seat *seat)
{
	(void)ctx;
	bench_seat_wait(seat);
	while (!bench_seat_stopped(seat)) {
		seat->slot->count[0]++;
		usleep(100);
	}
	seat->slot->count[1] = seat->index + 1;
	return 0;
}

struct seen {
	int begins, steps, ends;
	uint64_t begin_ns, end_ns, enough;
};

static int see(void *ctx, enum bench_when when, uint64_t now_ns)
{
	struct seen *s = ctx;

	if (when == BENCH_BEGIN) {
		s->begins++;
		s->begin_ns = now_ns;
	} else if (when == BENCH_STEP) {
		s->steps++;
		return s->enough && (uint64_t)s->steps == s->enough;
	} else {
		s->ends++;
		s->end_ns = now_ns;
	}
	return 0;
}

static void a_window(void **state)
{
	struct bench_run run = { 0 };
	struct bench_crew crew;
	struct seen s = { 0 };
	struct bench_window w = {
		.warm_up_ns = 20000000,
		.duration_ns = 100000000,
		.step_ns = 10000000,
		.step = see,
		.ctx = &s,
	};
	uint64_t before = clock_mono_ns();

	(void)state;
	assert_int_equal(bench_crew_start(&crew, 3, NULL, count_up, NULL), 0);
	assert_int_equal(bench_crew_sum(&crew, 0), 0); /* nobody begins before all may */
	bench_crew_go(&crew);
	assert_int_equal(bench_window(&run, &crew, &w), 0);
	assert_true(s.begin_ns - before >= w.warm_up_ns);
	assert_true(s.end_ns - s.begin_ns >= w.duration_ns);
	assert_true(s.begins == 1 && s.ends == 1 && s.steps >= 1 && s.steps <= 9);
	assert_int_equal(bench_crew_finish(&crew), 0);
	assert_true(bench_crew_sum(&crew, 0) > 0);
	assert_int_equal(bench_crew_sum(&crew, 1), 1 + 2 + 3);
	assert_int_equal(bench_crew_stop(&crew), 0);
	/* It may end before its time. */
	s = (struct seen){ .enough = 2 };
	w.duration_ns = 60000000000ULL;
	assert_int_equal(bench_window(&run, NULL, &w), 0);
	assert_true(s.steps == 2 && s.ends == 1);
}

static int fail_later(void *ctx, struct bench_seat *seat)
{
	(void)ctx;
	bench_seat_wait(seat);
	while (seat->index != 1 && !bench_seat_stopped(seat))
		usleep(1000);
	return seat->index == 1 ? bench_seat_err(seat, -EPERM, "it %s", "does not go") : 0;
}

static void one_that_fails(void **state)
{
	const struct bench_window w = { .duration_ns = 20000000000ULL };
	struct bench_run run = { 0 };
	struct bench_crew crew;

	(void)state;
	assert_int_equal(bench_crew_start(&crew, 3, NULL, fail_later, NULL), 0);
	bench_crew_go(&crew);
	assert_int_equal(bench_window(&run, &crew, &w), -EIO);
	assert_string_equal(said, "it does not go");
	assert_int_equal(bench_crew_stop(&crew), 0); /* said once */
}

static int fail_at_once(void *ctx, struct bench_seat *seat)
{
	(void)ctx;
	return bench_seat_err(seat, -EPERM, "not here");
}

static void one_that_does_not_start(void **state)
{
	const int no_such_cpu[] = { 8000, 8001 };
	struct bench_crew crew;

	(void)state;
	assert_int_equal(bench_crew_start(&crew, 2, NULL, fail_at_once, NULL), -EIO);
	assert_string_equal(said, "not here");
	assert_int_equal(bench_crew_start(&crew, 2, no_such_cpu, count_up, NULL), -EIO);
	assert_non_null(strstr(said, "cannot run on CPU 800"));
}

/* Processes do not outlive who started them, however that ends. */
static void they_die_with_us(void **state)
{
	pid_t pid, seat[2] = { 0 };
	int out[2];

	(void)state;
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		struct bench_crew crew;

		bench_crew_start(&crew, 2, NULL, count_up, NULL);
		bench_crew_go(&crew);
		if (write(out[1], crew.pid, sizeof(seat)) != sizeof(seat))
			_exit(1);
		pause();
	}
	close(out[1]);
	assert_int_equal(read(out[0], seat, sizeof(seat)), sizeof(seat));
	assert_true(!kill(seat[0], 0) && !kill(seat[1], 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* The end of the pipe: nobody holds it any more. */
	assert_int_equal(read(out[0], seat, 1), 0);
}

static void which_cpus(void **state)
{
	struct bench_cpus asked = { 0 }, all, two;

	(void)state;
	assert_int_equal(bench_choose_cpus(&asked, 0, &all), 0);
	assert_true(all.n >= 1);
	assert_int_equal(bench_choose_cpus(&asked, all.n + 1, &two), -ENODEV);
	assert_non_null(strstr(said, "one for each process"));
	assert_int_equal(bench_parse_affinity(&asked, "5,1-2"), 0);
	assert_int_equal(bench_choose_cpus(&asked, 2, &two), 0);
	assert_true(two.n == 2 && two.cpu[0] == 5 && two.cpu[1] == 1);
	assert_int_equal(bench_parse_affinity(&asked, "all"), -EINVAL);
	free(all.cpu);
	free(two.cpu);
	free(asked.cpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(as_text, setup),
		cmocka_unit_test_setup(as_figures, setup),
		cmocka_unit_test_setup(as_json, setup),
		cmocka_unit_test_setup(with_histogram, setup),
		cmocka_unit_test_setup(every_load_is_whole, setup),
		cmocka_unit_test_setup(shares, setup),
		cmocka_unit_test_setup(what_is_left, setup),
		cmocka_unit_test_setup_teardown(memory_over_time, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(memory_that_is_gone, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(peak_of_window, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(peak_before_window, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(taken_away, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(taken_away_from_the_dead, make_folder,
						remove_folder),
		cmocka_unit_test_setup(a_window, setup),
		cmocka_unit_test_setup(one_that_fails, setup),
		cmocka_unit_test_setup(one_that_does_not_start, setup),
		cmocka_unit_test_setup(they_die_with_us, setup),
		cmocka_unit_test_setup(which_cpus, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
