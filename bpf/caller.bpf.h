/* SPDX-License-Identifier: GPL-2.0-only */
/* caller.bpf.h - which function called the one whose entry is hooked. */
#ifndef KDEFER_CALLER_BPF_H
#define KDEFER_CALLER_BPF_H

#include "ring.bpf.h"

/* Where functions return to first that a kretprobe or the function graph tracer follows. */
extern const void arch_rethook_trampoline __ksym __weak;
extern const void return_to_handler __ksym __weak;

#define FRAME_WORDS 8
#define KERNEL_TEXT 0xffffffff80000000ULL

/*
 * The caller's return address is on the stack, a few words above our arguments: those, the place for
 * the function's result (the other end is hooked too), a frame pointer, then the way back into the
 * function that was entered, and behind it that to the caller. Since 6.19 the function may jump to
 * the trampoline, and the way back into it is left out. A look there costs a tenth of a stack trace
 * and needs no buffer that a task that preempts us may fill anew.
 */
static __noinline __u64 caller_of(__u64 *ctx)
{
	__u64 words[FRAME_WORDS] = {}, entry = bpf_get_func_ip(ctx), found;
	__u32 at = bpf_get_func_arg_cnt(ctx) + 2;

	if (at >= FRAME_WORDS - 1 || bpf_probe_read_kernel(words, sizeof(words), ctx))
		return 0;
	found = words[at & (FRAME_WORDS - 1)];
	if (found - entry < 32)
		found = words[(at + 1) & (FRAME_WORDS - 1)];
	if (found == (__u64)&arch_rethook_trampoline || found == (__u64)&return_to_handler)
		return 0; /* another tracer hides the caller */
	return found >= KERNEL_TEXT ? found - 1
				    : 0; /* within the call, which may end its function */
}

#endif
