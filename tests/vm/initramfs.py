# SPDX-License-Identifier: GPL-2.0-only
"""Build the initramfs of a guest: busybox, our init, and what the caller adds.

It is written straight into one uncompressed cpio archive: that takes the host some
milliseconds, needs no privileges, and spares the emulated CPU the unpacking.
"""

import os
import re
import stat
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = (".guest", "bin", "dev", "etc", "out", "proc", "root", "sbin", "sys", "tmp",
           "usr/bin", "usr/sbin")


class Archive:
    """A cpio archive in the "newc" form that the kernel unpacks."""

    def __init__(self, output):
        self.output = output
        self.folders = set()
        self.inode = 0

    def entry(self, path, mode, data=b""):
        self.inode += 1
        name = path.strip("/").encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        for part in (header, data):
            self.output.write(part + b"\0" * (-len(part) % 4))

    def folder(self, path):
        path = path.strip("/")
        if path and path not in self.folders:
            self.folder(os.path.dirname(path))
            self.folders.add(path)
            self.entry(path, stat.S_IFDIR | 0o755)

    def data(self, path, data, mode=0o644):
        self.folder(os.path.dirname(path))
        self.entry(path, stat.S_IFREG | mode, data)

    def link(self, path, target):
        self.folder(os.path.dirname(path))
        self.entry(path, stat.S_IFLNK | 0o777, target.encode())

    def file(self, source, path):
        with open(source, "rb") as file:
            self.data(path, file.read(), stat.S_IMODE(os.stat(source).st_mode))

    def tree(self, source, path):
        """A file, or a folder with all that is in it."""
        if not os.path.isdir(source):
            self.file(source, path)
            return
        self.folder(path)
        for name in sorted(os.listdir(source)):
            self.tree(os.path.join(source, name), os.path.join(path, name))

    def finish(self):
        self.entry("TRAILER!!!", 0)


def find_busybox():
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if os.path.exists(path):
            return path
    raise FileNotFoundError("busybox is missing (package busybox-static)")


def add_base(archive):
    busybox = find_busybox()
    for folder in FOLDERS:
        archive.folder(folder)
    archive.file(busybox, "bin/busybox")
    applets = subprocess.run([busybox, "--list"], stdout=subprocess.PIPE, check=True).stdout
    for applet in applets.decode().split():
        if applet != "busybox":
            archive.link(f"bin/{applet}", "/bin/busybox")
    archive.data("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    archive.data("etc/group", b"root:x:0:\n")
    with open(os.path.join(HERE, "init.sh"), "rb") as init:
        archive.data("init", init.read(), 0o755)


def libraries(binary):
    """The shared libraries of a binary, and its loader, by the paths it asks for."""
    listing = subprocess.run(["ldd", binary], stdout=subprocess.PIPE, check=True).stdout.decode()
    if "not found" in listing:
        raise FileNotFoundError(f"{binary}: not all of its libraries are here")
    return sorted(set(re.findall(r"(/\S+) \(0x", listing)))


def add_binaries(archive, binaries):
    needed = set()
    for binary in binaries:
        archive.file(binary, "usr/bin/" + os.path.basename(binary))
        needed.update(libraries(binary))
    for library in sorted(needed):
        archive.file(library, library)


def write(path, files, trees, binaries):
    """files: {guest path: bytes}; trees: [(host path, guest path)]; binaries: dynamic ones."""
    with open(path, "wb") as output:
        archive = Archive(output)
        add_base(archive)
        add_binaries(archive, binaries)
        for source, target in trees:
            archive.tree(source, target)
        for target, content in files.items():
            archive.data(target, content)
        archive.finish()
