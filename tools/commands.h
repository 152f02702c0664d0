/* SPDX-License-Identifier: GPL-2.0-only */
/* commands.h - the commands that main.c dispatches to: one file each. */
#ifndef KDEFER_COMMANDS_H
#define KDEFER_COMMANDS_H

#include "opts.h"

struct command {
	const struct opts_command *opts;   /* name, summary, options */
	int (*run)(int argc, char **argv); /* argv[0]: the command's name; returns the exit code */
};

extern const struct command command_top, command_hist, command_lists, command_why, command_record,
	command_report, command_diff, command_bench, command_doctor;

#endif
