/* SPDX-License-Identifier: GPL-2.0-only */
/* diff_options.h - what `kdefer diff` is asked for: its options, taken from the command line. */
#ifndef KDEFER_DIFF_OPTIONS_H
#define KDEFER_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diff.h"
#include "opts.h"
#include "output.h"
#include "samples.h"

#define FILES_MAX 1024
#define RULES_MAX 256
#define NAMES_MAX 64

struct strings {
	const char *s[FILES_MAX];
	size_t n;
};

enum undecided { UNDECIDED_FOUR, UNDECIDED_PASS, UNDECIDED_FAIL };

/* The command line with "--base a b c" as "--base=a --base=b --base=c". */
struct spread {
	char **argv;
	char *text; /* what had to be written anew */
	size_t used;
	int n;
};

struct diff_command {
	struct strings side[SIDE_COUNT];
	struct rule *rules[RULES_MAX];
	size_t nrules;
	struct sample_alias aliases[NAMES_MAX];
	size_t naliases;
	const char *varies[NAMES_MAX];
	size_t nvaries;
	double boot_noise, min_change;
	uint8_t inconclusive, no_base; /* enum undecided */
	bool bisect, warn_only, selftest, full, json, markdown, junit;
	const char *status;
	/* at work: */
	struct output out;
	struct spread spread;
	char command_line[2048];
};

extern const struct opts_command diff_opts;

/*
 * 0; 1 when help was asked for and printed; -EINVAL, logged. Then too it is known where to and in what
 * form the failure is to be said. To be freed in any case.
 */
int diff_options(struct diff_command *d, int argc, char **argv);
void diff_options_free(struct diff_command *d);

#endif
