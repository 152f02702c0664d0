// SPDX-License-Identifier: GPL-2.0-only
/* kernel_preempt.c - the preemption model by configuration and boot option. */
#include <stddef.h>
#include <string.h>

#include "kernel_preempt.h"

void preempt_config_line(struct preempt_config *c, const char *line)
{
	/* Up to 6.17 a choice that boot options can overrule has no _BUILD beside it, a fixed one has. */
	const struct {
		const char *option;
		bool *field;
	} options[] = {
		{ "CONFIG_PREEMPT_NONE", &c->none },
		{ "CONFIG_PREEMPT_NONE_BUILD", &c->none },
		{ "CONFIG_PREEMPT_VOLUNTARY", &c->voluntary },
		{ "CONFIG_PREEMPT_VOLUNTARY_BUILD", &c->voluntary },
		{ "CONFIG_PREEMPT", &c->full },
		{ "CONFIG_PREEMPT_LAZY", &c->lazy },
		{ "CONFIG_PREEMPT_RT", &c->rt },
		{ "CONFIG_PREEMPT_DYNAMIC", &c->dynamic },
		{ "CONFIG_ARCH_HAS_PREEMPT_LAZY", &c->has_lazy },
	};
	size_t len = strcspn(line, "=");

	if (line[len] != '=' || line[len + 1] != 'y')
		return;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strlen(options[i].option) == len && !strncmp(line, options[i].option, len))
			*options[i].field = true;
}

static const char *chosen(const struct preempt_config *c)
{
	return c->rt          ? "rt"
	       : c->none      ? "none"
	       : c->voluntary ? "voluntary"
	       : c->lazy      ? "lazy"
	       : c->full      ? "full"
			      : "";
}

/* The value of the last "preempt=" of the command line; NULL: there is none. */
static const char *boot_option(const char *cmdline, size_t *len)
{
	static const char option[] = "preempt=";
	const char *found = NULL, *at = cmdline;

	while (*at) {
		at += strspn(at, " \t");
		if (!strncmp(at, option, strlen(option)))
			found = at + strlen(option);
		if (!strncmp(at, "-- ", 3))
			break; /* the rest is for init */
		at += strcspn(at, " \t");
	}
	*len = found ? strcspn(found, " \t") : 0;
	return found;
}

/* What the kernel makes of it. NULL: a model that it may or may not have taken. */
static const char *booted(const struct preempt_config *c, const char *value, size_t len)
{
	static const char *const models[] = { "none", "voluntary", "full", "lazy" };

	if (memchr(value, '"', len))
		return NULL;
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		if (strlen(models[i]) != len || strncmp(value, models[i], len))
			continue;
		if (i == 3 && !c->has_lazy)
			break; /* refused: the choice of the configuration holds */
		/* Newer kernels refuse these two where they know lazy, older ones of that kind take them. */
		return i < 2 && c->has_lazy ? NULL : models[i];
	}
	return chosen(c);
}

const char *preempt_model(const struct preempt_config *c, const char *cmdline, bool *fixed)
{
	const char *value, *model;
	size_t len;

	*fixed = c->rt || !c->dynamic;
	if (*fixed)
		return chosen(c);
	if (!cmdline)
		return "";
	value = boot_option(cmdline, &len);
	if (!value)
		return chosen(c);
	model = booted(c, value, len);
	if (model)
		return model;
	/* Taken or refused, it comes to the same. */
	return len == strlen(chosen(c)) && !strncmp(value, chosen(c), len) ? chosen(c) : "";
}
