// SPDX-License-Identifier: GPL-2.0-only
/* Events: what looks make of files that we write here, and of clocks that we set here. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events.h"
#include "records.h"

#define MS ((uint64_t)1000000)
#define S (1000 * MS)

static char seen[4096];
static struct stream s;
static struct events e;
static int log_writer;

static int see(void *ctx, const struct kd_rec *rec)
{
	const struct kd_rec_text *r = (const void *)rec;
	size_t used = strlen(seen);

	(void)ctx;
	assert_int_equal(rec->kind, KD_REC_EVENT);
	assert_true(r->a > 0 && r->b > 0);
	snprintf(seen + used, sizeof(seen) - used, "%s(%s) ", stream_text(r, 0), stream_text(r, 1));
	return 0;
}

static int temporary(void)
{
	char path[] = "/tmp/kdefer-events-XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	return fd;
}

static void put(int fd, const char *text)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
}

/* Each read of /dev/kmsg gives one record: so does a socket of datagrams. */
static int setup(void **state)
{
	int pair[2];

	(void)state;
	stream_init(&s, see, NULL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
	log_writer = pair[1];
	e = (struct events){
		.out = &s,
		.online_fd = temporary(),
		.stat_fd = temporary(),
		.log_fd = pair[0],
	};
	put(e.online_fd, "0-3\n");
	put(e.stat_fd, "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1 1\n");
	seen[0] = '\0';
	assert_int_equal(events_look(&e), 0);
	assert_string_equal(seen, ""); /* the first look has nothing to compare with */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	events_close(&e);
	close(log_writer);
	return 0;
}

static void look(const char *want)
{
	seen[0] = '\0';
	assert_int_equal(events_look(&e), 0);
	assert_string_equal(seen, want);
}

static void test_hotplug(void **state)
{
	(void)state;
	look("");
	put(e.online_fd, "0-2\n");
	look("cpu_hotplug(online: 0-2; before: 0-3) ");
	look("");
	put(e.online_fd, "0-3\n");
	look("cpu_hotplug(online: 0-3; before: 0-2) ");
}

/* Percent of the time of all CPUs since the look before, at most once in ten seconds. */
static void test_steal(void **state)
{
	(void)state;
	put(e.stat_fd, "cpu  100 0 100 895 0 0 0 5 0 0\n");
	look(""); /* read not so soon again */
	e.stat_ns -= S;
	look(""); /* 5 of 100 */
	put(e.stat_fd, "cpu  100 0 100 983 0 0 0 17 0 0\n");
	e.stat_ns -= S;
	look("high_steal(12% of the time of all CPUs was withheld) ");
	put(e.stat_fd, "cpu  100 0 100 983 0 0 0 117 0 0\n");
	e.stat_ns -= S;
	look("");
	put(e.stat_fd, "cpu  100 0 100 983 0 0 0 217 0 0\n");
	e.stat_ns -= S;
	e.steal_said_ns -= 10 * S;
	look("high_steal(100% of the time of all CPUs was withheld) ");
	put(e.stat_fd, "cpu  100 0 100 983 0 0 0 10 0 0\n"); /* it can go back */
	e.stat_ns -= S;
	e.steal_said_ns -= 10 * S;
	look("");
	put(e.stat_fd, "nonsense\n");
	e.stat_ns -= S;
	look("");
}

static void say(const char *record)
{
	assert_int_equal(write(log_writer, record, strlen(record)), (ssize_t)strlen(record));
}

static void test_kernel_log(void **state)
{
	(void)state;
	say("6,100,5140900,-;usb 1-1: new device\n SUBSYSTEM=usb\n");
	say("3,101,5140901,-;rcu: INFO: rcu_preempt self-detected stall on CPU\n");
	say("4,102,5140902,-;Out of memory: Killed process 4711 (stress) total-vm:1kB\n");
	look("rcu_stall(rcu: INFO: rcu_preempt self-detected stall on CPU) "
	     "oom_kill(Out of memory: Killed process 4711 (stress) total-vm:1kB) ");
	look("");
	say("0,1,1,-;watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:1]");
	say("3,1,1,-;INFO: task kworker/0:1:9 blocked for more than 120 seconds.");
	say("3,1,1,-;rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 1-... }");
	look("lockup(watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [x:1]) "
	     "hung_task(INFO: task kworker/0:1:9 blocked for more than 120 seconds.) "
	     "rcu_stall(rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 1-... }) ");
	say("4,1,1,-;sched: RT throttling activated");
	say("2,1,1,-;mce: CPU3: Core temperature is above threshold, cpu clock throttled (total events = 1)");
	look("throttled(sched: RT throttling activated) "
	     "throttled(mce: CPU3: Core temperature is above threshold, cpu clock throttled (total events = 1)) ");
}

/* Whoever may write to /dev/kmsg cannot speak for the kernel; nor does what only looks similar. */
static void test_log_of_others(void **state)
{
	(void)state;
	say("12,1,1,-;rcu: INFO: rcu_preempt self-detected stall on CPU\n");
	say(";rcu detected stall");
	say("x,1,1,-;rcu detected stall");
	say("3,1,1,- rcu detected stall");
	say("3,1,1,-;stall detected: rcu");
	say("3,1,1,-;Memory cgroup usage: Killed process");
	say("3,1,1,-;");
	look("");
}

static const char *clocks(uint64_t mono, uint64_t boot, int64_t real, char *detail)
{
	const struct events_clocks before = { 1000 * S, 1700000000 * S, 1500 * S };
	struct events_clocks now = before;

	now.mono_ns += mono;
	now.boot_ns += boot;
	now.real_ns += (uint64_t)real;
	return events_of_clocks(&before, &now, detail, 64);
}

static void test_clocks(void **state)
{
	char detail[64];

	(void)state;
	assert_null(clocks(S, S, S, detail));
	assert_null(clocks(100 * S, 100 * S, (int64_t)(100 * S + 50 * MS), detail)); /* slewed */
	assert_null(clocks(S, S, (int64_t)(S + 15 * MS), detail));
	assert_string_equal(clocks(S, S, (int64_t)(3 * S), detail), "clock_step");
	assert_string_equal(detail, "forward by 2000 ms");
	assert_string_equal(clocks(S, S, -(int64_t)(3600 * S), detail), "clock_step");
	assert_string_equal(detail, "back by 3601000 ms");
	assert_string_equal(clocks(S, 61 * S, (int64_t)(61 * S), detail), "suspend");
	assert_string_equal(detail, "for 60000 ms");
}

/* What cannot be opened is not looked at, and the real ones can be. */
static void test_files(void **state)
{
	struct events none = { .out = &s, .online_fd = -1, .stat_fd = -1, .log_fd = -1 }, real;

	(void)state;
	seen[0] = '\0';
	assert_int_equal(events_look(&none), 0);
	assert_int_equal(events_open(&real, &s), 0);
	assert_int_equal(events_look(&real), 0);
	assert_true(*real.online);
	assert_true(real.cpu_total > 0);
	seen[0] = '\0';
	assert_int_equal(events_look(&real), 0);
	assert_null(strstr(seen, "cpu_hotplug"));
	assert_null(strstr(seen, "clock"));
	events_close(&real);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_hotplug),       TEST(test_steal),  TEST(test_kernel_log),
		TEST(test_log_of_others), TEST(test_clocks), TEST(test_files),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
