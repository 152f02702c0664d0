// SPDX-License-Identifier: GPL-2.0-only
/* Verdicts: each cause from the evidence that stands for it, and from nothing less. */
#include "../golden/made_waits.h"
#include "model.h"
#include "records.h"

static struct model m;
static struct stream s;
static struct made_wait made;
static struct verdict v;

static const struct verdict_host plain = {
	.hz = 250,
	.preempt_rcu = true,
	.preempt_rcu_known = true,
	.sched_qs_jiffies = 25,
	.cpus = 4,
	.possible_cpus = 4,
};
static struct verdict_host host;

static int setup(void **state)
{
	(void)state;
	forget_log();
	model_init(&m);
	stream_init(&s, model_record, &m);
	host = plain;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model_free(&m);
	return 0;
}

/* The wait goes through stream and model, as all do. */
static const struct holdup *told(void)
{
	for (size_t i = 0; i < made.n; i++)
		assert_int_equal(stream_record(&s, &made.witness[i], sizeof(made.witness[i])), 0);
	assert_int_equal(stream_record(&s, &made.rec, sizeof(made.rec)), 0);
	assert_int_equal(s.bad, 0);
	return &m.holdups.h[m.holdups.n - 1];
}

static const struct holdup *judge(void)
{
	const struct holdup *h = told();

	verdict_of(&v, &host, h, NULL);
	return h;
}

static bool says(const char *what)
{
	for (size_t i = 0; i < v.nlines; i++)
		if (strstr(v.line[i], what))
			return true;
	return false;
}

static void each_cause(void **state)
{
	(void)state;
	for (size_t i = 0; i < MADE_WAITS; i++) {
		const struct made *c = &made_waits[i];

		c->make(&made);
		judge();
		if (v.is.cause != c->cause)
			fail_msg("%s: %s", c->name, cause_name(v.is.cause));
		if (v.is.certain != c->certain || v.is.who.cpu != c->cpu || v.is.who.pid != c->pid)
			fail_msg("%s: certain %d, CPU %u, pid %u", c->name, v.is.certain,
				 v.is.who.cpu, v.is.who.pid);
		assert_true(v.is.part_ns <= made.rec.end_ns - made.rec.begin_ns);
		if (c->cause == CAUSE_UNKNOWN)
			assert_true(*v.need);
		else
			assert_true(*v.is.why && !*v.need);
	}
}

static void every_cause_has_a_case(void **state)
{
	(void)state;
	for (unsigned int c = 0; c < CAUSE_COUNT; c++) {
		bool any = false;

		for (size_t i = 0; i < MADE_WAITS; i++)
			any |= made_waits[i].cause == c;
		if (!any)
			fail_msg("no case of %s", cause_name(c));
		assert_string_not_equal(cause_name(c), "?");
		assert_true(*cause_text(c));
		assert_true(c == CAUSE_UNKNOWN || *cause_remedy(c));
	}
	assert_string_equal(cause_name(CAUSE_COUNT), "?");
}

/* Story 1: 2 of 150 ticks in user mode are 1.33%, at HZ=1000 one in 75 ms. */
static void the_arithmetic(void **state)
{
	(void)state;
	host.hz = 1000;
	host.preempt_rcu = false;
	host.sched_qs_jiffies = 100;
	made_story(&made);
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
	assert_true(v.odds.known && !v.odds.reader_based);
	assert_int_equal(v.odds.could, 2);
	assert_int_equal(v.odds.ticks, 150);
	assert_int_equal(v.odds.mean_ns, 75000000);
	/* log(0.01) / log(148/150) = 343.1 ticks */
	assert_in_range(v.odds.p99_ns, 342000000, 344000000);
	assert_int_equal(v.odds.escalates_ns, 100000000);
	assert_false(v.odds.by_escalation);
	assert_int_equal(v.alone_ns, 143 * MADE_MS);
}

static void none_of_many_ticks_is_a_bound(void **state)
{
	(void)state;
	made_kernel_loop(&made);
	made_fact(&made, KD_F_TICKS_BARE, 0);
	judge();
	assert_int_equal(v.odds.could, 0);
	assert_true(v.odds.p > 0.107 && v.odds.p < 0.1072); /* 3/28 */
	assert_true(v.odds.by_escalation);
}

/* In a reader at every sample, and yet no long reader: its task had been in user mode. */
static void passes_tell_a_loop(void **state)
{
	(void)state;
	made_long_reader(&made);
	made_fact(&made, KD_F_PASSES, 12);
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
	assert_true(v.is.certain);
}

/* No change is one stay in the kernel only where the same call would have made one. */
static void one_stay_is_said_where_calls_differ(void **state)
{
	(void)state;
	made_long_reader(&made);
	judge();
	assert_true(says("or the same call again and again"));
	made_fact(&made, KD_F_STACK_OFFSETS, 0);
	judge();
	assert_true(says("or the same call again and again"));
	made_fact(&made, KD_F_STACK_OFFSETS, 1);
	judge();
	assert_false(says("or the same call again and again"));
	assert_true(says("one stay in the kernel"));
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
}

/* Some ticks before it had come to its reader: not certain, but no certain loop either. */
static void a_stay_that_comes_to_its_reader(void **state)
{
	(void)state;
	made_long_reader(&made);
	made_fact(&made, KD_F_TICKS, 100);
	made_fact(&made, KD_F_TICKS_READER, 75);
	made_fact(&made, KD_F_TICKS_BARE, 25);
	made_fact(&made, KD_F_STACK_OFFSETS, 1);
	made_fact(&made, KD_F_URGENT_NS, 0);
	judge();
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_false(v.is.certain);
	made_fact(&made, KD_F_TICKS_READER, 50);
	made_fact(&made, KD_F_TICKS_BARE, 50);
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
}

/* Who keeps RCU's softirq or kthread out may do so in user mode, which is no place to be stuck in. */
static void a_rival_in_user_mode(void **state)
{
	(void)state;
	made_softirq_starved(&made);
	made.n = 0;
	made_ticks(&made, 1, 961, "spins", KD_WIT_RUNNING | KD_WIT_USER, 52, 190, 20, "");
	judge();
	assert_int_equal(v.is.cause, CAUSE_CALLBACKS_STARVED);
	assert_int_equal(v.is.who.pid, 961);
	assert_string_equal(v.is.who.comm, "spins");
}

/* Those behind it do not make it wait. */
static void a_flood_is_in_front(void **state)
{
	(void)state;
	made_flood(&made);
	made_seen(&made, KD_ROLE_QUEUE, 1, 0, "", 0, 800, "put_cred_rcu");
	judge();
	assert_int_equal(v.is.cause, CAUSE_CALLBACK_FLOOD);
	assert_true(strstr(v.is.why, "300,000 callbacks were on the list"));
	assert_true(strstr(v.is.why, "287,000 ran before it"));
	assert_true(says("put_cred_rcu()"));
	made_fact(&made, KD_F_AHEAD, 50);
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
}

/* Without these, and before RCU has asked: it may be either. */
static void a_reader_is_not_certain_without_more(void **state)
{
	(void)state;
	made_long_reader(&made);
	made_ms(&made, KD_F_URGENT_NS, 300); /* it ended as RCU asked for it: rather a loop */
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
	assert_false(v.is.certain);
	assert_int_equal(v.also[0].cause, CAUSE_LONG_READER);
	made_fact(&made, KD_F_URGENT_NS, 0);
	judge();
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_false(v.is.certain);
	assert_int_equal(v.also[0].cause, CAUSE_KERNEL_LOOP);
	made.rec.known &= ~(1ULL << KD_F_PASSES);
	judge();
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_false(v.is.certain);
	made_ms(&made, KD_F_URGENT_NS,
		104); /* it went on for 200 ms after that: no loop of short calls */
	judge();
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_true(v.is.certain);
}

/* A loop whose registers never change, which ended as RCU asked: both are named, neither for certain. */
/* Preemption is off at each tick, and no nesting is counted: a reader too, and it may have been many. */
static void preemption_off_is_a_reader(void **state)
{
	(void)state;
	made_long_reader(&made);
	made_fact(&made, KD_F_TICKS_READER, 0);
	made_fact(&made, KD_F_TICKS_BARRED, 74);
	for (size_t i = 0; i < made.n; i++)
		made.witness[i].flags = KD_WIT_RUNNING | KD_WIT_NEST_KNOWN | KD_WIT_BARRED;
	judge();
	assert_false(v.is.certain);
	assert_int_equal(v.nalso, 1);
	assert_true(v.is.cause == CAUSE_LONG_READER || v.also[0].cause == CAUSE_LONG_READER);
	assert_int_equal(v.is.who.pid, 800);
}

static void same_registers_prove_nothing(void **state)
{
	(void)state;
	made_kernel_loop(&made);
	made_fact(&made, KD_F_TICKS_READER, 28);
	made_fact(&made, KD_F_TICKS_BARE, 0);
	made_fact(&made, KD_F_PASSES, 0);
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
	assert_false(v.is.certain);
	assert_int_equal(v.also[0].cause, CAUSE_LONG_READER);
	assert_int_equal(v.also[0].who.pid, 700);
}

/* Where nesting cannot be read there are no readers to name. */
static void no_nesting_no_reader(void **state)
{
	(void)state;
	made_long_reader(&made);
	made.rec.known &=
		~(1ULL << KD_F_TICKS_READER | 1ULL << KD_F_TICKS_BARE | 1ULL << KD_F_TICKS_BARRED);
	for (size_t i = 0; i < made.n; i++)
		made.witness[i].flags = KD_WIT_RUNNING;
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
}

static void two_causes_both_stand_there(void **state)
{
	const struct holdup *h;

	(void)state;
	made_two(&made);
	h = judge();
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_int_equal(v.nalso, 1);
	assert_int_equal(v.also[0].cause, CAUSE_KERNEL_LOOP);
	assert_int_equal(v.also[0].who.pid, 810);
	assert_in_range(100 * verdict_share(&v.also[0], h), 60, 70);
	assert_in_range(100 * verdict_share(&v.is, h), 95, 100);
}

/* A starved kthread and a holder at one time: the greater part is the cause, the other stands beside. */
static void kthread_and_loop(void **state)
{
	(void)state;
	made_kernel_loop(&made);
	made_ms(&made, KD_F_KTHREAD_NS, 100);
	made_fact(&made, KD_F_KTHREAD_PID, 17);
	judge();
	/* All the time the loop was waited for as well, and it reported by itself. */
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
	assert_int_equal(v.nalso, 0);
	made_ms(&made, KD_F_LAST_NS, 66);
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
	assert_int_equal(v.also[0].cause, CAUSE_GP_KTHREAD_STARVED);
	assert_int_equal(v.also[0].other.pid, 17);
	assert_in_range(v.also[0].part_ns, 50 * MADE_MS, 55 * MADE_MS);
	/* The scan that reported for that CPU had to wait for the kthread. */
	made_fact(&made, KD_F_HOW, KD_HOW_FOR_IT);
	judge();
	assert_int_equal(v.is.part_ns, 100 * MADE_MS);
}

/* Take all evidence away, piece by piece: never somebody by name, never a cause. */
static void nothing_known_is_unknown(void **state)
{
	(void)state;
	for (size_t i = 0; i < MADE_WAITS; i++) {
		if (made_waits[i].make ==
		    made_run) /* what ran is what was slow: that needs no more */
			continue;
		made_waits[i].make(&made);
		made.rec.known = 0;
		made.n = 0;
		judge();
		if (made.rec.what == KD_WAIT_LOCK)
			continue;
		if (v.is.cause != CAUSE_UNKNOWN || v.is.certain || v.is.who.pid)
			fail_msg("%s: %s", made_waits[i].name, cause_name(v.is.cause));
		assert_true(*v.need);
		assert_int_equal(v.nalso, 0);
	}
}

/* Facts without witnesses may tell the cause, but nobody by name. */
static void nobody_seen_is_nobody_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < MADE_WAITS; i++) {
		made_waits[i].make(&made);
		made.n = 0;
		judge();
		if (v.is.who.pid &&
		    v.is.who.pid != holdup_fact_or(&m.holdups.h[m.holdups.n - 1], KD_F_LAST_PID) &&
		    v.is.who.pid != made.rec.pid &&
		    v.is.who.pid != holdup_fact_or(&m.holdups.h[m.holdups.n - 1], KD_F_OWNER_PID))
			fail_msg("%s: pid %u", made_waits[i].name, v.is.who.pid);
	}
}

/* Several tasks took turns on that CPU: none of them is the one. */
static void no_one_task(void **state)
{
	(void)state;
	made_kernel_loop(&made);
	for (size_t i = 0; i < made.n; i++)
		made.witness[i].pid = 700 + (uint32_t)i % 3;
	judge();
	assert_int_equal(v.is.cause, CAUSE_KERNEL_LOOP);
	assert_int_equal(v.is.who.pid, 0);
	assert_false(v.is.certain);
}

static void many_switches_are_no_loop(void **state)
{
	(void)state;
	made_kernel_loop(&made);
	made_fact(&made, KD_F_SWITCHES, 500);
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
}

/* An idle CPU has no ticks either. */
static void idle_is_not_irqs_off(void **state)
{
	(void)state;
	made_irqs_off(&made);
	made.n = 0;
	made_fact(&made, KD_F_TICKS, 0);
	made_fact(&made, KD_F_HOW, KD_HOW_FOR_IT);
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
	made_irqs_off(&made);
	made.witness[0].flags |= KD_WIT_IDLE;
	made.witness[0].pid = 0;
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
}

/* Others had ticks, if not as often as they should: that CPU alone was the one without. */
static void one_of_them_for_longer(void **state)
{
	(void)state;
	made_irqs_off(&made);
	made_ms(&made, KD_F_ALL_GAP_NS, 50);
	judge();
	assert_int_equal(v.is.cause, CAUSE_IRQS_OFF);
	made_ms(&made, KD_F_ALL_GAP_NS, 115);
	judge();
	assert_int_equal(v.is.cause, CAUSE_VCPU_PREEMPTED);
}

/* Nobody saw the end of it, but scans would have reported for an idle CPU: it did so itself. */
static void scans_tell_an_idle_cpu(void **state)
{
	(void)state;
	made_irqs_off(&made);
	made.n = 0;
	judge();
	assert_int_equal(v.is.cause, CAUSE_IRQS_OFF);
	assert_false(v.is.certain);
	made_fact(&made, KD_F_SCANS, 0);
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
}

/* What was before the grace period, or after the report, was not in its way. */
static void gaps_count_within_the_wait(void **state)
{
	(void)state;
	made_irqs_off(&made);
	made.n = 0;
	made_ms(&made, KD_F_GAP_END_NS, 10);
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
}

/* Facts are of the CPU on which a task ended its reader: no evidence against that CPU. */
static void facts_behind_a_task(void **state)
{
	(void)state;
	made_preempted_reader(&made);
	made_fact(&made, KD_F_TICKS, 3);
	made_ms(&made, KD_F_GAP_NS, 400);
	made_ms(&made, KD_F_GAP_END_NS, 418);
	made_ms(&made, KD_F_UNREPORTED_NS, 400);
	judge();
	assert_int_equal(v.is.cause, CAUSE_PREEMPTED_READER);
	assert_int_equal(v.nalso, 0);
}

/* It ended the wait, but nobody saw it wait: it may have run until the CPU had reported. */
static void a_reader_at_the_very_end(void **state)
{
	(void)state;
	made_preempted_reader(&made);
	made.rec.known &= ~(1ULL << KD_F_BLOCKED_NS);
	made.rec.phase[KD_PH_WAIT_CPUS] = 416 * MADE_MS;
	made.rec.phase[KD_PH_WAIT_TASKS] = 2 * MADE_MS;
	made.n = 0;
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
	assert_int_equal(v.nalso, 0);
}

/* A reader that was switched out for a moment and ran on: its stack is that of a tick. */
static void a_stack_from_before(void **state)
{
	(void)state;
	made_preempted_reader(&made);
	made.rec.known &= ~(1ULL << KD_F_BLOCKED_NS);
	for (size_t i = 0; i < made.n; i++)
		if (made.witness[i].role == KD_ROLE_TASK) {
			made.witness[i].flags = KD_WIT_RUNNING | KD_WIT_READER | KD_WIT_NEST_KNOWN;
			made.witness[i].stack[0] = '\0';
		}
	made_seen(&made, KD_ROLE_CPU, 1, 900, "victim", IN_READER, 51, "bpf_prog_1_hold+0x1");
	judge();
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_int_equal(v.is.who.pid, 900);
	assert_non_null(v.is.seen);
	assert_string_equal(v.is.seen->stack, "bpf_prog_1_hold+0x1");
}

/* An indirect call hides its callers from the unwinder; the frames that are not there are as BPF prints them. */
static void a_stack_without_callers_tells_less(void **state)
{
	(void)state;
	made_long_reader(&made);
	for (size_t i = 0; i < made.n; i++)
		strcpy(made.witness[i].stack, i ? "__x86_indirect_thunk_array+0x5 0x0 0x0 0x0"
						: "turn+0x1 bpf_prog_1_hold+0x1 0x0 0x0");
	judge();
	assert_non_null(v.is.seen);
	assert_string_equal(v.is.seen->stack, "turn+0x1 bpf_prog_1_hold+0x1 0x0 0x0");
}

/* The last sample may be of what the task did afterwards. */
static void the_stack_that_is_typical(void **state)
{
	static const char *const stacks[] = {
		"turn+0x1/0x9 bpf_loop+0x4a/0x9 bpf_prog_1_hold+0x1 do_syscall_64+0x5d/0x9",
		"ktime_get+0x1/0x9 turn+0x3/0x9 bpf_loop+0x4a/0x9 bpf_prog_1_hold+0x1 do_syscall_64+0x5d/0x9",
		"do_exit+0x1/0x9 __x64_sys_exit+0x17/0x9 x64_sys_call+0x1/0x9 do_syscall_64+0x5d/0x9",
	};

	(void)state;
	made_long_reader(&made);
	made.n = 3;
	for (size_t i = 0; i < made.n; i++)
		strcpy(made.witness[i].stack, stacks[i]);
	judge();
	assert_non_null(v.is.seen);
	assert_string_equal(v.is.seen->stack, stacks[1]);
}

/* Whoever is on the list of holdouts may only not have been looked at. */
static void a_holdout_may_be_no_reader(void **state)
{
	(void)state;
	made_sleeping_reader(&made);
	for (size_t i = 0; i < made.n; i++)
		made.witness[i].flags = KD_WIT_SLEEPING | KD_WIT_NEST_KNOWN;
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
	assert_int_equal(v.nalso, 0);
}

/* Tasks RCU looks at its holdouts ten times a second at first: one asleep is nobody's fault. */
static void who_sleeps_has_switched(void **state)
{
	(void)state;
	made_not_switching(&made);
	for (size_t i = 0; i < made.n; i++)
		made.witness[i].flags = KD_WIT_SLEEPING;
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
	assert_true(*v.need);
}

/* One vCPU that is not run looks like interrupts that are off, unless the hypervisor tells. */
/* Whoever was running as it began is waited for until the first look, a tenth of a second later. */
static void the_first_look_accuses_nobody(void **state)
{
	(void)state;
	made_not_switching(&made);
	made_fact(&made, KD_F_SCANS, 1);
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
}

static void below_a_hypervisor(void **state)
{
	(void)state;
	host.virtual = true;
	made_irqs_off(&made);
	judge();
	assert_int_equal(v.is.cause, CAUSE_IRQS_OFF);
	assert_false(v.is.certain);
	made_ms(&made, KD_F_STEAL_NS, 110);
	judge();
	assert_int_equal(v.is.cause, CAUSE_VCPU_PREEMPTED);
	assert_true(v.is.certain);
}

/* Both CPUs of a lock that is taken with interrupts off have no tick: nobody was in user mode meanwhile. */
static void all_of_them_may_have_interrupts_off(void **state)
{
	(void)state;
	made_vcpu(&made);
	made.witness[0].flags &= ~KD_WIT_USER;
	judge();
	assert_int_equal(v.is.cause, CAUSE_VCPU_PREEMPTED);
	assert_false(v.is.certain);
	assert_int_equal(v.nalso, 1);
	assert_int_equal(v.also[0].cause, CAUSE_IRQS_OFF);
	assert_int_equal(v.also[0].who.pid, 41);
	assert_false(v.also[0].certain);
}

static void one_cpu_alone_tells_less(void **state)
{
	(void)state;
	host.cpus = 1;
	made_vcpu(&made);
	judge();
	assert_int_not_equal(v.is.cause, CAUSE_VCPU_PREEMPTED);
}

static void a_caller_waits_for_what_its_grace_period_waits_for(void **state)
{
	const struct holdup *gp, *h;

	(void)state;
	made_long_reader(&made);
	told();
	made_caller(&made);
	told();
	gp = &m.holdups.h[0];
	h = &m.holdups.h[1];
	assert_ptr_equal(holdups_behind(&m.holdups, h), gp);
	verdict_in(&v, &m, h);
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_int_equal(v.is.who.pid, 800);
	verdict_of(&v, &host, h, NULL);
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
	assert_non_null(strstr(v.need, "--over"));
}

/* Tasks Trace waits for RCU in the course of its own; nothing says when, so it is not certain. */
static void a_grace_period_in_the_course_of_another(void **state)
{
	const struct holdup *h;

	(void)state;
	made_long_reader(&made);
	told();
	made_caller(&made);
	made.rec.what = KD_WAIT_GP;
	made.rec.flavour = KD_FL_TASKS_TRACE;
	made.rec.known = 0;
	told();
	h = &m.holdups.h[1];
	assert_ptr_equal(holdups_behind(&m.holdups, h), &m.holdups.h[0]);
	verdict_in(&v, &m, h);
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_int_equal(v.is.who.pid, 800);
	assert_false(v.is.certain);
	/* RCU's own grace periods wait for no other. */
	verdict_in(&v, &m, &m.holdups.h[0]);
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_true(v.is.certain);
}

static void few_cgroups_are_not_many(void **state)
{
	(void)state;
	made_many_cgroups(&made);
	made_fact(&made, KD_F_CGROUPS, 3);
	judge();
	assert_int_equal(v.is.cause, CAUSE_UNKNOWN);
}

/* Watching ended before the wait did: who still owed, if it was one alone. */
static void an_unfinished_wait(void **state)
{
	(void)state;
	made_long_reader(&made);
	made.rec.flags = KD_HOLDUP_ONGOING;
	made.rec.known = 0;
	judge();
	assert_int_equal(v.is.cause, CAUSE_LONG_READER);
	assert_int_equal(v.is.who.pid, 800);
	assert_false(v.is.certain);
	made_two(&made);
	made.rec.known = 0;
	for (size_t i = 0; i < made.n; i++) /* both owe to the end */
		if (made.witness[i].pid == 810)
			made.witness[i].mono_ns += 98 * MADE_MS;
	judge();
	assert_false(v.is.certain);
}

/* Any facts and flags: no crash, no part longer than the whole. */
static void random_evidence(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		made_waits[below(&seed, MADE_WAITS)].make(&made);
		made.rec.what = (uint8_t)below(&seed, KD_WAIT_COUNT);
		made.rec.flavour = (uint8_t)below(&seed, KD_FL_COUNT);
		made.rec.known = next_random(&seed);
		for (int k = 0; k < KD_FACTS_MAX; k++)
			if (below(&seed, 3))
				made.rec.fact[k] =
					below(&seed, 2) ? below(&seed, 5) : next_random(&seed);
		for (size_t k = 0; k < made.n; k++) {
			made.witness[k].flags ^= below(&seed, 4) ? 0 : (uint16_t)next_random(&seed);
			made.witness[k].pid ^= below(&seed, 4) ? 0 : (uint32_t)below(&seed, 3);
			made.witness[k].mono_ns += below(&seed, 8) ? 0 : next_random(&seed);
		}
		host.hz = below(&seed, 4) ? 250 : below(&seed, 2000);
		judge();
		assert_true(v.is.part_ns <= made.rec.end_ns - made.rec.begin_ns);
		for (size_t k = 0; k < v.nalso; k++)
			assert_true(v.also[k].part_ns <= made.rec.end_ns - made.rec.begin_ns);
		if (i % 100 == 0)
			holdups_clear(&m.holdups);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_cause),
		TEST(every_cause_has_a_case),
		TEST(the_arithmetic),
		TEST(none_of_many_ticks_is_a_bound),
		TEST(passes_tell_a_loop),
		TEST(one_stay_is_said_where_calls_differ),
		TEST(a_stay_that_comes_to_its_reader),
		TEST(a_rival_in_user_mode),
		TEST(a_flood_is_in_front),
		TEST(a_reader_is_not_certain_without_more),
		TEST(preemption_off_is_a_reader),
		TEST(same_registers_prove_nothing),
		TEST(no_nesting_no_reader),
		TEST(two_causes_both_stand_there),
		TEST(kthread_and_loop),
		TEST(nothing_known_is_unknown),
		TEST(nobody_seen_is_nobody_named),
		TEST(no_one_task),
		TEST(many_switches_are_no_loop),
		TEST(idle_is_not_irqs_off),
		TEST(one_of_them_for_longer),
		TEST(scans_tell_an_idle_cpu),
		TEST(gaps_count_within_the_wait),
		TEST(facts_behind_a_task),
		TEST(a_reader_at_the_very_end),
		TEST(a_stack_from_before),
		TEST(a_stack_without_callers_tells_less),
		TEST(the_stack_that_is_typical),
		TEST(a_holdout_may_be_no_reader),
		TEST(who_sleeps_has_switched),
		TEST(the_first_look_accuses_nobody),
		TEST(below_a_hypervisor),
		TEST(all_of_them_may_have_interrupts_off),
		TEST(one_cpu_alone_tells_less),
		TEST(a_caller_waits_for_what_its_grace_period_waits_for),
		TEST(a_grace_period_in_the_course_of_another),
		TEST(few_cgroups_are_not_many),
		TEST(an_unfinished_wait),
		TEST(random_evidence),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
