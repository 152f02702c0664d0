/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - facts about a kernel: what is in its BTF, which functions can be traced, what we may do.
 *
 * Filled from the running kernel by kernel_probe(), or by a test from fixtures.
 */
#ifndef KDEFER_KERNEL_H
#define KDEFER_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;
struct btf_type;

enum tri { NO, YES, UNKNOWN };

/* What the preemption model was learnt from. */
enum preempt_from {
	PREEMPT_UNKNOWN,
	PREEMPT_SHOWN,  /* the running kernel shows it */
	PREEMPT_BUILT,  /* it was built so, and can be no other */
	PREEMPT_BOOTED, /* it was booted so, and may have been changed since */
};

struct name_set; /* sorted set of function names */

struct kernel_symbol {
	char *name;
	uint64_t address; /* 0: hidden from us */
};

/* Data of the kernel of which the address is kept. */
enum kernel_at {
	KERNEL_RSTAT_LOCK,      /* cgroup_rstat_lock: of all statistics */
	KERNEL_RSTAT_BASE_LOCK, /* rstat_base_lock: of base statistics, since 6.16 */
	KERNEL_VIRT_SPIN_KEY, /* virt_spin_lock_key: on where a hypervisor makes spinlocks do without queues */
	KERNEL_AT_COUNT,
};

struct kernel {
	struct btf *btf;       /* NULL: none, see btf_err */
	int btf_err;           /* negative errno */
	struct name_set *text; /* text symbols of kallsyms, suffixed names too; NULL: unreadable */
	struct name_set *global; /* those of text that the whole kernel can call */
	struct name_set *data;   /* other symbols of kallsyms */
	struct kernel_symbol
		*srcu; /* those that have "srcu" in their name, modules' too; NULL: none */
	size_t nsrcu;
	uint64_t at[KERNEL_AT_COUNT]; /* 0: no such symbol, or hidden from us */
	struct name_set *traceable;   /* available_filter_functions; NULL: unreadable */
	bool root;                    /* effective uid 0 */
	uint64_t caps;                /* effective capabilities */
	enum tri fentry;              /* loading an fentry program works here */
	int fentry_err;               /* errno of that try, if NO */
	char fentry_log[160];         /* the verifier's last line, if any */
	enum tri read_kernel;         /* our programs may read kernel memory */
	int read_kernel_err;          /* errno of that try, if NO */
	enum tri lockdown_integrity, lockdown_confidentiality;
	enum tri ftrace_enabled;
	int traceable_err; /* negative errno: why the list of traceable functions is unreadable */
	/* The Tasks RCU grace period under way: attaching and detaching function hooks waits for it. */
	enum tri tasks_gp;              /* UNKNOWN: cannot be seen here */
	uint64_t tasks_gp_ns;           /* how long it has been */
	bool tasks_gp_overdue;          /* longer than we would wait */
	unsigned int hz;                /* 0 unknown */
	unsigned int first_fqs_jiffies; /* rcutree.jiffies_till_first_fqs; 0 unknown */
	int kptr_restrict;              /* -1 unknown */
	bool user_namespace;   /* not the host's: capabilities held here do not count for BPF */
	char lsm[128];         /* security modules at work, "" unknown */
	const char *livepatch; /* folder of the patches at work; NULL: the kernel's own */
	char preempt[16];      /* "none", "voluntary", "full", "lazy", "rt", "" unknown */
	enum preempt_from preempt_from;
	int possible_cpus, online_cpus;
};

#define KERNEL_CAP_SYS_ADMIN 21
#define KERNEL_CAP_SYSLOG 34
#define KERNEL_CAP_PERFMON 38
#define KERNEL_CAP_BPF 39

/*
 * Fills k from the running kernel. Of the symbol lists (over 100,000 names) only what wanted() takes
 * is kept. 0 or -ENOMEM: what cannot be read is said in the fields.
 *
 * The second half, what function tracing says of itself, is apart: behind a Tasks RCU grace period that
 * is held up while another tracer waits for it, reading that never comes back. `thorough` also reads the
 * list of traceable functions, which a real attach makes needless.
 */
typedef bool (*kernel_wanted)(const char *name, size_t len);
int kernel_probe(struct kernel *k, kernel_wanted wanted);
/* All but the symbols, which take a second on a slow host: what host_emit() says. */
void kernel_probe_host(struct kernel *k);
int kernel_probe_ftrace(struct kernel *k, kernel_wanted wanted, bool thorough);
void kernel_free(struct kernel *k);
/* Lets go of the BTF (megabytes) once all questions about types are answered. */
void kernel_forget_types(struct kernel *k);
int kernel_recall_types(
	struct kernel *k); /* reads it again if it was let go. 0 or a negative errno */

const char *preempt_from_name(const struct kernel *k); /* NULL: unknown */
bool kernel_has_cap(const struct kernel *k,
		    unsigned int cap); /* CAP_SYS_ADMIN stands for BPF and PERFMON */
bool kernel_has_func(const struct kernel *k, const char *name); /* BTF FUNC */
bool kernel_has_tp(const struct kernel *k, const char *name);   /* BTF typedef btf_trace_NAME */
bool kernel_has_field(const struct kernel *k, const char *type, const char *field);
/* A value of an enum; UNKNOWN: there is no such enum. */
enum tri kernel_has_value(const struct kernel *k, const char *enumeration, const char *value);
/* Where it is in its structure, in bytes; -ENOENT: no such field, or not of the structure itself. */
int kernel_field_at(const struct kernel *k, const char *type, const char *field);
/* The type of a field, typedefs and qualifiers taken off; NULL: no such field. */
const struct btf_type *kernel_field_type(const struct kernel *k, const char *type,
					 const char *field);
/* Offset of a static per-CPU variable in the section of all of them, or a negative errno. */
int kernel_percpu_at(const struct kernel *k, const char *variable);
/* All of them that are a struct of this name, until each() returns other than 0, which is returned. */
int kernel_percpu_each(const struct kernel *k, const char *type,
		       int (*each)(void *ctx, const char *variable, uint32_t at), void *ctx);
enum tri kernel_has_text(const struct kernel *k, const char *name);
/* NO: there is none, or only copies that the compiler made of a function in a header. */
enum tri kernel_is_global(const struct kernel *k, const char *name);
enum tri kernel_has_data(const struct kernel *k, const char *name);
enum tri kernel_traceable(const struct kernel *k, const char *name);
/* The suffixed form under which the compiler left it ("free_all.isra.0"), or NULL. */
const char *kernel_suffixed(const struct kernel *k, const char *name);

/* Can a program that calls itself NAME be hooked to this function? Loads one, attaches nothing. */
int kernel_try_fentry(struct kernel *k, const char *function);

/* Loads a program that reads kernel memory, as all of ours do: lockdown may say no to just that. */
int kernel_try_read(struct kernel *k);

/*
 * Looks at the Tasks RCU grace period under way, and waits for its end until it is older than limit_ns
 * (then it is overdue) or stopped() says so (NULL: never). 0, or a negative errno: cannot be seen.
 */
int kernel_see_tasks(struct kernel *k, uint64_t limit_ns, int (*stopped)(void));

/*
 * The patch that replaces this function now (its name goes to buf), by what is in the folder `dir`,
 * /sys/kernel/livepatch. False also where there is no list of patches.
 */
bool kernel_livepatched(const char *dir, const char *function, char *buf, size_t size);

/* Sets of names, for fixtures and for reading files. */
struct name_set *name_set_new(void);
int name_set_add(struct name_set *s, const char *name);
void name_set_seal(struct name_set *s); /* sort; before the first look-up */
bool name_set_has(const struct name_set *s, const char *name);
const char *name_set_prefix(const struct name_set *s,
			    const char *prefix); /* first that starts so */
void name_set_free(struct name_set *s);

#endif
