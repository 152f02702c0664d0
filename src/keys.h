/* SPDX-License-Identifier: GPL-2.0-only */
/* keys.h - between metrics.c and keys.c: the keys of a series. Views use model.h. */
#ifndef KDEFER_KEYS_H
#define KDEFER_KEYS_H

#include "model.h"

const char *key_func(const struct series *s);   /* "?" where the symbol was not to be had */
const char *key_module(const struct series *s); /* "vmlinux" for the core kernel */

/* The keys that series of a measure can have, as bits. */
unsigned int key_of_measure(unsigned int measure);

/* A key's value as filters see it, in buf if need be; NULL where the series has no such key. */
const char *key_value(const struct series *s, enum key_name key, char *buf, size_t size);

/* Order of two series of one breakdown; 0: they share the key. */
int key_compare(const struct series *a, const struct series *b, enum key_name by);

#endif
