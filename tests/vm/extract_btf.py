#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write the raw type information (.BTF) of a kernel image to a file, without booting it.

usage: extract_btf.py VMLINUZ OUTPUT
"""

import bz2
import lzma
import struct
import subprocess
import sys
import zlib

# Offsets of the x86 boot protocol, which every bzImage follows (payload fields since 2.08).
SETUP_SECTS = 0x1F1
HEADER_MAGIC = 0x202
PAYLOAD_OFFSET = 0x248
SECTOR = 512
BTF_MAGIC = b"\x9f\xeb"


def tool(*argv):
    """A decompressor that the standard library lacks; what follows its stream is ignored."""

    def run(data):
        # A complaint about the size word behind the stream is expected, so the
        # exit status says nothing: the ELF checks that follow do.
        done = subprocess.run(argv, input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        return done.stdout

    return run


DECOMPRESSORS = (
    (b"\x1f\x8b", lambda data: zlib.decompressobj(31).decompress(data)),
    (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor().decompress(data)),
    (b"\x5d\x00\x00", lambda data: lzma.LZMADecompressor().decompress(data)),
    (b"BZh", lambda data: bz2.BZ2Decompressor().decompress(data)),
    (b"\x28\xb5\x2f\xfd", tool("zstd", "-dcq")),
    (b"\x02\x21\x4c\x18", tool("lz4", "-dcq")),
)


def payload(image):
    """The compressed kernel inside a bzImage."""
    if image[HEADER_MAGIC:HEADER_MAGIC + 4] != b"HdrS":
        raise ValueError("not a bzImage")
    offset, length = struct.unpack_from("<II", image, PAYLOAD_OFFSET)
    start = (image[SETUP_SECTS] + 1) * SECTOR + offset
    return image[start:start + length]


def decompress(data):
    for magic, run in DECOMPRESSORS:
        if data.startswith(magic):
            return run(data)
    raise ValueError(f"unknown compression {data[:4].hex()}")


def section(elf, wanted):
    """The bytes of one section of a 64-bit little-endian ELF file."""
    if elf[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the decompressed kernel is not a 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)

    def header(index):
        return struct.unpack_from("<IIQQQQ", elf, table + index * size)

    names = header(names_index)[4]
    for index in range(count):
        name, _, _, _, offset, length = header(index)
        end = elf.index(b"\0", names + name)
        if elf[names + name:end] == wanted:
            return elf[offset:offset + length]
    raise ValueError(f"no section {wanted.decode()}")


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], "rb") as image:
            btf = section(decompress(payload(image.read())), b".BTF")
        if btf[:2] != BTF_MAGIC:
            raise ValueError("the section .BTF holds no type information")
        with open(sys.argv[2], "wb") as output:
            output.write(btf)
    except (OSError, ValueError, struct.error, lzma.LZMAError, zlib.error) as error:
        print(f"extract_btf: {sys.argv[1]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
