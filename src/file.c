// SPDX-License-Identifier: GPL-2.0-only
/* file.c - the small files of /proc and /sys. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

static void trim(char *s)
{
	size_t len = strlen(s);

	while (len && isspace((unsigned char)s[len - 1]))
		s[--len] = '\0';
}

int file_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	int err = 0;

	buf[0] = '\0';
	if (!f)
		return -errno;
	errno = 0;
	if (!fgets(buf, (int)size, f)) {
		err = errno ? -errno : -ENODATA;
		buf[0] = '\0';
	}
	fclose(f);
	trim(buf);
	return err;
}

int file_u64(const char *path, uint64_t *value)
{
	char line[64], *end;
	int err = file_line(path, line, sizeof(line));

	if (err)
		return err;
	errno = 0;
	*value = strtoull(line, &end, 0);
	return errno || end == line ? -EINVAL : 0;
}

int file_field(const char *path, const char *key, char *buf, size_t size)
{
	size_t len = strlen(key);
	char line[1024];
	int err = -ENOENT;
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f)) {
		const char *value = line + len;

		if (strncmp(line, key, len))
			continue;
		while (*value && isspace((unsigned char)*value))
			value++;
		if (*value != ':')
			continue;
		value++;
		while (*value && isspace((unsigned char)*value))
			value++;
		snprintf(buf, size, "%s", value);
		trim(buf);
		err = 0;
	}
	fclose(f);
	return err;
}
