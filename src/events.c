// SPDX-License-Identifier: GPL-2.0-only
/* events.c - looks at each tick for what may explain a long wait. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "file.h"
#include "stream.h"

#define MS ((uint64_t)1000000)
#define S (1000 * MS)

#define STEP_NS (20 * MS)     /* of the clock of the day, besides what it is slewed by */
#define SUSPEND_NS (10 * MS)  /* less than any suspend takes */
#define TOGETHER_NS MS        /* clocks read further apart say nothing */
#define STAT_NS (S - 50 * MS) /* reading /proc/stat costs a walk over all interrupts */
#define STEAL_PERCENT 5
#define STEAL_AGAIN_NS (10 * S)
#define LOG_RECORD 8192 /* the longest that the kernel writes */
#define LOG_RECORDS 256 /* read in one look */
#define DETAIL 200

int events_say(struct stream *out, const char *what, const char *detail)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	const char *const texts[] = { what, detail };
	const struct kd_rec *rec = stream_make_text(buf, KD_REC_EVENT, clock_ns(CLOCK_REALTIME),
						    clock_mono_ns(), texts, 2);

	return stream_record(out, rec, rec->len);
}

/* --- CPUs --- */

static ssize_t read_start(int fd, char *buf, size_t size)
{
	ssize_t n = fd < 0 ? -1 : pread(fd, buf, size - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	return n;
}

static int look_at_cpus(struct events *e)
{
	char now[sizeof(e->online)], detail[2 * sizeof(now) + 32];
	int err = 0;

	if (read_start(e->online_fd, now, sizeof(now)) <= 0)
		return 0;
	now[strcspn(now, "\n")] = '\0';
	if (*e->online && strcmp(now, e->online)) {
		snprintf(detail, sizeof(detail), "online: %s; before: %s", now, e->online);
		err = events_say(e->out, "cpu_hotplug", detail);
	}
	memcpy(e->online, now, sizeof(now));
	return err;
}

/* --- clocks --- */

static bool read_clocks(struct events_clocks *c)
{
	int tries;

	for (tries = 0; tries < 3; tries++) {
		c->mono_ns = clock_mono_ns();
		c->real_ns = clock_ns(CLOCK_REALTIME);
		c->boot_ns = clock_ns(CLOCK_BOOTTIME);
		if (clock_mono_ns() - c->mono_ns < TOGETHER_NS)
			return true;
	}
	return false;
}

const char *events_of_clocks(const struct events_clocks *before, const struct events_clocks *now,
			     char *detail, unsigned int size)
{
	uint64_t mono = now->mono_ns - before->mono_ns, boot = now->boot_ns - before->boot_ns;
	/* The clock of the day goes on in suspend; it may be slewed by 0.05%. */
	int64_t stepped = (int64_t)(now->real_ns - before->real_ns - boot);
	uint64_t size_ns = (uint64_t)(stepped < 0 ? -stepped : stepped);

	if (boot > mono && boot - mono > SUSPEND_NS) {
		snprintf(detail, size, "for %" PRIu64 " ms", (boot - mono) / MS);
		return "suspend";
	}
	if (size_ns > STEP_NS + boot / 1000) {
		snprintf(detail, size, "%s by %" PRIu64 " ms", stepped < 0 ? "back" : "forward",
			 size_ns / MS);
		return "clock_step";
	}
	return NULL;
}

static int look_at_clocks(struct events *e)
{
	struct events_clocks now;
	char detail[DETAIL];
	const char *what = NULL;

	if (!read_clocks(&now))
		return 0;
	if (e->clocks.mono_ns)
		what = events_of_clocks(&e->clocks, &now, detail, sizeof(detail));
	e->clocks = now;
	return what ? events_say(e->out, what, detail) : 0;
}

/* --- time that a hypervisor withheld --- */

/* The first line: user nice system idle iowait irq softirq steal, guest times within these. */
static bool parse_stat(const char *text, uint64_t *total, uint64_t *steal)
{
	unsigned long long v[8];
	int i;

	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) != 8)
		return false;
	*total = 0;
	for (i = 0; i < 8; i++)
		*total += v[i];
	*steal = v[7];
	return true;
}

static int say_steal(struct events *e, uint64_t now, uint64_t steal, uint64_t total)
{
	char detail[DETAIL];

	if (steal * 100 <= total * STEAL_PERCENT ||
	    (e->steal_said_ns && now - e->steal_said_ns < STEAL_AGAIN_NS))
		return 0;
	e->steal_said_ns = now;
	snprintf(detail, sizeof(detail), "%" PRIu64 "%% of the time of all CPUs was withheld",
		 steal * 100 / total);
	return events_say(e->out, "high_steal", detail);
}

static int look_at_steal(struct events *e)
{
	uint64_t now = clock_mono_ns(), total, steal;
	bool first = !e->stat_ns;
	char text[256];
	int err = 0;

	if (!first && now - e->stat_ns < STAT_NS)
		return 0;
	if (read_start(e->stat_fd, text, sizeof(text)) <= 0 || !parse_stat(text, &total, &steal))
		return 0;
	if (!first && total > e->cpu_total && steal > e->cpu_steal)
		err = say_steal(e, now, steal - e->cpu_steal, total - e->cpu_total);
	e->stat_ns = now;
	e->cpu_total = total;
	e->cpu_steal = steal;
	return err;
}

/* --- the kernel's log --- */

static const struct {
	const char *what, *words[3]; /* all in this order */
} told[] = {
	{ "rcu_stall", { "rcu", "detected", "stall" } },
	{ "lockup", { "soft lockup" } },
	{ "lockup", { "hard LOCKUP" } },
	{ "hung_task", { "task", "blocked for more than" } },
	{ "oom_kill", { "ut of memory: Killed process" } },
	{ "throttled", { "cpu clock throttled" } },
	{ "throttled", { "RT throttling activated" } }, /* said once since the host was booted */
};

static bool has_words(const char *text, const char *const words[3])
{
	int i;

	for (i = 0; i < 3 && words[i]; i++) {
		text = strstr(text, words[i]);
		if (!text)
			return false;
		text += strlen(words[i]);
	}
	return true;
}

const char *events_of_log(char *record, const char **detail)
{
	char *text = strchr(record, ';');
	size_t i;

	/* "PRIORITY,NUMBER,TIME,FLAGS;TEXT": of the priority all but the lowest 3 bits say who wrote it */
	if (!text || !isdigit((unsigned char)*record) || strtoul(record, NULL, 10) >> 3)
		return NULL;
	*text++ = '\0';
	text[strcspn(text, "\n")] = '\0';
	*detail = text;
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (has_words(text, told[i].words))
			return told[i].what;
	return NULL;
}

static int take_log(struct events *e, char *record)
{
	char cut[DETAIL];
	const char *detail, *what = events_of_log(record, &detail);

	if (!what)
		return 0;
	snprintf(cut, sizeof(cut), "%s", detail);
	return events_say(e->out, what, cut);
}

static int look_at_log(struct events *e)
{
	char record[LOG_RECORD + 1];
	ssize_t n;
	int i, err = 0;

	for (i = 0; e->log_fd >= 0 && i < LOG_RECORDS && !err; i++) {
		n = read(e->log_fd, record, sizeof(record) - 1);
		if (n < 0 && errno == EPIPE) /* overwritten before we came */
			err = events_say(e->out, "kernel_log_lost", "");
		else if (n <= 0)
			break;
		if (n <= 0)
			continue;
		record[n] = '\0';
		err = take_log(e, record);
	}
	return err;
}

/* --- another kdefer --- */

void events_take(struct events *e, const struct kd_rec *rec)
{
	const struct kd_rec_total *r = (const void *)rec;

	if (rec->kind == KD_REC_LOST && r->what == KD_LOST_KDEFER)
		e->kdefer_waits = r->total;
	if (rec->kind == KD_REC_COUNT && r->what == KD_CNT_KDEFER)
		e->kdefer_callbacks = r->total;
}

/* It attaches or detaches: its own waits are left out, its callbacks are among the others. */
static int look_at_kdefers(struct events *e)
{
	uint64_t waits = e->kdefer_waits - e->waits_said;
	uint64_t callbacks = e->kdefer_callbacks - e->callbacks_said;
	char detail[DETAIL];

	if (!waits && !callbacks)
		return 0;
	e->waits_said = e->kdefer_waits;
	e->callbacks_said = e->kdefer_callbacks;
	snprintf(detail, sizeof(detail),
		 "attaching or detaching: %" PRIu64 " waits of its own, left out; %" PRIu64
		 " callbacks of its own, counted",
		 waits, callbacks);
	return events_say(e->out, "other_kdefer", detail);
}

/* --- together --- */

/* The process that holds the hooks of a kdefer has a name of its own. */
static unsigned int others_at_work(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[64], comm[32];
	unsigned int n = 0;

	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		n += !file_line(path, comm, sizeof(comm)) && !strcmp(comm, "kdefer-hooks");
	}
	if (proc)
		closedir(proc);
	return n;
}

int events_open(struct events *e, struct stream *out)
{
	char detail[DETAIL];
	unsigned int others = others_at_work();

	*e = (struct events){ .out = out };
	e->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	e->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	e->log_fd = open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (e->log_fd >= 0)
		lseek(e->log_fd, 0, SEEK_END);
	if (!others)
		return 0;
	snprintf(detail, sizeof(detail), "%u measuring when this one began", others);
	return events_say(out, "other_kdefer", detail);
}

int events_look(struct events *e)
{
	int err = look_at_cpus(e);

	if (!err)
		err = look_at_clocks(e);
	if (!err)
		err = look_at_steal(e);
	if (!err)
		err = look_at_kdefers(e);
	return err ? err : look_at_log(e);
}

void events_close(struct events *e)
{
	if (e->online_fd >= 0)
		close(e->online_fd);
	if (e->stat_fd >= 0)
		close(e->stat_fd);
	if (e->log_fd >= 0)
		close(e->log_fd);
	e->online_fd = e->stat_fd = e->log_fd = -1;
}
