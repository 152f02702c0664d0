// SPDX-License-Identifier: GPL-2.0-only
/* keep.c - writes the records of a live command to a capture as they come. */
#include <errno.h>

#include "keep.h"

static int put(void *ctx, const struct kd_rec *rec)
{
	return capture_write(((struct keep *)ctx)->w, rec);
}

int keep_open(struct keep *k, const char *path, bool force, uint64_t sync_ns)
{
	*k = (struct keep){ .sync_ns = sync_ns };
	sieve_init(&k->sieve, put, k);
	return capture_create(&k->w, path, force);
}

static int sync_now_and_then(struct keep *k, const struct kd_rec *rec)
{
	uint64_t now;

	if (rec->kind != KD_REC_TICK)
		return 0;
	now = ((const struct kd_rec_tick *)rec)->mono_ns;
	if (now - k->synced_ns < k->sync_ns)
		return 0;
	k->synced_ns = now;
	return capture_flush(k->w);
}

void keep_record(struct keep *k, const struct kd_rec *rec)
{
	int err;

	if (!k->w || k->full)
		return;
	err = sieve_record(&k->sieve, rec);
	if (err == -EFBIG) {
		k->full = true;
		return;
	}
	if (!err)
		err = sync_now_and_then(k, rec);
	if (!err)
		return;
	capture_abandon(k->w);
	k->w = NULL;
	k->failed = true;
}

void keep_close(struct keep *k)
{
	if (k->w && capture_close(k->w))
		k->failed = true;
	k->w = NULL;
	sieve_free(&k->sieve);
}
