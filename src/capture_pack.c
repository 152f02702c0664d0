// SPDX-License-Identifier: GPL-2.0-only
/* capture_pack.c - what an hour of ticks has in common is not written an hour long. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../bpf/defer.h"
#include "capture_pack.h"

#define WORDS 39 /* of the longest record that is packed, without its header */
#define SHORT 9  /* of the longest of those of which there may be very many things */
#define SLOTS (1u << 14)
#define WIDE_SLOTS (1u << 8)

/* Numbers of rows stand in captures: add at the end. A record of another length is written as it is. */
static const struct packed {
	uint16_t kind, len;
	uint8_t told; /* words at its beginning that tell things of this kind apart, besides the id */
	bool by_id;
} packed[] = {
	{ KD_REC_TICK, 32, 0, false },    { KD_REC_HIST, 80, 1, true },
	{ KD_REC_STAT, 32, 0, true },     { KD_REC_WORST, 32, 0, false },
	{ KD_REC_LOST, 24, 1, false },    { KD_REC_COUNT, 24, 1, false },
	{ KD_REC_PENDING, 56, 3, false }, { KD_REC_GP, 40, 0, false },
	{ KD_REC_SELF, 80, 0, false },    { KD_REC_GP, 48, 0, false },
	{ KD_REC_WORST, 320, 0, true },
};
#define KINDS (sizeof(packed) / sizeof(packed[0]))

_Static_assert(sizeof(struct kd_rec_self) == 80, "as in the table");
_Static_assert(sizeof(struct kd_rec_worst_who) == 320, "as in the table");
_Static_assert(sizeof(struct kd_rec_gp) == 48, "as in the table");
_Static_assert(sizeof(struct kd_rec_pending) == 56, "as in the table");

/* The last record of one thing. Another thing that falls on the same slot takes it over. */
struct slot {
	uint32_t id;
	uint32_t kind; /* row + 1; 0: none yet */
	uint64_t word[SHORT];
};

struct pack {
	struct slot slots[SLOTS];
	uint64_t wide[WIDE_SLOTS][WORDS]; /* the last one with such a stack */
	uint64_t told[KINDS][SHORT];      /* of the last record of each kind */
	uint32_t id;                      /* of the last record that was packed */
};

struct pack *pack_new(void)
{
	return calloc(1, sizeof(struct pack));
}

void pack_free(struct pack *p)
{
	free(p);
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

static unsigned char *put_varint(unsigned char *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*out++ = (unsigned char)(v | 0x80);
	*out++ = (unsigned char)v;
	return out;
}

/* Where it ends; NULL: it does not, or is none. */
static const unsigned char *get_varint(const unsigned char *at, const unsigned char *end,
				       uint64_t *v)
{
	unsigned int shift;

	*v = 0;
	for (shift = 0; at < end && shift < 64; shift += 7) {
		*v |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at++ & 0x80))
			return at;
	}
	return NULL;
}

static uint64_t hash_of(size_t row, uint32_t id, const uint64_t *word)
{
	uint64_t hash = (row + 1) * 0x9e3779b97f4a7c15ull;
	size_t i;

	hash = (hash ^ id) * 0xff51afd7ed558ccdull;
	for (i = 0; i < packed[row].told; i++)
		hash = ((hash ^ hash >> 32) + word[i]) * 0xc4ceb9fe1a85ec53ull;
	return hash;
}

/* The memory of the thing that a record is of: all zero where it is the first of it. */
static uint64_t *find_words(struct pack *p, size_t row, uint32_t rec_id, const uint64_t *word)
{
	uint32_t id = packed[row].by_id ? rec_id : 0;
	struct slot *s = &p->slots[hash_of(row, id, word) >> 50];

	if (s->kind == row + 1 && s->id == id &&
	    !memcmp(s->word, word, packed[row].told * sizeof(*word)))
		return s->word;
	memset(s, 0, sizeof(*s));
	s->kind = (uint32_t)row + 1;
	s->id = id;
	return s->word;
}

_Static_assert(SLOTS == 1u << (64 - 50), "a slot for each value of the hash");

/*
 * Worst samples that say who: neither series nor task tells what stack comes, and most of such a record
 * is its stack. So which memory is meant is chosen by that, and said.
 */
static bool is_wide(size_t row)
{
	return packed[row].len > sizeof(struct kd_rec) + SHORT * sizeof(uint64_t);
}

static size_t wide_slot(const uint64_t *word)
{
	size_t i = (sizeof(struct kd_rec_worst_who) -
		    sizeof(((struct kd_rec_worst_who *)0)->stack) - sizeof(struct kd_rec)) /
		   sizeof(*word);
	uint64_t hash = 0;

	for (; i < WORDS; i++)
		hash = ((hash ^ hash >> 32) + word[i]) * 0xc4ceb9fe1a85ec53ull;
	return hash >> 56;
}

_Static_assert(WIDE_SLOTS == 1u << (64 - 56), "a slot for each value of the hash");

static size_t row_of(const struct kd_rec *rec)
{
	size_t row;

	for (row = 0; row < KINDS; row++)
		if (packed[row].kind == rec->kind && packed[row].len == rec->len)
			break;
	return row;
}

static unsigned char *pack_one(struct pack *p, size_t row, const struct kd_rec *rec,
			       unsigned char *out)
{
	size_t n = (rec->len - sizeof(*rec)) / sizeof(uint64_t), i;
	uint64_t word[WORDS], differ = 0;
	uint64_t *before;

	memcpy(word, rec + 1, n * sizeof(*word));
	*out++ = (unsigned char)(row + 1);
	out = put_varint(out, zigzag((uint64_t)rec->id - p->id));
	for (i = 0; i < packed[row].told; i++)
		out = put_varint(out, zigzag(word[i] - p->told[row][i]));
	if (is_wide(row)) {
		out = put_varint(out, wide_slot(word));
		before = p->wide[wide_slot(word)];
	} else {
		before = find_words(p, row, rec->id, word);
	}
	for (i = packed[row].told; i < n; i++)
		differ |= (uint64_t)(word[i] != before[i]) << i;
	out = put_varint(out, differ >> packed[row].told);
	for (i = packed[row].told; i < n; i++)
		if (differ >> i & 1)
			out = put_varint(out, zigzag(word[i] - before[i]));
	memcpy(before, word, n * sizeof(*word));
	memcpy(p->told[row], word, packed[row].told * sizeof(*word));
	p->id = rec->id;
	return out;
}

size_t pack_records(struct pack *p, const void *records, size_t size, unsigned char *out)
{
	const char *at = records, *end = at + size;
	unsigned char *begin = out;
	struct kd_rec rec;
	size_t row;

	for (; at < end; at += rec.len) {
		memcpy(&rec, at, sizeof(rec));
		row = row_of(&rec);
		if (row < KINDS) {
			out = pack_one(p, row, (const void *)at, out);
			continue;
		}
		*out++ = 0;
		out = put_varint(out, rec.len);
		memcpy(out, at, rec.len);
		out += rec.len;
	}
	return (size_t)(out - begin);
}

/* Where the packed record ends; NULL: it is none. */
static const unsigned char *restore_one(struct pack *p, size_t row, const unsigned char *at,
					const unsigned char *end, struct kd_rec *rec)
{
	size_t n = (packed[row].len - sizeof(*rec)) / sizeof(uint64_t), i;
	uint64_t word[WORDS] = { 0 }, v, differ, slot = 0;
	uint64_t *before;

	at = get_varint(at, end, &v);
	*rec = (struct kd_rec){ packed[row].kind, packed[row].len, p->id + (uint32_t)unzigzag(v) };
	for (i = 0; at && i < packed[row].told; i++) {
		at = get_varint(at, end, &v);
		word[i] = p->told[row][i] + unzigzag(v);
	}
	if (at && is_wide(row))
		at = get_varint(at, end, &slot);
	if (at)
		at = get_varint(at, end, &differ);
	if (!at || slot >= WIDE_SLOTS)
		return NULL;
	before = is_wide(row) ? p->wide[slot] : find_words(p, row, rec->id, word);
	for (; at && i < n; i++, differ >>= 1) {
		word[i] = before[i];
		if (!(differ & 1))
			continue;
		at = get_varint(at, end, &v);
		word[i] += unzigzag(v);
	}
	if (!at || differ)
		return NULL;
	memcpy(before, word, n * sizeof(*word));
	memcpy(p->told[row], word, packed[row].told * sizeof(*word));
	p->id = rec->id;
	memcpy(rec + 1, word, n * sizeof(*word));
	return at;
}

static const unsigned char *restore_plain(const unsigned char *at, const unsigned char *end,
					  void *out, size_t room, size_t *len)
{
	uint64_t v;

	at = get_varint(at, end, &v);
	if (!at || v > (uint64_t)(end - at) || v > room || v % 8)
		return NULL;
	memcpy(out, at, v);
	*len = v;
	return at + v;
}

long pack_restore(struct pack *p, const unsigned char *at, size_t size, void *records, size_t room)
{
	const unsigned char *end = at + size;
	char *out = records;
	size_t row, len;

	while (at < end) {
		row = *at++;
		if (!row) {
			at = restore_plain(at, end, out, room, &len);
		} else if (row > KINDS || packed[row - 1].len > room) {
			return -EBADMSG;
		} else {
			len = packed[row - 1].len;
			at = restore_one(p, row - 1, at, end, (void *)out);
		}
		if (!at)
			return -EBADMSG;
		out += len;
		room -= len;
	}
	return out - (char *)records;
}
