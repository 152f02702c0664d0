// SPDX-License-Identifier: GPL-2.0-only
/* rights.c - capabilities of this process. */
#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "kernel.h"
#include "rights.h"

int rights_drop(bool files)
{
	const uint64_t measuring =
		1ULL << KERNEL_CAP_BPF | 1ULL << KERNEL_CAP_PERFMON | 1ULL << KERNEL_CAP_SYSLOG;
	const uint64_t writing = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_FOWNER;
	const uint64_t keep = measuring | (files ? writing : 0);
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> 32 * i);
		data[i].effective &= (uint32_t)(keep >> 32 * i);
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}
