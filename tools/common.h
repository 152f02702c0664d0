/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * common.h - what commands share: the options that several take, and how a command ends.
 *
 * A command's structure begins with struct common, so that the tables here fit it (opts.h).
 */
#ifndef KDEFER_COMMON_H
#define KDEFER_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wait_limits.h"
#include "model.h"
#include "opts.h"
#include "output.h"
#include "plan.h"
#include "scope.h"
#include "session.h"

/* Exit codes of all commands: cli.md. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_REGRESSION = 3,
	EXIT_INCONCLUSIVE = 4,
	EXIT_NOTHING = 5, /* nothing that was asked for can be measured here */
	EXIT_INCOMPARABLE = 6,
	EXIT_UNWATCHED = 125, /* the measuring failed that was to watch a command */
};

#define FILTERS_MAX 32

struct filter_list {
	struct filter f[FILTERS_MAX];
	size_t n;
};

struct common {
	bool json, ndjson;
	bool full, raw_addresses;
	uint64_t top;    /* 0: not asked for */
	unsigned int by; /* bits of enum key_name; 0: the main keys */
	struct filter_list filters;
	const char *input; /* a capture instead of the running kernel */
	bool follow;       /* which is still being written */
	struct plan_request want;
	struct limits over;
	uint64_t attach_timeout_ns, max_memory, sample;
	double budget; /* share of a CPU; 0: none; negative: not said */
	bool split;
};

void common_init(struct common *c);

/* Tables for struct opts_command. */
extern const struct opt source_options[];  /* -s */
extern const struct opt split_options[];   /* --split */
extern const struct opt over_options[];    /* --over */
extern const struct opt show_options[];    /* --by, --filter, --top, --full, --raw-addresses */
extern const struct opt output_options[];  /* --json, --ndjson, --input, --follow */
extern const struct opt measure_options[]; /* --backends, --attach-timeout and so on */

/* Values of options; 0, or -EINVAL after a line on standard error. */
int parse_sources(void *want, const char *list);
int parse_backends(void *want, const char *list);
int parse_filter(void *filters, const char *text);
int parse_by(void *by, const char *list);
int parse_sample(void *sample, const char *text);
int parse_budget(void *budget, const char *text);

/* What the options say together: combinations that cannot be. 0 or -EINVAL, logged. */
int common_check(const struct common *c, const char *command);

/*
 * Leaves of what was asked for the pending lists, or all but these. 0, or -EINVAL (logged) when the
 * user named one of these, asked for nothing else, or filters by what none of the rest has.
 */
int common_choose(struct common *c, const char *command, bool pending);

/*
 * Leaves of what was asked for the reports of long waits, and settles from which length on (c->over). 0,
 * or -EINVAL (logged). The former: of a command that shows nothing else.
 */
int common_choose_holdups(struct common *c, const char *command);
int common_arm(struct common *c, const char *command);
/* The same where nothing that was asked for has to be explainable. */
int common_arm_some(struct common *c, const char *command);
/* Of a capture: the reports that belong to what was asked for. */
void common_want_holdups(struct common *c);

/* The command line as a person would have typed it, but for quotes. */
void common_line(char *text, size_t size, int argc, char *const *argv);

/* What to ask of model and session. `top` is for when neither --top nor --full was given. */
struct query common_query(const struct common *c, bool interval, size_t top);
struct scope common_scope(const struct common *c, bool interval);
void common_conf(const struct common *c, struct session_conf *conf);
#define BUDGET_DEFAULT 0.01 /* of top and hist, where --budget says nothing */
/* What --budget says, or else this. */
double common_budget(const struct common *c, double otherwise);

/*
 * What the arguments hold, however wrong they are otherwise: an option of this name or a prefix of at
 * least `least` letters; its value, or NULL; whether they ask for JSON.
 */
bool option_given(int argc, char **argv, const char *name, size_t least);
const char *option_value(int argc, char **argv, const char *name, size_t least);
bool wants_json(int argc, char **argv);

/* After a failure that was logged: with JSON wanted, the document that says so. Returns code. */
int common_fail(struct output *o, const char *command, bool json, int code);

#endif
