// SPDX-License-Identifier: GPL-2.0-only
/* endings.c - how commands end that could not begin: in the form that was asked for all the same. */
#include <string.h>

#include "common.h"
#include "doc.h"
#include "log.h"

/* arg is --NAME, or what opts_parse() takes for it: a prefix of at least `least` letters; its length. */
static size_t is_option(const char *arg, const char *name, size_t least)
{
	size_t len = strcspn(arg, "=");

	return len >= 2 + least && !strncmp(arg, "--", 2) && len <= 2 + strlen(name) &&
			       !strncmp(arg + 2, name, len - 2)
		       ? len
		       : 0;
}

bool option_given(int argc, char **argv, const char *name, size_t least)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (is_option(argv[i], name, least))
			return true;
	return false;
}

const char *option_value(int argc, char **argv, const char *name, size_t least)
{
	size_t len;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		len = is_option(argv[i], name, least);
		if (len && argv[i][len])
			return argv[i] + len + 1;
		if (len && i + 1 < argc && strcmp(argv[i + 1], "--"))
			return argv[i + 1];
	}
	return NULL;
}

bool wants_json(int argc, char **argv)
{
	return option_given(argc, argv, "json", 1) || option_given(argc, argv, "ndjson", 1);
}

int common_fail(struct output *o, const char *command, bool json, int code)
{
	FILE *out = json ? output_begin(o) : NULL;
	struct json j;

	if (!out)
		return code;
	json_init(&j, out, false);
	doc_open(&j, command);
	doc_error(&j, log_last_error());
	json_close(&j);
	json_end(&j);
	output_end(o); /* the code is that of the first failure */
	return code;
}
