// SPDX-License-Identifier: GPL-2.0-only
/* capture_read.c - the reader of capture files, which come from anywhere: believes nothing. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"
#include "capture_file.h"
#include "capture_pack.h"
#include "clock.h"
#include "log.h"

#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK) /* so that a FIFO without a writer is no trap */
#define FOLLOW_NAP_NS 50000000ULL /* between looks at a file that is being written */

struct reader {
	const char *path;
	int fd;
	int (*stopped)(void); /* NULL: what is there is all */
	bool gone;            /* nobody writes it any more */
	struct stream *s;
	struct capture_end *end;
	struct pack *pack;                     /* NULL: records are not packed */
	unsigned char *stored, *raw, *records; /* CAPTURE_BLOCK_MAX each */
};

/* A writer holds a lock on its file, to the end. */
static bool has_writer(const struct reader *r)
{
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return !fcntl(r->fd, F_OFD_GETLK, &all) && all.l_type != F_UNLCK;
}

/* At the end of the file: 1 where more may be there by now, 0 where this is all, or -EINTR. */
static int wait_for_more(struct reader *r)
{
	const struct timespec nap = clock_timespec(FOLLOW_NAP_NS);

	if (!r->stopped || r->gone)
		return 0;
	if (r->stopped())
		return -EINTR;
	r->gone = !has_writer(r); /* what it wrote before it went is still to be read */
	if (!r->gone)
		nanosleep(&nap, NULL);
	return 1;
}

/* What was read: less than size at the end of the file. Or a negative errno, logged but for -EINTR. */
static ssize_t take(struct reader *r, void *buf, size_t size)
{
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		n = read(r->fd, (char *)buf + got, size - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return log_err(-errno, "%s: cannot read: %s", r->path, strerror(errno));
		if (!n)
			n = wait_for_more(r);
		else
			got += (size_t)n;
		if (n < 0)
			return n;
		if (!n)
			break;
	}
	return (ssize_t)got;
}

/* The end of what can be read. A file that was cut is no error, as long as there is something in it. */
static int stop(struct reader *r, const char *why)
{
	r->end->why = why;
	if (!r->end->blocks)
		return log_err(-EBADMSG, "%s: %s; nothing of this capture can be read", r->path,
			       why);
	log_warn("%s: %s; whole blocks read: %llu", r->path, why,
		 (unsigned long long)r->end->blocks);
	return 0;
}

static int check_header_end(const struct reader *r, const struct file_header *h, uint32_t length)
{
	bool marked = length >= sizeof(*h);

	if (marked && le32toh(h->crc) != crc_of(h, offsetof(struct file_header, crc)))
		return log_err(-EBADMSG, "%s: the header of this capture is damaged", r->path);
	if ((marked ? h->order : htole32(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK)
		return log_err(-EBADMSG, "%s: recorded on a machine of the other byte order",
			       r->path);
	return 0;
}

/* 1: blocks follow. */
static int read_file_header(struct reader *r)
{
	unsigned char *buf = r->raw;
	struct file_header h;
	ssize_t n = take(r, buf, HEADER_MIN);
	uint32_t length;
	int err;

	if (n < 0)
		return (int)n;
	if (!n)
		return log_err(-EBADMSG, "%s: is empty", r->path);
	if (memcmp(buf, FILE_MAGIC, n < 8 ? (size_t)n : 8))
		return log_err(-EBADMSG, "%s: is no kdefer capture", r->path);
	if (n < (ssize_t)HEADER_MIN)
		return stop(r, "the file ends inside its header");
	memcpy(&h, buf, HEADER_MIN);
	length = le32toh(h.length);
	if (le32toh(h.version) > CAPTURE_VERSION)
		return log_err(-EBADMSG,
			       "%s: written by a newer kdefer (format %u, this one reads up to %u)",
			       r->path, le32toh(h.version), CAPTURE_VERSION);
	if (!h.version || length < HEADER_MIN || length > HEADER_MAX)
		return log_err(-EBADMSG, "%s: the header of this capture is damaged", r->path);
	n = take(r, buf + HEADER_MIN, length - HEADER_MIN);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)(length - HEADER_MIN))
		return stop(r, "the file ends inside its header");
	memcpy(&h, buf, sizeof(h));
	err = check_header_end(r, &h, length);
	if (!err && le32toh(h.version) > 1) {
		r->pack = pack_new();
		err = r->pack ? 0 : log_err(-ENOMEM, "%s: out of memory", r->path);
	}
	r->end->bytes = length;
	return err ? err : 1;
}

static bool holds_whole_records(const unsigned char *raw, size_t size)
{
	int len;

	for (; size; size -= (size_t)len, raw += len) {
		len = stream_check(raw, size);
		if (len < 0)
			return false;
	}
	return true;
}

/* The closing block. What follows it is nobody's, but must not vanish without a word. */
static int read_closing(struct reader *r, const struct block_header *h)
{
	char more;
	ssize_t n;

	if (h->stored || h->crc)
		return stop(r, "a block is damaged");
	r->stopped = NULL;
	n = take(r, &more, 1);
	if (n > 0)
		log_warn("%s: more data follows the end of this capture and is left out", r->path);
	r->end->closed = true;
	r->end->bytes += sizeof(*h);
	return n < 0 ? (int)n : 0;
}

/* What zlib gave becomes *size bytes of records in *records. False: they are not whole. */
static bool restore(struct reader *r, uLongf raw, unsigned char **records, size_t *size)
{
	long n = (long)raw;

	*records = r->raw;
	if (r->pack) {
		*records = r->records;
		n = pack_restore(r->pack, r->raw, raw, r->records, CAPTURE_BLOCK_MAX);
	}
	*size = n > 0 ? (size_t)n : 0;
	return n > 0 && holds_whole_records(*records, *size);
}

/* The stored bytes of a block become *size bytes of *records. 1: they are whole. */
static int unpack(struct reader *r, const struct block_header *h, unsigned char **records,
		  size_t *records_size)
{
	uint32_t raw = le32toh(h->raw), stored = le32toh(h->stored);
	uLongf size = raw;
	ssize_t n;

	if (raw > CAPTURE_BLOCK_MAX || stored > CAPTURE_BLOCK_MAX)
		return stop(r, "a block is damaged");
	n = take(r, r->stored, stored);
	if (n < 0)
		return (int)n;
	if (n < (ssize_t)stored)
		return stop(r, "the file ends inside a block");
	if (le32toh(h->crc) != crc_of(r->stored, stored))
		return stop(r, "a block is damaged: its checksum is wrong");
	if (uncompress(r->raw, &size, r->stored, stored) != Z_OK || size != raw ||
	    !restore(r, size, records, records_size))
		return stop(r, "a block is damaged");
	return 1;
}

/* 1: another may follow. */
static int read_block(struct reader *r)
{
	struct block_header h;
	ssize_t n = take(r, &h, sizeof(h));
	unsigned char *records = NULL;
	size_t size = 0;
	int err;

	if (n < 0)
		return (int)n;
	if (!n)
		return stop(r, "its end is missing: the recording was cut off or still runs");
	if (n < (ssize_t)sizeof(h))
		return stop(r, "the file ends inside a block");
	if (le32toh(h.magic) != BLOCK_MAGIC)
		return stop(r, "a block is damaged: it does not begin like one");
	if (!h.raw)
		return read_closing(r, &h);
	err = unpack(r, &h, &records, &size);
	if (err <= 0)
		return err;
	r->end->blocks++;
	r->end->bytes += sizeof(h) + le32toh(h.stored);
	err = stream_buffer(r->s, records, size);
	return err ? err : 1;
}

/* A recording that still runs, or did not end, is under another name: that must not be a riddle. */
static int open_file(struct reader *r)
{
	char part[PATH_MAX];
	int err;

	r->fd = open(r->path, FLAGS);
	if (r->fd >= 0)
		return 0;
	err = -errno;
	snprintf(part, sizeof(part), "%s.part", r->path);
	if (err != -ENOENT || access(part, F_OK))
		return log_err(err, "%s: cannot open: %s", r->path, strerror(-err));
	if (r->stopped)
		r->fd = open(part, FLAGS);
	if (r->fd >= 0)
		return 0;
	return log_err(err,
		       "%s: is not there, but %s is: still being recorded, or cut off; it can be "
		       "read as it is",
		       r->path, part);
}

static int open_capture(struct reader *r)
{
	struct stat st;
	int err = open_file(r);

	if (err)
		return err;
	if (fstat(r->fd, &st))
		return log_err(-errno, "%s: cannot open: %s", r->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return log_err(-EISDIR, "%s: is a directory, not a capture", r->path);
	if (!S_ISREG(st.st_mode))
		return log_err(
			-EINVAL,
			"%s: is no regular file; a capture that comes through a pipe has to be "
			"saved first",
			r->path);
	r->stored = malloc(CAPTURE_BLOCK_MAX);
	r->raw = malloc(CAPTURE_BLOCK_MAX);
	r->records = malloc(CAPTURE_BLOCK_MAX);
	return r->stored && r->raw && r->records ? 0
						 : log_err(-ENOMEM, "%s: out of memory", r->path);
}

int capture_follow(const char *path, struct stream *s, struct capture_end *end,
		   int (*stopped)(void))
{
	struct reader r = { .path = path, .fd = -1, .s = s, .end = end, .stopped = stopped };
	int err;

	memset(end, 0, sizeof(*end));
	err = open_capture(&r);
	if (!err)
		err = read_file_header(&r);
	while (err > 0)
		err = read_block(&r);
	free(r.stored);
	free(r.raw);
	free(r.records);
	pack_free(r.pack);
	if (r.fd >= 0)
		close(r.fd);
	return err;
}

int capture_read(const char *path, struct stream *s, struct capture_end *end)
{
	return capture_follow(path, s, end, NULL);
}
