/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the contract with the kernel: every structure and field that kdefer reads, and no other.
 *
 * All accesses are relocated at load time (CO-RE), so order and size here mean nothing. Each field ends
 * with the versions it stands for, FIRST..LAST, either end open, and more of these after a comma; where a
 * layout differs, a second structure with a ___suffix describes it. tests/contract holds this file
 * against the BTF of every kernel of the matrix, so a wrong range is an error, not a comment.
 */
#ifndef KDEFER_VMLINUX_KERNEL_H
#define KDEFER_VMLINUX_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* BTF calls struct rcu_head by its other name. */
struct callback_head {
	struct callback_head *next; /* 6.1.. */
	/* Set before the list is joined, zeroed before the call. */
	void (*func)(void *head); /* 6.1.. */
};

/* A plain list; the batch being invoked is one, on the stack of who invokes it. */
struct rcu_cblist {
	struct callback_head *head;  /* 6.1.. */
	struct callback_head **tail; /* 6.1.. */
	long len;                    /* 6.1.. */
};

struct list_head {
	struct list_head *next; /* 6.1.. */
};

struct rcu_segcblist {
	struct callback_head *head; /* 6.1.. */
	struct callback_head *
		*tails[4];       /* 6.1.. where each segment ends: done, wait, next_ready, next */
	unsigned long gp_seq[4]; /* 6.1.. what they wait for; since 7.3 of a type of its own */
	long seglen[4];          /* 6.1.. */
};

struct rcu_gp_seq {
	unsigned long norm; /* 7.3.. */
	unsigned long exp;  /* 7.3.. */
};

struct rcu_segcblist___pair {
	struct rcu_gp_seq gp_seq[4]; /* 6.1.. since 7.3 of this type */
};

/* len counts all that is not yet invoked: every segment, the bypass list, the batch in progress. */
struct rcu_segcblist___plain {
	long len; /* 6.1.. without CONFIG_RCU_NOCB_CPU */
};

struct rcu_segcblist___atomic {
	struct {
		long counter;
	} len; /* 6.1.. with CONFIG_RCU_NOCB_CPU (a plain long without) */
};

struct file;

struct fdtable {
	struct file **fd; /* 6.1.. */
};

struct files_struct {
	struct fdtable *fdt; /* 6.1.. */
};

/* --- cgroups --- */

struct kernfs_node___v6_1 {
	struct kernfs_node___v6_1 *parent; /* 6.1..6.14 */
};

struct kernfs_node {
	struct kernfs_node *__parent; /* 6.15.. */
	char *name;                   /* 6.1.. of this component only; the root's is "" */
	unsigned long long id;        /* 6.1.. unique within the hierarchy */
};

struct llist_head;
struct llist_node;

/* --- locks --- */

struct mcs_spinlock {
	struct mcs_spinlock *next; /* 6.1.. who waits behind this one */
	int locked;                /* 6.1.. stays as it was when the node is not used any more */
	int count;                 /* 6.1.. of a CPU's first: how many of its nodes are used */
};

struct qnode {
	struct mcs_spinlock mcs; /* 6.1.. */
};

struct rb_node {
	unsigned long __rb_parent_color; /* 6.1.. the two lowest bits are the colour */
	struct rb_node *rb_right;        /* 6.1.. */
	struct rb_node *rb_left;         /* 6.1.. */
};

struct rb_root {
	struct rb_node *rb_node; /* 6.1.. */
};

struct rb_root_cached {
	struct rb_root rb_root; /* 6.1.. */
};

/* What a spinlock is on kernels for real time. */
struct rt_mutex_base {
	struct rb_root_cached waiters; /* 6.1.. */
};

/* --- cgroups' subsystems --- */

struct spinlock {
};

struct cgroup_subsys {
	char *name;               /* 6.1.. "memory", "io" ... */
	struct llist_head *lhead; /* 6.17.. per-CPU pointer: what was updated and not sorted yet */
	struct spinlock
		rstat_ss_lock; /* 6.16.. of its statistics; a mutex on kernels for real time */
};

struct cgroup;

struct css_rstat_cpu;
struct cgroup_rstat_cpu;
struct cgroup_root;

struct cgroup_subsys_state {
	struct cgroup *cgroup;              /* 6.1.. */
	struct cgroup_subsys *ss;           /* 6.1.. NULL: the cgroup's own, for base statistics */
	unsigned int flags;                 /* 6.1.. bit 1: online */
	struct cgroup_subsys_state *parent; /* 6.1.. */
	struct css_rstat_cpu *rstat_cpu;    /* 6.16.. per-CPU pointer */
};

struct cgroup {
	struct cgroup_subsys_state self;    /* 6.1.. */
	struct kernfs_node *kn;             /* 6.1.. */
	struct cgroup_root *root;           /* 6.1.. */
	struct cgroup_rstat_cpu *rstat_cpu; /* 6.1..6.15 per-CPU pointer */
};

struct cgroup_root {
	int hierarchy_id;   /* 6.1.. 0 is v2 */
	struct cgroup cgrp; /* 6.1.. the root cgroup */
};

/* What was updated on a CPU, as a tree: ends in the node itself, and in its parent. */
struct cgroup_rstat_cpu {
	struct cgroup *updated_children; /* 6.1..6.15 */
	struct cgroup *updated_next;     /* 6.1..6.15 */
};

struct css_rstat_cpu {
	struct cgroup_subsys_state *updated_children; /* 6.16.. */
	struct cgroup_subsys_state *updated_next;     /* 6.16.. */
};

enum cgroup_subsys_id { memory_cgrp_id, io_cgrp_id };

struct css_set {
	struct cgroup_subsys_state *subsys[2]; /* 6.1.. by enum cgroup_subsys_id */
	struct cgroup *dfl_cgrp;               /* 6.1.. in the v2 hierarchy */
};

struct task_struct;

struct rq {
	unsigned long long nr_switches; /* 6.1.. */
	struct task_struct *curr;       /* 6.1.. what runs on that CPU */
};

struct cfs_rq {
	struct rq *rq; /* 6.1.. */
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* 6.1.. CONFIG_FAIR_GROUP_SCHED */
};

/* What an interrupt interrupted (x86). */
struct pt_regs {
	unsigned long ip; /* 6.1.. */
};

struct pcpu_hot {
	int preempt_count; /* 6.2..6.14 before and after it a per-CPU variable of its own */
};

enum cpu_usage_stat { CPUTIME_STEAL = 7 };

struct kernel_cpustat {
	unsigned long long cpustat[10]; /* 6.1.. ns, by enum cpu_usage_stat */
};

struct task_group {
	struct cfs_rq **cfs_rq; /* 6.1.. CONFIG_FAIR_GROUP_SCHED; since 7.2 a per-CPU pointer */
};

struct srcu_ctr;

struct thread_info {
	unsigned int cpu; /* 6.1.. */
};

struct signal_struct {
	struct list_head thread_head; /* 6.1.. of its threads */
};

struct task_struct {
	struct thread_info thread_info;      /* 6.1.. CONFIG_THREAD_INFO_IN_TASK */
	struct sched_entity se;              /* 6.1.. */
	struct task_group *sched_task_group; /* 6.1.. CONFIG_CGROUP_SCHED */
	struct files_struct *files;          /* 6.1.. */
	unsigned int __state;                /* 6.1.. 0: runnable; bit 0, 1: asleep */
	unsigned char on_cpu;                /* 6.1.. CONFIG_SMP; 1: it runs; an int before 7.3 */
	int prio;                            /* 6.1.. below 100: real-time */
	struct task_struct *group_leader;    /* 6.1.. */
	struct css_set *cgroups;             /* 6.1.. CONFIG_CGROUPS */
	int pid;                             /* 6.1.. */
	int tgid;                            /* 6.1.. */
	int rcu_read_lock_nesting;           /* 6.1.. CONFIG_PREEMPT_RCU */
	char comm[16];                       /* 6.1.. */
	struct list_head rcu_node_entry;     /* 6.1.. CONFIG_PREEMPT_RCU */
	struct rcu_node *rcu_blocked_node;   /* 6.1.. CONFIG_PREEMPT_RCU */
	unsigned char rcu_tasks_holdout;     /* 6.1.. CONFIG_TASKS_RCU */
	struct list_head rcu_tasks_holdout_list; /* 6.1.. CONFIG_TASKS_RCU */
	struct list_head tasks;                  /* 6.1.. of processes, by their leaders */
	struct list_head thread_node;            /* 6.1.. of the threads of a process */
	struct signal_struct *signal;            /* 6.1.. */
	int trc_reader_nesting;                  /* 6.1.. CONFIG_TASKS_TRACE_RCU */
	struct list_head
		trc_holdout_list; /* 6.1..6.19 Tasks Trace has its own readers' lists; since 7.0 it is an SRCU domain */
	struct srcu_ctr *
		trc_reader_scp; /* 7.0.. per-CPU pointer to the counters that the reader began on */
	unsigned int kstack_offset; /* 6.1..6.12, 7.0..7.0 as stable kernels have it */
};

struct work_struct {
	void (*func)(struct work_struct *work); /* 6.1.. */
};

struct delayed_work {
	struct work_struct work; /* 6.1.. */
};

/* Grace periods of an SRCU domain. The low two bits of srcu_gp_seq are 0 between grace periods. */
struct srcu_struct___v6_1 {
	unsigned long srcu_gp_seq;      /* 6.1..6.3 */
	unsigned long srcu_gp_start;    /* 6.1..6.3 jiffies */
	unsigned long srcu_last_gp_end; /* 6.1..6.3 ns of CLOCK_MONOTONIC */
	struct delayed_work work;       /* 6.1..6.3 process_srcu() */
};

struct srcu_usage;
struct srcu_data;

struct srcu_struct {
	struct srcu_data *sda;       /* 6.1.. per-CPU pointer */
	struct srcu_usage *srcu_sup; /* 6.4.. */
	struct srcu_ctr *srcu_ctrp;  /* 6.16.. what readers begin on now */
};

struct srcu_usage {
	unsigned long srcu_gp_seq;      /* 6.4.. */
	unsigned long srcu_gp_start;    /* 6.4.. jiffies */
	unsigned long srcu_last_gp_end; /* 6.4.. ns of CLOCK_MONOTONIC */
	struct delayed_work work;       /* 6.4.. process_srcu() */
	struct srcu_struct *srcu_ssp;   /* 6.4.. */
};

struct srcu_data {
	struct rcu_segcblist srcu_cblist; /* 6.1.. */
	struct srcu_struct *ssp;          /* 6.1.. NULL: the domain was not used yet */
};

/* Grace periods: the low two bits of a sequence are not 0 while one is under way. */
struct rcu_tasks {
	char *name;                 /* 6.1.. "RCU Tasks", "RCU Tasks Rude", "RCU Tasks Trace" */
	unsigned long tasks_gp_seq; /* 6.1.. */
	unsigned long gp_start;     /* 6.1.. jiffies */
	struct rcu_tasks_percpu **rtpcp_array; /* 6.1.. one for each possible CPU */
	struct rcu_tasks_percpu *rtpcpu;       /* 6.1.. per-CPU pointer */
};

struct rcu_node {
	unsigned long qsmask;        /* 6.1.. CPUs that owe the grace period something */
	unsigned long expmask;       /* 6.1.. the expedited one */
	unsigned long gp_seq;        /* 6.1.. */
	unsigned char level;         /* 6.1.. 0: the root */
	int grplo;                   /* 6.1.. its CPUs: from */
	int grphi;                   /* 6.1.. to */
	struct rcu_node *parent;     /* 6.1.. */
	struct list_head blkd_tasks; /* 6.1.. preempted readers, the newest first */
	struct list_head *gp_tasks;  /* 6.1.. from here on they hold up the grace period */
	struct list_head *exp_tasks; /* 6.1.. ... the expedited one */
};

struct rcu_state {
	struct rcu_node node[1];          /* 6.1.. the root first */
	unsigned long gp_seq;             /* 6.1.. */
	short gp_state;                   /* 6.1.. */
	short gp_flags;                   /* 6.1.. bit 0: one is asked for */
	unsigned long gp_start;           /* 6.1.. jiffies */
	unsigned long gp_req_activity;    /* 6.1.. jiffies: when one was asked for last */
	unsigned long expedited_sequence; /* 6.1.. */
	struct task_struct *gp_kthread;   /* 6.1.. */
};

struct rcu_data {
	int cpu; /* 6.1.. */
	struct {
		unsigned char norm;        /* not 0: no quiescent state seen yet */
	} cpu_no_qs;                       /* 6.1.. a union, of unions */
	unsigned char core_needs_qs;       /* 6.1.. one is wanted */
	unsigned char rcu_urgent_qs;       /* 6.1.. ... urgently */
	struct rcu_node *mynode;           /* 6.1.. the leaf that it hangs in */
	unsigned long gp_seq;              /* 6.1.. the grace period that it knows of */
	unsigned long grpmask;             /* 6.1.. its bit there */
	struct rcu_segcblist cblist;       /* 6.1.. */
	struct callback_head barrier_head; /* 6.1.. what rcu_barrier() queues, by no call_rcu() */
	struct rcu_cblist nocb_bypass;     /* 6.1.. CONFIG_RCU_NOCB_CPU */
	struct task_struct
		*nocb_cb_kthread; /* 6.1.. CONFIG_RCU_NOCB_CPU; not NULL: may be offloaded */
	unsigned long
		nocb_bypass_first; /* 6.1.. CONFIG_RCU_NOCB_CPU; jiffies: since when nocb_bypass is not empty */
	long lazy_len;             /* 6.12.. CONFIG_RCU_LAZY; of those on nocb_bypass */
	struct task_struct *rcu_cpu_kthread_task; /* 6.1.. NULL: callbacks run in softirq */
	unsigned long n_cbs_invoked;              /* 6.1.. grows at the end of each batch */
};

struct rcu_tasks_percpu {
	struct rcu_segcblist cblist; /* 6.1.. */
	int cpu;                     /* 6.1.. */
	struct rcu_tasks *rtpp;      /* 6.1.. */
};

/* What kfree_rcu() keeps to itself: in the making, and two batches behind a grace period. */
struct kfree_rcu_cpu_work {
	struct list_head bulk_head_free[2]; /* 6.4.. of struct kvfree_rcu_bulk_data */
	struct callback_head *head_free;    /* 6.1.. */
};

struct rcu_work {
	struct work_struct work; /* 6.1.. */
};

struct kfree_rcu_cpu_work___v6_1 {
	struct rcu_work rcu_work;                     /* 6.1.. */
	struct kvfree_rcu_bulk_data *bkvhead_free[2]; /* 6.1..6.3 */
};

struct kfree_rcu_cpu {
	struct {
		int counter;
	} head_count; /* 6.4.. */
	struct {
		int counter;
	} bulk_count[2];                      /* 6.4.. */
	struct kfree_rcu_cpu_work krw_arr[2]; /* 6.1.. */
};

struct kfree_rcu_cpu___v6_1 {
	int count; /* 6.1..6.3 */
};

/* A page of addresses. */
struct kvfree_rcu_bulk_data {
	struct list_head list;    /* 6.4.. */
	unsigned long nr_records; /* 6.1.. */
	void *records[0];         /* 6.1.. */
};

struct kvfree_rcu_bulk_data___v6_1 {
	struct kvfree_rcu_bulk_data *next; /* 6.1..6.3 */
};

/* --- BPF memory --- */

struct bpf_map {
	enum bpf_map_type map_type; /* 6.1.. */
	unsigned int id; /* 6.1.. 0 as soon as nothing holds the map, before any of it is freed */
	char name[16];   /* 6.1.. */
};

struct irq_work {
	void (*func)(struct irq_work *work); /* 6.1.. */
};

struct llist_head {
	void *first; /* 6.1.. */
};

/*
 * One for each CPU. Its lists are found by name in BTF at run time: src/memalloc_layout.c. What waits
 * for Tasks Trace is in free_by_rcu and waiting_for_gp where there are no ..._ttrace.
 */
struct bpf_mem_cache {
	struct llist_head free_llist;       /* 6.1.. */
	struct llist_head free_llist_extra; /* 6.1.. */
	int unit_size;                      /* 6.1.. */
	int free_cnt;                       /* 6.1.. length of free_llist; no other list has one */
	int percpu_size;                    /* 6.1.. 0, or objects are per CPU */
	struct llist_head free_by_rcu;      /* 6.1.. */
	struct llist_head waiting_for_gp;   /* 6.1.. */
	struct llist_head free_by_rcu_ttrace;    /* 6.6.. */
	struct llist_head waiting_for_gp_ttrace; /* 6.6.. */
	int low_watermark;                       /* 6.1.. of free_cnt */
	int high_watermark;                      /* 6.1.. */
	struct irq_work refill_work;             /* 6.1.. bpf_mem_refill() */
	struct callback_head rcu;                /* 6.1.. of both stages in turn up to 6.5 */
	struct callback_head rcu_ttrace;         /* 6.6.. */
	struct {
		int counter;
	} call_rcu_in_progress; /* 6.1.. */
};

/* Of all sizes, for allocators that take any. */
struct bpf_mem_caches {
	struct bpf_mem_cache cache[11]; /* 6.1.. */
};

struct bpf_mem_alloc {
	struct bpf_mem_caches *caches; /* 6.1.. per CPU; of any size, or NULL */
	struct bpf_mem_cache *cache;   /* 6.1.. per CPU; of one size, or NULL */
};

struct bpf_htab {
	struct bpf_mem_alloc ma;      /* 6.1.. unset where elements are preallocated */
	struct bpf_mem_alloc pcpu_ma; /* 6.1.. */
};

struct bpf_local_storage_map {
	struct bpf_mem_alloc selem_ma;   /* 6.5..6.18 */
	struct bpf_mem_alloc storage_ma; /* 6.5..6.18 */
};

struct lpm_trie {
	struct bpf_mem_alloc ma; /* 6.14.. */
};

struct bpf_rhtab {
	struct bpf_mem_alloc ma; /* 7.2.. */
};

/* Our own, to learn how far a CPU's copy of per-CPU memory is from its base. */
struct bpf_array {
	void *pptrs[1]; /* 6.1.. */
};

struct file {
	const void *f_op;   /* 6.1.. */
	void *private_data; /* 6.1.. */
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq; /* 6.1.. */
};

struct bpf_iter__bpf_map {
	struct bpf_iter_meta *meta; /* 6.1.. */
	struct bpf_map *map;        /* 6.1.. */
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta; /* 6.1.. */
	struct task_struct *task;   /* 6.1.. */
	unsigned int fd;            /* 6.1.. */
	struct file *file;          /* 6.1.. */
};

/* Objects of a slab cache to be freed together; since 6.18 also those given to kfree_rcu(). */
struct slab_sheaf {
	struct callback_head callback_head; /* 6.18.. (rcu_head in the sources) */
	unsigned int size;                  /* 6.18.. */
	void *objects[0];                   /* 6.18.. */
};

/* Before 7.3 the head of an object given to kfree_rcu() is a callback_head, whose func says the object. */
struct kvfree_rcu_head {
	struct kvfree_rcu_head *next; /* 7.3.. */
};

#pragma clang attribute pop

#endif
