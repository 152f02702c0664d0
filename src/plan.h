/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan.h - which measures this kernel can give, by which hooks, and if not, why not and what would help.
 *
 * The table (plan_table.c) is declarative: for each measure the ways to get it, best first. It is
 * resolved against facts about a kernel, which are the running one's or a test's.
 */
#ifndef KDEFER_PLAN_H
#define KDEFER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/defer.h"

struct kernel;
struct stream;

enum plan_state { PLAN_OFF, PLAN_EXPECTED, PLAN_ON };
const char *plan_state_name(enum plan_state s); /* "off", "expected", "on" */

enum backend {
	BACKEND_NONE,
	BACKEND_TP_BTF,
	BACKEND_FENTRY,
	BACKEND_KPROBE,
	BACKEND_STATE,
	BACKEND_COUNT
};
const char *backend_name(enum backend b);
int backend_by_name(const char *name, enum backend *b);

/* Hooks that exist only to serve a special case are left out where the kernel has no such case. */
enum hook_need {
	HOOK_REQUIRED, /* without it this way does not work */
	HOOK_OPTIONAL, /* without it something is worse, and `without` says what */
	HOOK_ONE_OF,   /* at least one of the ONE_OF hooks of a way must be there */
};

struct plan_hook {
	const char *program; /* name of the BPF program */
	const char *target;  /* function or tracepoint; for state: what is read, or "" */
	enum hook_need need;
	const char *without; /* OPTIONAL: what is then missing, for the reason text */
	/* A field that shows whether this kernel has the case that the hook serves; NULL: it always has. */
	const char *case_type, *case_field;
	bool global;      /* a copy that the compiler made of a header's function will not do */
	bool is_tp;       /* target is a tracepoint although the way is not one of tracepoints */
	const char *note; /* what is to be known of numbers got by a way with this hook */
};

struct plan_field {
	const char *type, *field; /* must exist in the kernel's BTF */
};

struct plan_way {
	enum backend backend;
	const struct plan_hook *hooks;   /* ends with program == NULL */
	const struct plan_field *fields; /* ends with type == NULL; may be NULL */
	/*
	 * Data symbols needed from kallsyms, and static per-CPU variables as "percpu:NAME", which are
	 * found without (percpu.h); NULL-ended; may be NULL.
	 */
	const char *const *symbols;
};

struct plan_measure {
	uint8_t source, measure, flavour;
	const struct plan_way *ways; /* best first; ends with hooks == NULL */
};

extern const struct plan_measure plan_table[];
extern const size_t plan_table_len;

#define PLAN_TEXT 256

struct plan_entry {
	const struct plan_measure *measure;
	const struct plan_way *way; /* chosen; NULL when off */
	enum plan_state state;
	uint32_t hooks;         /* bit i: hook i of the way is used */
	char reason[PLAN_TEXT]; /* why off, or what is missing; "" if nothing */
	char fix[PLAN_TEXT];    /* what would turn it on; "" if nothing would */
};

struct plan {
	struct plan_entry *entry;
	size_t n;
};

struct plan_request {
	uint32_t sources;  /* bits of enum kd_source_id */
	uint64_t measures; /* bits of enum kd_measure_id */
	uint64_t named;    /* those that were asked for by name, not with their source */
	uint32_t flavours; /* bits of enum kd_flavour; rows without a flavour are always taken */
	uint32_t
		hidden[KD_M_COUNT]; /* by measure: bits of flavours that were not asked for of it */
	uint32_t backends;          /* bits of enum backend that may be used */
};

/*
 * Facts about the running kernel that the table needs (kernel_probe, and the try of a first hook). A
 * Tasks RCU grace period that is under way is waited for, until it is limit_ns old or stopped() (may be
 * NULL): then nothing that would wait for it in the kernel is touched.
 */
int plan_probe(struct kernel *k, bool thorough, uint64_t limit_ns, int (*stopped)(void));
/* The part of it that reading state needs: nothing waits, and function tracing is not asked. */
int plan_probe_state(struct kernel *k);
/* Whether a request is for pending lists alone, which hook nothing. */
bool plan_only_state(const struct plan_request *want);

/* Resolves the whole table. Rows that were not asked for are left out. 0 or -ENOMEM. */
int plan_resolve(struct plan *p, const struct kernel *k, const struct plan_request *want);
void plan_free(struct plan *p);

/* Switches a row off with its reason (load or attach failed). */
void plan_refuse(struct plan_entry *e, const char *fix, const char *reason_fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool plan_any_on(const struct plan *p); /* some row is not off */

/*
 * Rows share programs. Is `program` in use by a row of this source that is not off? Gives up the
 * program in all rows: it has nothing to see on this kernel.
 */
bool plan_uses(const struct plan *p, unsigned int source, const char *program);
void plan_drop_hook(struct plan *p, unsigned int source, const char *program);
/*
 * What became of attaching a program (0 or a negative errno): rows that need it fall, with the reason
 * and the fix given, others go on without it; rows that have all they need are on.
 */
void plan_attached(struct plan *p, const char *program, int err, const char *reason,
		   const char *fix);

/* Why the kernel did not attach a program to target, in words, and what would help ("": nothing known). */
void plan_attach_reason(const struct kernel *k, const char *target, int err, char reason[PLAN_TEXT],
			char fix[PLAN_TEXT]);

/* The names of the hooks in use, separated by spaces. */
void plan_hooks(const struct plan_entry *e, char *buf, size_t size);

/* One KD_REC_PLAN for each row. */
int plan_emit(const struct plan *p, struct stream *s);

/* Is this symbol (or its compiler-suffixed form) one that the table asks for? A kernel_wanted. */
bool plan_wants(const char *name, size_t len);

/* Names never to be hooked (attaching there stalls or recurses), with the reason; NULL if allowed. */
const char *plan_forbidden(const char *function);

#endif
