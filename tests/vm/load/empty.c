// SPDX-License-Identifier: GPL-2.0-only
/*
 * empty.c - holds programs of empty.bpf.c attached until it is told to end: the floor.
 *
 *   empty [PLACE ...]    each fentry:FUNCTION, fexit:FUNCTION or tp_btf:TRACEPOINT
 *
 * Without PLACE, the two ends of a callback. Prints "attached N NS" when it has loaded and attached all,
 * "detached NS" when it has given them up.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "empty.skel.h"

#define PLACES 128

static const char *ends[] = { "fentry:rcu_segcblist_enqueue", "fentry:rcu_cblist_dequeue" };

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static struct bpf_program *choose(struct empty_bpf *e, const char *kind, size_t len)
{
	struct bpf_program *all[] = { e->progs.empty_entry, e->progs.empty_exit,
				      e->progs.empty_point };
	struct bpf_program *found = NULL;

	for (int i = 0; i < 3; i++) {
		int is = strlen(bpf_program__section_name(all[i])) == len &&
			 !strncmp(bpf_program__section_name(all[i]), kind, len);

		bpf_program__set_autoload(all[i], is);
		found = is ? all[i] : found;
	}
	return found;
}

static struct empty_bpf *put(const char *place)
{
	struct empty_bpf *e = empty_bpf__open();
	const char *colon = strchr(place, ':');
	struct bpf_program *prog = e && colon ? choose(e, place, (size_t)(colon - place)) : NULL;

	if (prog && !bpf_program__set_attach_target(prog, 0, colon + 1) && !empty_bpf__load(e) &&
	    !empty_bpf__attach(e))
		return e;
	fprintf(stderr, "empty: cannot attach to %s\n", place);
	empty_bpf__destroy(e);
	return NULL;
}

int main(int argc, char **argv)
{
	const char **places = argc > 1 ? (const char **)argv + 1 : ends;
	int n = argc > 1 ? argc - 1 : 2, came;
	static struct empty_bpf *held[PLACES];
	long begin = now_ns();
	sigset_t set;

	for (int i = 0; i < n && i < PLACES; i++) {
		held[i] = put(places[i]);
		if (!held[i])
			return 1;
	}
	printf("attached %d %ld\n", n, now_ns() - begin);
	fflush(stdout);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &came);
	begin = now_ns();
	for (int i = 0; i < n && i < PLACES; i++)
		empty_bpf__destroy(held[i]);
	printf("detached %ld\n", now_ns() - begin);
	return 0;
}
