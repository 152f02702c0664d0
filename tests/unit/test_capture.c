// SPDX-License-Identifier: GPL-2.0-only
/* Captures: what was written comes back, and whatever became of the file, nothing else does. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "capture.h"
#include "records.h"

#define HEADER_SIZE 24

static char dir[64], file[96], part[104];

/* All records that came through, one after another. */
struct kept {
	unsigned char *bytes;
	size_t size, room;
	int answer;
};

static int keep(void *ctx, const struct kd_rec *rec)
{
	struct kept *k = ctx;

	if (k->size + rec->len > k->room) {
		k->room = 2 * (k->size + rec->len);
		k->bytes = realloc(k->bytes, k->room);
		assert_non_null(k->bytes);
	}
	memcpy(k->bytes + k->size, rec, rec->len);
	k->size += rec->len;
	return k->answer;
}

static int read_into(const char *path, struct kept *k, struct capture_end *end)
{
	struct stream s;

	free(k->bytes);
	memset(k, 0, sizeof(*k));
	stream_init(&s, keep, k);
	forget_log();
	return capture_read(path, &s, end);
}

static size_t load(const char *path, unsigned char **bytes)
{
	FILE *f = fopen(path, "rb");
	size_t size;

	assert_non_null(f);
	*bytes = malloc(4 << 20);
	assert_non_null(*bytes);
	size = fread(*bytes, 1, 4 << 20, f);
	fclose(f);
	return size;
}

static void save(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/kdefer-capture-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(part, sizeof(part), "%s.part", file);
	forget_log();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(file);
	unlink(part);
	return rmdir(dir);
}

/* A text record with about n bytes that zlib cannot shorten much. */
static const struct kd_rec *noise(void *buf, uint64_t *seed, size_t n)
{
	char text[KD_REC_MAX];
	const char *texts[] = { text };
	size_t i;

	for (i = 0; i < n; i++)
		text[i] = (char)(1 + below(seed, 255));
	text[n] = '\0';
	return stream_make_text(buf, KD_REC_EVENT, n, 0, texts, 1);
}

static struct capture_writer *create(bool force)
{
	struct capture_writer *w;

	assert_int_equal(capture_create(&w, file, force), 0);
	assert_non_null(w);
	return w;
}

static void write_noise(struct capture_writer *w, struct kept *k, uint64_t *seed, int n)
{
	uint64_t buf[KD_REC_MAX / 8];
	const struct kd_rec *rec;

	while (n--) {
		rec = noise(buf, seed, below(seed, 3000));
		assert_int_equal(capture_write(w, rec), 0);
		keep(k, rec);
	}
}

static void assert_same(const struct kept *a, const struct kept *b)
{
	assert_int_equal(a->size, b->size);
	if (a->size)
		assert_memory_equal(a->bytes, b->bytes, a->size);
}

static void test_round_trip(void **state)
{
	struct kept in = { 0 }, out = { 0 };
	struct capture_end end;
	uint64_t seed = 1;
	struct stat st;
	struct capture_writer *w = create(false);

	(void)state;
	assert_int_equal(stat(part, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	write_noise(w, &in, &seed, 1000);
	assert_int_equal(capture_close(w), 0);
	assert_false(exists(part));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	assert_int_equal(read_into(file, &out, &end), 0);
	assert_same(&in, &out);
	assert_true(end.closed);
	assert_null(end.why);
	assert_int_equal(end.bytes, st.st_size);
	assert_true(end.blocks >= in.size / (256 << 10) && end.blocks <= in.size / (250 << 10) + 1);
	assert_string_equal(logged, "");
	free(in.bytes);
	free(out.bytes);
}

static void test_empty_capture(void **state)
{
	struct kept out = { 0 };
	struct capture_end end;

	(void)state;
	assert_int_equal(capture_close(create(false)), 0);
	assert_int_equal(read_into(file, &out, &end), 0);
	assert_true(end.closed);
	assert_int_equal(end.blocks, 0);
	assert_int_equal(end.bytes, HEADER_SIZE + 16);
	assert_int_equal(out.size, 0);
}

static void test_flush_survives(void **state)
{
	struct kept in = { 0 }, all = { 0 }, out = { 0 };
	struct capture_end end;
	uint64_t seed = 2;
	struct capture_writer *w = create(false);

	(void)state;
	write_noise(w, &in, &seed, 3);
	assert_int_equal(capture_flush(w), 0);
	assert_int_equal(capture_flush(w), 0); /* nothing new: no block */
	write_noise(w, &all, &seed, 3);        /* not flushed */
	assert_int_equal(read_into(part, &out, &end), 0);
	assert_same(&in, &out);
	assert_false(end.closed);
	assert_int_equal(end.blocks, 1);
	assert_logged("recording was cut off or still runs");

	capture_abandon(w);
	assert_false(exists(file));
	assert_int_equal(read_into(part, &out, &end), 0);
	assert_same(&in, &out);
	free(in.bytes);
	free(all.bytes);
	free(out.bytes);
}

static void test_refused_record(void **state)
{
	struct kd_rec rec = { .kind = KD_REC_TICK, .len = 12 };
	struct capture_writer *w = create(false);

	(void)state;
	assert_int_equal(capture_write(w, &rec), -EINVAL);
	assert_logged("impossible length");
	assert_int_equal(capture_close(w), 0);
}

static void test_existing_file(void **state)
{
	struct capture_writer *w;
	unsigned char *bytes;
	struct capture_end end;
	struct kept out = { 0 };

	(void)state;
	save(file, "precious", 8);
	assert_int_equal(capture_create(&w, file, false), -EEXIST);
	assert_null(w);
	assert_logged("exists already");
	assert_false(exists(part));

	w = create(true);
	assert_int_equal(load(file, &bytes), 8); /* untouched until the end */
	free(bytes);
	assert_int_equal(capture_close(w), 0);
	assert_int_equal(read_into(file, &out, &end), 0);
	assert_true(end.closed);
}

static void test_file_appears_meanwhile(void **state)
{
	struct kept out = { 0 };
	struct capture_end end;
	unsigned char *bytes;
	struct capture_writer *w = create(false);

	(void)state;
	save(file, "precious", 8);
	assert_int_equal(capture_close(w), -EEXIST);
	assert_logged("cannot be renamed");
	assert_int_equal(load(file, &bytes), 8);
	assert_memory_equal(bytes, "precious", 8);
	free(bytes);
	assert_int_equal(read_into(part, &out, &end), 0);
	assert_true(end.closed);
}

static void test_two_writers(void **state)
{
	struct capture_writer *first = create(false), *second;
	struct kept in = { 0 }, out = { 0 };
	struct capture_end end;
	uint64_t seed = 3;

	(void)state;
	assert_int_equal(capture_create(&second, file, false), -EEXIST);
	assert_logged("did not end (or still runs)");
	assert_int_equal(capture_create(&second, file, true), -EBUSY);
	assert_logged("another kdefer is writing");
	assert_null(second);
	write_noise(first, &in, &seed, 2);
	assert_int_equal(capture_close(first), 0);
	assert_int_equal(read_into(file, &out, &end), 0);
	assert_same(&in, &out);

	/* left by a crash: kept, unless it is said that it may go */
	capture_abandon(create(true));
	assert_true(exists(part));
	unlink(file);
	forget_log();
	assert_int_equal(capture_create(&second, file, false), -EEXIST);
	assert_true(exists(part));
	assert_int_equal(capture_close(create(true)), 0);
	assert_false(exists(part));
	free(in.bytes);
	free(out.bytes);
}

static void test_bad_places(void **state)
{
	struct capture_writer *w;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/nowhere/file", dir);
	assert_int_equal(capture_create(&w, path, false), -ENOENT);
	assert_logged("nowhere/file.part: cannot create: No such file or directory");
	assert_int_equal(capture_create(&w, dir, true), -EISDIR);
	assert_int_equal(capture_create(&w, "", false), -EINVAL);
	/* root could otherwise replace a device by a file */
	assert_int_equal(capture_create(&w, "/dev/null", true), -EINVAL);
	assert_logged("no ordinary file");
	assert_int_equal(capture_create(&w, "/dev/null", false), -EINVAL);
	assert_null(w);
	if (geteuid() == 0)
		return; /* may write anywhere */
	chmod(dir, 0500);
	assert_int_equal(capture_create(&w, file, false), -EACCES);
	chmod(dir, 0700);
}

/* A limit on the size of files stands in for a full disk. */
static void test_full_disk(void **state)
{
	struct rlimit old, limit;
	struct capture_writer *w = create(false);
	struct kept in = { 0 }, out = { 0 };
	uint64_t seed = 4, buf[KD_REC_MAX / 8];
	struct capture_end end;
	int err = 0, i;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 700 << 10;
	setrlimit(RLIMIT_FSIZE, &limit);
	for (i = 0; i < 3000 && !err; i++)
		err = capture_write(w, noise(buf, &seed, 2000));
	assert_int_equal(err, -EFBIG);
	assert_logged("file.part: cannot write: File too large");
	forget_log();
	assert_int_equal(capture_write(w, noise(buf, &seed, 10)), -EFBIG);
	assert_int_equal(capture_flush(w), -EFBIG);
	assert_int_equal(capture_close(w), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_string_equal(logged, ""); /* said once */
	assert_false(exists(file));

	for (seed = 4; i--;)
		keep(&in, noise(buf, &seed, 2000));
	assert_int_equal(read_into(part, &out, &end), 0);
	assert_int_equal(end.blocks, 2);
	assert_true(out.size > 400 << 10);
	assert_memory_equal(in.bytes, out.bytes, out.size);
	assert_string_equal(end.why, "the file ends inside a block");
	free(in.bytes);
	free(out.bytes);
}

static void expect_refused(const void *bytes, size_t size, const char *why)
{
	struct kept out = { 0 };
	struct capture_end end;

	save(file, bytes, size);
	assert_int_equal(read_into(file, &out, &end), -EBADMSG);
	assert_logged(why);
	assert_int_equal(out.size, 0);
	assert_false(end.closed);
}

static void test_not_captures(void **state)
{
	unsigned char head[HEADER_SIZE], newer[HEADER_SIZE];
	struct kept out = { 0 };
	struct capture_end end;
	uint32_t crc;

	(void)state;
	expect_refused("", 0, "is empty");
	expect_refused("K", 0, "is empty");
	expect_refused("hello, world\n", 13, "is no kdefer capture");
	expect_refused("KDEFER\n\nxxxxxxxxxxxxxxxxxxx", 24, "is no kdefer capture");
	assert_int_equal(read_into(dir, &out, &end), -EISDIR);
	assert_logged("is a directory");
	unlink(file);
	assert_int_equal(read_into(file, &out, &end), -ENOENT);
	assert_logged("No such file");

	assert_int_equal(capture_close(create(true)), 0);
	memcpy(head, "KDEFER\r\n\1\0\0\0\x18\0\0\0\4\3\2\1", 20);
	memcpy(newer, head, sizeof(newer));
	newer[8] = 4;
	expect_refused(newer, sizeof(newer),
		       "written by a newer kdefer (format 4, this one reads up to 3)");
	newer[8] = 0;
	expect_refused(newer, sizeof(newer), "header of this capture is damaged");
	memcpy(head + 16, "\1\2\3\4", 4);
	crc = (uint32_t)crc32(0, head, 20);
	memcpy(head + 20, &crc, 4);
	expect_refused(head, sizeof(head), "other byte order");
	head[20] ^= 1;
	expect_refused(head, sizeof(head), "header of this capture is damaged");
	expect_refused("KDEFER\r\n\1\0\0\0\x0f\0\0\0", 16, "header of this capture is damaged");
	expect_refused("KDEFER\r\n\1\0\0\0\1\x10\0\0", 16, "header of this capture is damaged");
}

/* Three small blocks; where each ends in the file, and how many bytes of records there are then. */
struct small {
	unsigned char *bytes;
	size_t size;
	struct kept records;
	size_t block_end[4], records_end[4]; /* [0]: the header */
};

static void make_small(struct small *x)
{
	struct capture_writer *w = create(true);
	uint64_t seed = 5, buf[KD_REC_MAX / 8];
	const struct kd_rec *rec;
	struct stat st;
	int i, k;

	memset(x, 0, sizeof(*x));
	x->block_end[0] = HEADER_SIZE;
	for (i = 1; i <= 3; i++) {
		for (k = 0; k < 3; k++) {
			rec = noise(buf, &seed, 10);
			assert_int_equal(capture_write(w, rec), 0);
			keep(&x->records, rec);
		}
		assert_int_equal(capture_flush(w), 0);
		stat(part, &st);
		x->block_end[i] = (size_t)st.st_size;
		x->records_end[i] = x->records.size;
	}
	assert_int_equal(capture_close(w), 0);
	x->size = load(file, &x->bytes);
	assert_int_equal(x->size, x->block_end[3] + 16);
}

static void free_small(struct small *x)
{
	free(x->bytes);
	free(x->records.bytes);
}

/* Blocks that end at or before this place. */
static size_t blocks_before(const struct small *x, size_t at)
{
	size_t n = 0;

	while (n < 3 && x->block_end[n + 1] <= at)
		n++;
	return n;
}

static void assert_blocks(const struct small *x, const struct kept *out,
			  const struct capture_end *end, size_t blocks)
{
	assert_int_equal(end->blocks, blocks);
	assert_int_equal(out->size, x->records_end[blocks]);
	if (out->size)
		assert_memory_equal(out->bytes, x->records.bytes, out->size);
}

static void test_every_truncation(void **state)
{
	struct kept out = { 0 };
	struct capture_end end;
	struct small x;
	size_t len, blocks;

	(void)state;
	make_small(&x);
	for (len = 1; len < x.size; len++) {
		save(file, x.bytes, len);
		blocks = blocks_before(&x, len);
		assert_int_equal(read_into(file, &out, &end), blocks ? 0 : -EBADMSG);
		assert_blocks(&x, &out, &end, blocks);
		assert_false(end.closed);
		assert_non_null(end.why);
		assert_logged(end.why);
		assert_int_equal(end.bytes, len < HEADER_SIZE ? 0 : x.block_end[blocks]);
		if (len < HEADER_SIZE)
			assert_string_equal(end.why, "the file ends inside its header");
		else if (len == x.block_end[blocks])
			assert_non_null(strstr(end.why, "its end is missing"));
		else
			assert_string_equal(end.why, "the file ends inside a block");
	}
	save(file, x.bytes, x.size);
	assert_int_equal(read_into(file, &out, &end), 0);
	assert_blocks(&x, &out, &end, 3);
	assert_true(end.closed);
	free(out.bytes);
	free_small(&x);
}

static void test_every_bit_flip(void **state)
{
	struct kept out = { 0 };
	struct capture_end end;
	struct small x;
	size_t at;
	int bit, err;

	(void)state;
	make_small(&x);
	for (at = 0; at < x.size; at++) {
		for (bit = 0; bit < 8; bit++) {
			x.bytes[at] ^= (unsigned char)(1 << bit);
			save(file, x.bytes, x.size);
			err = read_into(file, &out, &end);
			assert_int_equal(err, blocks_before(&x, at) ? 0 : -EBADMSG);
			assert_blocks(&x, &out, &end, blocks_before(&x, at));
			assert_false(end.closed);
			assert_true(err || end.why);
			assert_true(strlen(logged) > 10);
			x.bytes[at] ^= (unsigned char)(1 << bit);
		}
	}
	free(out.bytes);
	free_small(&x);
}

static void put32(unsigned char *at, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> 8 * i);
}

/* A file of one block whose checksum is right, whatever it holds. */
static void forge(const void *raw, size_t size, uint32_t claim_raw, uint32_t claim_stored,
		  bool pack)
{
	static unsigned char bytes[HEADER_SIZE + 16 + (3 << 20)];
	unsigned char *stored = bytes + HEADER_SIZE + 16;
	uLongf len = 3 << 20;

	memcpy(bytes, "KDEFER\r\n\1\0\0\0\x18\0\0\0\4\3\2\1", 20);
	put32(bytes + 20, (uint32_t)crc32(0, bytes, 20));
	if (pack) {
		assert_int_equal(compress(stored, &len, raw, size), Z_OK);
	} else {
		memcpy(stored, raw, size);
		len = size;
	}
	memcpy(bytes + HEADER_SIZE, "KDBK", 4);
	put32(bytes + HEADER_SIZE + 4, claim_raw ? claim_raw : (uint32_t)size);
	put32(bytes + HEADER_SIZE + 8, claim_stored ? claim_stored : (uint32_t)len);
	put32(bytes + HEADER_SIZE + 12, (uint32_t)crc32(0, stored, len));
	save(file, bytes, HEADER_SIZE + 16 + len);
}

static void expect_damaged(const char *why)
{
	struct kept out = { 0 };
	struct capture_end end;

	assert_int_equal(read_into(file, &out, &end), -EBADMSG);
	assert_int_equal(out.size, 0);
	assert_int_equal(end.blocks, 0);
	assert_int_equal(end.bytes, HEADER_SIZE);
	assert_non_null(end.why);
	assert_non_null(strstr(end.why, why));
}

static void test_forged_blocks(void **state)
{
	static unsigned char zeros[2 << 20];
	struct kd_rec_tick tick = { .rec = HEADER(tick, KD_REC_TICK, 0) };
	struct kept out = { 0 };
	struct capture_end end;

	(void)state;
	forge(&tick, 32, 0, 0, true);
	assert_int_equal(read_into(file, &out, &end), 0);
	assert_int_equal(end.blocks, 1); /* the forger's tools work */
	assert_int_equal(out.size, 32);
	free(out.bytes);

	forge(&tick, 32, 40, 0, true); /* sizes that lie */
	expect_damaged("a block is damaged");
	forge(&tick, 32, 24, 0, true);
	expect_damaged("a block is damaged");
	forge(&tick, 32, UINT32_MAX, 0, true);
	expect_damaged("a block is damaged");
	forge(&tick, 32, 0, UINT32_MAX, true);
	expect_damaged("a block is damaged");
	forge(&tick, 32, CAPTURE_BLOCK_MAX + 8, 0, true);
	expect_damaged("a block is damaged");
	forge(&tick, 32, 0, CAPTURE_BLOCK_MAX, true);
	expect_damaged("the file ends inside a block");
	forge(zeros, sizeof(zeros), CAPTURE_BLOCK_MAX, 0, true); /* a bomb */
	expect_damaged("a block is damaged");
	forge(zeros, sizeof(zeros), 0, 0, true); /* one that says so */
	expect_damaged("a block is damaged");
	forge("not zlib", 8, 8, 0, false);
	expect_damaged("a block is damaged");
	forge(zeros, 64, 0, 0, true); /* records of length 0 */
	expect_damaged("a block is damaged");
	tick.rec.len = 40; /* the last record is not whole */
	forge(&tick, 32, 0, 0, true);
	expect_damaged("a block is damaged");
}

static void test_plain_header(void **state)
{
	struct kept out = { 0 };
	struct capture_end end;
	unsigned char bytes[32];

	(void)state; /* one that ends after its length, as the layout allows */
	memcpy(bytes, "KDEFER\r\n\1\0\0\0\x10\0\0\0", 16);
	memcpy(bytes + 16, "KDBK", 4);
	memset(bytes + 20, 0, 12);
	save(file, bytes, sizeof(bytes));
	assert_int_equal(read_into(file, &out, &end), 0);
	assert_true(end.closed);
}

static void test_more_after_the_end(void **state)
{
	struct kept out = { 0 };
	struct capture_end end;
	struct small x;

	(void)state;
	make_small(&x);
	memcpy(x.bytes + x.size, x.bytes, x.size); /* cat a b > c */
	save(file, x.bytes, 2 * x.size);
	assert_int_equal(read_into(file, &out, &end), 0);
	assert_blocks(&x, &out, &end, 3);
	assert_true(end.closed);
	assert_logged("more data follows");
	free(out.bytes);
	free_small(&x);
}

static void test_sink_error(void **state)
{
	struct kept out = { .answer = -ECANCELED };
	struct capture_end end;
	struct stream s;
	struct small x;

	(void)state;
	make_small(&x);
	forget_log();
	stream_init(&s, keep, &out);
	assert_int_equal(capture_read(file, &s, &end), -ECANCELED);
	assert_int_equal(s.records, 1);
	assert_string_equal(logged, "");
	free(out.bytes);
	free_small(&x);
}

/* Random damage of any kind: never anything but whole blocks from the front. */
static void test_random_damage(void **state)
{
	struct kept out = { 0 };
	struct capture_end end;
	uint64_t seed = 6;
	struct small x;
	unsigned char *bytes;
	size_t size, at, first;
	int round, n, err;

	(void)state;
	make_small(&x);
	bytes = malloc(x.size);
	assert_non_null(bytes);
	for (round = 0; round < 3000; round++) {
		memcpy(bytes, x.bytes, x.size);
		size = below(&seed, x.size) + 1;
		first = size;
		for (n = (int)below(&seed, 5); n > 0; n--) {
			at = below(&seed, size);
			bytes[at] ^= (unsigned char)(1 + below(&seed, 255));
			first = at < first ? at : first;
		}
		save(file, bytes, size);
		err = read_into(file, &out, &end);
		assert_true(!err || err == -EBADMSG);
		assert_true(end.blocks >= (err ? 0 : blocks_before(&x, first)));
		assert_blocks(&x, &out, &end, end.blocks);
	}
	free(bytes);
	free(out.bytes);
	free_small(&x);
}

/* The file is never larger than was said, and whole; what did not fit was refused, in order. */
static void test_limit(void **state)
{
	static const uint64_t limits[] = { 65536, 100000, 262144, 400000, 1 << 20 };
	struct kept in = { 0 }, out = { 0 };
	uint64_t seed = 21, buf[KD_REC_MAX / 8];
	struct capture_end end;
	struct stat st;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct capture_writer *w = create(true);

		in.size = 0;
		capture_limit(w, limits[i]);
		for (err = 0; !err;) {
			const struct kd_rec *rec = noise(buf, &seed, below(&seed, 3000));

			err = capture_write(w, rec);
			if (!err)
				keep(&in, rec);
			assert_true(capture_size(w) <= limits[i]);
			if (!err && !below(&seed, 20))
				assert_int_equal(capture_flush(w), 0);
		}
		assert_int_equal(err, -EFBIG);
		assert_int_equal(capture_write(w, noise(buf, &seed, 3000)), -EFBIG);
		assert_string_equal(logged, "");
		assert_int_equal(capture_close(w), 0);
		assert_int_equal(stat(file, &st), 0);
		assert_true((uint64_t)st.st_size <= limits[i]);
		assert_true((uint64_t)st.st_size > limits[i] / 3);
		assert_int_equal(read_into(file, &out, &end), 0);
		assert_true(end.closed);
		assert_same(&in, &out);
	}
	free(in.bytes);
	free(out.bytes);
}

/* Nothing is left of what nobody wants. */
static void test_discard(void **state)
{
	(void)state;
	capture_discard(create(false));
	assert_false(exists(part));
	assert_false(exists(file));
	capture_discard(NULL);
}

/* A writer in a process of its own: two blocks with a pause between, then an end or none. */
static pid_t start_writer(bool closes, struct kept *in)
{
	const struct timespec nap = { .tv_nsec = 150000000 };
	struct capture_writer *w = create(false);
	struct kept rest = { 0 };
	uint64_t seed = 9;
	pid_t pid;

	write_noise(w, in, &seed, 3);
	assert_int_equal(capture_flush(w), 0);
	pid = fork();
	if (pid) { /* the lock is the child's alone from here on */
		capture_abandon(w);
		return pid;
	}
	nanosleep(&nap, NULL);
	write_noise(w, &rest, &seed, 3);
	if (capture_flush(w))
		_exit(1);
	nanosleep(&nap, NULL);
	if (closes)
		_exit(capture_close(w) ? 1 : 0);
	_exit(0);
}

static int is_stopped;

static int stopped(void)
{
	return is_stopped;
}

static int follow(struct kept *k, struct capture_end *end)
{
	struct stream s;

	free(k->bytes);
	memset(k, 0, sizeof(*k));
	stream_init(&s, keep, k);
	forget_log();
	return capture_follow(file, &s, end, stopped);
}

/* Reads what comes while it comes, under the name it will have, and knows when it is over. */
static void check_follow(bool closes)
{
	struct kept in = { 0 }, out = { 0 };
	struct capture_end end;
	int status;
	pid_t pid = start_writer(closes, &in);
	size_t first = in.size;

	is_stopped = 0;
	assert_int_equal(read_into(file, &out, &end), -ENOENT);
	assert_logged("still being recorded");
	assert_int_equal(follow(&out, &end), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(end.closed, closes);
	assert_int_equal(end.blocks, 2);
	assert_true(out.size > first);
	assert_memory_equal(out.bytes, in.bytes, first);
	if (!closes)
		assert_logged("its end is missing");
	free(in.bytes);
	free(out.bytes);
}

static void test_follow(void **state)
{
	(void)state;
	check_follow(true);
}

static void test_follow_a_writer_that_dies(void **state)
{
	(void)state;
	check_follow(false);
}

static void test_follow_until_stopped(void **state)
{
	struct kept in = { 0 }, out = { 0 };
	struct capture_writer *w = create(false);
	struct capture_end end;
	uint64_t seed = 9;

	(void)state;
	write_noise(w, &in, &seed, 1);
	assert_int_equal(capture_flush(w), 0);
	is_stopped = 1;
	assert_int_equal(follow(&out, &end), -EINTR);
	assert_string_equal(logged, "");
	assert_same(&in, &out);
	assert_int_equal(capture_close(w), 0);
	free(in.bytes);
	free(out.bytes);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_empty_capture),
		TEST(test_flush_survives),
		TEST(test_refused_record),
		TEST(test_existing_file),
		TEST(test_file_appears_meanwhile),
		TEST(test_two_writers),
		TEST(test_bad_places),
		TEST(test_full_disk),
		TEST(test_not_captures),
		TEST(test_every_truncation),
		TEST(test_every_bit_flip),
		TEST(test_forged_blocks),
		TEST(test_plain_header),
		TEST(test_more_after_the_end),
		TEST(test_sink_error),
		TEST(test_random_damage),
		TEST(test_follow),
		TEST(test_limit),
		TEST(test_discard),
		TEST(test_follow_a_writer_that_dies),
		TEST(test_follow_until_stopped),
	};

	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
