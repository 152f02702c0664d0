// SPDX-License-Identifier: GPL-2.0-only
/* cpus.c - CPU lists as the kernel writes them ("0-3,8"). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpus.h"
#include "file.h"

static int append(int **cpus, int *n, int *room, long cpu)
{
	if (*n == *room) {
		int more = *room ? *room * 2 : 16;
		int *grown = reallocarray(*cpus, (size_t)more, sizeof(**cpus));

		if (!grown)
			return -ENOMEM;
		*cpus = grown;
		*room = more;
	}
	(*cpus)[(*n)++] = (int)cpu;
	return 0;
}

/* One number; *s moves past it. */
static int number(const char **s, long *value)
{
	char *end;

	if (**s < '0' || **s > '9')
		return -EINVAL;
	*value = strtol(*s, &end, 10);
	*s = end;
	return *value >= CPUS_MAX ? -EINVAL : 0;
}

/* "3" or "3-5" and what ends it. */
static int range(const char **s, long *first, long *last)
{
	int err = number(s, first);

	*last = *first;
	if (!err && **s == '-') {
		(*s)++;
		err = number(s, last);
	}
	if (err || *last < *first || (**s && **s != ',' && **s != '\n'))
		return -EINVAL;
	*s += **s != '\0';
	return 0;
}

int cpus_parse(const char *text, int **cpus, int *n)
{
	int room = 0, err = 0;

	*cpus = NULL;
	*n = 0;
	while (!err && *text) {
		long first, last;

		err = range(&text, &first, &last);
		for (long cpu = first; !err && cpu <= last; cpu++)
			err = append(cpus, n, &room, cpu);
	}
	if (!err && *n)
		return 0;
	free(*cpus);
	*cpus = NULL;
	*n = 0;
	return err ? err : -EINVAL;
}

int cpus_read(const char *which, int **cpus, int *n)
{
	char path[64], line[4096];
	int err;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", which);
	err = file_line(path, line, sizeof(line));
	if (err) {
		*cpus = NULL;
		*n = 0;
		return err;
	}
	return cpus_parse(line, cpus, n);
}
