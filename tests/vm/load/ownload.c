/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One map of each kind that may have an allocator of its own; in each a known number of elements, which
 * are deleted:
 *
 *   ownload CPU COMMAND...
 *
 * All of it is done on that CPU. The command runs twice, with "added" and with "deleted" as its last
 * argument. Prints "map ID NAME ELEMENTS SIZE" (bytes of key and value together), or "none NAME ERRNO" for
 * a kind that this kernel does not make; then "added_ns", "deleting_ns", "deleted_ns" and "end_ns",
 * CLOCK_MONOTONIC.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>

#define MANY 1000 /* elements, where a key is a number */
#define FEW 100   /* where each is of a task, a cgroup, a file, a socket */
#define VALUE 64

static pid_t child[FEW];       /* of tasks */
static char value[VALUE * 64]; /* of 64 CPUs at most */
static int inner;              /* what a map of maps has */
static char **command;
static int words;

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
		die("ownload: sched_setaffinity");
}

static void say_time(const char *what)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	printf("%s_ns %lu\n", what, ts.tv_sec * 1000000000UL + ts.tv_nsec);
	fflush(stdout);
}

/* Its own process may run where it likes: whoever looks on must not wait for us. */
static void run(const char *last)
{
	char *argv[words + 2];
	int status;
	pid_t pid;

	memcpy(argv, command, words * sizeof(*argv));
	argv[words] = (char *)last;
	argv[words + 1] = NULL;
	pid = fork();
	if (!pid) {
		cpu_set_t set;

		memset(&set, 0xff, sizeof(set));
		sched_setaffinity(0, sizeof(set), &set);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("ownload: the command failed");
}

/* --- what elements belong to --- */

static int a_task(int i)
{
	child[i] = fork();
	if (!child[i]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	return (int)syscall(SYS_pidfd_open, child[i], 0);
}

static int a_cgroup(int i)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/ownload-%d", i);
	mkdir(path, 0755);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int a_file(int i)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/ownload-%d", i);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static int a_socket(int i)
{
	(void)i;
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void give_back(int i)
{
	char path[64];

	if (child[i] > 0) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
	snprintf(path, sizeof(path), "/sys/fs/cgroup/ownload-%d", i);
	rmdir(path);
	snprintf(path, sizeof(path), "/tmp/ownload-%d", i);
	unlink(path);
}

/* --- kinds --- */

struct kind {
	const char *name, *type; /* as in the kernel's enum */
	int known;               /* number of the type; 0: to be found in its BTF */
	unsigned int key, value, flags;
	int (*own)(int i); /* each element belongs to one of these; NULL: keys are numbers */
};

static const struct kind kinds[] = {
	{ "o_hash", NULL, BPF_MAP_TYPE_HASH, 4, VALUE, BPF_F_NO_PREALLOC, NULL },
	{ "o_pcpu", NULL, BPF_MAP_TYPE_PERCPU_HASH, 4, VALUE, BPF_F_NO_PREALLOC, NULL },
	{ "o_inmaps", NULL, BPF_MAP_TYPE_HASH_OF_MAPS, 4, 4, BPF_F_NO_PREALLOC, NULL },
	{ "o_trie", NULL, BPF_MAP_TYPE_LPM_TRIE, 8, VALUE, BPF_F_NO_PREALLOC, NULL },
	{ "o_rhash", "BPF_MAP_TYPE_RHASH", 0, 4, VALUE, BPF_F_NO_PREALLOC, NULL },
	{ "o_task", NULL, BPF_MAP_TYPE_TASK_STORAGE, 4, VALUE, BPF_F_NO_PREALLOC, a_task },
	{ "o_cgroup", "BPF_MAP_TYPE_CGRP_STORAGE", 0, 4, VALUE, BPF_F_NO_PREALLOC, a_cgroup },
	{ "o_inode", NULL, BPF_MAP_TYPE_INODE_STORAGE, 4, VALUE, BPF_F_NO_PREALLOC, a_file },
	{ "o_sock", NULL, BPF_MAP_TYPE_SK_STORAGE, 4, VALUE, BPF_F_NO_PREALLOC, a_socket },
};

/* Number of a type that our headers may lack; 0: the kernel does too. */
static int number_of(const struct btf *vmlinux, const char *type)
{
	int id = btf__find_by_name_kind(vmlinux, "bpf_map_type", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(vmlinux, id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(vmlinux, btf_enum(t)[i].name_off), type))
			return btf_enum(t)[i].val;
	return 0;
}

/* Storages want to know the types of key and value. */
static void add_types(struct bpf_map_create_opts *opts)
{
	static struct btf *btf;
	int number, byte, array;

	if (!btf) {
		btf = btf__new_empty();
		number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
		byte = btf__add_int(btf, "char", 1, 0);
		array = btf__add_array(btf, number, byte, VALUE);
		if (array != 3 || btf__load_into_kernel(btf))
			die("ownload: cannot load types");
	}
	opts->btf_fd = btf__fd(btf);
	opts->btf_key_type_id = 1;
	opts->btf_value_type_id = 3;
}

static int make(const struct kind *k, int type)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = k->flags);
	if (k->own)
		add_types(&opts);
	if (type == BPF_MAP_TYPE_HASH_OF_MAPS) {
		inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "o_inner", 4, 8, 1, NULL);
		opts.inner_map_fd = inner;
	}
	return bpf_map_create(type, k->name, k->key, k->value, k->own ? 0 : 4 * MANY, &opts);
}

/* Each call ends with a wait for a grace period: so all in one. */
static int all_maps(int fd, int n, int add)
{
	unsigned int keys[MANY], fds[MANY], count = n;

	for (int i = 0; i < n; i++) {
		keys[i] = i;
		fds[i] = inner;
	}
	return add ? bpf_map_update_batch(fd, keys, fds, &count, NULL)
		   : bpf_map_delete_batch(fd, keys, &count, NULL);
}

struct made {
	int fd, n;
	int owner[FEW]; /* descriptors that are keys */
};

static int element(const struct kind *k, const struct made *m, int i, int add)
{
	unsigned int key[2] = { i, i };

	if (k->own)
		key[0] = m->owner[i];
	else if (k->key == 8)
		key[0] = 32; /* bits of a prefix, which stands behind it */
	if (!add)
		return bpf_map_delete_elem(m->fd, key);
	/* Memory of all CPUs is made ready by a worker, which has to get to run first. */
	for (int tries = 0; tries < 1000; tries++) {
		if (!bpf_map_update_elem(m->fd, key, value, BPF_ANY))
			return 0;
		if (errno != ENOMEM)
			break;
		usleep(1000);
	}
	return -1;
}

static void all(const struct kind *k, const struct made *m, int add)
{
	int err = 0;

	if (m->fd < 0)
		return;
	if (k->known == BPF_MAP_TYPE_HASH_OF_MAPS)
		err = all_maps(m->fd, m->n, add);
	else
		for (int i = 0; i < m->n && !err; i++)
			err = element(k, m, i, add);
	if (err)
		die(k->name);
}

static void begin(const struct kind *k, struct made *m, int type)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);

	m->n = k->own ? FEW : MANY;
	m->fd = type ? make(k, type) : -1;
	for (int i = 0; k->own && m->fd >= 0 && i < m->n; i++) {
		m->owner[i] = k->own(i);
		if (m->owner[i] < 0)
			m->fd = -1;
	}
	if (m->fd < 0) {
		printf("none %s %d\n", k->name, type ? errno : 0);
		return;
	}
	bpf_obj_get_info_by_fd(m->fd, &info, &len);
	printf("map %u %s %d %u\n", info.id, k->name, m->n, k->key + k->value);
}

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
static struct made made[KINDS];

static void all_kinds(int add)
{
	for (size_t i = 0; i < KINDS; i++)
		all(&kinds[i], &made[i], add);
}

int main(int argc, char **argv)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	struct rlimit files = { 4096, 4096 };

	if (argc < 3 || !vmlinux) {
		fputs("usage: ownload CPU COMMAND...\n", stderr);
		return 125;
	}
	command = argv + 2;
	words = argc - 2;
	setrlimit(RLIMIT_NOFILE, &files);
	pin(atoi(argv[1]));
	for (size_t i = 0; i < KINDS; i++)
		begin(&kinds[i], &made[i],
		      kinds[i].type ? number_of(vmlinux, kinds[i].type) : kinds[i].known);
	all_kinds(1);
	say_time("added");
	run("added");
	say_time("deleting");
	all_kinds(0);
	say_time("deleted");
	run("deleted");
	say_time("end");
	for (int i = 0; i < FEW; i++)
		give_back(i);
	return 0;
}
