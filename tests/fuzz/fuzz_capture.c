// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_capture.c - any bytes as a capture, and what is then shown of it. Checksums would keep all that
 * is made from what lies behind them, so the first byte says where the rest goes in: as a file, as
 * packed records of a block, or as records.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture.h"
#include "capture_pack.h"
#include "doc.h"
#include "log.h"
#include "model.h"
#include "view_hist.h"
#include "view_report.h"
#include "view_why.h"

static void say_nothing(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	(void)line;
}

static void as_file(struct stream *s, const uint8_t *data, size_t size)
{
	int fd = memfd_create("capture", 0);
	struct capture_end end;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		capture_read(path, s, &end);
	close(fd);
}

static void as_packed(struct stream *s, const uint8_t *data, size_t size)
{
	unsigned char *records = malloc(CAPTURE_BLOCK_MAX);
	struct pack *p = pack_new();
	long n = pack_restore(p, data, size, records, CAPTURE_BLOCK_MAX);

	if (n > 0)
		stream_buffer(s, records, (size_t)n);
	pack_free(p);
	free(records);
}

static void explain(const struct model *m, const struct scope *sc, FILE *out)
{
	struct sheet s;
	struct json j;

	sheet_init(&s, out, false, SHEET_WIDTH);
	for (size_t i = 0; i < m->holdups.n; i++)
		view_why_report(&s, m, &m->holdups.h[i]);
	if (view_why_summary(&s, m, sc))
		abort();
	json_init(&j, out, false);
	doc_open(&j, "why");
	doc_holdups(&j, m, sc, NULL);
	if (doc_holdup_summary(&j, m, sc))
		abort();
	json_close(&j);
	if (json_end(&j))
		abort();
}

static void show(const struct model *m, FILE *out)
{
	const struct scope sc = { .measures = UINT64_MAX };
	const struct query q = { .top = 10 };
	const struct kd_rec_self before = { 0 };
	struct view_hist v = { .model = m, .scope = &sc, .width = 80 };
	struct report r = { .model = m,
			    .scope = &sc,
			    .top = 10,
			    .file = "made",
			    .version = "0",
			    .before = &before };
	struct metric *metrics;
	struct sheet s;

	if (model_metrics(m, &q, &metrics, &v.n))
		abort();
	v.metrics = r.metrics = metrics;
	r.n = v.n;
	view_hist(out, &v);
	sheet_init(&s, out, true, SHEET_WIDTH);
	view_report(&s, &r);
	free(metrics);
	explain(m, &sc, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct model m;
	struct stream s;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		log_set_sink(say_nothing, NULL);
	}
	if (size < 2)
		return 0;
	model_init(&m);
	stream_init(&s, model_record, &m);
	if (data[0] % 3 == 0)
		as_file(&s, data + 1, size - 1);
	else if (data[0] % 3 == 1)
		as_packed(&s, data + 1, size - 1);
	else
		stream_buffer(&s, data + 1, size - 1);
	show(&m, nowhere);
	model_free(&m);
	return 0;
}
