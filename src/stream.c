// SPDX-License-Identifier: GPL-2.0-only
/* stream.c - checks each record once, so that nobody behind it has to. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "log.h"
#include "plan.h"
#include "stream.h"

_Static_assert(KD_REC_MAX % 8 == 0 && KD_REC_MAX <= UINT16_MAX, "a length fits its field");

void stream_init(struct stream *s, stream_sink sink, void *ctx)
{
	memset(s, 0, sizeof(*s));
	s->sink = sink;
	s->ctx = ctx;
}

void stream_say_missing(const struct stream *s, const char *file)
{
	if (s->bad)
		log_warn("%s%s%" PRIu64 " malformed record%s left out", file ? file : "",
			 file ? ": " : "", s->bad, s->bad == 1 ? " is" : "s are");
	if (s->unknown && file)
		log_warn("%s: %" PRIu64 " record%s of a newer kdefer %s left out", file, s->unknown,
			 s->unknown == 1 ? "" : "s", s->unknown == 1 ? "is" : "are");
}

int stream_check(const void *data, size_t avail)
{
	struct kd_rec rec;

	if (avail < sizeof(rec))
		return -EBADMSG;
	memcpy(&rec, data, sizeof(rec));
	if (rec.len < sizeof(rec) || rec.len > KD_REC_MAX || rec.len % 8 || rec.len > avail)
		return -EBADMSG;
	return rec.len;
}

static bool series_ok(const struct kd_rec *rec)
{
	const struct kd_rec_series *r = (const void *)rec;

	if (r->source >= KD_SRC_COUNT || r->measure >= KD_M_COUNT || r->flavour >= KD_FL_COUNT ||
	    r->dim >= KD_DIM_COUNT)
		return false;
	if (r->dim == KD_DIM_CPU && r->key[0] > UINT32_MAX)
		return false;
	if (r->flags & KD_SERIES_UPPER && r->flags & KD_SERIES_LOWER)
		return false;
	return memchr(r->name, '\0', sizeof(r->name));
}

static bool hist_ok(const struct kd_rec *rec)
{
	return ((const struct kd_rec_hist *)rec)->group < KD_HIST_GROUPS;
}

static bool lost_ok(const struct kd_rec *rec)
{
	const struct kd_rec_total *r = (const void *)rec;

	return r->source < KD_SRC_COUNT && r->what < KD_LOST_COUNT;
}

static bool count_ok(const struct kd_rec *rec)
{
	const struct kd_rec_total *r = (const void *)rec;

	return r->source < KD_SRC_COUNT && r->what < KD_CNT_COUNT;
}

/* The padding is zeros too, so a last byte that is none means a string without an end. */
static bool text_ok(const struct kd_rec *rec)
{
	return rec->len > sizeof(struct kd_rec_text) && !((const char *)rec)[rec->len - 1];
}

static bool host_ok(const struct kd_rec *rec)
{
	return text_ok(rec) && *stream_text((const void *)rec, 0);
}

static bool plan_ok(const struct kd_rec *rec)
{
	uint64_t a = ((const struct kd_rec_text *)rec)->a;

	return text_ok(rec) && (a & 0xff) < KD_SRC_COUNT && (a >> 8 & 0xff) < KD_M_COUNT &&
	       (a >> 16 & 0xff) < KD_FL_COUNT && (a >> 24 & 0xff) <= PLAN_ON;
}

static bool pending_ok(const struct kd_rec *rec)
{
	const struct kd_rec_pending *r = (const void *)rec;

	return r->source < KD_SRC_COUNT && r->flavour < KD_FL_COUNT &&
	       r->length <= KD_PENDING_MOST &&
	       (r->bytes <= KD_PENDING_MOST || r->bytes == KD_UNKNOWN) &&
	       (r->list < KD_LIST_COUNT || (r->list >= KD_LIST_UNKNOWN && r->list < KD_LIST_MAX));
}

static bool gp_ok(const struct kd_rec *rec)
{
	const struct kd_rec_gp *r = (const void *)rec;

	return r->flavour < KD_FL_COUNT && r->state < KD_GP_STATE_COUNT;
}

static bool owed_ok(const struct kd_rec *rec)
{
	const struct kd_rec_owed *r = (const void *)rec;

	return r->flavour < KD_FL_COUNT && memchr(r->comm, '\0', sizeof(r->comm));
}

static bool holdup_ok(const struct kd_rec *rec)
{
	const struct kd_rec_holdup *r = (const void *)rec;

	return r->source < KD_SRC_COUNT && r->flavour < KD_FL_COUNT && r->what < KD_WAIT_COUNT &&
	       r->end_ns >= r->begin_ns && memchr(r->comm, '\0', sizeof(r->comm)) &&
	       memchr(r->name, '\0', sizeof(r->name));
}

static bool witness_ok(const struct kd_rec *rec)
{
	const struct kd_rec_witness *r = (const void *)rec;

	return r->source < KD_SRC_COUNT && r->role < KD_ROLE_COUNT &&
	       memchr(r->comm, '\0', sizeof(r->comm)) && memchr(r->stack, '\0', sizeof(r->stack));
}

static bool name_ok(const struct kd_rec *rec)
{
	uint64_t a = ((const struct kd_rec_text *)rec)->a;

	return text_ok(rec) && (a & 0xff) < KD_NAME_COUNT && (a >> 8 & 0xff) < KD_SRC_COUNT;
}

static bool run_ok(const struct kd_rec *rec)
{
	const struct kd_rec_run *r = (const void *)rec;

	return rec->len > sizeof(*r) && r->side < KD_SIDE_COUNT && r->ended <= 1 &&
	       !((const char *)rec)[rec->len - 1];
}

static bool value_ok(const struct kd_rec *rec)
{
	const struct kd_rec_value *r = (const void *)rec;

	return rec->len > sizeof(*r) && r->better < KD_BETTER_COUNT && isfinite(r->value) &&
	       !((const char *)rec)[rec->len - 1] && *stream_string(rec, sizeof(*r), 0);
}

static const struct kind {
	uint16_t kind;
	size_t size; /* what this build knows of it; a newer writer may add to it */
	bool (*ok)(const struct kd_rec *rec);
} kinds[] = {
	{ KD_REC_TICK, sizeof(struct kd_rec_tick), NULL },
	{ KD_REC_SERIES, sizeof(struct kd_rec_series), series_ok },
	{ KD_REC_HIST, sizeof(struct kd_rec_hist), hist_ok },
	{ KD_REC_STAT, sizeof(struct kd_rec_stat), NULL },
	{ KD_REC_WORST, sizeof(struct kd_rec_worst), NULL },
	{ KD_REC_LOST, sizeof(struct kd_rec_total), lost_ok },
	{ KD_REC_COUNT, sizeof(struct kd_rec_total), count_ok },
	{ KD_REC_PENDING, sizeof(struct kd_rec_pending), pending_ok },
	{ KD_REC_GP, sizeof(struct kd_rec_gp), gp_ok },
	{ KD_REC_OWED, sizeof(struct kd_rec_owed), owed_ok },
	{ KD_REC_HOLDUP, sizeof(struct kd_rec_holdup), holdup_ok },
	{ KD_REC_WITNESS, sizeof(struct kd_rec_witness), witness_ok },
	{ KD_REC_HOST, sizeof(struct kd_rec_text), host_ok },
	{ KD_REC_PLAN, sizeof(struct kd_rec_text), plan_ok },
	{ KD_REC_SELF, sizeof(struct kd_rec_self), NULL },
	{ KD_REC_EVENT, sizeof(struct kd_rec_text), text_ok },
	{ KD_REC_NAME, sizeof(struct kd_rec_text), name_ok },
	{ KD_REC_RUN, sizeof(struct kd_rec_run), run_ok },
	{ KD_REC_VALUE, sizeof(struct kd_rec_value), value_ok },
};

static const struct kind *kind_of(const struct kd_rec *rec)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].kind == rec->kind)
			return &kinds[i];
	return NULL;
}

/* rec is aligned and as long as it says. */
static int pass_on(struct stream *s, const struct kd_rec *rec)
{
	const struct kind *kind = kind_of(rec);

	if (!kind) {
		s->unknown++;
		return 0;
	}
	if (rec->len < kind->size || (kind->ok && !kind->ok(rec))) {
		s->bad++;
		return 0;
	}
	s->records++;
	return s->sink(s->ctx, rec);
}

int stream_record(struct stream *s, const void *data, size_t size)
{
	union {
		struct kd_rec rec;
		uint64_t align;
		char bytes[KD_REC_MAX];
	} copy;
	int len = stream_check(data, size);

	if (len < 0) {
		s->bad++;
		return 0;
	}
	if ((uintptr_t)data % sizeof(uint64_t) == 0)
		return pass_on(s, data);
	memcpy(copy.bytes, data, (size_t)len);
	return pass_on(s, &copy.rec);
}

int stream_buffer(struct stream *s, const void *data, size_t size)
{
	const char *at = data, *end = at + size;
	int len, err;

	while (at < end) {
		len = stream_check(at, (size_t)(end - at));
		if (len < 0) {
			s->bad++;
			return len;
		}
		err = stream_record(s, at, (size_t)len);
		if (err)
			return err;
		at += len;
	}
	return 0;
}

const char *stream_string(const struct kd_rec *rec, size_t offset, int i)
{
	const char *at = (const char *)rec + offset, *end = (const char *)rec + rec->len, *nul;

	for (; at < end; at = nul + 1) {
		nul = memchr(at, '\0', (size_t)(end - at));
		if (!nul)
			break;
		if (i-- == 0)
			return at;
	}
	return "";
}

const char *stream_text(const struct kd_rec_text *rec, int i)
{
	return stream_string(&rec->rec, offsetof(struct kd_rec_text, text), i);
}

/* Bytes of text to take so that they fit into room without splitting a UTF-8 character. */
static size_t cut(const char *text, size_t room)
{
	size_t len = strnlen(text, room + 1), back;

	if (len <= room)
		return len;
	for (back = 0; back < 3 && back < room && (text[room - back] & 0xc0) == 0x80; back++)
		;
	return (text[room - back] & 0xc0) == 0x80 ? room : room - back;
}

void stream_put_strings(void *buf, size_t offset, const char *const *texts, int n)
{
	size_t used = 0, room = KD_REC_MAX - offset, len;
	char *at = (char *)buf + offset;
	struct kd_rec *rec = buf;
	int i;

	memset(at, 0, room);
	/* Each string leaves room for the NULs of those after it, so that none moves up. */
	for (i = 0; i < n && used < room; i++) {
		size_t ends = (size_t)(n - i) < room - used ? (size_t)(n - i) : room - used;

		len = texts[i] ? cut(texts[i], room - used - ends) : 0;
		if (len)
			memcpy(at + used, texts[i], len);
		used += len + 1;
	}
	used = (used + 7) & ~(size_t)7;
	rec->len = (uint16_t)(offset + (used ? used : 8));
}

const struct kd_rec *stream_make_text(void *buf, uint16_t kind, uint64_t a, uint64_t b,
				      const char *const *texts, int n)
{
	struct kd_rec_text *rec = buf;

	memset(rec, 0, sizeof(*rec));
	rec->rec.kind = kind;
	rec->a = a;
	rec->b = b;
	stream_put_strings(buf, offsetof(struct kd_rec_text, text), texts, n);
	return &rec->rec;
}
