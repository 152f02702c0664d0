// SPDX-License-Identifier: GPL-2.0-only
/*
 * fields.c - which fields a kernel has, by its BTF file alone: `fields BTF` reads lines "STRUCT FIELD"
 * and answers each with "yes" or "no" before it.
 */
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "kernel.h"

int main(int argc, char **argv)
{
	struct kernel k = { 0 };
	char type[128], field[128];

	if (argc != 2)
		return 2;
	k.btf = btf__parse_raw(argv[1]);
	if (!k.btf) {
		fprintf(stderr, "%s: no BTF in it\n", argv[1]);
		return 1;
	}
	while (scanf("%127s %127s", type, field) == 2)
		printf("%s %s %s\n", kernel_has_field(&k, type, field) ? "yes" : "no", type, field);
	kernel_free(&k);
	return 0;
}
