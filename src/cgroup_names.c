// SPDX-License-Identifier: GPL-2.0-only
/* cgroup_names.c - the id of a cgroup is the number of its folder's inode. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../bpf/defer.h"
#include "cgroup_names.h"
#include "file.h"

#define MOUNT "/sys/fs/cgroup"
#define HYBRID MOUNT "/unified" /* beside hierarchies of version 1 */
#define WALKS_MAX 16
#define FOLDERS_MAX 4096 /* of one walk: some ten milliseconds */
#define DEPTH_MAX 16

/* --- by the task that was in it, if it still is --- */

static int of_task(const char *mount, uint64_t id, uint32_t pid, char *buf, size_t size)
{
	char path[64], line[PATH_MAX], full[PATH_MAX + sizeof(MOUNT)];
	struct stat st;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	/* "0::/path": the one line on hosts without version 1, else the last, which file_field() finds. */
	if (!pid || file_field(path, "0:", line, sizeof(line)))
		return -ENOENT;
	at = strchr(line, '/');
	if (!at || snprintf(full, sizeof(full), "%s%s", mount, at) >= (int)sizeof(full) ||
	    stat(full, &st) || st.st_ino != id)
		return -ENOENT;
	snprintf(buf, size, "%s", at);
	return 0;
}

/* --- by going through all of them --- */

struct walk {
	const char *mount;
	uint64_t id;
	unsigned int folders;
	char path[PATH_MAX];
};

static int look_into(struct walk *w, size_t len, int depth);

static int look_at(struct walk *w, size_t len, int depth, const struct dirent *e)
{
	size_t room = sizeof(w->path) - len;
	int err = -ENOENT;

	if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
	    ++w->folders > FOLDERS_MAX ||
	    snprintf(w->path + len, room, "/%s", e->d_name) >= (int)room)
		return -ENOENT;
	if (e->d_ino == w->id)
		return 0;
	if (depth < DEPTH_MAX)
		err = look_into(w, len + 1 + strlen(e->d_name), depth + 1);
	return err;
}

static int look_into(struct walk *w, size_t len, int depth)
{
	DIR *dir = opendir(w->path);
	const struct dirent *e;
	int err = -ENOENT;

	if (!dir)
		return -ENOENT;
	while (err && (e = readdir(dir)))
		err = look_at(w, len, depth, e);
	closedir(dir);
	return err;
}

static int by_walk(struct cgroup_names *c, const char *mount, uint64_t id, char *buf, size_t size)
{
	struct walk w = { .mount = mount, .id = id };
	size_t len = strlen(mount);
	struct stat st;

	if (!stat(mount, &st) && st.st_ino == id) {
		snprintf(buf, size, "/");
		return 0;
	}
	if (c->walks >= WALKS_MAX)
		return -ENOENT;
	c->walks++;
	snprintf(w.path, sizeof(w.path), "%s", mount);
	if (look_into(&w, len, 0))
		return -ENOENT;
	snprintf(buf, size, "%s", w.path + len);
	return 0;
}

int cgroup_names_find(struct cgroup_names *c, const char *mount, uint64_t id, uint32_t pid,
		      char *buf, size_t size)
{
	return of_task(mount, id, pid, buf, size) ? by_walk(c, mount, id, buf, size) : 0;
}

/* --- records --- */

static bool is_new(const struct cgroup_names *c, uint64_t id)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->seen[i] == id)
			return false;
	return id && c->n < CGROUP_NAMES_MAX;
}

static int say(struct cgroup_names *c, uint64_t id, uint32_t pid, struct stream *out)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	const char *mount = MOUNT;
	char path[KD_REC_MAX / 2];
	const char *texts[] = { path };
	const struct kd_rec *rec;
	struct stat st;

	if (!is_new(c, id))
		return 0;
	c->seen[c->n++] = id;
	if (!stat(HYBRID, &st))
		mount = HYBRID;
	if (cgroup_names_find(c, mount, id, pid, path, sizeof(path)))
		return 0; /* gone already: its number tells it from others */
	rec = stream_make_text(buf, KD_REC_NAME, KD_NAME_CGROUP, id, texts, 1);
	return stream_record(out, rec, rec->len);
}

int cgroup_names_take(struct cgroup_names *c, const void *record, size_t size, struct stream *out)
{
	const struct kd_rec *rec = record;
	const struct kd_rec_witness *w = record;
	const struct kd_rec_holdup *h = record;

	if (size >= sizeof(*w) && rec->kind == KD_REC_WITNESS)
		return say(c, w->cgroup, w->tgid, out);
	if (size >= sizeof(*h) && rec->kind == KD_REC_HOLDUP)
		return say(c, h->cgroup, h->source == KD_SRC_RSTAT ? 0 : h->tgid, out);
	return 0;
}
