#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A report counts only when all of it arrived as it was sent."""

import gzip
import hashlib
import io
import sys
import tarfile
import unittest

sys.dont_write_bytecode = True
from report import MEMBERS, Report


def sent(files):
    """The bytes that a guest sends for these files."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    packed = gzip.compress(output.getvalue())
    header = f"REPORT {len(packed)} {hashlib.sha256(packed).hexdigest()}\n"
    return header.encode() + packed


def received(data, chunk=1000):
    report = Report()
    for start in range(0, len(data), chunk):
        report.feed(data[start:start + chunk])
    return report


class ReportTest(unittest.TestCase):
    NOISE = bytes(range(256)) * 40
    DATA = sent({MEMBERS + "stdout": NOISE, MEMBERS + "status": b"7\n"})

    def test_whole_in_any_pieces(self):
        for chunk in (1, 7, len(self.DATA)):
            report = received(b"boot noise\n" + self.DATA, chunk)
            self.assertIsNone(report.fault())
            self.assertEqual(report.unpack().read("stdout"), self.NOISE)
            self.assertEqual(report.unpack().status(), 7)
            self.assertFalse(report.unpack().timed_out())

    def test_nothing(self):
        self.assertIn("no report", received(b"boot noise\n").fault())

    def test_cut_anywhere(self):
        for length in range(len(self.DATA)):
            report = received(self.DATA[:length])
            self.assertFalse(report.complete())
            self.assertIsNotNone(report.fault())

    def test_damaged(self):
        data = bytearray(self.DATA)
        data[-1] ^= 1
        self.assertIn("damaged", received(data).fault())


if __name__ == "__main__":
    unittest.main()
