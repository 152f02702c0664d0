/* SPDX-License-Identifier: GPL-2.0-only */
/* host.h - facts about this host and this run, as KD_REC_HOST records. */
#ifndef KDEFER_HOST_H
#define KDEFER_HOST_H

struct kernel;
struct stream;

/* All facts but the clock. What cannot be read is left out. 0, or what the stream said. */
int host_emit(const struct kernel *k, struct stream *s);
/* The clocks, read together: when recording begins. */
int host_emit_clock(struct stream *s);
/* One fact. */
int host_fact(struct stream *s, const char *name, const char *value);

#endif
