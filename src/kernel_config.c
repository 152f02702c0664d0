// SPDX-License-Identifier: GPL-2.0-only
/* kernel_config.c - where configurations of kernels lie. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "kernel_config.h"

static gzFile open_config(void)
{
	gzFile f = gzopen("/proc/config.gz", "re");
	char path[512];
	struct utsname u;

	if (f || uname(&u))
		return f;
	snprintf(path, sizeof(path), "/boot/config-%s", u.release);
	return gzopen(path, "re"); /* plain files are read as they are */
}

int kernel_config_each(int (*each)(void *ctx, char *line), void *ctx)
{
	gzFile f = open_config();
	char line[512];
	int ret = 0;

	if (!f)
		return -ENOENT;
	while (!ret && gzgets(f, line, sizeof(line))) {
		line[strcspn(line, "\n")] = '\0';
		ret = each(ctx, line);
	}
	gzclose(f);
	return ret;
}
