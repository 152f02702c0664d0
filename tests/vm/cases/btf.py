# SPDX-License-Identifier: GPL-2.0-only
"""Names of the functions that a kernel's type information numbers."""

import os
import re
import struct
import subprocess

KERNELS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "kernels")
FUNC = 12
# Bytes behind a type of this kind, and for each of its members.
BEHIND = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0), 15: (0, 12),
          17: (4, 0), 19: (0, 12)}
# "bpf_trampoline_NUMBER": the object in the high half, which is the kernel; a bit that says so; the function.
TRAMPOLINE = re.compile(r"bpf_trampoline_(\d+)")
OF_KERNEL = 1 << 31


def functions(kernel):
    """{number: name} of the functions of a kernel of the matrix."""
    folder = subprocess.run([KERNELS, "path", kernel], check=True, capture_output=True, text=True).stdout.strip()
    with open(os.path.join(folder, "btf"), "rb") as file:
        return parse(file.read())


def parse(data):
    head, type_at, type_len, string_at, _ = struct.unpack_from("<5I", data, 4)
    at, end, strings = head + type_at, head + type_at + type_len, head + string_at
    found, number = {}, 0
    while at < end:
        name, info = struct.unpack_from("<II", data, at)
        number += 1
        kind, members = info >> 24 & 0x1f, info & 0xffff
        if kind == FUNC:
            begin = strings + name
            found[number] = data[begin:data.index(b"\0", begin)].decode()
        fixed, each = BEHIND.get(kind, (0, 0))
        at += 12 + fixed + members * each
    return found


def behind_trampoline(name, names):
    """The function whose trampoline it is, if it is one of the kernel's; else the name itself."""
    found = TRAMPOLINE.match(name)
    number = int(found[1]) if found else 0
    return names.get(number & (OF_KERNEL - 1), name) if number & OF_KERNEL else name
