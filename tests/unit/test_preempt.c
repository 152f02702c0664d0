// SPDX-License-Identifier: GPL-2.0-only
/* test_preempt.c - the preemption model by configuration and boot option, where no debugfs shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel_preempt.h"

static const struct {
	const char *config, *cmdline, *model;
	bool fixed;
} cases[] = {
	/* No choice at run time: the configuration is all there is. */
	{ "CONFIG_PREEMPT_NONE_BUILD=y\nCONFIG_PREEMPT_NONE=y", "preempt=full", "none", true },
	{ "CONFIG_PREEMPT_NONE_BUILD=y", "", "none", true },
	{ "CONFIG_PREEMPT_VOLUNTARY_BUILD=y\nCONFIG_PREEMPT_VOLUNTARY=y", NULL, "voluntary", true },
	{ "CONFIG_PREEMPT=y\nCONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPTION=y", "", "full", true },
	{ "CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_BUILD=y", "", "lazy", true },
	{ "CONFIG_PREEMPT=y\nCONFIG_PREEMPT_RT=y", "preempt=none", "rt", true },
	{ "CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_RT=y\nCONFIG_PREEMPT_DYNAMIC=y", "", "rt", true },
	{ "# CONFIG_PREEMPT_NONE is not set\nCONFIG_HZ=250", "", "", true },
	/* A choice at boot, the configuration's unless another is asked for. */
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", "ro quiet", "voluntary", false },
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", "ro preempt=none quiet", "none",
	  false },
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", "preempt=none preempt=full",
	  "full", false },
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", "xpreempt=none -- preempt=full",
	  "voluntary", false },
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", "preempt=much", "voluntary",
	  false },
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", "preempt=\"none\"", "", false },
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", "preempt=lazy", "voluntary",
	  false },
	{ "CONFIG_PREEMPT=y\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_ARCH_HAS_PREEMPT_LAZY=y",
	  "preempt=lazy", "lazy", false },
	/* Such kernels took these at first, and refuse them later. */
	{ "CONFIG_PREEMPT=y\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_ARCH_HAS_PREEMPT_LAZY=y",
	  "preempt=none", "", false },
	{ "CONFIG_PREEMPT_NONE=y\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_ARCH_HAS_PREEMPT_LAZY=y",
	  "preempt=none", "none", false },
	{ "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y", NULL, "", false },
};

static void test_model(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct preempt_config c = { 0 };
		char lines[256], *line, *save = NULL;
		const char *model;
		bool fixed;

		snprintf(lines, sizeof(lines), "%s", cases[i].config);
		for (line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			preempt_config_line(&c, line);
		model = preempt_model(&c, cases[i].cmdline, &fixed);
		if (strcmp(model, cases[i].model) || fixed != cases[i].fixed)
			fail_msg("%s, %s: \"%s\", fixed %d", cases[i].config,
				 cases[i].cmdline ? cases[i].cmdline : "(unknown)", model, fixed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_model) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
