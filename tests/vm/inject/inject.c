/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject.c - makes waits of known cause, place and length:
 *
 *   inject CAUSE [--ms MS] [--times N] [--rest MS] [--cpu CPU] [--many N] [--kthreads NAME] [--file FILE]
 *                [--again]
 *
 * and says of each, in a line of its own, when it began and ended, who caused it and where
 * (struct injected). Nothing of what kdefer says has a part in it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "inject.skel.h"

struct inject_bpf *skel;

static const struct {
	const char *cause;
	int (*make)(const struct options *options);
	int beat; /* the CPU that is left alone runs threads meanwhile, if it runs */
} causes[] = {
	{ "long_reader", inject_long_reader, 1 },
	{ "preempted_reader", inject_preempted_reader, 1 },
	{ "two", inject_two, 1 },
	{ "gp_kthread_starved", inject_gp_kthread, 1 },
	{ "callbacks_starved", inject_callbacks_starved, 1 },
	{ "softirq_starved", inject_softirq_starved, 1 },
	{ "callback_flood", inject_flood, 0 },
	{ "slow_callback", inject_slow, 0 },
	{ "lazy", inject_lazy, 0 },
	{ "kernel_loop", inject_loop, 1 },
	{ "loops", inject_loops, 0 },
	{ "irqs_off", inject_irqs_off, 1 },
	{ "vcpu_preempted", inject_vcpu, 0 },
	{ "task_not_switching", inject_not_switching, 1 },
	{ "many_cgroups", inject_cgroups, 0 },
	{ "lock_contention", inject_lock, 0 },
	{ "lock_queue", inject_queue, 0 },
	{ "flushes", inject_flushes, 0 },
	{ "metronome", inject_metronome, 0 },
};

/* The programs named, and no other, so that what this kernel lacks does not matter to the rest. */
void load(const char *program, const char *second)
{
	struct bpf_program *each;

	skel = inject_bpf__open();
	if (!skel)
		die("its programs");
	bpf_object__for_each_program (each, skel->obj) {
		const char *name = bpf_program__name(each);

		bpf_program__set_autoload(each, !strcmp(name, program) ||
							(second && !strcmp(name, second)));
	}
	if (inject_bpf__load(skel) || inject_bpf__attach(skel))
		die("its programs");
}

static int usage(void)
{
	fputs("usage: inject CAUSE [--ms MS] [--times N] [--rest MS] [--cpu CPU] [--many N]"
	      " [--kthreads NAME] [--file FILE] [--again]\n",
	      stderr);
	return 125;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "ms", 1, NULL, 'm' },   { "times", 1, NULL, 't' }, { "rest", 1, NULL, 'r' },
		{ "cpu", 1, NULL, 'c' },  { "many", 1, NULL, 'n' },  { "kthreads", 1, NULL, 'k' },
		{ "file", 1, NULL, 'f' }, { "again", 0, NULL, 'a' }, {},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'm')
			o->ns = strtoul(optarg, NULL, 10) * MS;
		else if (option == 't')
			o->times = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 'r')
			o->rest_ns = strtoul(optarg, NULL, 10) * MS;
		else if (option == 'c')
			o->cpu = atoi(optarg);
		else if (option == 'n')
			o->many = (unsigned int)strtoul(optarg, NULL, 10);
		else if (option == 'k')
			o->kthreads = optarg;
		else if (option == 'f')
			o->file = optarg;
		else if (option == 'a')
			o->again = 1;
		else
			return -1;
	}
	o->other = !o->cpu;
	return o->ns && optind == argc - 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct options options = { .ns = 200 * MS,
				   .times = 1,
				   .rest_ns = 200 * MS,
				   .cpu = 1,
				   .many = 100000,
				   .kthreads = "rcuo" };

	char comm[NAME];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (parse(argc, argv, &options))
		return usage();
	pin(options.other);
	/* Off the CPU that is to be held up, or it cannot start the grace period that is to wait for it. */
	confine(gp_kthread(comm), options.other);
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(causes[i].cause, argv[optind])) {
			int status;

			if (causes[i].beat)
				beat_start(&options);
			status = causes[i].make(&options);

			inject_bpf__destroy(skel);
			return status;
		}
	return usage();
}
