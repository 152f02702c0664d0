// SPDX-License-Identifier: GPL-2.0-only
/* capture.c - the writer of capture files. */
#define _GNU_SOURCE 1
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture.h"
#include "capture_file.h"
#include "capture_pack.h"
#include "log.h"

#define BLOCK_RAW (256u << 10) /* the writer's blocks: enough to compress well, little to lose */

struct capture_writer {
	int fd;
	int err; /* first failure: nothing is written after it */
	bool force;
	char *path, *part;
	uint64_t limit, written; /* bytes of the file */
	size_t raw_used;
	struct pack *pack;
	unsigned char *raw;    /* BLOCK_RAW */
	unsigned char *packed; /* PACK_WORST(BLOCK_RAW) */
	unsigned char *stored; /* block header, then room for whatever zlib makes of these */
	size_t stored_size;
};

const char *capture_part(const struct capture_writer *w)
{
	return w->part;
}

static int write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	while (size) {
		n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

static int fail(struct capture_writer *w, int err, const char *doing)
{
	w->err = err;
	return log_err(err, "%s: cannot %s: %s; it can be read up to here", w->part, doing,
		       strerror(-err));
}

static int put(struct capture_writer *w, const void *data, size_t size)
{
	int err = write_all(w->fd, data, size);

	w->written += size;
	return err ? fail(w, err, "write") : 0;
}

static int put_file_header(struct capture_writer *w)
{
	struct file_header h = {
		.version = htole32(CAPTURE_VERSION),
		.length = htole32(sizeof(h)),
		.order = BYTE_ORDER_MARK,
	};
	int err;

	memcpy(h.magic, FILE_MAGIC, sizeof(h.magic));
	h.crc = htole32(crc_of(&h, offsetof(struct file_header, crc)));
	w->written = sizeof(h);
	err = write_all(w->fd, &h, sizeof(h));
	return err ? log_err(err, "%s: cannot write: %s", w->part, strerror(-err)) : 0;
}

/* A block of what was collected; empty, it is the closing one. */
static int put_block(struct capture_writer *w)
{
	size_t packed = pack_records(w->pack, w->raw, w->raw_used, w->packed);
	struct block_header h = {
		.magic = htole32(BLOCK_MAGIC),
		.raw = htole32((uint32_t)packed),
	};
	uLongf stored = packed ? w->stored_size - sizeof(h) : 0;
	unsigned char *data = w->stored + sizeof(h);

	/* The fastest level: this host is being measured, and what is alike is packed away already. */
	if (packed && compress2(data, &stored, w->packed, packed, Z_BEST_SPEED) != Z_OK)
		return fail(w, -ENOMEM, "compress");
	h.stored = htole32((uint32_t)stored);
	h.crc = htole32(crc_of(data, stored));
	memcpy(w->stored, &h, sizeof(h));
	w->raw_used = 0;
	return put(w, w->stored, sizeof(h) + stored);
}

static bool is_same_file(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !lstat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A lock of the open file, so that it also holds between writers of one process. */
static int lock(int fd)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!fcntl(fd, F_OFD_SETLK, &all) || errno != EAGAIN)
		return 0; /* or no locks (EACCES: the kernel has none): then O_EXCL has to do */
	return -EBUSY;
}

/*
 * Removes a FILE.part that nobody writes any more. The lock comes first and the path is looked at
 * again under it: in between its writer may have finished and renamed the file that we opened.
 */
static int remove_stale_part(const char *part)
{
	int err, fd = open(part, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	err = lock(fd);
	if (!err && is_same_file(fd, part) && unlink(part))
		err = -errno;
	close(fd);
	return err;
}

/* Always a new file, so that its mode, its owner and its blocks are ours. */
static int open_part(struct capture_writer *w)
{
	int err = w->force ? remove_stale_part(w->part) : 0;

	if (!err) {
		w->fd = open(w->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		err = w->fd < 0 ? -errno : lock(w->fd);
	}
	if (!err && !is_same_file(w->fd, w->part))
		err = -EBUSY;
	if (err == -EBUSY)
		return log_err(err, "%s: another kdefer is writing this file", w->part);
	if (err == -EEXIST)
		return log_err(err,
			       "%s: left by a recording that did not end (or still runs); it can "
			       "be read as it is, remove it to record again",
			       w->part);
	return err ? log_err(err, "%s: cannot create: %s", w->part, strerror(-err)) : 0;
}

/* What is to be replaced must be an ordinary file: never a device or a directory. */
static int check_target(const char *path, bool force)
{
	struct stat st;

	if (!*path)
		return log_err(-EINVAL, "the capture needs a file name");
	if (lstat(path, &st))
		return 0; /* what else is wrong with it, creating FILE.part will tell */
	if (S_ISDIR(st.st_mode))
		return log_err(-EISDIR, "%s: is a directory", path);
	if (!S_ISREG(st.st_mode))
		return log_err(-EINVAL, "%s: is no ordinary file, so it is not replaced", path);
	if (!force)
		return log_err(-EEXIST, "%s: exists already; --force overwrites it", path);
	return 0;
}

static void free_writer(struct capture_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->path);
	free(w->part);
	pack_free(w->pack);
	free(w->raw);
	free(w->packed);
	free(w->stored);
	free(w);
}

static struct capture_writer *new_writer(const char *path, bool force)
{
	struct capture_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = -1;
	w->force = force;
	w->path = strdup(path);
	w->raw = malloc(BLOCK_RAW);
	w->pack = pack_new();
	w->packed = malloc(PACK_WORST(BLOCK_RAW));
	w->stored_size = sizeof(struct block_header) + compressBound(PACK_WORST(BLOCK_RAW));
	w->stored = malloc(w->stored_size);
	if (asprintf(&w->part, "%s.part", path) < 0)
		w->part = NULL;
	if (w->path && w->part && w->pack && w->raw && w->packed && w->stored)
		return w;
	free_writer(w);
	return NULL;
}

int capture_create(struct capture_writer **out, const char *path, bool force)
{
	int err = check_target(path, force);
	struct capture_writer *w;

	*out = NULL;
	if (err)
		return err;
	w = new_writer(path, force);
	if (!w)
		return log_err(-ENOMEM, "%s: out of memory", path);
	err = open_part(w);
	if (!err) {
		err = put_file_header(w);
		if (err)
			unlink(w->part); /* ours, and nothing in it */
	}
	if (err)
		free_writer(w);
	else
		*out = w;
	return err;
}

void capture_limit(struct capture_writer *w, uint64_t bytes)
{
	w->limit = bytes;
}

/* With `more` bytes of records, each block at its worst, and the closing block. */
static uint64_t size_with(const struct capture_writer *w, size_t more)
{
	size_t raw = w->raw_used + more;

	return w->written +
	       (raw ? sizeof(struct block_header) + compressBound(PACK_WORST(raw)) : 0) +
	       sizeof(struct block_header);
}

uint64_t capture_size(const struct capture_writer *w)
{
	return size_with(w, 0);
}

/* What is collected takes less room once it is compressed: that is tried before giving up. */
static int make_room(struct capture_writer *w, size_t len)
{
	int err = 0;

	if (w->raw_used + len > BLOCK_RAW || (w->limit && size_with(w, len) > w->limit))
		err = w->raw_used ? put_block(w) : 0;
	if (!err && w->limit && size_with(w, len) > w->limit)
		err = -EFBIG;
	return err;
}

int capture_write(struct capture_writer *w, const struct kd_rec *rec)
{
	int err, len = stream_check(rec, KD_REC_MAX);

	if (w->err)
		return w->err;
	if (len < 0)
		return log_err(-EINVAL, "%s: a record of impossible length is not written",
			       w->part);
	err = make_room(w, (size_t)len);
	if (err)
		return err;
	memcpy(w->raw + w->raw_used, rec, (size_t)len);
	w->raw_used += (size_t)len;
	return 0;
}

static int sync_part(struct capture_writer *w)
{
	/* Some file systems cannot be told to sync. */
	if (fdatasync(w->fd) && errno != EINVAL && errno != ENOSYS)
		return fail(w, -errno, "write");
	return 0;
}

int capture_flush(struct capture_writer *w)
{
	int err = w->err;

	if (err || !w->raw_used)
		return err;
	err = put_block(w);
	return err ? err : sync_part(w);
}

/* For file systems without RENAME_NOREPLACE; leaves a moment in which a file can appear. */
static int rename_if_absent(const char *from, const char *to)
{
	if (!access(to, F_OK))
		return -EEXIST;
	return rename(from, to) ? -errno : 0;
}

/* Not over a file that came to be in the meantime, unless that was asked for. */
static int rename_part(struct capture_writer *w)
{
	unsigned int flags = w->force ? 0 : RENAME_NOREPLACE;
	int err = renameat2(AT_FDCWD, w->part, AT_FDCWD, w->path, flags) ? -errno : 0;

	if (flags && (err == -EINVAL || err == -ENOSYS))
		err = rename_if_absent(w->part, w->path);
	if (!err)
		return 0;
	return log_err(err, "%s: cannot be renamed to %s (%s); the capture stays there", w->part,
		       w->path, strerror(-err));
}

int capture_close(struct capture_writer *w)
{
	int err = capture_flush(w);

	if (!err)
		err = put_block(w);
	if (!err)
		err = sync_part(w);
	if (!err)
		err = rename_part(w);
	free_writer(w);
	return err;
}

void capture_abandon(struct capture_writer *w)
{
	if (w)
		free_writer(w);
}

void capture_discard(struct capture_writer *w)
{
	if (w)
		unlink(w->part);
	capture_abandon(w);
}
