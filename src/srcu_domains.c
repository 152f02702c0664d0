// SPDX-License-Identifier: GPL-2.0-only
/* srcu_domains.c - the SRCU domains that can be reached: by their per-CPU data in BTF, or by a symbol. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "../bpf/defer.h"
#include "../bpf/srcu_domains.h"
#include "bpf_util.h"
#include "percpu.h"
#include "srcu_domains.h"

#define SUFFIX "_srcu_data" /* of a domain's name: its per-CPU data */
#define TASKS_TRACE "rcu_tasks_trace_srcu_struct"

static int add(struct srcu_domains *d, const char *name, size_t len, uint64_t at, uint64_t ssp)
{
	struct srcu_domain_name *more = reallocarray(d->of, d->n + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	d->of = more;
	more[d->n] = (struct srcu_domain_name){ .name = strndup(name, len), .at = at, .ssp = ssp };
	return more[d->n++].name ? 0 : -ENOMEM;
}

static int add_variable(void *ctx, const char *variable, uint32_t at)
{
	size_t len = strlen(variable), suffix = strlen(SUFFIX);

	if (!strcmp(variable, percpu_name(PERCPU_TASKS_TRACE_SRCU)))
		return 0;
	if (len > suffix && !strcmp(variable + len - suffix, SUFFIX))
		len -= suffix;
	return add(ctx, variable, len, at, 0);
}

int srcu_domains_find(struct srcu_domains *d, const struct kernel *k)
{
	int err;

	*d = (struct srcu_domains){ 0 };
	err = kernel_percpu_each(k, "srcu_data", add_variable, d);
	d->sure = d->n;
	for (size_t i = 0; i < k->nsrcu && !err; i++)
		if (k->srcu[i].address)
			err = add(d, k->srcu[i].name, strlen(k->srcu[i].name), 0,
				  k->srcu[i].address);
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

static int put(int map_fd, uint32_t i, const struct srcu_domain_name *of)
{
	const struct srcu_domain v = { .at = of->at, .ssp = of->ssp };

	return bpf_map_update_elem(map_fd, &i, &v, BPF_ANY);
}

/* A symbol of a domain that BTF has too, or of no domain at all. */
static bool is_dropped(const struct srcu_domains *d, const struct srcu_domain_name *of)
{
	if (!of->ssp || !strcmp(of->name, TASKS_TRACE))
		return true;
	for (size_t i = 0; i < d->sure; i++)
		if (d->of[i].at == of->at)
			return true;
	return false;
}

/* What is left moves up. */
static int keep_domains(struct srcu_domains *d, int map_fd)
{
	size_t n = d->sure;
	int err = 0;

	for (size_t i = d->sure; i < d->n && !err; i++) {
		struct srcu_domain_name *of = &d->of[i];
		struct srcu_domain v = { 0 };
		uint32_t at = (uint32_t)i;

		err = bpf_map_lookup_elem(map_fd, &at, &v);
		of->at = v.at;
		of->ssp = v.ssp;
		if (err || is_dropped(d, of)) {
			free(of->name);
			continue;
		}
		d->of[n] = *of;
		err = put(map_fd, (uint32_t)n, &d->of[n]);
		n++;
	}
	d->n = n;
	return err;
}

int srcu_domains_check(struct srcu_domains *d, int map_fd, int prog_fd)
{
	uint64_t args[4] = { d->sure, d->n };
	int err = 0;

	for (uint32_t i = 0; i < d->n && !err; i++)
		err = put(map_fd, i, &d->of[i]);
	if (!err)
		err = bpf_util_run(prog_fd, args, NULL);
	return err ? err : keep_domains(d, map_fd);
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
