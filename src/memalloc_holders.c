// SPDX-License-Identifier: GPL-2.0-only
/* memalloc_holders.c - who holds maps: processes, by their open files, and paths in BPF file systems. */
#include <errno.h>
#include <ftw.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf_util.h"
#include "memalloc_maps.h"

#define PINS_MAX 4096 /* of all file systems; what is beyond is not looked at */

struct pin {
	uint32_t id;
	char path[256];
};

struct ml_holders {
	struct ml_holder *task; /* by map, then process; each once */
	size_t ntasks;
	struct pin *pin;
	size_t npins;
};

static int by_map(const void *a, const void *b)
{
	const struct ml_holder *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

static void drop_repeated(struct ml_holders *h)
{
	size_t n = 0;

	qsort(h->task, h->ntasks, sizeof(*h->task), by_map);
	for (size_t i = 0; i < h->ntasks; i++)
		if (!n || by_map(&h->task[n - 1], &h->task[i]))
			h->task[n++] = h->task[i];
	h->ntasks = n;
}

/* --- pins --- */

static struct ml_holders *walking; /* nftw() hands nothing on */

static uint32_t pinned_map(const char *path)
{
	struct bpf_map_info info = { 0 };
	__u32 len = sizeof(info);
	char link[64], what[32] = "";
	int fd = bpf_obj_get(path);

	if (fd < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, what, sizeof(what) - 1) < 0 || strcmp(what, "anon_inode:bpf-map") ||
	    bpf_obj_get_info_by_fd(fd, &info, &len))
		info.id = 0;
	close(fd);
	return info.id;
}

static int on_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	struct pin *p;
	uint32_t id = type == FTW_F ? pinned_map(path) : 0;

	(void)st;
	(void)at;
	if (!id)
		return 0;
	if (walking->npins == PINS_MAX)
		return 1;
	p = &walking->pin[walking->npins++];
	p->id = id;
	snprintf(p->path, sizeof(p->path), "%s", path);
	return 0;
}

static int read_pins(struct ml_holders *h)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	h->pin = calloc(PINS_MAX, sizeof(*h->pin));
	if (!f || !h->pin) {
		if (f)
			endmntent(f);
		return h->pin ? -errno : -ENOMEM;
	}
	walking = h;
	while ((m = getmntent(f)))
		if (!strcmp(m->mnt_type, "bpf"))
			nftw(m->mnt_dir, on_file, 16, FTW_PHYS | FTW_MOUNT);
	endmntent(f);
	return 0;
}

/* --- all --- */

int memalloc_holders_read(struct ml_holders **out, int prog_fd)
{
	struct ml_holders *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	err = bpf_util_iterate(prog_fd, sizeof(*h->task), (void **)&h->task, &h->ntasks);
	if (!err)
		err = read_pins(h);
	if (err) {
		memalloc_holders_free(h);
		return err;
	}
	drop_repeated(h);
	*out = h;
	return 0;
}

void memalloc_holders_free(struct ml_holders *h)
{
	if (!h)
		return;
	free(h->task);
	free(h->pin);
	free(h);
}

struct texts {
	const char **text;
	int n, max;
	int more; /* that there was no room for */
	char *buf;
	size_t size, used;
};

static void add_text(struct texts *t, const char *first, const char *second)
{
	size_t len = strlen(first) + 1 + strlen(second) + 1;

	if (t->n == t->max - 1 || t->used + len > t->size) {
		t->more++;
		return;
	}
	t->text[t->n++] = t->buf + t->used;
	t->used += (size_t)snprintf(t->buf + t->used, len, "%s %s", first, second) + 1;
}

static size_t first_of(const struct ml_holders *h, uint32_t id)
{
	size_t low = 0, high = h->ntasks;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (h->task[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int memalloc_holders_texts(const struct ml_holders *h, uint32_t id, const char **text, int max,
			   char *buf, size_t size)
{
	/* Kept back for the last text. */
	struct texts t = { .text = text, .max = max, .buf = buf, .size = size - 24 };
	char number[24];

	for (size_t i = first_of(h, id); i < h->ntasks && h->task[i].id == id; i++) {
		snprintf(number, sizeof(number), "%u", h->task[i].tgid);
		add_text(&t, number, h->task[i].comm);
	}
	for (size_t i = 0; i < h->npins; i++)
		if (h->pin[i].id == id)
			add_text(&t, "pin", h->pin[i].path);
	if (t.more) {
		snprintf(number, sizeof(number), "%d", t.more);
		t.max++;
		t.size += 24;
		add_text(&t, "more", number);
	}
	return t.n;
}
