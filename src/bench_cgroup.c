// SPDX-License-Identifier: GPL-2.0-only
/* bench_cgroup.c - a cgroup of a load's own that counts memory. */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_guard.h"
#include "bench_memory.h"
#include "file.h"

#define STOCK_PAGES 64 /* that a CPU is charged for in advance */

int bench_cgroup_write(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX + 64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static bool has_word(const char *dir, const char *file, const char *word)
{
	char path[PATH_MAX + 64], line[512];
	size_t len = strlen(word);

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (file_line(path, line, sizeof(line)))
		return false;
	for (const char *at = line; (at = strstr(at, word)); at += len)
		if ((at == line || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

/* --- where --- */

/* The mount of the hierarchy that counts memory. */
static int find_mount(char *dir, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	int version = 0;
	struct mntent *m;

	while (f && !version && (m = getmntent(f))) {
		if (!strcmp(m->mnt_type, "cgroup") && hasmntopt(m, "memory"))
			version = 1;
		else if (!strcmp(m->mnt_type, "cgroup2") &&
			 has_word(m->mnt_dir, "cgroup.controllers", "memory"))
			version = 2;
		if (version)
			snprintf(dir, size, "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return version;
}

/* Our own path in it, "" where it cannot be told: "/a/b". */
static void find_own(int version, char *path, size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 128];

	*path = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':'), *at = names ? strchr(names + 1, ':') : NULL;

		if (!at)
			continue;
		*at++ = '\0';
		at[strcspn(at, "\n")] = '\0';
		if (version == 2 ? !names[1] : strstr(names + 1, "memory") != NULL)
			snprintf(path, size, "%s", strcmp(at, "/") ? at : "");
	}
	if (f)
		fclose(f);
}

/* --- making one --- */

static int make_in(struct bench_cgroup *g, struct bench_guard *guard, const char *dir,
		   const char *suffix)
{
	int err;

	if (snprintf(g->path, sizeof(g->path), "%s/kdefer-bench-%d%s%s", dir, getpid(),
		     suffix ? "-" : "", suffix ? suffix : "") >= (int)sizeof(g->path))
		return -ENAMETOOLONG;
	err = bench_guard_cgroup(guard, g->path);
	if (!err && mkdir(g->path, 0755))
		err = -errno;
	if (err)
		*g->path = '\0';
	return err;
}

/* The root passes memory on to the cgroups below it from now on, until we end. */
static int enable_memory(const char *root, struct bench_guard *guard)
{
	char path[PATH_MAX + 64];
	int err;

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", root);
	err = bench_guard_write(guard, path, "-memory");
	return err ? err : bench_cgroup_write(root, "cgroup.subtree_control", "+memory");
}

/*
 * In v2 only a cgroup without processes has children that count memory, so ours is not the place:
 * the nearest above it is that does.
 */
static int make_v2(struct bench_cgroup *g, struct bench_guard *guard, const char *root,
		   const char *own, const char *suffix)
{
	char dir[2 * PATH_MAX];
	int err;

	snprintf(dir, sizeof(dir), "%s%s", root, own);
	for (; strlen(dir) >= strlen(root); *strrchr(dir, '/') = '\0') {
		if (has_word(dir, "cgroup.subtree_control", "memory") &&
		    !make_in(g, guard, dir, suffix))
			return 0;
		if (strlen(dir) == strlen(root))
			break;
	}
	if (has_word(root, "cgroup.subtree_control", "memory"))
		return -EACCES; /* what others have switched on stays so */
	err = enable_memory(root, guard);
	return err ? err : make_in(g, guard, root, suffix);
}

static int make_v1(struct bench_cgroup *g, struct bench_guard *guard, const char *root,
		   const char *own, const char *suffix)
{
	char dir[2 * PATH_MAX];

	snprintf(dir, sizeof(dir), "%s%s", root, own);
	return make_in(g, guard, dir, suffix) ? make_in(g, guard, root, suffix) : 0;
}

int bench_cgroup_make(struct bench_cgroup *g, struct bench_guard *guard, const char *suffix)
{
	char root[PATH_MAX], own[PATH_MAX];
	int err;

	memset(g, 0, sizeof(*g));
	g->version = find_mount(root, sizeof(root));
	if (!g->version) {
		snprintf(g->why, sizeof(g->why),
			 "no cgroup file system that counts memory is mounted");
		return -ENODEV;
	}
	find_own(g->version, own, sizeof(own));
	err = g->version == 2 ? make_v2(g, guard, root, own, suffix)
			      : make_v1(g, guard, root, own, suffix);
	if (!err)
		return 0;
	*g->path = '\0';
	snprintf(g->why, sizeof(g->why),
		 "a cgroup that counts memory cannot be made below %.150s: %s", root,
		 strerror(-err));
	return -ENODEV;
}

int bench_cgroup_remove(struct bench_cgroup *g)
{
	int err = 0;

	if (*g->path && rmdir(g->path))
		err = -errno;
	*g->path = '\0';
	return err;
}

int bench_cgroup_join(const struct bench_cgroup *g)
{
	return bench_cgroup_write(g->path, "cgroup.procs", "0");
}

int bench_cgroup_limit(const struct bench_cgroup *g, uint64_t bytes)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	return bench_cgroup_write(g->path, g->version == 2 ? "memory.max" : "memory.limit_in_bytes",
				  text);
}

int bench_cgroup_usage(const struct bench_cgroup *g, uint64_t *bytes)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", g->path,
		 g->version == 2 ? "memory.current" : "memory.usage_in_bytes");
	return file_u64(path, bytes);
}

int bench_cgroup_limit_hits(const struct bench_cgroup *g, uint64_t *times)
{
	char path[PATH_MAX + 64], line[128];
	FILE *f;

	if (g->version == 1) {
		snprintf(path, sizeof(path), "%s/memory.failcnt", g->path);
		return file_u64(path, times);
	}
	snprintf(path, sizeof(path), "%s/memory.events", g->path);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	*times = 0;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "max ", 4))
			*times = strtoull(line + 4, NULL, 10);
	fclose(f);
	return 0;
}

uint64_t bench_memory_resolution(void)
{
	return (uint64_t)STOCK_PAGES * (uint64_t)sysconf(_SC_PAGESIZE) *
	       (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}
