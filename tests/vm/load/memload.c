/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps whose elements are allocated one by one, so that BPF memory has something to free:
 *
 *   memload delete N CPU COMMAND...   a hash to which N elements are added, and deleted again, all on
 *                                     that CPU; COMMAND runs twice, with "added" and with "deleted"
 *                                     as its last argument
 *   memload again N CPU               the same without a command, twice with one map
 *   memload many N COMMAND...         N hashes of one element
 *   memload busy MAPS COMMAND...      on each CPU a thread that adds and deletes in all of them
 *   memload churn COMMAND...          hashes that are made, used and closed, 1,000 a second
 *   memload kinds COMMAND...          one of each kind of map that may have an allocator
 *
 * The command runs when all of that is done, or while it goes on, and its status is ours. Prints
 * "map ID NAME UNIT" for what is there while it runs ("unit": bytes of one object, as the kernel
 * computes it, 0: not said), when its elements were added, and deleted (CLOCK_MONOTONIC), and at the
 * end "operations N".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#define KEY 4
#define ELEM 48 /* struct htab_elem without key and value; seen so on all kernels tried */
#define NODE 8  /* struct llist_node in front of each object */
#define VALUE 64
#define UNIT (NODE + ELEM + 8 + VALUE) /* the key is rounded up to 8 */

static volatile int enough;
static unsigned long operations;
static int *maps;
static unsigned int nmaps;

static void die(const char *what)
{
	perror(what);
	exit(125);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("memload: sched_setaffinity");
}

static void unpin(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(0, sizeof(set), &set);
}

static int make(const char *name, unsigned int value, unsigned int entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, name, KEY, value, entries, &opts);

	if (fd < 0)
		die("memload: cannot create a map");
	return fd;
}

static unsigned int id_of(int fd)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &len) ? 0 : info.id;
}

static void say(int fd, const char *name, unsigned int unit)
{
	printf("map %u %s %u\n", id_of(fd), name, unit);
	fflush(stdout);
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char value[64 * 64]; /* of 64 CPUs at most */

static void add(int fd, unsigned int n)
{
	for (unsigned int key = 0; key < n; key++)
		if (bpf_map_update_elem(fd, &key, value, BPF_ANY))
			die("memload: cannot add");
}

static void delete_all(int fd, unsigned int n)
{
	for (unsigned int key = 0; key < n; key++)
		if (bpf_map_delete_elem(fd, &key))
			die("memload: cannot delete");
	operations += n;
}

static int run_with(char **argv, int n, const char *last)
{
	char *words[n + 2];

	memcpy(words, argv, n * sizeof(*argv));
	words[n] = (char *)last;
	words[n + 1] = NULL;
	return run(words);
}

static void say_time(const char *what)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	printf("%s_ns %lu\n", what, ts.tv_sec * 1000000000UL + ts.tv_nsec);
	fflush(stdout);
}

static int add_and_delete(unsigned int n, int cpu, int argc, char **argv)
{
	int fd = make("memload", VALUE, n), status;

	say(fd, "memload", UNIT);
	pin(cpu);
	add(fd, n);
	unpin();
	say_time("added");
	status = run_with(argv, argc, "added");
	if (status)
		return status;
	pin(cpu);
	say_time("deleting");
	delete_all(fd, n);
	say_time("deleted");
	unpin();
	return run_with(argv, argc, "deleted");
}

/* What is freed is at hand for the second time, if no grace period lets it go before. */
static int again(unsigned int n, int cpu)
{
	int fd = make("memload", VALUE, n);

	say(fd, "memload", UNIT);
	pin(cpu);
	for (int i = 0; i < 2; i++) {
		add(fd, n);
		delete_all(fd, n);
	}
	return 0;
}

static int many(unsigned int n, char **argv)
{
	unsigned int key = 1;
	struct rlimit most = { n + 64, n + 64 };
	char name[16];

	setrlimit(RLIMIT_NOFILE, &most);
	for (unsigned int i = 0; i < n; i++) {
		int fd;

		snprintf(name, sizeof(name), "many_%u", i);
		fd = make(name, VALUE, 16);
		if (bpf_map_update_elem(fd, &key, value, BPF_ANY))
			die("memload: cannot add");
		printf("map %u %s %u\n", id_of(fd), name, UNIT);
	}
	fflush(stdout);
	return run(argv);
}

static void *busy_thread(void *arg)
{
	unsigned int seed = (unsigned int)(long)arg + 1, done = 0;

	pin((int)(long)arg);
	if (nice(19) == -1) /* of this thread; whoever looks on gets to run */
		perror("memload: nice");
	while (!enough) {
		unsigned int key = rand_r(&seed) % 8192, fd = maps[rand_r(&seed) % nmaps];

		if (rand_r(&seed) & 1)
			bpf_map_update_elem(fd, &key, value, BPF_ANY);
		else
			bpf_map_delete_elem(fd, &key);
		done++;
	}
	__sync_fetch_and_add(&operations, done);
	return NULL;
}

static int busy(unsigned int n, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[cpus];
	int status;

	nmaps = n;
	maps = calloc(n, sizeof(*maps));
	for (unsigned int i = 0; maps && i < n; i++) {
		maps[i] = make("busy", VALUE, 16384);
		say(maps[i], "busy", UNIT);
	}
	for (long i = 0; i < cpus; i++)
		if (pthread_create(&thread[i], NULL, busy_thread, (void *)i))
			die("memload: cannot make a thread");
	status = run(argv);
	enough = 1;
	for (long i = 0; i < cpus; i++)
		pthread_join(thread[i], NULL);
	return status;
}

static void *churn_thread(void *unused)
{
	struct timespec pause = { .tv_nsec = 400000 };

	(void)unused;
	while (!enough) {
		int fd = make("churn", VALUE, 256);

		add(fd, 100);
		delete_all(fd, 100);
		nanosleep(&pause, NULL);
		close(fd);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static int churn(char **argv)
{
	pthread_t thread;
	int status;

	if (pthread_create(&thread, NULL, churn_thread, NULL))
		return 125;
	status = run(argv);
	enough = 1;
	pthread_join(thread, NULL);
	printf("maps %lu\n", operations / 100);
	return status;
}

/* Not every kernel has all of them, and not all that it has use an allocator. */
static int kinds(char **argv)
{
	static const struct {
		enum bpf_map_type type;
		const char *name;
		unsigned int key, flags;
	} kind[] = {
		{ BPF_MAP_TYPE_HASH, "k_hash", 4, BPF_F_NO_PREALLOC },
		{ BPF_MAP_TYPE_PERCPU_HASH, "k_pcpu", 4, BPF_F_NO_PREALLOC },
		{ BPF_MAP_TYPE_LPM_TRIE, "k_trie", 8, BPF_F_NO_PREALLOC },
		{ BPF_MAP_TYPE_HASH, "k_prealloc", 4, 0 },
		{ BPF_MAP_TYPE_LRU_HASH, "k_lru", 4, 0 },
	};

	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = kind[i].flags);
		int fd = bpf_map_create(kind[i].type, kind[i].name, kind[i].key, 64, 4096, &opts);

		if (fd < 0)
			continue;
		for (unsigned int n = 0; n < 1000; n++) {
			unsigned int key[2] = { n, n };

			if (kind[i].type == BPF_MAP_TYPE_LPM_TRIE)
				key[0] = 32;
			bpf_map_update_elem(fd, key, value, BPF_ANY);
		}
		for (unsigned int n = 0; n < 1000; n++) {
			unsigned int key[2] = { n, n };

			if (kind[i].type == BPF_MAP_TYPE_LPM_TRIE)
				key[0] = 32;
			bpf_map_delete_elem(fd, key);
		}
		say(fd, kind[i].name, 0);
	}
	return run(argv);
}

int main(int argc, char **argv)
{
	struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };
	int status = 125;

	setrlimit(RLIMIT_MEMLOCK, &most);
	if (argc > 4 && !strcmp(argv[1], "delete"))
		status = add_and_delete(strtoul(argv[2], NULL, 10), atoi(argv[3]), argc - 4,
					argv + 4);
	else if (argc > 3 && !strcmp(argv[1], "again"))
		status = again(strtoul(argv[2], NULL, 10), atoi(argv[3]));
	else if (argc > 3 && !strcmp(argv[1], "many"))
		status = many(strtoul(argv[2], NULL, 10), argv + 3);
	else if (argc > 3 && !strcmp(argv[1], "busy"))
		status = busy(strtoul(argv[2], NULL, 10), argv + 3);
	else if (argc > 2 && !strcmp(argv[1], "churn"))
		status = churn(argv + 2);
	else if (argc > 2 && !strcmp(argv[1], "kinds"))
		status = kinds(argv + 2);
	else
		fputs("usage: memload delete|many|busy|churn|kinds ... COMMAND...\n", stderr);
	printf("operations %lu\n", operations);
	return status;
}
