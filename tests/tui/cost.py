#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What an update of `kdefer top` costs: user CPU time over all intervals of a capture, on a terminal
of 200x50. Usage: cost.py KDEFER CAPTURE MOST_MS"""
import fcntl
import os
import pty
import resource
import select
import struct
import sys
import termios

UPDATES = 210


def main():
    kdefer, capture, most = sys.argv[1], sys.argv[2], float(sys.argv[3])
    env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8")
    pid, fd = pty.fork()
    if not pid:
        os.execve(kdefer, [kdefer, "top", "--input", capture, "-i", "10ms"], env)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    seen, quitting = b"", False
    while select.select([fd], [], [], 60)[0]:
        try:
            data = os.read(fd, 1 << 16)
        except OSError:
            break
        if not data:
            break
        seen = (seen + data)[-100000:]
        if b"the end" in seen and not quitting:
            quitting = True
            os.write(fd, b"q")
    status = os.waitpid(pid, 0)[1]
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime * 1000 / UPDATES
    print("%.2f ms of user CPU, at most %g" % (used, most))
    if not quitting or status:
        sys.exit("it ended with status %d before the end of the capture" % status)
    if used > most:
        sys.exit(1)


main()
