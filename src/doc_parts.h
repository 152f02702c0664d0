/* SPDX-License-Identifier: GPL-2.0-only */
/* doc_parts.h - between doc.c and doc_metrics.c: what sections are made of. Commands use doc.h. */
#ifndef KDEFER_DOC_PARTS_H
#define KDEFER_DOC_PARTS_H

#include "doc.h"

/*
 * An object or array on one line: rows of numbers, which nobody reads one number a line. Open
 * returns what close needs.
 */
bool doc_flow_open(struct json *j, char bracket);
void doc_flow_close(struct json *j, bool pretty);

void doc_time(struct json *j, const char *key, uint64_t realtime_ns);        /* 0 writes null */
void doc_known(struct json *j, const char *key, bool known, uint64_t v);     /* else null */
void doc_measure(struct json *j, unsigned int source, unsigned int measure); /* two keys */
/* "key": of a row of a breakdown. */
void doc_keys(struct json *j, const struct keys *k, enum key_name by, bool raw_addresses);

void doc_buckets(struct json *j, const struct hist *h); /* key "buckets" */

#endif
