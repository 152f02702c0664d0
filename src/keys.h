/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keys.h - the keys that tell series and metrics apart: one name here, one row in keys.c. Views,
 * filters and JSON go by that row, so that a new key changes none of them.
 */
#ifndef KDEFER_KEYS_H
#define KDEFER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series;

/* In the order in which keys of one metric, and breakdowns of one measure, are put out. */
enum key_name {
	KEY_FLAVOUR,
	KEY_SUBSYSTEM,
	KEY_FUNC,
	KEY_CALLER,
	KEY_MODULE,
	KEY_STAGE,
	KEY_MAP_ID,
	KEY_MAP_NAME,
	KEY_UNIT_SIZE,
	KEY_CGROUP_ID,
	KEY_CGROUP,
	KEY_HIERARCHY,
	KEY_FLUSHER,
	KEY_FLUSHER_CLASS,
	KEY_TGID,
	KEY_FLUSHER_THREAD,
	KEY_FLUSHER_CGROUP_ID,
	KEY_FLUSHER_CGROUP,
	KEY_CPU,
	KEY_LAZY,
	KEY_OTHER, /* stands for all keys that are not told apart */
	KEY_COUNT,
	KEY_NONE = KEY_COUNT,
};

#define KEY_BIT(key) (1u << (key))
/* What totals are told apart by; every series of a measure that has one of these carries it. */
#define KEY_GROUPS (KEY_BIT(KEY_FLAVOUR) | KEY_BIT(KEY_SUBSYSTEM))

enum key_type {
	KEY_TEXT,
	KEY_SYMBOL, /* a function: text, its module beside it, its address in `number` */
	KEY_NUMBER,
	KEY_BOOL, /* number 0 or 1; its two rows are never folded into "other" */
};

struct key_value {
	const char *text; /* TEXT, SYMBOL: never NULL */
	uint64_t number;
};

struct key_info {
	const char *name; /* in options and JSON */
	enum key_type type;
	unsigned int dims; /* bits of enum kd_dim: the series that carry it */
	unsigned int
		with; /* bits of enum key_name: what stands beside it, and tells rows apart too */
	bool of_rest; /* known even of the series that stands for the rest (KD_SERIES_OTHER) */
	bool noted;   /* beside another key, text views show it too */
	bool column;  /* of groups: tables give it a column of its own, since their keys are long */
	const char *link; /* "called" LINK "cleanup_net"; NULL: "free_x" "handed over" */
	/* False where the series has none. */
	bool (*value)(const struct series *s, struct key_value *v);
	/* The same where it stands beside another key; NULL: `value`. */
	bool (*beside)(const struct series *s, struct key_value *v);
};

/* A set of keys: has says which, values hold while the model does not change. */
struct keys {
	unsigned int has; /* bits of enum key_name */
	struct key_value v[KEY_COUNT];
	uint64_t address; /* of func or caller, for --raw-addresses; 0: none, or several */
	uint64_t others;  /* KEY_OTHER: keys folded into it by --top, 0 = unknown many */
};

const struct key_info *key_info(enum key_name key);
const char *key_text(enum key_name key);               /* "flavour", "func" ...; "?" for KEY_NONE */
int key_by_name(const char *name, enum key_name *key); /* 0 or -ENOENT */
const char *key_list(void);                            /* all but "other", for a help text */
unsigned int key_dims(unsigned int keys); /* the kinds of series that carry all of these */
unsigned int
key_main(unsigned int keys); /* those that tell MAIN series apart: all but yes and no */
bool key_has(const struct keys *k, enum key_name key);
bool key_is_unnamed(const struct key_value *v); /* the "?" of what has no name */

/* The keys that series of a measure can have, as bits; the one its totals go by, or KEY_NONE. */
unsigned int key_of_measure(unsigned int measure);
enum key_name key_group(unsigned int measure);

bool key_get(const struct series *s, enum key_name key, struct key_value *v);
/* Adds a key of a series, and what stands beside it. */
void key_set(struct keys *k, const struct series *s, enum key_name key);

/* A key's value as filters see it, in buf if need be; NULL where the series has no such key. */
const char *key_value(const struct series *s, enum key_name key, char *buf, size_t size);

/* Order of two series of one breakdown; 0: they share the key. */
int key_compare(const struct series *a, const struct series *b, enum key_name by);

#endif
