# SPDX-License-Identifier: GPL-2.0-only
"""Kernel memory is within what was allowed, or the refusal says what it takes."""

import re

LIMITS = {"default": 64 << 20, "by_cpu": 64 << 20, "small": 8 << 20}


def judge(case):
    for name, limit in LIMITS.items():
        if case.status(name) == 5:
            refused(case, name, limit)
            continue
        used = case.measured(name).kernel_bytes()
        case.say(f"{name}: within {limit >> 20} MiB", 0 < used <= limit, f"{used} bytes")


def refused(case, name, limit):
    """The default allowance must do on every host."""
    found = re.search(r"need (\d+) bytes", case.text(f"{name}.err"))
    case.say(f"{name}: refused, with the size that it needs",
             name == "small" and found and int(found[1]) > limit, case.complaint(name))
