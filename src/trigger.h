/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trigger.h - an event of the kernel's made at will, with a program attached to it that counts: what
 * `bench trigger` measures, one kind of attaching at a time.
 */
#ifndef KDEFER_TRIGGER_H
#define KDEFER_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

enum trigger_kind {
	TRIGGER_KPROBE,
	TRIGGER_KRETPROBE,
	TRIGGER_KPROBE_MULTI,
	TRIGGER_KRETPROBE_MULTI,
	TRIGGER_FENTRY,
	TRIGGER_FEXIT,
	TRIGGER_TP,
	TRIGGER_RAW_TP,
	TRIGGER_TP_BTF,
	TRIGGER_KINDS
};

/* Who makes the events. Costs are held against the same maker with nothing attached. */
enum trigger_maker {
	TRIGGER_CALLS,   /* a program calls the function that is hooked, many times in a run */
	TRIGGER_PASSES,  /* a program passes the tracepoint of the kernel's own tests */
	TRIGGER_RENAMES, /* a thread renames itself: a system call for each event */
	TRIGGER_MAKERS
};

#define TRIGGER_FUNCTION "bpf_get_numa_node_id"
#define TRIGGER_RENAME_TP "task_rename"

const char *trigger_name(enum trigger_kind k); /* "kprobe-multi" */
/* "kprobe,fexit" as bits. 0, or -EINVAL (logged). */
int trigger_parse(const char *list, uint32_t *kinds);
const char *trigger_names(void);                      /* all, for a message */
const char *trigger_maker_name(enum trigger_maker m); /* "call", "pass", "rename" */
const char *trigger_target(enum trigger_maker m);     /* function or tracepoint */

#define TRIGGER_REASON 320

struct trigger;

/* The maker for a kind on this kernel, found by loading it. */
enum trigger_maker trigger_maker_of(enum trigger_kind k);

/*
 * Loads what makes events, and attaches a program of this kind; TRIGGER_KINDS: none, the empty loop. 0;
 * -ENODEV: this kernel does not have it, and `reason` says why; other errors are logged.
 */
int trigger_open(struct trigger **t, enum trigger_kind k, enum trigger_maker m,
		 char reason[TRIGGER_REASON]);
void trigger_close(struct trigger *t); /* NULL is fine */

/*
 * Makes some events on this CPU, for a millisecond or so with interrupts on and, where a program makes
 * them, without leaving the CPU. Returns how many, or a negative errno.
 */
int64_t trigger_fire(struct trigger *t);

/* What the attached program counted, by all CPUs. */
uint64_t trigger_hits(const struct trigger *t);

/* Events that never reached the program, as far as the kernel itself counts them. */
struct trigger_missed {
	uint64_t recursion; /* it, or another of its kind, ran already on that CPU */
	uint64_t no_room;   /* no place to remember that the function is to return */
};
void trigger_kernel_missed(const struct trigger *t, struct trigger_missed *m);

#endif
