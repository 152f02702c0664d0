// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_rules.c - any bytes as a rule of --fail-on: read or refused with a reason, and judged. */
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "samples.h"

/* Two runs a side of one total, so that what was read is used, too. */
static void judge(const struct rule *r)
{
	const struct compare_conf conf = { .alpha = 0.05, .min_change = 0.05 };
	struct sample_subject s = { .kind = SUBJECT_MEASURE,
				    .source = (char *)"rcu_gp",
				    .measure = (char *)"duration",
				    .pairs = { { "flavour", (char *)"rcu" } },
				    .npairs = 1,
				    .unit = "ns",
				    .total = true };
	struct rule_result out;
	struct comparison c;
	struct samples t;
	int i;

	samples_init(&t);
	t.files = calloc(1, sizeof(*t.files));
	t.files[0].path = strdup("made");
	t.nfiles = 1;
	for (i = 0; i < 4; i++) {
		samples_run(&t, i < 2 ? SIDE_BASE : SIDE_NEW, 0, 0);
		samples_values(&t, (size_t)i, (size_t)samples_subject(&t, &s))->v[STAT_P99] = 1 + i;
	}
	if (!compare(&c, &t, &conf))
		rules_judge(&c, &r, 1, &out);
	compare_free(&c);
	samples_free(&t);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	char *text = strndup((const char *)data, size), wrong[64] = "";
	struct rule r;
	int err = rule_parse(&r, text, wrong, sizeof(wrong));

	if (err ? !*wrong : strcmp(r.text, text) != 0)
		abort();
	if (!err)
		judge(&r);
	free(text);
	return 0;
}
