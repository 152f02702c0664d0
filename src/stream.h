/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - records (bpf/defer.h) on their way from the ring or a capture to whoever listens.
 *
 * A record is checked here once: shape, length, NUL-terminated strings, ranges of enums that index
 * tables. Whoever gets one from here need not check again.
 */
#ifndef KDEFER_STREAM_H
#define KDEFER_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"

/* Takes one valid record. 0, or a negative errno that stops the stream. */
typedef int (*stream_sink)(void *ctx, const struct kd_rec *rec);

struct stream {
	stream_sink sink;
	void *ctx;
	uint64_t records; /* passed on */
	uint64_t unknown; /* of a kind this build does not know: skipped */
	uint64_t bad;     /* malformed: dropped */
};

void stream_init(struct stream *s, stream_sink sink, void *ctx);

/* What was left out of `file`, or of a live stream where that is NULL: a warning for each kind. */
void stream_say_missing(const struct stream *s, const char *file);

/* One record of `size` bytes as the ring buffer hands it over. 0, or what the sink said. */
int stream_record(struct stream *s, const void *data, size_t size);

/*
 * All records of a buffer. Stops at the first one whose length cannot be believed (-EBADMSG, counted)
 * since what follows cannot be found any more.
 */
int stream_buffer(struct stream *s, const void *data, size_t size);

/* Length of the record at data (>= sizeof(struct kd_rec)), or -EBADMSG. */
int stream_check(const void *data, size_t avail);

/* Strings of a text record: the i-th (0-based), "" past the end. */
const char *stream_text(const struct kd_rec_text *rec, int i);

/* The same of any record: strings that begin at `offset` and go to its end. */
const char *stream_string(const struct kd_rec *rec, size_t offset, int i);

/* Builds a text record in buf (KD_REC_MAX bytes, 8-aligned), cutting what does not fit. */
const struct kd_rec *stream_make_text(void *buf, uint16_t kind, uint64_t a, uint64_t b,
				      const char *const *texts, int n);

/* Puts strings behind the fixed part of a record in such a buf, and sets its length. */
void stream_put_strings(void *buf, size_t offset, const char *const *texts, int n);

#endif
