# SPDX-License-Identifier: GPL-2.0-only
"""What a guest sends back: one line with length and checksum, then a packed tar archive."""

import hashlib
import io
import re
import tarfile

HEADER = re.compile(rb"REPORT (\d+) ([0-9a-f]{64})\n")
MEMBERS = ".guest/report/"


class Report:
    """Collects the bytes of the port until a report is complete."""

    def __init__(self):
        self.received = bytearray()
        self.header = None

    def feed(self, data):
        self.received += data
        if data and self.header is None:
            self.header = HEADER.search(bytes(self.received))

    def length(self):
        return int(self.header[1])

    def archive(self):
        start = self.header.end()
        return bytes(self.received[start:start + self.length()])

    def complete(self):
        return (self.header is not None
                and len(self.received) >= self.header.end() + self.length())

    def fault(self):
        """Why there is no verdict, or None when there is one."""
        if self.header is None:
            return "the guest sent no report"
        if not self.complete():
            return f"the report is cut short: {len(self.archive())} of {self.length()} bytes"
        if hashlib.sha256(self.archive()).hexdigest().encode() != self.header[2]:
            return "the report is damaged: its checksum differs"
        return None

    def unpack(self):
        return Contents(tarfile.open(fileobj=io.BytesIO(self.archive())))


class Contents:
    def __init__(self, archive):
        self.archive = archive

    def read(self, name):
        return self.archive.extractfile(MEMBERS + name).read()

    def timed_out(self):
        return MEMBERS + "timeout" in self.archive.getnames()

    def status(self):
        return int(self.read("status"))

    def save_out(self, folder):
        """The guest's /out into a folder of the host."""
        for member in self.archive.getmembers():
            if member.name.startswith("out/"):
                member.name = member.name[len("out/"):]
                self.archive.extract(member, folder, filter="data")
