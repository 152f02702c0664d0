/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command as an ordinary user with these capabilities and no others:
 *
 *   withcaps UID NUMBER[,NUMBER...] COMMAND...
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

static int give(const char *list)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};
	unsigned long long caps = 0;
	int cap;

	for (char *end; *list; list = *end ? end + 1 : end)
		caps |= 1ULL << strtoul(list, &end, 10);
	for (int i = 0; i < 2; i++)
		data[i].permitted = data[i].effective = data[i].inheritable =
			(__u32)(caps >> 32 * i);
	if (syscall(SYS_capset, &head, data))
		return -1;
	for (cap = 0; cap < 64; cap++)
		if ((caps >> cap & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	uid_t uid;

	if (argc < 4) {
		fputs("usage: withcaps UID NUMBER[,NUMBER...] COMMAND...\n", stderr);
		return 2;
	}
	uid = (uid_t)strtoul(argv[1], NULL, 10);
	if (prctl(PR_SET_KEEPCAPS, 1) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	    give(argv[2])) {
		perror("withcaps");
		return 1;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
