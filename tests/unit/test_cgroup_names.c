// SPDX-License-Identifier: GPL-2.0-only
/* Cgroups by the number of their folder: in a made tree, whatever this machine has. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup_names.h"
#include "records.h"

static char mount[] = "/tmp/kdefer-cgroup-XXXXXX";

static uint64_t number_of(const char *below)
{
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", mount, below);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void make(const char *below)
{
	char path[200];

	snprintf(path, sizeof(path), "%s%s", mount, below);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int setup(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(mount));
	make("/a");
	make("/a/b");
	make("/c");
	make("/c/d");
	make("/c/d/e");
	return 0;
}

static int teardown(void **state)
{
	char command[sizeof(mount) + 20];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", mount);
	return system(command);
}

static void found_in_the_tree(void **state)
{
	static const char *const below[] = { "/a", "/a/b", "/c", "/c/d/e" };
	struct cgroup_names c = { 0 };
	char path[100];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(cgroup_names_find(&c, mount, number_of(below[i]), 0, path, 100),
				 0);
		assert_string_equal(path, below[i]);
	}
	assert_int_equal(cgroup_names_find(&c, mount, number_of(""), 0, path, 100), 0);
	assert_string_equal(path, "/");
	assert_true(cgroup_names_find(&c, mount, ~0ULL, 0, path, 100) < 0);
	assert_true(cgroup_names_find(&c, "/nowhere", 5, 0, path, 100) < 0);
}

/* Walks are bounded: a host of many cgroups is not searched again and again. */
static void not_forever(void **state)
{
	struct cgroup_names c = { 0 };
	char path[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		cgroup_names_find(&c, mount, ~0ULL - (unsigned int)i, 0, path, 100);
	assert_true(c.walks <= 16);
	assert_true(cgroup_names_find(&c, mount, number_of("/a"), 0, path, 100) < 0);
	/* The root needs no walk. */
	assert_int_equal(cgroup_names_find(&c, mount, number_of(""), 0, path, 100), 0);
}

static int count(void *ctx, const struct kd_rec *rec)
{
	(void)rec;
	++*(int *)ctx;
	return 0;
}

static void each_is_looked_up_once(void **state)
{
	struct kd_rec_witness w = { .rec = HEADER(w, KD_REC_WITNESS, 1), .cgroup = ~0ULL - 7 };
	struct kd_rec_tick tick = { .rec = HEADER(tick, KD_REC_TICK, 0) };
	struct cgroup_names c = { 0 };
	struct stream s;
	int said = 0;

	(void)state;
	stream_init(&s, count, &said);
	assert_int_equal(cgroup_names_take(&c, &w, sizeof(w), &s), 0);
	assert_int_equal(cgroup_names_take(&c, &w, sizeof(w), &s), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(said, 0); /* there is none with this number */
	w.cgroup = 0;
	assert_int_equal(cgroup_names_take(&c, &w, sizeof(w), &s), 0);
	assert_int_equal(cgroup_names_take(&c, &tick, sizeof(tick), &s), 0);
	assert_int_equal(cgroup_names_take(&c, &w, 8, &s), 0);
	assert_int_equal(c.n, 1);
	for (uint64_t i = 0; i < 2 * CGROUP_NAMES_MAX; i++) {
		w.cgroup = ~0ULL - 100 - i;
		assert_int_equal(cgroup_names_take(&c, &w, sizeof(w), &s), 0);
	}
	assert_int_equal(c.n, CGROUP_NAMES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_in_the_tree),
		cmocka_unit_test(not_forever),
		cmocka_unit_test(each_is_looked_up_once),
	};

	return cmocka_run_group_tests_name("cgroup_names", tests, setup, teardown);
}
