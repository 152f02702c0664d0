// SPDX-License-Identifier: GPL-2.0-only
/* srcu_domains.c - the SRCU domains that are built into the kernel, by their per-CPU data in BTF. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/srcu_domains.h"
#include "percpu.h"
#include "srcu_domains.h"

#define SUFFIX "_srcu_data" /* of a domain's name: its per-CPU data */

static int add(void *ctx, const char *variable, uint32_t at)
{
	struct srcu_domains *d = ctx;
	struct srcu_domain_name *more;
	size_t len = strlen(variable), suffix = strlen(SUFFIX);

	if (!strcmp(variable, percpu_name(PERCPU_TASKS_TRACE_SRCU)))
		return 0;
	more = reallocarray(d->of, d->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	d->of = more;
	if (len > suffix && !strcmp(variable + len - suffix, SUFFIX))
		len -= suffix;
	more[d->n] = (struct srcu_domain_name){ .name = strndup(variable, len), .at = at };
	return more[d->n++].name ? 0 : -ENOMEM;
}

int srcu_domains_find(struct srcu_domains *d, const struct kernel *k)
{
	int err;

	*d = (struct srcu_domains){ 0 };
	err = kernel_percpu_each(k, "srcu_data", add, d);
	if (err)
		srcu_domains_free(d);
	return err;
}

void srcu_domains_free(struct srcu_domains *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->of[i].name);
	free(d->of);
	*d = (struct srcu_domains){ 0 };
}

void srcu_domains_size(struct bpf_map *map, const struct srcu_domains *d)
{
	bpf_map__set_max_entries(map, d->n ? (__u32)d->n : 1);
}

int srcu_domains_fill(int map_fd, const struct srcu_domains *d)
{
	int err = 0;

	for (__u32 i = 0; i < d->n && !err; i++) {
		const struct srcu_domain v = { .at = d->of[i].at };

		err = bpf_map_update_elem(map_fd, &i, &v, BPF_ANY);
	}
	return err;
}

static int say(struct srcu_domain_name *of, uint64_t ssp, unsigned int source, struct stream *out)
{
	uint64_t buf[KD_REC_MAX / sizeof(uint64_t)];
	const char *const texts[] = { of->name };
	const struct kd_rec *rec =
		stream_make_text(buf, KD_REC_NAME, KD_NAME_DOMAIN | source << 8, ssp, texts, 1);

	of->named = ssp;
	return stream_record(out, rec, rec->len);
}

int srcu_domains_name(struct srcu_domains *d, int map_fd, unsigned int source, struct stream *out)
{
	int err = 0;

	for (__u32 i = 0; i < d->n && !err; i++) {
		struct srcu_domain v;

		if (!bpf_map_lookup_elem(map_fd, &i, &v) && v.ssp && v.ssp != d->of[i].named)
			err = say(&d->of[i], v.ssp, source, out);
	}
	return err;
}
